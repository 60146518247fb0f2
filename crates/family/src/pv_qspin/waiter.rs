//! The life of a queued waiter: behind another one, then head, then owner. Invariants I1–I5 and the ordering
//! sites are told in the [lock's file](super).
use super::lookup::{At, SleeperLookup};
use super::policy::Limits;
use super::word::{NO_STEALING, OPEN, SPINS, TRANSITIONS};
use super::{InLockOf, PvQSpinLock, WaitEarly, WaitPolicy};
use crate::events::FamilyEvents as _;
use crate::percpu::{Nesting, QNode};
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::tail::NodeCode;
use stanchion_core::events::Event;
use stanchion_core::machine::Atomic;
use stanchion_core::numbers::CpuId;
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release};
use stanchion_core::transitions::Field;

/// States of a queued node (I3).
const WAIT: u8 = 0;
pub(super) const HALTED: u8 = 1;
const HEAD: u8 = 2;
/// A release has taken on the duty to kick this waiter ahead of its turn.
pub(super) const ROUSED: u8 = 3;

/// How often the announced form that waits early "at once" looks: each look costs as much as a few polls.
const AT_ONCE: u32 = 16;
/// How many thieves in a row a polling head puts up with before it sleeps.
const MOST_THIEVES: u32 = 8;

/// In a node's `place`: the head is awake, or nobody has said where it sleeps.
const AWAKE: u16 = 0;
/// In a node's `place`: the new head has been kicked instead of being given one.
const KICKED: u16 = u16::MAX;

/// One waiter of one lock.
pub(super) struct Waiter<'a, P: FamilyPlatform, W: WaitPolicy> {
    lock: &'a PvQSpinLock<P, W>,
    domain: &'a P::Domain,
    me: NodeCode,
    node: &'a QNode<P>,
    /// The place that this waiter holds as head, armed or consumed.
    place: Option<Place<W>>,
    /// The lock was made without paravirtual waiting.
    spins: bool,
}

type Place<W> = <<W as WaitPolicy>::SleeperLookup as SleeperLookup>::Place;

impl<'a, P: FamilyPlatform, W: WaitPolicy> Waiter<'a, P, W> {
    pub(super) fn new(
        lock: &'a PvQSpinLock<P, W>,
        domain: &'a P::Domain,
        cpu: CpuId,
        nesting: &Nesting<'a, P>,
    ) -> Self {
        let me = NodeCode::new(cpu, nesting.level());
        // ord: V42 alone: this value is there for good or not at all
        let spins = lock.head.load(Relaxed) == SPINS;
        Self { lock, domain, me, node: nesting.node(), place: None, spins }
    }

    /// Queues and waits; returns as owner.
    pub(super) fn acquire(mut self) {
        // ord: V29 alone: published by V6
        self.node.next.store(NodeCode::NONE, Relaxed);
        // ord: V30 alone: published by V6
        self.node.state.store(WAIT, Relaxed);
        // ord: V31 alone: published by V6
        self.node.place().store(AWAKE, Relaxed);

        P::publish_running();
        // p,*,* -> n,*,*
        // ord: V6 pairs V6, V7, V13: our node is ready before anybody can displace it, and so is the one that
        // we displace
        let before = self.lock.tail.swap(self.me.raw(), AcqRel);
        TRANSITIONS.check(Field::Tail, || before, self.me.raw());
        if let Some(before) = NodeCode::from_raw(before) {
            self.wait_behind(before);
        }
        self.wait_as_head();
        self.leave_queue();
    }

    /// Waits until the context in front has acquired and made us head.
    fn wait_behind(&mut self, before: NodeCode) {
        let in_front = self.domain.node(before);
        // ord: V7 pairs V6, V15, R1: the link comes after the displaced node was ready
        in_front.next.store(self.me.raw(), Release);
        loop {
            if self.poll_behind(in_front, before.cpu()) {
                return;
            }
            // ord: V8 pairs V16: on failure the owner that made us head is done with the queue
            if self.node.state.compare_exchange(WAIT, HALTED, Relaxed, Acquire).is_err() {
                return;
            }
            P::count(Event::PvWaitNode);
            W::halt_while::<P, _, _>(&self.node.state, HALTED);
            // ord: V12 alone: only an owner takes this mark away, and its word, which V14 awaits, orders that
            match self.node.state.compare_exchange(HALTED, WAIT, Relaxed, Relaxed) {
                Ok(_) => P::count(Event::PvSpuriousWakeup),
                // Kicked ahead of our turn: a whole polling time again, or the kick was in vain.
                // ord: V52 alone: only an owner changes a roused waiter's state, to HEAD, and V14 orders that
                Err(ROUSED) => match self.node.state.compare_exchange(ROUSED, WAIT, Relaxed, Relaxed) {
                    Ok(_) => P::count(Event::PvKickWake),
                    Err(_) => return self.become_told_head(),
                },
                Err(_) => return self.become_told_head(),
            }
        }
    }

    /// The owner that made us head saw us halted, so it took a place for us (I3), or roused; it is about to
    /// say which. We wait for its word in any case: were it to come late, it would be taken for the word of
    /// the next owner that makes this node head.
    fn become_told_head(&mut self) {
        // ord: V14 pairs V17, V53: the owner's mark in the lock comes before what we write there (I2)
        let place = self.node.place().wait_briefly::<P>(Acquire, |place| place != AWAKE);
        self.place = W::SleeperLookup::from_raw(place);
        P::count(Event::PvKickWake);
    }

