//! The life of a queued waiter: behind another one, then head, then owner. Invariants I1–I5 and the ordering sites are
//! told in the [lock's file](super).
use super::backoff::{Backoff, Seen};
use super::{NO_STEALING, OPEN, PvQSpinLock, TRANSITIONS, WaitPolicy};
use crate::events::Event;
use crate::order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use crate::percpu::{Domain, Nesting, QNode};
use crate::platform::{Atomic, CpuId, Platform};
use crate::spots::{SPOTS_PER_ROW, SpotIndex};
use crate::tail::NodeCode;
use crate::transitions::Field;

/// States of a queued node (I3).
const WAIT: u8 = 0;
pub(super) const HALTED: u8 = 1;
pub(super) const HEAD: u8 = 2;
pub(super) const REMOVED: u8 = 3;

/// In a node's `spot`: no spot was free, and the new head has been kicked instead.
const KICKED: u8 = SPOTS_PER_ROW as u8 + 1;

/// How waiting in the queue ended.
#[must_use]
pub(super) enum Outcome {
    /// The context owns the lock.
    Owner,
    /// A holder took the context out of the queue, to run in its place.
    LetOut,
}

/// One waiter of one lock.
pub(super) struct Waiter<'a, P: Platform, W: WaitPolicy> {
    lock: &'a PvQSpinLock<P, W>,
    domain: &'a P::Domain,
    me: NodeCode,
    node: &'a QNode<P>,
    /// The spot that this waiter holds as head, armed or consumed.
    spot: Option<SpotIndex>,
}

impl<'a, P: Platform, W: WaitPolicy> Waiter<'a, P, W> {
    pub(super) fn new(
        lock: &'a PvQSpinLock<P, W>,
        domain: &'a P::Domain,
        cpu: CpuId,
        nesting: &Nesting<'a, P>,
    ) -> Self {
        let me = NodeCode::new(cpu, nesting.level());
        Self { lock, domain, me, node: nesting.node(), spot: None }
    }

    /// Queues and waits.
    pub(super) fn acquire(mut self) -> Outcome {
        // ord: V29 alone: published by V6
        self.node.next.store(NodeCode::NONE, Relaxed);
        // ord: V30 alone: published by V6
        self.node.state.store(WAIT, Relaxed);
        // ord: V31 alone: published by V6
        self.node.spot.store(0, Relaxed);

        P::publish_running();
        // p,*,* -> n,*,*
        // ord: V6 pairs V6, V7, V13, R6: our node is ready before anybody can displace it, and so is the one that we displace
        let before = self.lock.tail.swap(self.me.raw(), AcqRel);
        TRANSITIONS.check(Field::Tail, || before, self.me.raw());
        if let Some(before) = NodeCode::from_raw(before)
            && self.wait_behind(before) == REMOVED
        {
            return Outcome::LetOut;
        }
        self.wait_as_head();
        self.leave_queue();
        Outcome::Owner
    }

    /// Waits until the context in front has acquired and made us head, or a holder has taken us out of the queue: returns
    /// the state that says which.
    fn wait_behind(&mut self, before: NodeCode) -> u8 {
        let in_front = self.domain.node(before);
        // ord: V7 pairs V6, V15, R1, R8: the link comes after the displaced node was ready
        in_front.next.store(self.me.raw(), Release);
        loop {
            if let Some(state) = self.poll_behind(in_front, before.cpu()) {
                return state;
            }
            // ord: V8 pairs V16, R3: on failure the owner that changed the state is done with the queue
            if let Err(state) = self.node.state.compare_exchange(WAIT, HALTED, AcqRel, Acquire) {
                return state;
            }
            P::count(Event::PvWaitNode);
            P::halt_while(&self.node.state, HALTED);
            // ord: V12 pairs V16, R3: on failure the owner that changed the state is done with the queue
            match self.node.state.compare_exchange(HALTED, WAIT, AcqRel, Acquire) {
                Ok(_) => P::count(Event::PvSpuriousWakeup),
                Err(HEAD) => {
                    // The owner saw us halted, so it took a spot for us (I3) and is about to say which.
                    // ord: V14 pairs V17: the owner's mark in the lock comes before what we write there (I2)
                    let spot = self.node.spot.wait_until(Acquire, |spot| spot != 0);
                    self.spot = SpotIndex::from_raw(spot);
                    P::count(Event::PvKickWake);
                    return HEAD;
                }
                Err(state) => return state,
            }
        }
    }

    /// Polls for the head's role for a while, but not behind a waiter that sleeps or is preempted. The state if it changed.
    fn poll_behind(&self, in_front: &QNode<P>, in_front_cpu: CpuId) -> Option<u8> {
        let mut polled = 0;
        loop {
            // ord: V11 pairs V16, R3: the owner that changed it is done with the queue
            let state = self.node.state.load(Acquire);
            if state != WAIT {
                return Some(state);
            }
            // ord: V32 alone: a hint; the node may be another waiter's by now
            let sleeps = in_front.state.load(Relaxed) == HALTED || in_front.spot.load(Relaxed) != 0;
            if sleeps || P::is_preempted(in_front_cpu) {
                P::count(Event::PvWaitEarly);
                return None;
            }
            if polled >= W::QUEUED_SPIN {
                return None;
            }
            P::publish_running();
            P::relax(W::FIRST_PAUSE);
            polled += W::FIRST_PAUSE;
        }
    }

