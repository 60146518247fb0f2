//! Newcomers: those who find the lock held, until they own it or queue.
use super::policy::Limits;
use super::waiter::Waiter;
use super::word::{NO_STEALING, OPEN, PENDING};
use super::{PvQSpinLock, WaitPolicy};
use crate::events::FamilyEvents as _;
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::slow_path::count_nesting;
use crate::tunables::FamilyTunables as _;
use stanchion_core::Tunable;
use stanchion_core::events::Event;
use stanchion_core::machine::Atomic;
use stanchion_core::order::Relaxed;

/// Nanoseconds between two tries.
const PAUSE: u32 = 25;

impl<P: FamilyPlatform, W: WaitPolicy> PvQSpinLock<P, W> {
    /// While a queue exists, stealing is the common way, and ends here.
    #[inline(never)]
    pub(super) fn acquire_contended(&self) {
        if Limits::<P, W>::STEALS && self.acquire_as_newcomer() {
            P::count_if(Event::PvLockStealing, || self.has_queue());
        } else {
            self.acquire_slow();
        }
    }

    /// Tries for the lock for a while without queueing. `false`: queue.
    fn acquire_as_newcomer(&self) -> bool {
        for _ in 0..Limits::<P, W>::NEWCOMER_POLLS {
            if self.may_steal_now() && self.claim() {
                return true;
            }
            P::relax(PAUSE);
        }
        false
    }

    #[cold]
    fn acquire_slow(&self) {
        P::with_domain(|domain| {
            let Some(cpu) = P::this_cpu() else { return self.acquire_without_node() };
            if W::PENDING && self.acquire_as_pending() {
                P::count(Event::LockPending);
                return;
            }
            P::count(Event::LockSlowpath);
            let Some(nesting) = domain.cpu(cpu).enter() else { return self.acquire_without_node() };
            count_nesting::<P>(nesting.level());
            Waiter::new(self, domain, cpu, &nesting).acquire();
        });
    }

    /// The first waiter polls the lock itself for a while: `0,0,1 -> 0,125,1 -> 0,125,0 -> 0,125,1 -> 0,0,1`.
    ///
    /// A head may write over the pending mark. That does no harm: nothing hangs on the mark but that
    /// newcomers queue.
    fn acquire_as_pending(&self) -> bool {
        // ord: V44 alone: the mark orders waiters, not sections
        if self.has_queue() || self.head.compare_exchange(OPEN, PENDING, Relaxed, Relaxed).is_err() {
            return false;
        }
        // ord: V45 alone: waits until a claim has a chance
        let free =
            self.locked.wait_until_polls(P::tunable(Tunable::PendingPolls), Relaxed, |locked| locked == 0);
        let mine = free.is_ok() && self.claim();
        // ord: V46 alone: as V44; fails if a head has written its own mark meanwhile
        let _ = self.head.compare_exchange(PENDING, OPEN, Relaxed, Relaxed);
        mine
    }

    /// The way of a context that has no node: tries for the lock and is overtaken without bound.
    fn acquire_without_node(&self) {
        P::count(Event::LockNoNode);
        // A lock that spins for good never asks.
        // ord: V54 alone: a request; missing it costs the head one overtaking
        while self.head.load(Relaxed) == NO_STEALING || !self.claim() {
            P::yield_slice();
            P::relax(PAUSE);
        }
    }
}
