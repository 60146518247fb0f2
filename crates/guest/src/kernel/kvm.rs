//! What KVM offers its guests beyond a machine: who is preempted, waking a halted vCPU, and yielding to one.
//! Elsewhere, nothing.
use super::arch::{self, cpuid};
use super::cpu::Cpu;
use core::arch::asm;
use core::sync::atomic::{AtomicU8, Ordering};
use stanchion_guest::cells::Count;

const SIGNATURE_LEAF: u32 = 0x4000_0000;
const STEAL_TIME: u64 = 1 << 5;
const KICK: u64 = 1 << 7;
const YIELD: u64 = 1 << 13;
/// Of ours: the processor's instruction for a hypercall is AMD's.
const AMD: u64 = 1 << 63;

const STEAL_TIME_MSR: u32 = 0x4b56_4d03;
const STEAL_TIME_ENABLED: u64 = 1;
const KICK_CALL: u64 = 5;
const YIELD_CALL: u64 = 11;

static OFFERED: Count = Count::new(0);

/// What KVM writes about one vCPU while that does not run.
#[repr(C, align(64))]
pub(super) struct StealTime {
    stolen_and_version: [AtomicU8; 16],
    preempted: AtomicU8,
    rest: [AtomicU8; 47],
}

impl StealTime {
    pub(super) const fn new() -> Self {
        Self {
            stolen_and_version: [const { AtomicU8::new(0) }; 16],
            preempted: AtomicU8::new(0),
            rest: [const { AtomicU8::new(0) }; 47],
        }
    }
}

/// The twelve characters by which the hypervisor names itself; `None` without one.
pub(super) fn hypervisor() -> Option<[u8; 12]> {
    if cpuid(1, 0).ecx >> 31 == 0 {
        return None;
    }
    let registers = cpuid(SIGNATURE_LEAF, 0);
    let mut name = [0; 12];
    for (piece, register) in name.chunks_exact_mut(4).zip([registers.ebx, registers.ecx, registers.edx]) {
        piece.copy_from_slice(&register.to_le_bytes());
    }
    Some(name)
}

/// Finds out what is offered. By the first vCPU, before any other starts.
pub(super) fn ask() {
    if hypervisor() != Some(*b"KVMKVMKVM\0\0\0") || cpuid(SIGNATURE_LEAF, 0).eax <= SIGNATURE_LEAF {
        return;
    }
    let features = u64::from(cpuid(SIGNATURE_LEAF + 1, 0).eax) & (STEAL_TIME | KICK | YIELD);
    let vendor = cpuid(0, 0).ebx.to_le_bytes();
    let is_amd = vendor == *b"Auth" || vendor == *b"Hygo";
    OFFERED.set(features | if is_amd { AMD } else { 0 });
}

/// Whether the vCPUs' records of stolen time are kept.
#[inline]
pub(super) fn has_steal_time() -> bool {
    OFFERED.get() & STEAL_TIME != 0
}

/// Whether a halted vCPU is woken by a hypercall.
#[inline]
pub(super) fn has_kick() -> bool {
    OFFERED.get() & KICK != 0
}

/// Whether there is a hypercall that yields to a vCPU.
#[inline]
pub(super) fn has_yield() -> bool {
    OFFERED.get() & YIELD != 0
}

/// Has the calling vCPU's record of stolen time kept.
pub(super) fn register(cpu: &'static Cpu) {
    if has_steal_time() {
        let address = core::ptr::from_ref(&cpu.steal).addr() as u64;
        // SAFETY: KVM says that it has the register; what it writes to from now on is a static record of
        // atomics, aligned to 64 bytes, at its physical address (IG2).
        unsafe { arch::write_msr(STEAL_TIME_MSR, address | STEAL_TIME_ENABLED) };
    }
}

/// Whether the vCPU is known not to run.
#[inline]
pub(super) fn is_preempted(cpu: &Cpu) -> bool {
    // ord: AB11 alone: a hint that may be out of date; only the hypervisor writes it
    has_steal_time() && cpu.steal.preempted.load(Ordering::Relaxed) & 1 != 0
}

/// Ends the halt of the vCPU with this interrupt controller, or its next one.
pub(super) fn kick(apic: u32) {
    call(KICK_CALL, 0, u64::from(apic));
}

/// Gives the rest of the slice to the vCPU with this interrupt controller, if it does not run.
pub(super) fn yield_to(apic: u32) {
    call(YIELD_CALL, u64::from(apic), 0);
}

fn call(number: u64, first: u64, second: u64) {
    // RBX is the compiler's, so the argument comes in by another register. Not `nomem`: who is woken reads
    // what was written before.
    // SAFETY: only called if KVM offers the call; these two touch no memory of ours, and change no register
    // but RAX.
    unsafe {
        if OFFERED.get() & AMD != 0 {
            asm!("xchg rbx, {first}", "vmmcall", "xchg rbx, {first}", first = inout(reg) first => _,
                inout("rax") number => _, in("rcx") second, options(nostack));
        } else {
            asm!("xchg rbx, {first}", "vmcall", "xchg rbx, {first}", first = inout(reg) first => _,
                inout("rax") number => _, in("rcx") second, options(nostack));
        }
    }
}