    /// Waits for the lock as head of the queue; returns as its owner.
    fn wait_as_head(&mut self) {
        // A spot that is already ours means that we slept, were made head, and were woken by a release.
        let mut woken = self.spot.is_some();
        loop {
            if self.compete() {
                return;
            }
            if self.halt_as_head(woken) {
                woken = true;
            }
        }
    }

    /// Tries for the lock like a newcomer at first, then stops newcomers and tries on. Whether we own it.
    fn compete(&mut self) -> bool {
        self.mark(OPEN);
        // ord: V33 alone: a hint for the waiter behind (V32): we are awake
        self.node.spot.store(0, Relaxed);
        let mut backoff = Backoff::new::<W>();
        let mut stealing = W::STEALS;
        loop {
            let moved = match self.lock.look() {
                Seen::Free if self.lock.claim() => return true,
                Seen::Free => true,
                Seen::Held { moved } => moved,
            };
            if stealing && backoff.spent() >= W::HEAD_PATIENCE {
                self.mark(NO_STEALING);
                stealing = false;
            }
            if backoff.spent() >= W::HEAD_SPIN {
                return false;
            }
            P::publish_running();
            // Once nobody steals, the next release is ours.
            backoff.pause::<P>(moved && stealing);
        }
    }

    /// Sleeps until a release kicks us, if the lock is held. Whether we slept.
    fn halt_as_head(&mut self, woken_before: bool) -> bool {
        let row = self.lock.spots(self.domain);
        let Some(spot) = self.spot.inspect(|&spot| row.rearm(spot, self.me)).or_else(|| row.take(self.me))
        else {
            P::count(Event::PvNoSpot);
            self.mark(OPEN);
            P::yield_slice();
            return false;
        };
        self.spot = Some(spot);
        // ord: V37 alone: a hint for the waiter behind (V32)
        self.node.spot.store(spot.raw(), Relaxed);
        // n,*,* -> n,s,*
        self.mark(spot.raw());
        if !P::heavy_barrier() {
            P::count(Event::PvNoBarrier);
            self.mark(OPEN);
            P::yield_slice();
            return false;
        }
        // V10: the heavy barrier stands between our mark (V9) and this look at the lock.
        // ord: V10 pairs V4: either we see the lock released, or its releaser sees our mark
        if self.lock.locked.load(SeqCst) == 0 {
            return false;
        }
        P::count(if woken_before { Event::PvWaitAgain } else { Event::PvWaitHead });
        if row.halt(spot, self.me) {
            P::count(Event::PvKickWake);
        }
        true
    }

    /// Leaves word for others in the lock's second byte. Only the head does (I2).
    fn mark(&self, mark: u8) {
        // ord: V34 alone: only this context writes it (I2)
        let before = self.lock.head.load(Relaxed);
        if before != mark {
            TRANSITIONS.check(Field::Pending, || before, mark);
            // ord: V9 pairs V38: the spot is armed before its mark; what comes after is ordered by the heavy barrier before V10
            self.lock.head.store(mark, Release);
        }
    }

    /// The owner leaves the queue: `n,0,1 -> 0,0,1`, or the waiter behind becomes head.
    fn leave_queue(mut self) {
        self.mark(OPEN); // before the tail, I5
        if let Some(spot) = self.spot.take() {
            self.lock.spots(self.domain).free(spot);
        }
        // ord: V13 pairs V6: a head of the next queue writes its mark after ours (I5)
        if self.lock.tail.compare_exchange(self.me.raw(), NodeCode::NONE, Release, Relaxed).is_ok() {
            return;
        }
        // ord: V15 pairs V7, R9: the waiter behind was ready before it linked itself
        let next = self.node.next.wait_until(Acquire, |next| next != NodeCode::NONE);
        let next = NodeCode::from_raw(next).expect("a link names a node");
        let node = self.domain.node(next);
        // ord: V16 pairs V8, V11, V12: our last mark comes before what the new head does (I2)
        if node.state.swap(HEAD, AcqRel) == HALTED {
            self.mark_sleeping_head(next, node);
        }
    }

    /// The new head sleeps. It is not woken to find the lock held: our own release will see its mark and kick it.
    fn mark_sleeping_head(&self, next: NodeCode, node: &QNode<P>) {
        let row = self.lock.spots(self.domain);
        let spot = row.take(next);
        if let Some(spot) = spot {
            // n,0,1 -> n,s,1
            self.mark(spot.raw());
        }
        // ord: V17 pairs V14: the mark in the lock comes before the new head may write there (I2)
        node.spot.store(spot.map_or(KICKED, SpotIndex::raw), Release);
        if spot.is_none() {
            P::count(Event::PvNoSpot);
            P::kick(next.cpu());
        }
    }
}
