//! The thread's number and pointer on aarch64.

/// The calling thread's number, or 0.
#[inline(always)]
pub(super) fn number() -> u32 {
    let number: u32;
    // SAFETY: the symbol is four bytes of this thread's own storage, defined in `mod.rs`; they are read.
    unsafe {
        core::arch::asm!(
            "adrp {place}, :gottprel:stanchion_thread_number",
            "ldr {place}, [{place}, :gottprel_lo12:stanchion_thread_number]",
            "mrs {block}, tpidr_el0",
            "ldr {number:w}, [{block}, {place}]",
            place = out(reg) _,
            block = out(reg) _,
            number = out(reg) number,
            options(nostack, preserves_flags, readonly),
        );
    }
    number
}

pub(super) fn set_number(number: u32) {
    // SAFETY: as in `number`; they are written, by their own thread.
    unsafe {
        core::arch::asm!(
            "adrp {place}, :gottprel:stanchion_thread_number",
            "ldr {place}, [{place}, :gottprel_lo12:stanchion_thread_number]",
            "mrs {block}, tpidr_el0",
            "str {number:w}, [{block}, {place}]",
            place = out(reg) _,
            block = out(reg) _,
            number = in(reg) number,
            options(nostack, preserves_flags),
        );
    }
}

/// What the calling thread's storage begins at.
#[inline(always)]
pub(super) fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: reading the user thread pointer register has no effect but its result.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, preserves_flags, nomem, pure));
    }
    pointer
}

/// The control block, which is what `pthread_t` is, ends where the storage begins, and is equally long in all
/// threads.
pub(super) fn thread_pointer_of(thread: libc::pthread_t) -> usize {
    // SAFETY: a call without arguments, which cannot fail.
    let mine = unsafe { libc::pthread_self() };
    (thread as usize).wrapping_add(thread_pointer().wrapping_sub(mine as usize))
}
