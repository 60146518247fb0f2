//! `unfair-q`: the queued unfair lock: a queue whose waiters may steal, the rarer the further back they
//! stand.
//!
//! # Motivation
//!
//! A byte lock survives overcommit, because any running context can take it, but starves and lets all waiters
//! fight for one line. This lock keeps a queue for order and for locality, lets newcomers take a free byte
//! all the same, and lets each waiter try to steal now and then. A preempted waiter is passed over; nobody
//! halts and nobody has to be woken.
//!
//! # Provenance
//!
//! The queued unfair lock of the paravirtual series (Waiman Long, 2015, v2). What differs, and why: the byte
//! and the tail are two atomics. A claim takes the byte alone and leaves the queue after it, which is what
//! the original does, too, whenever somebody stands behind; so one way is left instead of two. Nodes name
//! each other by code, so the predecessor and its tail code are one field.
//!
//! # Properties
//!
//! - Fairness: none that is bounded. A newcomer tries once. A waiter lets [`Tunable::StealIntervalMin`] polls
//!   pass between two attempts right behind the head, twice as many at each place further back,
//!   [`Tunable::StealIntervalMax`] at most.
//! - Progress: some running waiter gets a free lock, whoever else is preempted, with one gap. An owner that
//!   leaves the queue waits until the context that queued right behind it has linked itself, which is two
//!   stores after it changed the tail. If it is preempted in between, the owner waits, and gives its CPU away
//!   meanwhile. No progress while the owner is preempted.
//! - Memory: 4 bytes a lock, four nodes a context. Without a free node, or a number, a context polls for the
//!   byte. Nodes are never freed, so looking at the node of a predecessor that has left reads an outdated
//!   hint and nothing worse: this is the user-space form that the original warns of needing.
//! - Cost: release is one byte store. A thief leaves the queue in a constant number of steps.
//!
//! # The word, `(tail, unused, locked)`
//!
//! | from | to | by |
//! |---|---|---|
//! | `*,0,0` | `*,0,1` | a newcomer, a waiter in the midst of the queue, or the head claims the byte |
//! | `p,0,*` | `n,0,*` | a waiter queues |
//! | `n,0,1` | `p,0,1` | the owner stole as the last of the queue, and leaves it: its predecessor is the last again |
//! | `n,0,1` | `0,0,1` | the owner was head and the last |
//! | `*,0,1` | `*,0,0` | release |
//!
//! # The queue
//!
//! ```text
//!   tail ---------------------------------------------------+
//!                                                           v
//!   +------------+  next  +------------+  next  +------------+
//!   | head       |------->| waiter     |------->| last       |
//!   | state=HEAD |<-------| interval=8 |<-------| interval=16|
//!   +------------+ previous+-----------+ previous+-----------+
//!    polls locked           polls its state, tries for the byte once in `interval` polls
//! ```
//!
//! # Invariants
//!
//! - **I1** `locked` is 1 exactly while some context holds the lock; it becomes 1 only by compare-exchange
//!   from 0.
//! - **I2** Only the owner takes a node out of the queue, its own, and only the owner makes a node head. It
//!   is done with both before it releases. So everything but appending is ordered by the lock itself.
//! - **I3** A queued node that is not head has its true predecessor in `previous`, as seen by any owner. The
//!   node's context wrote it before it linked the node. After that, owners that took the predecessor out
//!   wrote it.
//! - **I4** An appender touches the tail and `next` of the node that it displaced, nothing else of the queue.
//! - **I5** A tail that names a node other than the owner's means that the owner's node was displaced by
//!   somebody who is still queued or was relinked, so its `next` will name the node behind. Nobody can change
//!   that while the owner holds the lock.
//!
//! Why an owner may leave from anywhere: if the tail names its node, the exchange of the tail decides between
//! it and an appender. If it wins, whoever queues from then on displaces the predecessor, whose `next` still
//! names the leaver; the leaver clears it by an exchange that fails if the appender has linked itself. If it
//! loses, a node stands behind and links itself, and what remains is to join two neighbours that can not
//! move, because moving needs the lock (I2). The head may find its own code in the tail although somebody had
//! queued behind it: that thief has put it back. So a head looks at the tail after its claim and never trusts
//! what it saw before; the acquiring claim makes it see what the thief left.
//!
//! ## Memory orderings
//!
//! Exclusion needs the release store (U4) against the claims (U1, U2). Everything that owners do with the
//! queue is ordered by the same pair. Appending needs two more. A node is ready before it can be displaced
//! (U5 with itself and with U6, by which a thief puts back an older node). It is linked only after both ends
//! are ready (U7 with U8). The head's role is handed over by U9 to U10, which need no order of their own. It
//! is an owner that makes a head, and the new one touches nothing but the byte before its claim, which comes
//! after that owner's release.
use crate::events::FamilyEvents as _;
use crate::percpu::QNode;
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::slow_path::{acquire_without_node, count_nesting};
use crate::tail::NodeCode;
use crate::tunables::FamilyTunables as _;
use stanchion_core::events::Event;
use stanchion_core::lock::{ConstLock, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release};
use stanchion_core::transitions::{Field, Is, Row, Table, Word};
use stanchion_core::tunables::Tunable;

