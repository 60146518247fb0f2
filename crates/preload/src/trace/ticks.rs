//! Time stamps: the processor's counter where it runs at one rate, else nanoseconds.
use crate::locks::World;
use stanchion::native::ticks;
pub(super) use stanchion::native::ticks::are_steady;
use stanchion_core::Machine;

pub(super) const TICKS: u8 = 1;
pub(super) const NANOS: u8 = 2;

#[inline(always)]
pub(super) fn now(clock: u8) -> u64 {
    if clock == TICKS { ticks::now() } else { World::now() }
}
