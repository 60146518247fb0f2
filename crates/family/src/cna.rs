//! `cna`: the compact NUMA-aware lock: the queued spin lock that prefers waiters of its own socket, for a
//! while.
//!
//! # Motivation
//!
//! On several sockets a FIFO lock drags its line, and the data that it protects, across the machine at nearly
//! every hand-over. Handing it to a waiter of the same socket first, for a bounded time, keeps both where
//! they are.
//!
//! # Provenance
//!
//! Dice and Kogan's CNA in the form announced for the Linux kernel (Alex Kogan, version 15, 2021). What
//! differs, and why: nodes name each other by 16-bit code, so the secondary queue's last node travels in a
//! cell of its own beside the state. The word is three atomics, as in [`qspin`](crate::qspin), with which
//! this lock shares all but the order of its queue.
//!
//! # Properties
//!
//! - Fairness: a remote waiter waits at most for the threshold ([`Tunable::CnaThreshold`], 1 ms) longer than
//!   in FIFO order, and the time of one section; then all remote waiters go first, in their order. Priority
//!   waiters ([`Machine::is_priority`](stanchion_core::Machine::is_priority)) are never moved.
//! - Progress: as `qspin`: none while the holder or a waiter in front is preempted.
//! - Memory: 4 bytes a lock, four nodes a context.
//! - On a machine with one NUMA node ([`Machine::is_numa`](stanchion_core::Machine::is_numa)) it is `qspin`,
//!   but for three stores and two tests a queueing.
//!
//! # The queues
//!
//! ```text
//!   tail ---------------------------------------+
//!                                               v
//!   head (A) --> waiter (A) --> waiter (B) --> last (A)        primary: A is the head's NUMA node
//!     |
//!     | secondary
//!     v
//!   last (B) --> first (C) --> second (B) --+                  secondary: a ring, entered at its last node
//!      ^                                    |
//!      +------------------------------------+
//! ```
//!
//! # Invariants
//!
//! Those of [`qspin`](crate::qspin), and:
//! - **I6** Each waiter is in exactly one of the two queues; the tail names the last of the primary one,
//!   which is never moved.
//! - **I7** Only the head touches `secondary`, `numa`, `since` of its own node and links of the secondary
//!   queue; it hands them on with the headship.
//! - **I8** `since` of the head is 0 exactly while its `secondary` is empty, or 1: flush at the next
//!   hand-over.
//!
//! ## Memory orderings
//!
//! Everything about the secondary queue is published by the hand-over (Q13) and read after it (Q10). One more
//! pair is needed: when the secondary queue becomes the primary one, the link that its last node loses must
//! be seen by whoever displaces that node from the tail (C4 with Q7).
use crate::events::FamilyEvents as _;
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::qspin::{QSpinLock, QueueOrder, Waiter};
use crate::tail::NodeCode;
use crate::tunables::FamilyTunables as _;
use stanchion_core::events::Event;
use stanchion_core::machine::{self, Atomic};
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::tunables::Tunable;

/// The compact NUMA-aware lock; see the [module](self).
pub type CnaLock<P> = QSpinLock<P, Cna>;

/// Waiters of the head's NUMA node first, for a bounded time.
pub enum Cna {}
impl crate::qspin::sealed::Sealed for Cna {}

/// The NUMA node of a waiter that must not be moved.
const PRIORITY: u16 = u16::MAX;
/// `since`: no secondary queue.
const NEVER: u32 = 0;
/// `since`: the secondary queue goes first at the next hand-over.
const FLUSH: u32 = 1;
/// How long the head waits between two looks at a queue that it cannot sort yet, in nanoseconds.
const LOOK_AGAIN: u32 = 20;

fn micros<P: FamilyPlatform>() -> u32 {
    machine::micros::<P>().max(FLUSH + 1)
}

impl QueueOrder for Cna {
    const NAME: &'static str = "cna";

    fn prepare<P: FamilyPlatform>(waiter: &Waiter<'_, P>) {
        let numa = match () {
            () if !P::is_numa() => 0,
            () if P::is_priority() => PRIORITY,
            () => P::numa_node(),
        };
        // ord: C1 alone: published by Q7
        waiter.node.numa.store(numa, Relaxed);
        // ord: C2 alone: published by Q7
        waiter.node.secondary.store(NodeCode::NONE, Relaxed);
        // ord: C3 alone: published by Q7
        waiter.node.since.store(NEVER, Relaxed);
    }

    fn arrange<P: FamilyPlatform>(lock: &QSpinLock<P, Self>, waiter: &Waiter<'_, P>) {
        if !P::is_numa() {
            return;
        }
        let head = Head(waiter);
        head.check();
        if head.secondary().is_none()
            && !waiter.percpu.roll(waiter.me).is_multiple_of(P::tunable(Tunable::CnaShuffle).max(1))
        {
            return;
        }
        let since = head.since();
        if since != NEVER && micros::<P>().wrapping_sub(since) > P::tunable(Tunable::CnaThreshold) {
            head.set_since(FLUSH);
            return;
        }
        // The lock's line and that of the node behind come side by side.
        lock.locked.prefetch_read();
        // ord: C6 alone: ours while we are head (I7)
        if waiter.node.numa.load(Relaxed) == PRIORITY {
            // ord: C7 alone: ours while we are head (I7)
            waiter.node.numa.store(P::numa_node(), Relaxed);
        }
        let mut free = 0;
        while lock.is_busy(&mut free) {
            if head.sort() {
                return;
            }
            P::relax(LOOK_AGAIN);
        }
    }

