//! The life of a queued waiter: behind another one, then head, then owner. Invariants I1–I5 and the ordering sites are
//! told in the [lock's file](super).
use super::backoff::{Backoff, Seen};
use super::patience::Patience;
use super::signpost::{At, Signpost};
use super::word::{NO_STEALING, OPEN, SPINS, TRANSITIONS, WATCHED, is_watched, said};
use super::{InLockOf, PvQSpinLock, WaitEarly, WaitPolicy};
use crate::events::Event;
use crate::order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use crate::percpu::{Domain, Nesting, QNode};
use crate::platform::{Atomic, CpuId, Platform};
use crate::tail::NodeCode;
use crate::transitions::Field;

/// States of a queued node (I3).
const WAIT: u8 = 0;
pub(super) const HALTED: u8 = 1;
pub(super) const HEAD: u8 = 2;
pub(super) const REMOVED: u8 = 3;
/// A release has taken on the duty to kick this waiter ahead of its turn.
pub(super) const ROUSED: u8 = 4;

/// How often the announced form that waits early "at once" looks: each look costs as much as a few polls.
const AT_ONCE: u32 = 16;
/// How many thieves in a row a polling head puts up with before it sleeps.
const MOST_THIEVES: u32 = 8;

/// In a node's `place`: the head is awake, or nobody has said where it sleeps.
const AWAKE: u16 = 0;
/// In a node's `place`: the new head has been kicked instead of being given one.
const KICKED: u16 = u16::MAX;

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
    /// The place that this waiter holds as head, armed or consumed.
    place: Option<Place<W>>,
    /// The lock was made without paravirtual waiting.
    spins: bool,
    /// This waiter has halted.
    slept: bool,
}

type Place<W> = <<W as WaitPolicy>::Signpost as Signpost>::Place;

impl<'a, P: Platform, W: WaitPolicy> Waiter<'a, P, W> {
    pub(super) fn new(
        lock: &'a PvQSpinLock<P, W>,
        domain: &'a P::Domain,
        cpu: CpuId,
        nesting: &Nesting<'a, P>,
    ) -> Self {
        let me = NodeCode::new(cpu, nesting.level());
        // ord: V42 alone: this value is there for good or not at all
        let spins = lock.head.load(Relaxed) == SPINS;
        Self { lock, domain, me, node: nesting.node(), place: None, spins, slept: false }
    }

