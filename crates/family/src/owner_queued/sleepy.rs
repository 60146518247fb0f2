//! What [`owner-qspin`](super) does about owners that do not run: it marks the lock as sleepy, and lends them
//! time.
use super::word::{AllowStealing, LOCKED, OwnerQueuedLock, SLEEPY, owner_of};
use crate::events::FamilyEvents as _;
use crate::percpu::PerCpu;
use crate::platform::FamilyPlatform;
use crate::tunables::FamilyTunables as _;
use stanchion_core::events::Event;
use stanchion_core::machine::{self, Atomic};
use stanchion_core::order::{Acquire, Relaxed};
use stanchion_core::tunables::Tunable;

impl<P: FamilyPlatform> OwnerQueuedLock<P> {
    /// If the owner that `held` names does not run: marks the lock and, if it still is the owner, gives it
    /// this context's time. Whether it was seen not to run. `lets_steal`: the caller forbade stealing, and
    /// allows it for as long as it is away.
    pub(super) fn lend_time(&self, mut held: u16, sleepy: &mut Sleepy<'_, P>, lets_steal: bool) -> bool {
        if !P::paravirt() || held & LOCKED == 0 {
            return false;
        }
        if held & SLEEPY != 0 {
            sleepy.learn();
        } else if sleepy.is_set() && P::tunable(Tunable::SleepyLockSticky) != 0 {
            held = self.mark_sleepy(held, sleepy);
        }
        let Some(owner) = owner_of(held) else { return false };
        let count = P::yield_count(owner);
        if count.is_multiple_of(2) {
            return false;
        }
        held = self.mark_sleepy(held, sleepy);
        if P::tunable(Tunable::YieldOwner) == 0 {
            return true;
        }
        // ord: O14 alone: the reason is read again after the count, so that the count belongs to an owner
        P::fence(Acquire);
        // ord: O15 alone: a hint, behind the fence O14
        if self.held.load(Relaxed) == held {
            let _stealing = lets_steal.then(|| AllowStealing::new(self));
            P::count(Event::OwnerConfer);
            P::confer(owner, count);
            P::publish_running();
        }
        true
    }

    /// `*,*,1 -> *,*,3`, if nobody else did and the owner is the same. What the lower half is then, as far as
    /// we know.
    fn mark_sleepy(&self, held: u16, sleepy: &mut Sleepy<'_, P>) -> u16 {
        if P::tunable(Tunable::SleepyLock) == 0 {
            return held;
        }
        sleepy.learn();
        // ord: O16 alone: a hint to other waiters; changes nothing about who holds the lock (I2)
        if held & SLEEPY != 0 || self.held.compare_exchange(held, held | SLEEPY, Relaxed, Relaxed).is_err() {
            return held;
        }
        P::count(Event::OwnerSleepy);
        held | SLEEPY
    }
}

/// Whether this acquisition takes the lock for sleepy: then it polls more often before it gives up stealing,
/// and as head before it forbids others to.
pub(super) struct Sleepy<'a, P: FamilyPlatform> {
    percpu: Option<&'a PerCpu<P>>,
    seen: bool,
}

impl<'a, P: FamilyPlatform> Sleepy<'a, P> {
    /// At the start: as it was a while ago, if the context remembers.
    pub(super) fn new(percpu: Option<&'a PerCpu<P>>) -> Self {
        let memory = P::tunable(Tunable::SleepyLockInterval);
        let remembers = |percpu: &PerCpu<P>| {
            let seen: u32 = percpu.sleepy_seen.get();
            seen != 0 && micros::<P>().wrapping_sub(seen) < memory
        };
        Self { percpu, seen: memory != 0 && P::paravirt() && percpu.is_some_and(remembers) }
    }

    fn is_set(&self) -> bool {
        self.seen
    }

    fn learn(&mut self) {
        if P::tunable(Tunable::SleepyLock) == 0 {
            return;
        }
        if let Some(percpu) = self.percpu
            && P::tunable(Tunable::SleepyLockInterval) != 0
        {
            percpu.sleepy_seen.set(micros::<P>());
        }
        self.seen = true;
    }

    /// So many polls, or more of them on a lock whose owners are preempted.
    pub(super) fn limit(&self, polls: Tunable) -> u32 {
        let factor = if self.seen { P::tunable(Tunable::SleepyLockFactor).max(1) } else { 1 };
        P::tunable(polls).saturating_mul(factor)
    }
}

/// Never zero, which stands for never.
fn micros<P: FamilyPlatform>() -> u32 {
    machine::micros::<P>().max(1)
}
