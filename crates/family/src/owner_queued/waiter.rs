//! A queued context of [`owner-qspin`](super): waits behind another one, then as head, and leaves the queue
//! as owner.
use super::sleepy::Sleepy;
use super::word::{MUST_QUEUE, OwnerQueuedLock, TAIL_MASK, TRANSITIONS, toggle_must_queue};
use crate::events::FamilyEvents as _;
use crate::percpu::QNode;
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::tail::NodeCode;
use crate::tunables::FamilyTunables as _;
use stanchion_core::events::Event;
use stanchion_core::machine::Atomic;
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release};
use stanchion_core::transitions::Field;
use stanchion_core::tunables::Tunable;

/// States of a queued node (I5).
const WAIT: u8 = 0;
/// Waits, and was told that the owner does not run.
const TOLD: u8 = 1;
const HEAD: u8 = 2; // as in `qspin`, so that a report reads both

/// How often a waiter polls its own line between two looks at whether the one in front runs.
const POLLS_BEHIND: u32 = 32;

/// A context in the queue.
pub(super) struct Waiter<'a, P: FamilyPlatform> {
    pub(super) lock: &'a OwnerQueuedLock<P>,
    pub(super) domain: &'a P::Domain,
    pub(super) me: NodeCode,
    pub(super) node: &'a QNode<P>,
}

