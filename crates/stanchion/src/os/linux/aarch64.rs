//! aarch64: its instructions, its thread pointer, and restartable sequences in its language.
//!
//! What a spinning thread does between two looks is ISB, which is how the language's spin hint comes out:
//! YIELD does nothing on most processors. Read-modify-writes are single instructions (LSE) where the
//! processor has them, which compiled code asks at run time.
use super::rseq::known_offset;

/// The kernel has no `getcpu` without a system call.
pub(super) const HAS_VDSO_CPU: bool = false;

#[inline(always)]
pub(super) fn thread_pointer() -> *const u8 {
    let pointer: *const u8;
    // SAFETY: reading the user thread pointer register has no effect but its result.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, preserves_flags, nomem, pure));
    }
    pointer
}

#[inline(always)]
pub(crate) fn prefetch_write(address: *const u8) {
    // SAFETY: a prefetch is a hint without architectural effect, valid for any address.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
}

/// The virtual counter of the generic timer. It may run ahead by a few instructions.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    let ticks: u64;
    // SAFETY: Linux lets programs read the counter, which has no effect but its result.
    unsafe {
        core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nostack, preserves_flags, nomem));
    }
    ticks
}

/// By the architecture.
pub(crate) fn ticks_are_steady() -> bool {
    true
}

/// # Safety
///
/// Both bytes may be written, and `register_restarts` said yes.
#[inline(always)]
pub(crate) unsafe fn store_unless_marked<const PAUSES: usize>(lock: *mut u8, value: u8, marks: u8) -> u8 {
    let mark: u32;
    // The address of the descriptor stands where the kernel looks for it, 8 bytes into the area. The kernel
    // takes it away when it interrupts the thread elsewhere, so it is there from last time more often than
    // not: the sequence begins with a look whether it is, and ends with the store. When it is started over,
    // it is from the beginning. What is seldom done stands in a subsection, at the end of the function's own
    // section: conditional branches reach no further than 1 MB.
    //
    // SAFETY: the caller's promise. The area is there, as `register_restarts` asked for it. The descriptor
    // follows the kernel's interface: version and flags, start, length, where to go on. In front of the last
    // stands the signature that glibc registers with on this architecture (BRK #0x45e0). The store is a
    // release.
    unsafe {
        core::arch::asm!(
            ".pushsection __rseq_cs, \"aw\"",
            ".balign 32",
            "3:",
            ".long 0, 0",
            ".quad 4f, 5f - 4f, 6f",
            ".popsection",
            "7:",
            "adrp {scratch}, 3b",
            "add {scratch}, {scratch}, :lo12:3b",
            "4:",
            "ldr {found}, [{area}, #8]",
            "cmp {found}, {scratch}",
            "b.ne 8f",
            "ldrb {mark:w}, [{lock}, #1]",
            "tst {mark:w}, {marks:w}",
            "b.ne 5f",
            ".rept {pauses}",
            "isb",
            ".endr",
            "stlrb {value:w}, [{lock}]",
            "5:",
            ".subsection 1",
            ".inst 0xd428bc00",
            "6:",
            "b 7b",
            "8:",
            "str {scratch}, [{area}, #8]",
            "b 4b",
            ".previous",
            lock = in(reg) lock,
            area = in(reg) thread_pointer().wrapping_byte_offset(known_offset()),
            value = in(reg) u32::from(value),
            marks = in(reg) u32::from(marks),
            scratch = out(reg) _,
            found = out(reg) _,
            mark = out(reg) mark,
            pauses = const PAUSES,
            options(nostack),
        );
    }
    mark as u8
}
