//! Wait policies with constants small enough to be reached in a few steps. The code they go through is the real one.
//!
//! In this world a step takes 100 ns and a pause is a step, so a stint of one microsecond is ten steps.
use stanchion_core::Tunable;
use stanchion_core::pv_qspin::{Spots, WaitPolicy};
use stanchion_core::qrw::RwPolicy;

/// Tunables small enough to be reached in a few steps; a lock's own setting counts for those that need not be small.
pub(super) fn tuned(tunable: Tunable, tunings: &[(Tunable, u32)]) -> u32 {
    match tunable {
        Tunable::StealIntervalMin
        | Tunable::RemoteStealSpins
        | Tunable::CnaShuffle
        | Tunable::NearMicros
        | Tunable::RwCalmReads => 1,
        Tunable::XenTimeout
        | Tunable::SpinThreshold
        | Tunable::StealSpins
        | Tunable::PendingPolls
        | Tunable::StealIntervalMax
        | Tunable::SleepyLockFactor
        | Tunable::KickAhead
        | Tunable::CnaThreshold
        | Tunable::OticketNear
        | Tunable::OticketWake
        | Tunable::RwNewcomerPolls
        | Tunable::RwHeadPolls
        | Tunable::RwSweepPolls
        | Tunable::RwFenceRatio
        | Tunable::Overtakings
        | Tunable::TurnMicros
        | Tunable::LookAhead => 2,
        Tunable::HeadSpins => 3,
        Tunable::SleepyLockInterval => 5,
        // Four looks.
        Tunable::SpinNanos => 4 * Tunable::PauseNanos.default(),
        other => {
            let own = tunings.iter().find(|&&(tuned, _)| tuned == other);
            own.map_or(other.default(), |&(_, value)| value)
        }
    }
}

/// Whether a tunable is a switch that somebody may turn on and off at any time: the explorer does so whenever it is asked for.
pub(super) const fn is_switch(tunable: Tunable) -> bool {
    matches!(
        tunable,
        Tunable::YieldOwner
            | Tunable::YieldAllowSteal
            | Tunable::SpinOnPreemptedOwner
            | Tunable::SleepyLock
            | Tunable::SleepyLockSticky
            | Tunable::YieldPrev
            | Tunable::YieldSleepyOwner
            | Tunable::ProdHead
            | Tunable::Adapt
            | Tunable::Turns
            | Tunable::HandOver
    )
}

macro_rules! policies {
    ($($(#[$doc:meta])* $policy:ident = $name:literal: $steals:literal, newcomer $newcomer:literal, head $patience:literal of
        $head:literal, stint $stint:literal, extension $extension:literal, look ahead $ahead:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub(super) enum $policy {}

        impl WaitPolicy for $policy {
            const NAME: &'static str = $name;
            const STEALS: bool = $steals;
            const NEWCOMER_SPIN: u32 = $newcomer;
            const QUEUED_SPIN: u32 = 2;
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
            const MOST_CREDIT: u32 = 2;
            type Signpost = Spots;
        }
    )*};
}

policies! {
    /// As `Hybrid`.
    Quick = "pv-qspin": true, newcomer 2, head 2 of 4, stint 6, extension 0, look ahead 0;
    /// As `Hybrid`, with waiters that are let out of the queue.
    LetsOut = "pv-qspin-lets-out": true, newcomer 2, head 2 of 4, stint 1, extension 20, look ahead 3;
    /// As `Hybrid`, and who comes out of a queue never steals.
    NoStint = "pv-qspin-no-stint": true, newcomer 2, head 2 of 4, stint 0, extension 0, look ahead 0;
    /// As `Hybrid`, and only the head's objection stops thieves: a stint is longer than any run.
    LongStint = "pv-qspin-long-stint": true, newcomer 2, head 2 of 4, stint 1_000_000, extension 0, look ahead 0;
}

/// The greatest overtaking of a waiter by one context that the stint of [`Quick`] allows, tries included.
///
/// A stint of 6 µs is sixty steps. The context that comes out of a queue needs nine until it has released the lock. Then it
/// acquires once after a look at the clock (13 steps until the release) and [`MOST_CREDIT`](WaitPolicy::MOST_CREDIT) = 2
/// times on credit (6 steps each), and each of the three may come after a try that succeeds (6 steps), which costs no
/// credit. Without tries that is three acquisitions in 25 steps, and looks at steps 9, 34 and 59 find the stint lasting: 9.
/// With tries it is six in 43 steps and looks at 9 and 52: 12, and one more try before it queues.
pub(super) const OVERTAKING_BY_STINT: u32 = 13;
/// The same without a stint: the acquisition under way when the waiter queued, and the try before the queueing.
pub(super) const OVERTAKING_WITHOUT_STINT: u32 = 2;

/// As `Lenient`, for a single reader: a second one is refused.
#[derive(Debug)]
pub(super) enum One {}

impl RwPolicy for One {
    const NAME: &'static str = "qrw-few";
    const PATIENT: bool = true;
    const HALTS: bool = true;
    const MOST_READERS: u32 = 1;
}
