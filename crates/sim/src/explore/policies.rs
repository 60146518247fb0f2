//! Tunables small enough to be reached in a few steps. The code they go through is the real one.
use core::marker::PhantomData;
use stanchion_core::qrw::RwPolicy;
use stanchion_core::{Platform, Tunable};
use stanchion_family::tunables::FamilyTunables as _;

/// Tunables small enough to be reached in a few steps; a lock's own setting counts for those that need not be
/// small.
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
        | Tunable::LookAhead => 2,
        Tunable::HeadSpins => 3,
        // So long that an heir that finds the lock hot has some of its turn left to sleep.
        Tunable::TurnMicros => 4,
        Tunable::SleepyLockInterval => 5,
        // So many looks that an owner gets from rousing an heir to releasing the lock before the heir sleeps
        // again, as it does natively.
        Tunable::SpinNanos => 16 * Tunable::PauseNanos.default(),
        other => {
            let own = tunings.iter().find(|&&(tuned, _)| tuned == other);
            own.map_or(other.default(), |&(_, value)| value)
        }
    }
}

/// Whether a tunable is a switch that somebody may turn on and off at any time: the explorer does so whenever
/// it is asked for.
pub(super) fn is_switch(tunable: Tunable) -> bool {
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

/// As `W`, for two readers: a third one is refused.
#[derive(Debug)]
pub(super) struct Few<W>(PhantomData<W>);

impl<P: Platform, W: RwPolicy<P>> RwPolicy<P> for Few<W> {
    type Queue = W::Queue;
    type Writers = W::Writers;
    const NAME: &'static str = W::NAME;
    const STRICT: bool = W::STRICT;
    const MOST_READERS: u32 = 2;
}
