//! Tunables with the smallest values that still reach every state. The code that they go through is the real
//! one.
use crate::platform::Model;
use crate::world;
use stanchion_core::qrw::{Lenient, RwPolicy};
use stanchion_core::{Platform, Tunable};
use stanchion_family::ByteLock;
use stanchion_family::tunables::FamilyTunables as _;

/// Tunables small enough to be reached in a few steps.
pub(crate) fn tuned(tunable: Tunable) -> u32 {
    match tunable {
        Tunable::XenTimeout
        | Tunable::SpinThreshold
        | Tunable::OticketNear
        | Tunable::StealSpins
        | Tunable::RemoteStealSpins
        | Tunable::PendingPolls
        | Tunable::StealIntervalMin
        | Tunable::HeadSpins
        | Tunable::SleepyLockFactor
        | Tunable::KickAhead
        | Tunable::CnaShuffle
        | Tunable::RwNewcomerPolls
        | Tunable::RwHeadPolls
        | Tunable::RwSweepPolls
        | Tunable::RwCalmReads
        | Tunable::Overtakings
        | Tunable::NearMicros => 1,
        // The clock advances by a microsecond each time it is read, which a writer does three times.
        Tunable::RwFenceRatio => {
            if world::here().0.settings().fenced {
                1_000
            } else {
                3
            }
        }
        Tunable::StealIntervalMax
        | Tunable::OticketWake
        | Tunable::LookAhead
        | Tunable::SpinNanos
        | Tunable::TurnMicros => 2,
        // The clock advances by a microsecond each time it is read: a secondary queue is handed on once.
        Tunable::CnaThreshold | Tunable::PauseNanos => 0,
        other => other.default(),
    }
}

/// As `Lenient`, with locks of which less is to be explored, for so many readers: one more is refused.
#[derive(Debug)]
pub(crate) enum Bytes<const READERS: u32 = { <Lenient as RwPolicy<Model>>::MOST_READERS }> {}

impl<P: Platform, const READERS: u32> RwPolicy<P> for Bytes<READERS> {
    type Queue = ByteLock<P>;
    type Writers = ByteLock<P>;
    const NAME: &'static str = <Lenient as RwPolicy<P>>::NAME;
    const STRICT: bool = <Lenient as RwPolicy<P>>::STRICT;
    const MOST_READERS: u32 = READERS;
}