    fn pass_headship<P: FamilyPlatform>(lock: &QSpinLock<P, Self>, waiter: &Waiter<'_, P>) {
        let head = Head(waiter);
        let Some(last) = head.secondary() else {
            if !lock.leave_as_last(waiter) {
                waiter.make_head(waiter.behind());
            }
            return;
        };
        if head.secondary_becomes_primary(lock, last) {
            return;
        }
        let next = waiter.behind();
        if head.since() == FLUSH {
            P::count(Event::CnaSpliced);
            // The secondary queue goes in front of `next`, and its first becomes head, without a secondary
            // queue of its own.
            let first = head.link(last);
            // ord: C8 alone: published by the hand-over (Q13)
            waiter.domain.node(last).next.store(next.raw(), Relaxed);
            waiter.make_head(first);
        } else {
            head.hand_on(next, last);
        }
    }
}

/// What only the head of the primary queue may do (I7).
struct Head<'a, P: FamilyPlatform>(&'a Waiter<'a, P>);

impl<P: FamilyPlatform> Head<'_, P> {
    /// The last node of the secondary queue.
    fn secondary(&self) -> Option<NodeCode> {
        // ord: C9 alone: ours while we are head, published by the hand-over to us (I7)
        NodeCode::from_raw(self.0.node.secondary.load(Relaxed))
    }

    fn since(&self) -> u32 {
        // ord: C10 alone: ours while we are head (I7)
        self.0.node.since.load(Relaxed)
    }

    fn set_since(&self, since: u32) {
        // ord: C11 alone: ours while we are head (I7)
        self.0.node.since.store(since, Relaxed);
    }

    /// In debug builds, panics unless what was handed to us is as I8 says.
    fn check(&self) {
        let (since, secondary) = (self.0.node.since.peek(), self.0.node.secondary.peek());
        debug_assert!(
            since == FLUSH || (since == NEVER) == (secondary == NodeCode::NONE),
            "the secondary queue ends with {secondary:#x}, and began at {since} (I8)"
        );
    }

    /// The node that `of`, a node of the secondary queue, is linked to.
    fn link(&self, of: NodeCode) -> NodeCode {
        // ord: C12 alone: only the head links the secondary queue (I7)
        NodeCode::from_raw(self.0.domain.node(of).next.load(Relaxed)).expect("the secondary queue is a ring")
    }

    /// One step of sorting: a remote waiter right behind us goes to the secondary queue, unless it is the
    /// last. Whether a local waiter is right behind us now.
    fn sort(&self) -> bool {
        let (domain, node) = (self.0.domain, self.0.node);
        // ord: C13 pairs Q8: the node behind was ready before it linked itself
        let Some(next) = NodeCode::from_raw(node.next.load(Acquire)) else { return false };
        let behind = domain.node(next);
        // ord: C14 alone: written before the node was linked (C13)
        let numa = behind.numa.load(Relaxed);
        // ord: C15 alone: ours while we are head (I7)
        if numa == PRIORITY || numa == node.numa.load(Relaxed) {
            return true;
        }
        // ord: C16 pairs Q8: the node after it was ready before it linked itself; without one it is the last
        // (I6)
        if let Some(after) = NodeCode::from_raw(behind.next.load(Acquire)) {
            self.set_aside(next, after);
        }
        false
    }

    /// `next`, which is right behind us, goes to the end of the secondary queue; `after` is behind us then.
    fn set_aside(&self, next: NodeCode, after: NodeCode) {
        P::count(Event::CnaMoved);
        let (domain, node) = (self.0.domain, self.0.node);
        // ord: C17 alone: ours; whoever linked `next` to us is done with the cell (I3)
        node.next.store(after.raw(), Relaxed);
        if let Some(last) = self.secondary() {
            let first = self.link(last);
            // ord: C18 alone: published by the hand-over (I7)
            domain.node(last).next.store(next.raw(), Relaxed);
            // ord: C19 alone: published by the hand-over (I7)
            domain.node(next).next.store(first.raw(), Relaxed);
        } else {
            // ord: C20 alone: published by the hand-over (I7)
            domain.node(next).next.store(next.raw(), Relaxed);
            self.set_since(micros::<P>());
        }
        // ord: C21 alone: ours while we are head (I7)
        node.secondary.store(next.raw(), Relaxed);
    }

    /// `n,*,1 -> s,*,1`: nobody is behind us in the primary queue, so the secondary one takes its place.
    /// Whether it did.
    fn secondary_becomes_primary(&self, lock: &QSpinLock<P, Cna>, last: NodeCode) -> bool {
        let waiter = self.0;
        // ord: C22 alone: a hint that saves the attempt; the exchange decides
        if waiter.node.next.load(Relaxed) != NodeCode::NONE {
            return false;
        }
        let first = self.link(last);
        // ord: C23 alone: published by C4, before anybody can displace `last`
        waiter.domain.node(last).next.store(NodeCode::NONE, Relaxed);
        // ord: C4 pairs Q7: the ring is open before anybody links itself to its last node
        if lock.tail.compare_exchange(waiter.me.raw(), last.raw(), Release, Relaxed).is_ok() {
            waiter.make_head(first);
            return true;
        }
        // ord: C24 alone: published by the hand-over (I7)
        waiter.domain.node(last).next.store(first.raw(), Relaxed);
        false
    }

    /// `next` becomes head, with the secondary queue and the preference.
    fn hand_on(&self, next: NodeCode, last: NodeCode) {
        let (node, heir) = (self.0.node, self.0.domain.node(next));
        // ord: C25 alone: published by the hand-over (Q13)
        heir.secondary.store(last.raw(), Relaxed);
        // ord: C26 alone: published by the hand-over (Q13); the preference survives a heir from elsewhere
        heir.numa.store(node.numa.load(Relaxed), Relaxed);
        // ord: C27 alone: published by the hand-over (Q13)
        heir.since.store(self.since(), Relaxed);
        self.0.make_head(next);
    }
}
