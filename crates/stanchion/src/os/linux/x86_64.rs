//! x86-64: its instructions, its thread pointer, and restartable sequences in its language.
use super::rseq::known_offset;
use core::arch::x86_64::{__cpuid, _rdtsc};

/// The kernel's `getcpu` needs no system call.
pub(super) const HAS_VDSO_CPU: bool = true;

#[inline(always)]
pub(super) fn thread_pointer() -> *const u8 {
    let pointer: *const u8;
    // SAFETY: on x86-64 Linux the first word of the thread control block, at `fs:0`, is its own address.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly, pure));
    }
    pointer
}

#[inline(always)]
pub(crate) fn prefetch_write(address: *const u8) {
    // SAFETY: a prefetch is a hint without architectural effect, valid for any address; a processor without
    // the instruction does nothing. The intrinsic of that name asks for the line to read only, unless the
    // target is known to have the instruction.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
}

/// The time stamp counter. It may run ahead by a few instructions.
#[inline(always)]
pub(crate) fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction, and it touches no memory.
    unsafe { _rdtsc() }
}

/// What processors call an invariant counter.
pub(crate) fn ticks_are_steady() -> bool {
    const HIGHEST: u32 = 0x8000_0000;
    const POWER: u32 = 0x8000_0007;
    __cpuid(HIGHEST).eax >= POWER && __cpuid(POWER).edx & 1 << 8 != 0
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
    // it is from the beginning.
    //
    // SAFETY: the caller's promise. The area is there (`register_restarts` asked for it), and the descriptor
    // follows the kernel's interface: version and flags, start, length, where to go on; in front of which
    // stands the signature that glibc registers with. The store is a release on this architecture.
    unsafe {
        core::arch::asm!(
            ".pushsection __rseq_cs, \"aw\"",
            ".balign 32",
            "3:",
            ".long 0, 0",
            ".quad 4f, 5f - 4f, 6f",
            ".popsection",
            "7:",
            "lea {scratch}, [rip + 3b]",
            "4:",
            "cmp qword ptr fs:[{area} + 8], {scratch}",
            "jne 8f",
            "movzx {mark:e}, byte ptr [{lock} + 1]",
            "test {mark:l}, {marks}",
            "jnz 5f",
            ".rept {pauses}",
            "pause",
            ".endr",
            "mov byte ptr [{lock}], {value}",
            "5:",
            ".pushsection __rseq_failure, \"ax\"",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "6:",
            "jmp 7b",
            "8:",
            "mov qword ptr fs:[{area} + 8], {scratch}",
            "jmp 4b",
            ".popsection",
            lock = in(reg) lock,
            area = in(reg) known_offset(),
            value = in(reg_byte) value,
            marks = in(reg_byte) marks,
            scratch = out(reg) _,
            mark = out(reg) mark,
            pauses = const PAUSES,
            options(nostack),
        );
    }
    mark as u8
}