/// The queued unfair lock; see the [module](self).
#[repr(C, align(4))]
pub struct UnfairQueuedLock<P: FamilyPlatform> {
    locked: P::U8,
    tail: P::U16,
}

/// States of a queued node.
const WAIT: u8 = 0;
const HEAD: u8 = 2; // as in `qspin`, so that a report reads both

const TRANSITIONS: Table = Table(&[
    Row::claim("claim: t,0 -> t,1"),
    Row::queue("queue, or the last one leaves with the lock: p,l -> n,l"),
    Row::named("the head was the last: n,1 -> 0,1")
        .tail(Is::NonZero, Is::Value(0))
        .locked(Is::Value(1), Is::Value(1)),
    Row::release("release: t,1 -> t,0"),
]);

impl<P: FamilyPlatform> RawLock for UnfairQueuedLock<P> {
    type Platform = P;
    const NAME: &'static str = "unfair-q";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { locked: P::U8::new(0), tail: P::U16::new(0) }
    }

    #[inline]
    fn acquire(&self) {
        // ord: U1 pairs U4: the previous holder's section comes before ours
        let taken = self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok();
        // ord: U11 alone: only tells a steal from an acquisition of an idle lock, for the events
        if !taken || self.tail.load(Relaxed) != NodeCode::NONE {
            self.acquire_contended(taken);
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        // ord: U12 alone: keeps a failing try from owning the line
        self.locked.load(Relaxed) == 0 && self.claim()
    }

    #[inline]
    fn release(&self) {
        TRANSITIONS.check(Field::Locked, || self.locked.peek(), 0u8);
        // ord: U4 pairs U1, U2: our section, and what we did with the queue, comes before the next holder's
        self.locked.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: self.tail.peek(), pending: 0, locked: self.locked.peek() }
    }
}

impl<P: FamilyPlatform> UnfairQueuedLock<P> {
    #[inline]
    fn claim(&self) -> bool {
        // ord: U2 pairs U4: the previous holder's section, and what it did with the queue, comes before ours
        self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    /// The rest of [`RawLock::acquire`]; with the lock `taken` there is only something to count.
    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn acquire_contended(&self, taken: bool) {
        if taken {
            return P::count(Event::UnfairStealEntry);
        }
        P::count(Event::LockSlowpath);
        P::with_domain(|domain| {
            let Some(cpu) = P::this_cpu() else { return self.acquire_without_node() };
            let Some(nesting) = domain.cpu(cpu).enter() else { return self.acquire_without_node() };
            count_nesting::<P>(nesting.level());
            let me = NodeCode::new(cpu, nesting.level());
            Waiter { lock: self, domain, me, node: nesting.node() }.acquire();
        });
    }

    /// The way of a context that has no node.
    fn acquire_without_node(&self) {
        acquire_without_node::<P, _>(&self.locked, 0, || self.claim());
    }
}

/// A context in the queue.
struct Waiter<'a, P: FamilyPlatform> {
    lock: &'a UnfairQueuedLock<P>,
    domain: &'a P::Domain,
    me: NodeCode,
    node: &'a QNode<P>,
}

