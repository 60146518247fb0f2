//! Single instructions of the processor, as functions.
use core::arch::asm;
use core::arch::x86_64::{__cpuid_count, _rdtsc, CpuidResult};

/// Ticks of the time stamp counter.
#[inline(always)]
pub(super) fn ticks() -> u64 {
    // SAFETY: the counter can be read at ring 0 always (IG1) and the instruction touches no memory.
    unsafe { _rdtsc() }
}

/// What the processor says of itself; zeros above the last leaf.
pub(super) fn cpuid(leaf: u32, sub: u32) -> CpuidResult {
    __cpuid_count(leaf, sub)
}

/// Nothing that comes later is begun before all earlier loads and fences are done.
#[inline(always)]
pub(super) fn wait_for_loads() {
    // SAFETY: the instruction is part of 64-bit mode and changes nothing. Not `nomem`: what comes later must
    // not move ahead of it.
    unsafe { asm!("lfence", options(nostack, preserves_flags)) };
}

/// Disables interrupts; whether they were enabled.
#[inline(always)]
pub(super) fn disable_interrupts() -> bool {
    let flags: u64;
    // SAFETY: ring 0 may do both (IG1). Not `nomem`: what comes later must not move ahead of it.
    unsafe { asm!("pushfq", "pop {}", "cli", out(reg) flags) };
    flags & INTERRUPT_FLAG != 0
}

const INTERRUPT_FLAG: u64 = 1 << 9;

/// Enables interrupts.
#[inline(always)]
pub(super) fn enable_interrupts() {
    // SAFETY: handlers leave all as they found it (IG4), and the descriptors that lead to them stand (IG3).
    unsafe { asm!("sti", options(nostack)) };
}

/// Runs `f` with interrupts disabled, and then leaves them as they were.
pub(super) fn undisturbed<R>(f: impl FnOnce() -> R) -> R {
    let enabled = disable_interrupts();
    let result = f();
    if enabled {
        enable_interrupts();
    }
    result
}

/// Enables interrupts, and stops until the next one was handled. Called with interrupts disabled: one that
/// came in before stands by and ends the halt, as the processor lets none in between the two instructions.
/// Interrupts are disabled again when this returns.
#[inline(always)]
pub(super) fn halt() {
    // SAFETY: as for `enable_interrupts` (IG3, IG4); the interrupts that come in run on stacks of their own
    // (IG5).
    unsafe { asm!("sti", "hlt", "cli", options(nostack)) };
}

/// Stops for good.
pub(super) fn stop() -> ! {
    loop {
        // SAFETY: ring 0 may stop its own processor (IG1), and no memory is touched.
        unsafe { asm!("cli", "hlt", options(nomem, nostack)) };
    }
}

/// The class of interrupts, 0 to 15, up to which they have to wait.
#[inline(always)]
pub(super) fn task_priority() -> u64 {
    let class: u64;
    // SAFETY: reading the task priority register at ring 0 (IG1) has no effect.
    unsafe { asm!("mov {}, cr8", out(reg) class, options(nomem, nostack, preserves_flags)) };
    class
}

/// Makes interrupts up to `class` wait.
#[inline(always)]
pub(super) fn set_task_priority(class: u64) {
    debug_assert!(class < 16);
    // SAFETY: ring 0 may write the task priority register (IG1); delaying interrupts breaks nobody's memory.
    unsafe { asm!("mov cr8, {}", in(reg) class, options(nostack, preserves_flags)) };
}

/// Reads a model-specific register.
///
/// # Safety
/// The processor must have it; it raises an exception otherwise.
#[inline]
pub(super) unsafe fn read_msr(register: u32) -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: the caller says that the register is there, and this is ring 0 (IG1).
    unsafe {
        asm!("rdmsr", in("ecx") register, out("eax") low, out("edx") high, options(nomem, nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}

/// Writes a model-specific register.
///
/// # Safety
/// The processor must have it, and `value` must leave the machine as the compiled code expects it.
#[inline]
pub(super) unsafe fn write_msr(register: u32, value: u64) {
    // SAFETY: the caller answers for the register and the value; this is ring 0 (IG1).
    unsafe {
        asm!("wrmsr", in("ecx") register, in("eax") value as u32, in("edx") (value >> 32) as u32, options(nostack, preserves_flags));
    }
}

/// Writes a byte to a port.
#[inline]
pub(super) fn out8(port: u16, value: u8) {
    // SAFETY: ring 0 (IG1), and no device that we talk to writes to memory (IG6).
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nostack, preserves_flags)) };
}

/// Writes four bytes to a port.
pub(super) fn out32(port: u16, value: u32) {
    // SAFETY: ring 0 (IG1), and no device that we talk to writes to memory (IG6).
    unsafe { asm!("out dx, eax", in("dx") port, in("eax") value, options(nostack, preserves_flags)) };
}

/// Reads a byte from a port.
#[inline]
pub(super) fn in8(port: u16) -> u8 {
    let value: u8;
    // SAFETY: ring 0 (IG1), and no device that we talk to writes to memory (IG6).
    unsafe { asm!("in al, dx", in("dx") port, out("al") value, options(nostack, preserves_flags)) };
    value
}

/// Reads four bytes from a port.
pub(super) fn in32(port: u16) -> u32 {
    let value: u32;
    // SAFETY: ring 0 (IG1), and no device that we talk to writes to memory (IG6).
    unsafe { asm!("in eax, dx", in("dx") port, out("eax") value, options(nostack, preserves_flags)) };
    value
}

/// Drops what the processor remembers of the page at `address`.
pub(super) fn forget_page(address: usize) {
    // SAFETY: forgetting a translation makes the processor look it up again, which is right in any case.
    unsafe { asm!("invlpg [{}]", in(reg) address, options(nostack, preserves_flags)) };
}

/// The address of which the last page fault complains.
pub(super) fn fault_address() -> u64 {
    let address: u64;
    // SAFETY: reading the register at ring 0 (IG1) has no effect.
    unsafe { asm!("mov {}, cr2", out(reg) address, options(nomem, nostack, preserves_flags)) };
    address
}

/// Resets the processor, by an exception for which there is no handler, nor one for what that raises.
pub(super) fn reset() -> ! {
    let nowhere = [0_u16; 5];
    // SAFETY: without a table of handlers the exception ends the machine, so that nothing runs afterwards.
    unsafe { asm!("lidt [{}]", "ud2", in(reg) &raw const nowhere, options(noreturn)) }
}
