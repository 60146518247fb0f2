//! The thread's number and pointer on x86-64.

/// The calling thread's number, or 0.
#[inline(always)]
pub(super) fn number() -> u32 {
    let number: u32;
    // SAFETY: the symbol is four bytes of this thread's own storage, defined in `mod.rs`; they are read.
    unsafe {
        core::arch::asm!(
            "mov {place}, qword ptr [rip + stanchion_thread_number@GOTTPOFF]",
            "mov {number:e}, dword ptr fs:[{place}]",
            place = out(reg) _,
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
            "mov {place}, qword ptr [rip + stanchion_thread_number@GOTTPOFF]",
            "mov dword ptr fs:[{place}], {number:e}",
            place = out(reg) _,
            number = in(reg) number,
            options(nostack, preserves_flags),
        );
    }
}

/// The calling thread's control block.
#[inline(always)]
pub(super) fn thread_pointer() -> usize {
    let pointer: usize;
    // SAFETY: on x86-64 Linux the first word of the thread control block, at `fs:0`, is its own address.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly, pure));
    }
    pointer
}

/// The control block is what `pthread_t` is.
pub(super) fn thread_pointer_of(thread: libc::pthread_t) -> usize {
    thread as usize
}