impl<P: FamilyPlatform> Waiter<'_, P> {
    fn acquire(&self) {
        let (node, me) = (self.node, self.me.raw());
        // ord: U14 alone: published by U5
        node.next.store(NodeCode::NONE, Relaxed);
        // ord: U15 alone: published by U5
        node.state.store(WAIT, Relaxed);
        // p,* -> n,*
        // ord: U5 pairs U5, U6, U7: our node is ready before anybody can displace it, and so is the one that
        // we displace
        let before = self.lock.tail.swap(me, AcqRel);
        TRANSITIONS.check(Field::Tail, || before, me);
        let stolen = if let Some(before) = NodeCode::from_raw(before) {
            // ord: U16 alone: published by U7, read by owners only (I3)
            node.previous.store(before.raw(), Relaxed);
            self.set_interval(before);
            // ord: U7 pairs U5, U8: the displaced node was ready, and so is ours, with its predecessor
            self.domain.node(before).next.store(me, Release);
            self.wait_behind()
        } else {
            // ord: U17 alone: a hint for those behind us; who comes first has nobody to be made head by
            node.state.store(HEAD, Relaxed);
            false
        };
        if stolen {
            P::count(Event::UnfairStealQueue);
            // ord: U18 alone: only an owner makes us head, and we are the owner: what the last one wrote came
            // with the claim (I2)
            if node.state.load(Relaxed) != HEAD {
                return self.leave_from_behind();
            }
        } else {
            self.claim_as_head();
        }
        self.leave_as_head();
    }

    /// Waits until this node is head, or the byte could be stolen: whether it was.
    fn wait_behind(&self) -> bool {
        loop {
            // ord: U19 alone: ours; nobody else writes it
            let interval = self.node.interval.load(Relaxed);
            // ord: U10 alone: whose turn it is to poll; the claim comes after the release of who made us head
            // (I2)
            if self.node.state.wait_until_polls(interval.into(), Relaxed, |state| state == HEAD).is_ok() {
                return false;
            }
            if self.lock.try_acquire() {
                return true;
            }
            // ord: U20 alone: a hint, as outdated as it may be; owners relink it (I3)
            if let Some(previous) = NodeCode::from_raw(self.node.previous.load(Relaxed)) {
                self.set_interval(previous);
            }
        }
    }

    /// How many polls to let pass between two attempts to steal, behind `previous`. That may have left, and
    /// be in another queue: then the interval is wrong until the next attempt.
    fn set_interval(&self, previous: NodeCode) {
        let most = P::tunable(Tunable::StealIntervalMax).clamp(1, u16::MAX.into());
        let least = P::tunable(Tunable::StealIntervalMin).clamp(1, most);
        let previous = self.domain.node(previous);
        // ord: U21 alone: a hint about the place in the queue
        let interval = if previous.state.load(Relaxed) == HEAD {
            least
        } else {
            // ord: U22 alone: a hint about the place in the queue
            (2 * u32::from(previous.interval.load(Relaxed))).clamp(least, most)
        };
        // ord: U23 alone: a hint for those behind us
        self.node.interval.store(interval as u16, Relaxed);
    }

    /// `*,0 -> *,1`, in competition with thieves.
    fn claim_as_head(&self) {
        loop {
            // ord: U24 alone: waits until a claim has a chance
            self.lock.locked.wait_until(Relaxed, |locked| locked == 0);
            if self.lock.claim() {
                return;
            }
            P::count(Event::UnfairHeadStolen);
        }
    }

    /// The owner, which is head, leaves the queue: `n,1 -> 0,1` if it is the last, else the next one becomes
    /// head.
    fn leave_as_head(&self) {
        // ord: U25 alone: nobody follows an empty tail to our node
        if self.lock.tail.compare_exchange(self.me.raw(), NodeCode::NONE, Relaxed, Relaxed).is_ok() {
            return;
        }
        // ord: U9 alone: the next head touches the queue once it owns the lock, which comes after our release
        // (I2)
        self.domain.node(self.behind()).state.store(HEAD, Relaxed);
    }

    /// The owner, which stole and is not head, leaves the queue.
    fn leave_from_behind(&self) {
        // ord: U26 alone: written by ourselves or by an owner before us (I3)
        let previous =
            NodeCode::from_raw(self.node.previous.load(Relaxed)).expect("only a head has none (I3)");
        let in_front = self.domain.node(previous);
        let me = self.me.raw();
        // n,1 -> p,1
        // ord: U6 pairs U5: that we linked ourselves to the node in front comes before somebody else does
        if self.lock.tail.compare_exchange(me, previous.raw(), Release, Relaxed).is_ok() {
            P::count(Event::UnfairUnlinkTail);
            // ord: U27 alone: ordered by the tail against appenders, by the lock against owners
            if in_front.next.compare_exchange(me, NodeCode::NONE, Relaxed, Relaxed).is_err() {
                P::count(Event::UnfairTailRace);
            }
            return;
        }
        P::count(Event::UnfairUnlinkMiddle);
        let behind = self.behind();
        // ord: U28 alone: read by owners only, which come after our release (I2)
        in_front.next.store(behind.raw(), Relaxed);
        // ord: U29 alone: read by owners only, and as a hint by its own context (I3)
        self.domain.node(behind).previous.store(previous.raw(), Relaxed);
    }

    /// The node behind, which exists and will link itself (I5).
    fn behind(&self) -> NodeCode {
        // ord: U8 pairs U7: the node behind, its predecessor included, was ready before it linked itself
        let next = self.node.next.wait_briefly::<P>(Acquire, |next| next != NodeCode::NONE);
        NodeCode::from_raw(next).expect("a link names a node (I4)")
    }
}

impl<P: FamilyPlatform> ConstLock for UnfairQueuedLock<P>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self = Self { locked: P::U8::ZERO, tail: P::U16::ZERO };
}
