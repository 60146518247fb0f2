//! The local interrupt controller of each vCPU: interrupts between vCPUs, their acknowledgement, and the
//! timer's registers.
//!
//! It is reached through model-specific registers where the processor has an x2APIC, and in memory at its
//! usual address where not (IG2).
use super::arch::{self, cpuid};
use super::stubs::{KICK, SPURIOUS, TIMER};
use core::sync::atomic::{AtomicBool, Ordering};

/// Registers, by their number in the x2APIC; in memory they are 16 bytes apart.
const NUMBER: u32 = 0x02;
const ACKNOWLEDGE: u32 = 0x0B;
const SPURIOUS_VECTOR: u32 = 0x0F;
const COMMAND: u32 = 0x30;
const COMMAND_TARGET: u32 = 0x31;
const TIMER_VECTOR: u32 = 0x32;
const TIMER_START: u32 = 0x38;
const TIMER_NOW: u32 = 0x39;
const TIMER_DIVISOR: u32 = 0x3E;

const MEMORY: usize = 0xFEE0_0000;
const FIRST_MSR: u32 = 0x800;
const BASE_MSR: u32 = 0x1B;
const BASE_ENABLED: u64 = 1 << 11;
const BASE_X2: u64 = 1 << 10;
const DEADLINE_MSR: u32 = 0x6E0;

const SOFTWARE_ENABLED: u32 = 1 << 8;
const DIVIDE_BY_1: u32 = 0b1011;
const BY_DEADLINE: u32 = 0b10 << 17;
const MASKED: u32 = 1 << 16;
const DELIVERY_PENDING: u32 = 1 << 12;
const INIT: u32 = 0b101 << 8 | 1 << 14;
const START_UP: u32 = 0b110 << 8 | 1 << 14;
const FIXED: u32 = 1 << 14;

static X2: AtomicBool = AtomicBool::new(false);

/// Whether the x2APIC is in use.
#[inline(always)]
pub(super) fn is_x2() -> bool {
    // ord: AB1 alone: written once, by the first vCPU before it starts another
    X2.load(Ordering::Relaxed)
}

/// Finds out which kind there is, and silences the old controllers that the firmware has used. By the first
/// vCPU, before `enable`.
pub(super) fn choose() {
    for mask in [0x21, 0xA1] {
        arch::out8(mask, 0xff);
    }
    // ord: AB2 alone: as AB1, nobody else runs yet
    X2.store(cpuid(1, 0).ecx & 1 << 21 != 0, Ordering::Relaxed);
}

/// The number of the calling vCPU's controller.
pub(super) fn own() -> u32 {
    if is_x2() { read(NUMBER) } else { read(NUMBER) >> 24 }
}

/// Switches the calling vCPU's controller on.
pub(super) fn enable() {
    // SAFETY: every processor that runs in 64-bit mode has the register, and its APIC stays where it is in
    // memory.
    unsafe {
        let mode = if is_x2() { BASE_ENABLED | BASE_X2 } else { BASE_ENABLED };
        arch::write_msr(BASE_MSR, arch::read_msr(BASE_MSR) | mode);
    }
    write(SPURIOUS_VECTOR, SOFTWARE_ENABLED | u32::from(SPURIOUS));
    arch::set_task_priority(0);
}

/// The interrupt that is being handled is done with; others of its class may come in.
#[inline]
pub(super) fn acknowledge() {
    write(ACKNOWLEDGE, 0);
}

/// Sends a kick to the controller numbered `apic`.
#[inline]
pub(super) fn kick(apic: u32) {
    command(apic, FIXED | u32::from(KICK));
}

/// Resets another vCPU, so that it waits to be started.
pub(super) fn reset(apic: u32) {
    command(apic, INIT);
}

/// Starts another vCPU that was reset, in 16-bit mode at the page of `address`.
pub(super) fn start(apic: u32, address: u32) {
    command(apic, START_UP | address >> 12);
}

fn command(apic: u32, what: u32) {
    if is_x2() {
        // An x2APIC's write is no fence, and who is interrupted looks at what was written before.
        // ord: AB3 alone: orders the stores before it and the interrupt, which the language knows nothing of
        core::sync::atomic::fence(Ordering::SeqCst);
        // The write is no access to memory either, which is all that the fence holds back: it waits for the
        // fence by this.
        arch::wait_for_loads();
        // SAFETY: there is an x2APIC, and an interrupt disturbs no memory (IG4, IG5); a reset vCPU runs only
        // what we start.
        unsafe { arch::write_msr(FIRST_MSR + COMMAND, u64::from(apic) << 32 | u64::from(what)) };
        return;
    }
    // The two halves belong together: a handler in between must not send one of its own.
    arch::undisturbed(|| {
        write(COMMAND_TARGET, apic << 24);
        write(COMMAND, what);
        while read(COMMAND) & DELIVERY_PENDING != 0 {
            core::hint::spin_loop();
        }
    });
}

/// Prepares the timer, to go off at a time stamp if `by_deadline`, else after a count.
pub(super) fn prepare_timer(by_deadline: bool) {
    if by_deadline {
        write(TIMER_VECTOR, BY_DEADLINE | u32::from(TIMER));
        // The switch must have been seen before the first deadline is written, which in memory is another
        // kind of access.
        // ord: AB4 alone: orders two registers of this vCPU, as the processor's manual asks
        core::sync::atomic::fence(Ordering::SeqCst);
    } else {
        write(TIMER_DIVISOR, DIVIDE_BY_1);
        write(TIMER_VECTOR, u32::from(TIMER));
    }
}

/// Lets the count run from its greatest value, without interrupts, to see how fast it is.
pub(super) fn count_down() {
    write(TIMER_DIVISOR, DIVIDE_BY_1);
    write(TIMER_VECTOR, MASKED | u32::from(TIMER));
    write(TIMER_START, u32::MAX);
}

/// How far it got.
pub(super) fn counted() -> u32 {
    u32::MAX - read(TIMER_NOW)
}

/// The timer goes off after so many of its ticks; 0 stops it.
#[inline]
pub(super) fn set_count(ticks: u32) {
    write(TIMER_START, ticks);
}

/// The timer goes off when the time stamp counter gets there; 0 stops it.
#[inline]
pub(super) fn set_deadline(stamp: u64) {
    // SAFETY: only called where the processor has the register (`timer::prepare`), whose value is only a
    // time.
    unsafe { arch::write_msr(DEADLINE_MSR, stamp) };
}

#[inline(always)]
fn write(register: u32, value: u32) {
    if is_x2() {
        // SAFETY: there is an x2APIC, and the registers that we write only say when and how this vCPU is
        // interrupted (IG4).
        unsafe { arch::write_msr(FIRST_MSR + register, u64::from(value)) };
    } else {
        // SAFETY: the controller's page is mapped (IG2) and its registers stand there; no memory changes by
        // it.
        unsafe { in_memory(register).write_volatile(value) };
    }
}

fn read(register: u32) -> u32 {
    if is_x2() {
        // SAFETY: there is an x2APIC, which has the registers that we read.
        unsafe { arch::read_msr(FIRST_MSR + register) as u32 }
    } else {
        // SAFETY: the controller's page is mapped (IG2) and its registers stand there.
        unsafe { in_memory(register).read_volatile() }
    }
}

#[inline(always)]
fn in_memory(register: u32) -> *mut u32 {
    core::ptr::with_exposed_provenance_mut(MEMORY + register as usize * 16)
}