    /// Queues and waits.
    pub(super) fn acquire(mut self) -> Outcome {
        // ord: V29 alone: published by V6
        self.node.next.store(NodeCode::NONE, Relaxed);
        // ord: V30 alone: published by V6
        self.node.state.store(WAIT, Relaxed);
        // ord: V31 alone: published by V6
        self.node.place().store(AWAKE, Relaxed);

        P::publish_running();
        // p,*,* -> n,*,*
        // ord: V6 pairs V6, V7, V13: our node is ready before anybody can displace it, and so is the one that we displace
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
            if let Err(state) = self.node.state.compare_exchange(WAIT, HALTED, Relaxed, Acquire) {
                return state;
            }
            P::count(Event::PvWaitNode);
            self.slept = true;
            W::halt_while::<P, _, _>(&self.node.state, HALTED);
            // ord: V12 pairs V16, R3: on failure the owner that changed the state is done with the queue
            match self.node.state.compare_exchange(HALTED, WAIT, Relaxed, Acquire) {
                Ok(_) => P::count(Event::PvSpuriousWakeup),
                Err(HEAD) => return self.become_told_head(),
                // Kicked ahead of our turn: a whole polling time again, or the kick was in vain.
                // ord: V52 alone: only an owner changes a roused waiter's state, to HEAD, and V14 orders that; nobody roused is let out
                Err(ROUSED) => match self.node.state.compare_exchange(ROUSED, WAIT, Relaxed, Relaxed) {
                    Ok(_) => P::count(Event::PvKickWake),
                    Err(HEAD) => return self.become_told_head(),
                    Err(state) => return state,
                },
                Err(state) => return state,
            }
        }
    }

    /// The owner that made us head saw us halted, so it took a place for us (I3), or roused; it is about to say which. We wait for
    /// its word in any case: were it to come late, it would be taken for the word of the next owner that makes this node head.
    fn become_told_head(&mut self) -> u8 {
        // ord: V14 pairs V17, V53: the owner's mark in the lock comes before what we write there (I2)
        let place = self.node.place().wait_until(Acquire, |place| place != AWAKE);
        self.place = W::Signpost::from_raw(place);
        P::count(Event::PvKickWake);
        HEAD
    }

    /// Waits for the head's role for a while, but not behind a waiter that sleeps or is preempted. The state if it changed.
    fn poll_behind(&self, in_front: &QNode<P>, in_front_cpu: CpuId) -> Option<u8> {
        let all = if W::POLLS > 0 {
            W::POLLS
        } else {
            (self.patience().within(W::QUEUED_SPIN) / W::FIRST_PAUSE.max(1)).max(1)
        };
        let mut left = all;
        loop {
            if W::WAIT_EARLY != WaitEarly::Never && self.should_wait_early(in_front, in_front_cpu) {
                // ord: V39 pairs V16, R3: the owner that changed it is done with the queue
                let state = self.node.state.load(Acquire);
                if state != WAIT {
                    return Some(state);
                }
                P::count(Event::PvWaitEarly);
                return None;
            }
            let polls = match W::WAIT_EARLY {
                WaitEarly::Never => left,
                WaitEarly::AtOnce if W::POLLS > 0 => left.min(AT_ONCE),
                WaitEarly::AtOnce => 1,
                WaitEarly::Sampled(polls) => left.min(polls),
            };
            P::publish_running();
            if W::POLLS > 0 {
                // ord: V40 pairs V16, R3: the owner that changed it is done with the queue
                if let Ok(state) = self.node.state.wait_until_polls(polls, Acquire, |state| state != WAIT) {
                    return Some(state);
                }
            } else {
                // ord: V11 pairs V16, R3: the owner that changed it is done with the queue
                let state = self.node.state.load(Acquire);
                if state != WAIT {
                    return Some(state);
                }
                P::relax(W::FIRST_PAUSE);
            }
            left = left.saturating_sub(polls);
            if left == 0 {
                if self.may_halt() {
                    return None;
                }
                left = all;
            }
        }
    }

    /// Whether the waiter in front sleeps or is preempted, so that our turn is far away.
    fn should_wait_early(&self, in_front: &QNode<P>, in_front_cpu: CpuId) -> bool {
        // ord: V32 alone: a hint; the node may be another waiter's by now
        let sleeps = in_front.state.load(Relaxed) == HALTED || in_front.place().load(Relaxed) != AWAKE;
        (sleeps || P::is_preempted(in_front_cpu)) && self.may_halt()
    }

    /// Whether this waiter may halt at all.
    fn may_halt(&self) -> bool {
        !self.spins && P::paravirt()
    }

    /// Waits for the lock as head of the queue; returns as its owner.
    fn wait_as_head(&mut self) {
        // A place that is already ours means that we slept, were made head, and were woken by a release.
        let mut woken = self.place.is_some();
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
        self.node.place().store(AWAKE, Relaxed);
        if W::POLLS > 0 {
            return self.poll_for_lock();
        }
        let patience = self.patience();
        let (before_asking, most) = (patience.within(W::HEAD_PATIENCE), patience.within(W::HEAD_SPIN));
        let mut backoff = Backoff::new::<W>();
        let mut stealing = W::STEALS && !self.spins;
        loop {
            let moved = match self.lock.look() {
                Seen::Free if self.lock.claim() => {
                    patience.paid_off(backoff.spent(), W::HEAD_SPIN);
                    return true;
                }
                Seen::Free => true,
                Seen::Held { moved } => moved,
            };
            if stealing && backoff.spent() >= before_asking {
                self.mark(NO_STEALING);
                stealing = false;
            }
            if backoff.spent() >= most {
                patience.was_in_vain(backoff.moved(), W::HEAD_SPIN);
                return false;
            }
            P::publish_running();
            // Once nobody steals, the next release is ours.
            backoff.pause::<P>(moved && stealing);
        }
    }

    /// The announced way: polls until the lock is free. Whether we own it.
    fn poll_for_lock(&self) -> bool {
        // A thief, who was past its look at the tail when we queued, may come first now and then.
        for _ in 0..MOST_THIEVES {
            P::publish_running();
            // ord: V41 alone: waits until a claim has a chance
            if self.lock.locked.wait_until_polls(W::POLLS, Relaxed, |locked| locked == 0).is_err() {
                return false;
            }
            if self.lock.claim() {
                return true;
            }
        }
        false
    }

    /// Sleeps until a release kicks us, if the lock is held. Whether we slept.
    fn halt_as_head(&mut self, woken_before: bool) -> bool {
        if !self.may_halt() {
            return false;
        }
        let Some(place) = self
            .place
            .inspect(|&place| W::Signpost::rearm(self.at(), place, self.me))
            .or_else(|| W::Signpost::take(self.at(), self.me))
        else {
            P::count(Event::PvNoSpot);
            self.mark(OPEN);
            P::yield_slice();
            return false;
        };
        self.place = Some(place);
        // ord: V37 alone: a hint for the waiter behind (V32)
        self.node.place().store(W::Signpost::raw(place), Relaxed);
        if !self.mark_before_look(W::Signpost::mark(place)) {
            P::count(Event::PvNoBarrier);
            self.stop_watching();
            self.mark(OPEN);
            P::yield_slice();
            return false;
        }
        // V10: a barrier stands between our mark (V58) and this look at the lock.
        // ord: V10 pairs V4: either we see the lock released, or its releaser sees our mark
        if self.lock.locked.load(Relaxed) == 0 {
            return false;
        }
        P::count(if woken_before { Event::PvWaitAgain } else { Event::PvWaitHead });
        self.slept = true;
        if W::Signpost::halt::<P, W>(self.at(), place, self.me) {
            P::count(Event::PvKickWake);
        }
        true
    }

    /// Leaves the mark of a head that is about to sleep, `n,*,* -> n,s,*`, and passes the barrier between that and a look at the lock: the heavy
    /// one, unless releases look twice. From now on they do (I6). `false`: the barrier could not be had.
    fn mark_before_look(&self, mark: u8) -> bool {
        // ord: V57 alone: only this context writes it (I2), and what an earlier head wrote came to us with its role (V13, V16)
        let before = self.lock.head.load(Relaxed);
        TRANSITIONS.check(Field::Pending, || said(before), mark);
        // Said before the barrier: a release whose only look missed it has stored its 0 before the barrier, too.
        let watched = if W::STEALS { WATCHED } else { before & WATCHED };
        // ord: V58 pairs R4: the place is armed before its mark; what comes after is ordered by either barrier before V10
        self.lock.head.store(mark | watched, Release);
        if !is_watched(before) {
            return P::heavy_barrier();
        }
        // ord: V55 pairs V56: our mark comes before our look at the lock, and the release's store before its second look at the mark
        P::fence(SeqCst);
        true
    }

    fn patience(&self) -> Patience<'a, P> {
        Patience::of(self.domain.cpu(self.me.cpu()))
    }

    fn at(&self) -> At<'a, P, InLockOf<P, W>> {
        self.lock.at(self.domain)
    }

    /// Leaves word for others in the lock's second byte. Only the head does (I2).
    fn mark(&self, mark: u8) {
        // ord: V34 alone: only this context writes it (I2), or a pending waiter whose word does not matter
        let before = self.lock.head.load(Relaxed);
        if said(before) != mark && !self.spins {
            TRANSITIONS.check(Field::Pending, || said(before), mark);
            // ord: V9 pairs R4: the place is armed before its mark
            self.lock.head.store(mark | before & WATCHED, Release);
        }
    }

    /// Releases need not look twice any more: where heads do not sleep, it is paid for nothing.
    fn stop_watching(&self) {
        // ord: V59 alone: only this context writes it (I2)
        let mark = self.lock.head.load(Relaxed);
        if is_watched(mark) {
            // ord: V60 alone: the next head passes the heavy barrier, whatever a release makes of this
            self.lock.head.store(said(mark), Relaxed);
        }
    }

    /// The owner leaves the queue: `n,0,1 -> 0,0,1`, or the waiter behind becomes head.
    fn leave_queue(mut self) {
        self.mark(OPEN); // before the tail, I5
        if !self.slept {
            self.stop_watching();
        }
        if let Some(place) = self.place.take() {
            W::Signpost::free(self.at(), place, self.me);
        }
        // ord: V13 pairs V6: a head of the next queue writes its mark after ours (I5)
        if self.lock.tail.compare_exchange(self.me.raw(), NodeCode::NONE, Release, Relaxed).is_ok() {
            return;
        }
        // ord: V15 pairs V7: the waiter behind was ready before it linked itself
        let next = self.node.next.wait_until(Acquire, |next| next != NodeCode::NONE);
        let next = NodeCode::from_raw(next).expect("a link names a node");
        let node = self.domain.node(next);
        // ord: V16 pairs V8, V11, V12, V39, V40: our last mark comes before what the new head does (I2)
        match node.state.swap(HEAD, Release) {
            HALTED => self.mark_sleeping_head(next, node),
            // It may not know yet, but its kick is on the way.
            // ord: V53 pairs V14: our last mark comes before what the new head writes there (I2)
            ROUSED => node.place().store(KICKED, Release),
            _ => {}
        }
    }

    /// The new head sleeps. It is not woken to find the lock held: our own release will see its mark and kick it.
    fn mark_sleeping_head(&self, next: NodeCode, node: &QNode<P>) {
        let place = if W::EAGER_KICK { None } else { W::Signpost::take(self.at(), next) };
        if let Some(place) = place {
            // n,0,1 -> n,s,1
            self.mark(W::Signpost::mark(place));
        }
        // ord: V17 pairs V14: the mark in the lock comes before the new head may write there (I2)
        node.place().store(place.map_or(KICKED, W::Signpost::raw), Release);
        if place.is_none() {
            P::count(if W::EAGER_KICK { Event::PvKickEager } else { Event::PvNoSpot });
            P::kick(next.cpu());
        }
    }
}
