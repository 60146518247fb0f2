//! Newcomers: those who find the lock held, until they own it or queue.
use super::backoff::{Backoff, Seen};
use super::patience::Patience;
use super::stint::{self, Stint};
use super::waiter::{Outcome, Waiter};
use super::word::{NO_STEALING, OPEN, PENDING, said};
use super::{PvQSpinLock, WaitPolicy};
use crate::Tunable;
use crate::events::Event;
use crate::lock::RawLock;
use crate::order::Relaxed;
use crate::percpu::{Domain, PerCpu};
use crate::platform::{Atomic, Platform, micros};

impl<P: Platform, W: WaitPolicy> PvQSpinLock<P, W> {
    /// While a queue exists, taking a free lock on credit is the common way, and ends here.
    #[inline(never)]
    pub(super) fn acquire_contended(&self) {
        let mut entry = Entry::Free;
        if W::STEALS && self.has_queue() {
            entry = if stint::spend_credit::<P>() { Entry::OnCredit } else { Entry::LookAtClock };
            if let Entry::OnCredit = entry
                && self.may_steal_now()
                && self.claim()
            {
                P::count(Event::PvLockStealing);
                return;
            }
        }
        self.acquire_slow(entry);
    }

    #[cold]
    fn acquire_slow(&self, mut entry: Entry) {
        P::with_domain(|domain| {
            let Some(cpu) = P::this_cpu() else { return self.acquire_without_node() };
            let percpu = domain.cpu(cpu);
            if W::PENDING && self.acquire_as_pending() {
                P::count(Event::LockPending);
                return;
            }
            loop {
                if W::STEALS && self.acquire_as_newcomer(domain, percpu, &entry) {
                    return;
                }
                P::count(Event::LockSlowpath);
                let Some(nesting) = percpu.enter() else { return self.acquire_without_node() };
                crate::qspin::count_nesting::<P>(nesting.level());
                let queued = if W::STEALS { micros::<P>() } else { 0 };
                let outcome = Waiter::new(self, domain, cpu, &nesting).acquire();
                if W::STEALS {
                    stint::begin::<P, W>(percpu, queued);
                }
                match outcome {
                    Outcome::Owner => return,
                    // A CPU was made free for this context; it does not go back to the end of the queue easily.
                    Outcome::LetOut
                        if (0..W::LET_OUT_TRIES).any(|_| self.compete_as_newcomer(percpu, &entry)) =>
                    {
                        return;
                    }
                    Outcome::LetOut => entry = Entry::OnCredit,
                }
            }
        });
    }

    /// Tries for the lock for a while without queueing. `false`: queue.
    fn acquire_as_newcomer(&self, domain: &P::Domain, percpu: &PerCpu<P>, entry: &Entry) -> bool {
        let stint = match entry {
            Entry::Free | Entry::OnCredit => Stint::Lasts,
            Entry::LookAtClock => stint::look(self, percpu),
        };
        if let Stint::Over = stint {
            P::count(Event::PvStintOver);
            return false;
        }
        if !self.compete_as_newcomer(percpu, entry) {
            return false;
        }
        if let Stint::OverElsewhere = stint {
            if let Some(successor) = self.let_out_a_waiter(domain) {
                RawLock::release(self);
                P::kick(successor);
                return false;
            }
            stint::extend::<P, W>(percpu);
        }
        if !matches!(entry, Entry::Free) {
            P::count(Event::PvLockStealing);
        }
        true
    }

    fn compete_as_newcomer(&self, percpu: &PerCpu<P>, entry: &Entry) -> bool {
        let patience = Patience::of(percpu);
        let most = patience.within(W::NEWCOMER_SPIN);
        // How fast a context acquires is counted ahead of queues only.
        let hurried = !matches!(entry, Entry::Free) && stint::is_hurried::<P, W>(percpu);
        let mut backoff = if hurried {
            // Whatever its patience, it looks a few times.
            Backoff::starting_with::<W>(W::HURRIED_PAUSE.min(most / 4).max(1))
        } else {
            Backoff::new::<W>()
        };
        while backoff.spent() < most {
            let moved = match self.look() {
                Seen::Free if self.may_steal_now() && self.claim() => {
                    patience.paid_off(backoff.spent(), W::NEWCOMER_SPIN);
                    return true;
                }
                Seen::Free => true,
                Seen::Held { moved } => moved,
            };
            backoff.pause::<P>(moved);
        }
        patience.was_in_vain(backoff.moved(), W::NEWCOMER_SPIN);
        false
    }

    /// The first waiter polls the lock itself for a while: `0,0,1 -> 0,125,1 -> 0,125,0 -> 0,125,1 -> 0,0,1`.
    ///
    /// A head may write over the pending mark. That does no harm: nothing hangs on the mark but that newcomers queue.
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
        let mut backoff = Backoff::new::<W>();
        // A lock that spins for good never asks.
        // ord: V54 alone: a request; missing it costs the head one overtaking
        while said(self.head.load(Relaxed)) == NO_STEALING || !self.claim() {
            if backoff.spent() >= W::HEAD_SPIN {
                P::yield_slice();
            }
            backoff.pause::<P>(true);
        }
    }
}

/// How an acquisition met the queue.
enum Entry {
    /// There was none.
    Free,
    /// There was one, and the acquisition ahead of it is paid for.
    OnCredit,
    /// There was one, and the credit is spent.
    LookAtClock,
}
