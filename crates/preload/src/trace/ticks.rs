//! Time stamps: the processor's counter where it runs at one rate, else nanoseconds.
use crate::locks::World;
use core::arch::x86_64::{__cpuid, _rdtsc};
use stanchion_core::Platform;

pub(super) const TICKS: u8 = 1;
pub(super) const NANOS: u8 = 2;

/// Whether the processor promises a counter of constant rate ("invariant TSC").
pub(super) fn are_steady() -> bool {
    const HIGHEST: u32 = 0x8000_0000;
    const POWER: u32 = 0x8000_0007;
    __cpuid(HIGHEST).eax >= POWER && __cpuid(POWER).edx & 1 << 8 != 0
}

#[inline(always)]
pub(super) fn now(clock: u8) -> u64 {
    if clock == TICKS {
        // SAFETY: part of baseline x86-64; it reads a counter. That it may run ahead by a few instructions does not matter here.
        return unsafe { _rdtsc() };
    }
    World::now()
}
