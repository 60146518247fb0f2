//! Wait policies and tunables with the smallest constants that still reach every state. The code that they go through is the
//! real one.
use crate::world;
use stanchion_core::Tunable;
use stanchion_core::pv_qspin::{Spots, WaitPolicy};
use stanchion_core::qrw::RwPolicy;

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

macro_rules! policies {
    ($($(#[$doc:meta])* $policy:ident = $name:literal: $steals:literal, newcomer $newcomer:literal, queued $queued:literal,
        head $patience:literal of $head:literal, stint $stint:literal, extension $extension:literal, look ahead $ahead:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) enum $policy {}

        impl WaitPolicy for $policy {
            const NAME: &'static str = $name;
            const STEALS: bool = $steals;
            const NEWCOMER_SPIN: u32 = $newcomer;
            const QUEUED_SPIN: u32 = $queued;
            const HEAD_PATIENCE: u32 = $patience;
            const HEAD_SPIN: u32 = $head;
            const FIRST_PAUSE: u32 = 1;
            const LONGEST_PAUSE: u32 = 1;
            const SHORTEST_STINT_MICROS: u32 = $stint;
            const LONGEST_STINT_MICROS: u32 = $stint;
            const STINT_TIMES_WAIT_MICROS: u32 = 1;
            const LONGEST_EXTENSION: u32 = $extension;
            const LOOK_AHEAD: usize = $ahead;
            const LET_OUT_TRIES: u32 = 1;
            const CLOCK_INTERVAL_MICROS: u32 = 1;
            const LEAST_CREDIT: u32 = 1;
            const MOST_CREDIT: u32 = 1;
            type Signpost = Spots;
        }
    )*};
}

policies! {
    /// As `Hybrid`: steals, and its head objects to thieves before it sleeps.
    Steals = "pv-qspin": true, newcomer 1, queued 0, head 0 of 1, stint 2, extension 0, look ahead 0;
    /// As `Hybrid`, and who comes out of a queue never steals.
    NoStint = "pv-qspin-no-stint": true, newcomer 1, queued 0, head 0 of 0, stint 0, extension 0, look ahead 0;
    /// As `Hybrid`, with waiters that are let out of the queue.
    LetsOut = "pv-qspin-lets-out": true, newcomer 1, queued 0, head 0 of 0, stint 1, extension 9, look ahead 2;
    /// As `KickAtUnlock`.
    Fair = "pv-qspin-kick-at-unlock": false, newcomer 0, queued 0, head 0 of 0, stint 0, extension 0, look ahead 0;
}

/// As `Lenient`, for a single reader: a second one is refused.
#[derive(Debug)]
pub(crate) enum Few {}

impl RwPolicy for Few {
    const NAME: &'static str = "qrw-few";
    const PATIENT: bool = true;
    const HALTS: bool = true;
    const MOST_READERS: u32 = 1;
}