    /// Waits for the head's role for a while, but not behind a waiter that sleeps or is preempted. Whether we
    /// have it.
    fn poll_behind(&self, in_front: &QNode<P>, in_front_cpu: CpuId) -> bool {
        let mut left = Limits::<P, W>::POLLS;
        loop {
            if W::WAIT_EARLY != WaitEarly::Never && self.should_wait_early(in_front, in_front_cpu) {
                // ord: V39 pairs V16: the owner that made us head is done with the queue
                let head = self.node.state.load(Acquire) != WAIT;
                P::count_if(Event::PvWaitEarly, || !head);
                return head;
            }
            let polls = match Limits::<P, W>::WAIT_EARLY {
                WaitEarly::Never => left,
                WaitEarly::AtOnce => left.min(AT_ONCE),
                WaitEarly::Sampled(polls) => left.min(polls),
            };
            P::publish_running();
            // ord: V40 pairs V16: the owner that made us head is done with the queue
            if self.node.state.wait_until_polls(polls, Acquire, |state| state != WAIT).is_ok() {
                return true;
            }
            left -= polls;
            if left == 0 {
                if self.may_halt() {
                    return false;
                }
                left = Limits::<P, W>::POLLS;
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

    /// Polls for the lock; where newcomers steal, tries once before it stops them. Whether we own it.
    fn compete(&mut self) -> bool {
        self.mark(OPEN);
        // ord: V33 alone: a hint for the waiter behind (V32): we are awake
        self.node.place().store(AWAKE, Relaxed);
        if Limits::<P, W>::STEALS {
            if self.lock.claim() {
                return true;
            }
            self.mark(NO_STEALING);
        }
        self.poll_for_lock()
    }

    /// Polls until the lock is free. Whether we own it.
    fn poll_for_lock(&self) -> bool {
        // A thief, who was past its look at the tail when we queued, may come first now and then.
        for _ in 0..MOST_THIEVES {
            P::publish_running();
            // ord: V41 alone: waits until a claim has a chance
            if self
                .lock
                .locked
                .wait_until_polls(Limits::<P, W>::POLLS, Relaxed, |locked| locked == 0)
                .is_err()
            {
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
            .inspect(|&place| W::SleeperLookup::rearm(self.at(), place, self.me))
            .or_else(|| W::SleeperLookup::take(self.at(), self.me))
        else {
            P::count(Event::PvNoParking);
            self.mark(OPEN);
            P::yield_slice();
            return false;
        };
        self.place = Some(place);
        // ord: V37 alone: a hint for the waiter behind (V32)
        self.node.place().store(W::SleeperLookup::raw(place), Relaxed);
        self.mark(W::SleeperLookup::mark(place)); // n,*,* -> n,s,*
        if !P::heavy_barrier() {
            P::count(Event::PvNoBarrier);
            self.mark(OPEN);
            P::yield_slice();
            return false;
        }
        // V10: the heavy barrier stands between our mark (V9) and this look at the lock.
        // ord: V10 pairs V4: either we see the lock released, or its releaser sees our mark
        if self.lock.locked.load(Relaxed) == 0 {
            return false;
        }
        P::count(if woken_before { Event::PvWaitAgain } else { Event::PvWaitHead });
        if W::SleeperLookup::halt::<P, W>(self.at(), place, self.me) {
            P::count(Event::PvKickWake);
        }
        true
    }

    fn at(&self) -> At<'a, P, InLockOf<P, W>> {
        self.lock.at(self.domain)
    }

    /// Leaves word for others in the lock's second byte. Only the head does (I2).
    fn mark(&self, mark: u8) {
        // ord: V34 alone: only this context writes it (I2), or a pending waiter whose word does not matter
        let before = self.lock.head.load(Relaxed);
        if before != mark && !self.spins {
            TRANSITIONS.check(Field::Pending, || before, mark);
            // ord: V9 pairs R4: the place is armed before its mark
            self.lock.head.store(mark, Release);
        }
    }

    /// The owner leaves the queue: `n,0,1 -> 0,0,1`, or the waiter behind becomes head.
    fn leave_queue(mut self) {
        self.mark(OPEN); // before the tail, I5
        if let Some(place) = self.place.take() {
            W::SleeperLookup::free(self.at(), place, self.me);
        }
        // ord: V13 pairs V6: a head of the next queue writes its mark after ours (I5)
        if self.lock.tail.compare_exchange(self.me.raw(), NodeCode::NONE, Release, Relaxed).is_ok() {
            return;
        }
        // ord: V15 pairs V7: the waiter behind was ready before it linked itself
        let next = self.node.next.wait_briefly::<P>(Acquire, |next| next != NodeCode::NONE);
        let next = NodeCode::from_raw(next).expect("a link names a node");
        let node = self.domain.node(next);
        // ord: V16 pairs V8, V39, V40: our last mark comes before what the new head does (I2)
        match node.state.swap(HEAD, Release) {
            HALTED => self.mark_sleeping_head(next, node),
            // It may not know yet, but its kick is on the way.
            // ord: V53 pairs V14: our last mark comes before what the new head writes there (I2)
            ROUSED => node.place().store(KICKED, Release),
            _ => {}
        }
    }

    /// The new head sleeps. It is not woken to find the lock held: our own release will see its mark and kick
    /// it.
    fn mark_sleeping_head(&self, next: NodeCode, node: &QNode<P>) {
        let place = if W::EAGER_KICK { None } else { W::SleeperLookup::take(self.at(), next) };
        if let Some(place) = place {
            // n,0,1 -> n,s,1
            self.mark(W::SleeperLookup::mark(place));
        }
        // ord: V17 pairs V14: the mark in the lock comes before the new head may write there (I2)
        node.place().store(place.map_or(KICKED, W::SleeperLookup::raw), Release);
        if place.is_none() {
            P::count(if W::EAGER_KICK { Event::PvKickEager } else { Event::PvNoParking });
            P::kick(next.cpu());
        }
    }
}