impl<P: FamilyPlatform> Waiter<'_, P> {
    /// Queues, waits, and leaves the queue with the lock, which holds `mine` then.
    pub(super) fn acquire(&self, mine: u16, sleepy: &mut Sleepy<'_, P>) {
        // ord: O20 alone: published by O5
        self.node.next.store(NodeCode::NONE, Relaxed);
        // ord: O21 alone: published by O5
        self.node.state.store(WAIT, Relaxed);
        if let Some(before) = self.publish() {
            // ord: O6 pairs O5, O7, O27: the link comes after the displaced node was ready
            self.domain.node(before).next.store(self.me.raw(), Release);
            self.wait_behind(before, sleepy);
        }
        let forbids = self.wait_as_head(mine, sleepy);
        self.leave(forbids);
    }

    /// `p,m,* -> n,m,*`: becomes the last in the queue. Who was it before.
    fn publish(&self) -> Option<NodeCode> {
        // ord: O22 alone: the exchange decides
        let mut before = self.lock.queue.load(Relaxed);
        loop {
            TRANSITIONS.check(Field::Tail, || before & TAIL_MASK, self.me.raw());
            let after = before & MUST_QUEUE | self.me.raw();
            // ord: O5 pairs O5, O6: our node is ready before anybody can displace it, and so is the one that
            // we displace
            match self.lock.queue.compare_exchange(before, after, AcqRel, Relaxed) {
                Ok(_) => return NodeCode::from_raw(before & TAIL_MASK),
                Err(now) => before = now,
            }
        }
    }

    /// Waits until this node is head, and meanwhile gives time to an owner or a waiter in front that does not
    /// run.
    fn wait_behind(&self, before: NodeCode, sleepy: &mut Sleepy<'_, P>) {
        let mut told_next = false;
        loop {
            // ord: O9 pairs O8: what the previous head did with the queue comes before what we do
            let state = self.node.state.wait_until_polls(POLLS_BEHIND, Acquire, |state| state != WAIT);
            if state == Ok(HEAD) {
                return;
            }
            if !P::paravirt() {
                continue;
            }
            let preempted = state == Ok(TOLD) && {
                // ord: O23 alone: asked for a hint about its owner
                let held = self.lock.held.load(Relaxed);
                self.lock.lend_time(held, sleepy, false)
            };
            self.tell_next(preempted, &mut told_next);
            if !preempted {
                self.lend_time_to_previous(before, state == Ok(TOLD));
            }
        }
    }

    /// Gives this context's time to the waiter in front, if it does not run and we still wait for it.
    fn lend_time_to_previous(&self, before: NodeCode, told: bool) {
        let count = P::yield_count(before.cpu());
        if count.is_multiple_of(2) || P::tunable(Tunable::YieldPrev) == 0 {
            if told {
                // The hint is out of date: polls on, as if it had not been given.
                // ord: O24 alone: the waiting loop decides
                let _ = self.node.state.wait_until_polls(POLLS_BEHIND, Relaxed, |state| state == HEAD);
            }
            return;
        }
        // ord: O25 alone: the reason is read again after the count, so that the count belongs to who is in
        // front
        P::fence(Acquire);
        // ord: O26 alone: a hint, behind the fence O25
        if self.node.state.load(Relaxed) != HEAD {
            P::count(Event::OwnerConferPrev);
            P::confer(before.cpu(), count);
            P::publish_running();
        }
    }

    /// Tells the waiter behind, if there is one, whether the owner does not run. `told` is what it was told
    /// before.
    fn tell_next(&self, preempted: bool, told: &mut bool) {
        if *told == preempted || P::tunable(Tunable::YieldSleepyOwner) == 0 {
            return;
        }
        // ord: O27 pairs O6: the node behind was ready before it linked itself
        if let Some(next) = NodeCode::from_raw(self.node.next.load(Acquire)) {
            // ord: O28 alone: a hint; we alone write the state of who stands behind us (I5)
            self.domain.node(next).state.store(if preempted { TOLD } else { WAIT }, Relaxed);
            *told = preempted;
        }
    }

    /// Polls for the lock as the first of the queue, and forbids stealing after a while. Whether it did.
    fn wait_as_head(&self, mine: u16, sleepy: &mut Sleepy<'_, P>) -> bool {
        let lock = self.lock;
        let (mut polls, mut forbids, mut told_next) = (0_u32, false, false);
        loop {
            // ord: O29 alone: waits until a claim has a chance
            let Err(held) = lock.held.wait_until_polls(1, Relaxed, |held| held == 0) else {
                if lock.claim(mine) {
                    return forbids;
                }
                continue;
            };
            let lets_steal = forbids && P::tunable(Tunable::YieldAllowSteal) != 0;
            let preempted = lock.lend_time(held, sleepy, lets_steal);
            self.tell_next(preempted, &mut told_next);
            if !preempted || P::tunable(Tunable::SpinOnPreemptedOwner) == 0 {
                polls = polls.saturating_add(1);
            }
            if !forbids && polls >= sleepy.limit(Tunable::HeadSpins) {
                P::count(Event::OwnerMustQueue);
                toggle_must_queue(lock, 1);
                forbids = true;
            }
        }
    }

    /// The owner leaves the queue, and stealing is allowed again; somebody else may become head.
    fn leave(&self, forbids: bool) {
        let queue = &self.lock.queue;
        let expected = self.me.raw() | if forbids { MUST_QUEUE } else { 0 };
        // ord: O30 alone: nobody follows an empty tail to our node
        if queue.compare_exchange(expected, NodeCode::NONE, Relaxed, Relaxed).is_ok() {
            return;
        }
        // Somebody stands behind, from now on for certain: nobody but its own context takes a code out of the
        // tail.
        if forbids {
            toggle_must_queue(self.lock, 0);
        }
        // ord: O7 pairs O6: the node behind was ready before it linked itself
        let next = self.node.next.wait_briefly::<P>(Acquire, |next| next != NodeCode::NONE);
        let next = NodeCode::from_raw(next).expect("a link names a node (I4)");
        // ord: O8 pairs O9: what we did with the upper half comes before what the next head does (I3)
        self.domain.node(next).state.store(HEAD, Release);
        if P::tunable(Tunable::ProdHead) != 0
            && P::paravirt()
            && !P::yield_count(next.cpu()).is_multiple_of(2)
        {
            P::count(Event::OwnerProd);
            P::kick(next.cpu());
        }
    }
}
