//! `malthusian`: a queue that sets surplus waiters aside, so that few contexts take turns and the others
//! sleep.
//!
//! # Motivation
//!
//! A lock that is saturated needs two or three contexts to stay saturated. All others only fight for caches
//! and CPUs, and a queue in the order of arrival makes sure that each of them takes part. Here whoever hands
//! the lock over takes one waiter out of a queue that is longer than it needs to be. So the set of contexts
//! that take turns shrinks until the queue is empty now and then, and those set aside sleep for long. Each of
//! them comes back in the end.
//!
//! # Provenance
//!
//! Dave Dice, *Malthusian Locks*, EuroSys 2017: the queued form with waiters that spin, then park
//! (MCSCR-STP). What differs, and why:
//!
//! - **A node belongs to a wait, not to a holder**, so that the locks of the family need no memory of their
//!   owners. Who is next stands in the lock, as in the K42 variant of the MCS lock: an owner takes its own
//!   node out of the queue.
//! - **The eldest comes in after so many releases** (`FAIR_ONE_IN`), where the paper rolls dice with the same
//!   chance. So there is a bound on how long a waiter stays aside.
//!
//! # Properties
//!
//! - Fairness: in the queue, the order of arrival. One that is set aside gets the lock when nobody stands in
//!   the queue and it is the newest of those set aside; or, once it is the eldest, within 1000 releases.
//!   Newcomers take a free lock only, and it is free only if nobody waits. Contexts without a node wait until
//!   it is free.
//! - Progress: the lock is handed over, also to one that sleeps. So nobody acquires while the next in line
//!   wakes up or is preempted.
//! - Memory: 8 bytes a lock, four nodes a context. A release touches nothing of the lock after the store that
//!   lets the next holder in.
//!
//! # The word, `(tail, -, locked)`
//!
//! `tail` is 0 while the lock is free, `HELD` while it is held and the queue is empty, or the last node of
//! the queue. It is shown without the mark, and `locked`, which is 1 unless it is 0. The rest is no part of
//! it.
//!
//! | from | to | by |
//! |---|---|---|
//! | `0,0` | `0,1` | acquire |
//! | `p,1` | `n,1` | a waiter queues |
//! | `n,1` | `0,1` | the owner comes out of the queue and was the last |
//! | `0,1` | `0,0` | release with nobody waiting |
//!
//! # The queue, and those set aside
//!
//! ```text
//!   next -----> first ----> second ----> last <----- tail         in the order of arrival
//!
//!   aside ----> newest ----> older ----> eldest                   each knows the newer one; the newest, the eldest
//! ```
//!
//! # Invariants
//!
//! - **I1** The lock is free exactly while `tail` is 0. It is taken by compare-exchange from 0, or handed
//!   over.
//! - **I2** While `tail` is 0 or `HELD`, `next` is 0, but for a holder on its way out. It names the first of
//!   the queue, which stores it there itself if it finds `HELD`, else the holder does.
//! - **I3** Only the holder touches `aside`, `releases`, and the links of nodes that are set aside; all of it
//!   is handed on with the lock.
//! - **I4** A waiter is in the queue or aside, and is granted once. Who is granted from aside leaves `tail`
//!   and `next` alone.
//! - **I5** The last of the queue is never set aside.
//!
//! ## Memory orderings
//!
//! Two pairs hand sections on: a release of a free lock (MA3) with who takes it (MA1, MA2, MA4, MA5), and a
//! grant (MA6) with who waits for it (MA7). A node is ready before it can be followed (MA9), and its link
//! comes after that (MA10). An owner that leaves the queue (MA11) has cleared `next` before the next arrival
//! stores there.
use crate::percpu::QNode;
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::slow_path::{acquire_without_node, count_nesting};
use crate::tail::NodeCode;
use stanchion_core::events::Event;
use stanchion_core::lock::{ConstLock, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release};
use stanchion_core::transitions::{Field, Is, Row, Table, Word};

/// The Malthusian lock; see the [module](self).
#[repr(C, align(4))]
pub struct MalthusianLock<P: FamilyPlatform> {
    tail: P::U16,
    next: P::U16,
    aside: P::U16,
    releases: P::U16,
}

/// `tail` of a free lock.
const FREE: u16 = 0;
/// `tail` of a lock that is held, with an empty queue. It names no node.
const HELD: u16 = 1;
const _: () = assert!(NodeCode::from_raw(HELD).is_none());

/// States of a node, as a report reads them.
const WAITS: u8 = 0;
const PARKED: u8 = 1;
/// The lock is ours, and our node is the first of the queue.
const GRANTED: u8 = 2;
/// The lock is ours, and our node was set aside.
const RECALLED: u8 = 3;

const TRANSITIONS: Table = Table(&[
    Row::claim("acquire: 0,0 -> 0,1"),
    Row::queue("queue: p,1 -> n,1"),
    Row::named("the owner was the last: n,1 -> 0,1").tail(Is::NonZero, Is::Value(0)),
    Row::release("release: 0,1 -> 0,0"),
]);

/// The last of the queue, or zero.
fn last(tail: u16) -> u16 {
    if tail == HELD { NodeCode::NONE } else { tail }
}

impl<P: FamilyPlatform> RawLock for MalthusianLock<P> {
    type Platform = P;
    const NAME: &'static str = "malthusian";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self {
            tail: P::U16::new(FREE),
            next: P::U16::new(0),
            aside: P::U16::new(0),
            releases: P::U16::new(0),
        }
    }

    #[inline]
    fn acquire(&self) {
        // ord: MA1 pairs MA3: the previous holder's section comes before ours
        if self.tail.compare_exchange(FREE, HELD, Acquire, Relaxed).is_err() {
            self.acquire_slow();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        // ord: MA12 alone: keeps a failing try from owning the line
        self.tail.load(Relaxed) == FREE
            // ord: MA2 pairs MA3: the previous holder's section comes before ours
            && self.tail.compare_exchange(FREE, HELD, Acquire, Relaxed).is_ok()
    }

    #[inline]
    fn release(&self) {
        debug_assert_ne!(self.tail.peek(), FREE, "released a lock that nobody holds (I1)");
        // ord: MA13 alone: the holder's own (I3)
        if self.aside.load(Relaxed) == NodeCode::NONE
            // ord: MA3 pairs MA1, MA2, MA4, MA5: our section comes before the next holder's
            && self.tail.compare_exchange(HELD, FREE, Release, Relaxed).is_ok()
        {
            return;
        }
        self.hand_over();
    }

    fn word(&self) -> Word {
        let tail = self.tail.peek();
        Word { tail: last(tail), pending: 0, locked: u8::from(tail != FREE) }
    }
}

impl<P: FamilyPlatform> MalthusianLock<P> {
    /// How often a waiter polls before it parks: for about as long as it takes to wake up, as in the paper.
    /// With fewer polls those who come while the next holder wakes up park, too, and each acquisition is one
    /// wake-up from then on.
    const POLLS: u32 = if P::EXPLORES { 1 } else { 1 << 13 };
    /// After so many releases, the eldest of those set aside gets the lock.
    const FAIR_ONE_IN: u16 = if P::EXPLORES { 2 } else { 1_000 };

    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn acquire_slow(&self) {
        P::count(Event::LockSlowpath);
        P::with_domain(|domain| {
            let Some(cpu) = P::this_cpu() else { return self.acquire_without_node() };
            let Some(nesting) = domain.cpu(cpu).enter() else { return self.acquire_without_node() };
            count_nesting::<P>(nesting.level());
            let (node, me) = (nesting.node(), NodeCode::new(cpu, nesting.level()));
            // ord: MA14 alone: published by MA9
            node.next.store(NodeCode::NONE, Relaxed);
            // ord: MA15 alone: published by MA9
            node.state.store(WAITS, Relaxed);
            let Some(before) = self.arrive(me) else { return };
            let link = NodeCode::from_raw(before).map_or(&self.next, |before| &domain.node(before).next);
            // ord: MA10 pairs MA16, MA17, MA18, MA19: our node is ready, and so is the cell that names it
            link.store(me.raw(), Release);
            if Self::wait(node) == GRANTED {
                self.leave_queue(node, me);
            }
        });
    }

    /// `0,0 -> 0,1`, or `p,1 -> me,1`: what stood there, or nothing if we have the lock.
    fn arrive(&self, me: NodeCode) -> Option<u16> {
        // ord: MA20 alone: the exchanges decide
        let mut seen = self.tail.load(Relaxed);
        loop {
            let tried = if seen == FREE {
                // ord: MA4 pairs MA3: the previous holder's section comes before ours
                self.tail.compare_exchange(FREE, HELD, Acquire, Relaxed)
            } else {
                TRANSITIONS.check(Field::Tail, || last(seen), me.raw());
                // ord: MA9 pairs MA9, MA11: our node is ready before anybody follows it, and so is the cell
                // where we link ourselves
                self.tail.compare_exchange(seen, me.raw(), AcqRel, Relaxed)
            };
            match tried {
                Ok(FREE) => return None,
                Ok(before) => return Some(before),
                Err(other) => seen = other,
            }
        }
    }

    /// Spins, then parks. How the lock was granted.
    fn wait(node: &QNode<P>) -> u8 {
        loop {
            P::publish_running();
            // ord: MA7 pairs MA6: the previous holder's section comes before ours
            if let Ok(how) = node.state.wait_until_polls(Self::POLLS, Acquire, |state| state >= GRANTED) {
                return how;
            }
            if P::paravirt() {
                // It fails if we have parked before, or are granted by now; then the halt ends at once.
                // ord: MA8 alone: asks to be kicked, and publishes nothing; MA7 reads what comes of it
                let _ = node.state.compare_exchange(WAITS, PARKED, Relaxed, Relaxed);
                P::count(Event::PvWaitNode);
                P::halt_while(&node.state, PARKED);
            }
        }
    }

    /// The new owner takes its node, the first, out of the queue.
    fn leave_queue(&self, node: &QNode<P>, me: NodeCode) {
        // ord: MA16 pairs MA10: whoever we name as next is ready
        let mut behind = node.next.load(Acquire);
        if behind == NodeCode::NONE {
            // ord: MA22 alone: published by MA11
            self.next.store(NodeCode::NONE, Relaxed);
            // `n,1 -> 0,1`
            // ord: MA11 pairs MA9: the next arrival names itself in `next` after we cleared it
            if self.tail.compare_exchange(me.raw(), HELD, Release, Relaxed).is_ok() {
                return;
            }
            // ord: MA17 pairs MA10: whoever we name as next is ready
            behind = node.next.wait_briefly::<P>(Acquire, |next| next != NodeCode::NONE);
        }
        // ord: MA23 alone: the holder's own while the queue is not empty (I2)
        self.next.store(behind, Relaxed);
    }

    #[cold]
    #[inline(never)]
    fn hand_over(&self) {
        P::with_domain(|domain| {
            let (heir, how) = self.heir(domain);
            // ord: MA6 pairs MA7: our section, and what we know of queue and aside, come before what the next
            // holder does
            if domain.node(heir).state.swap(how, Release) == PARKED {
                P::count(Event::PvKickUnlock);
                P::kick(heir.cpu());
            }
        });
    }

    /// Who gets the lock, and how. Somebody waits.
    fn heir(&self, domain: &P::Domain) -> (NodeCode, u8) {
        if let Some(eldest) = self.recall_eldest(domain) {
            return (eldest, RECALLED);
        }
        // ord: MA24 alone: whether anybody has arrived; MA18 reads who
        if self.tail.load(Relaxed) == HELD
            && let Some(newest) = self.recall_newest(domain)
        {
            return (newest, RECALLED);
        }
        // ord: MA18 pairs MA10: the first of the queue was ready
        let first = self.next.wait_briefly::<P>(Acquire, |next| next != NodeCode::NONE);
        let first = NodeCode::from_raw(first).expect("a link names a node (I2)");
        // ord: MA19 pairs MA10: the second of the queue was ready
        let Some(second) = NodeCode::from_raw(domain.node(first).next.load(Acquire)) else {
            return (first, GRANTED);
        };
        self.set_aside(domain, first);
        (second, GRANTED)
    }
}

/// Those set aside. All cells are the holder's own (I3).
impl<P: FamilyPlatform> MalthusianLock<P> {
    fn newest(&self) -> Option<NodeCode> {
        // ord: MA25 alone: the holder's own (I3)
        NodeCode::from_raw(self.aside.load(Relaxed))
    }

    /// `first`, which is not the last of the queue, is the newest.
    fn set_aside(&self, domain: &P::Domain, first: NodeCode) {
        let eldest = self.newest().map_or(first, |newest| Self::swap_newer(domain, newest, first));
        // ord: MA26 alone: the holder's own (I3)
        domain.node(first).previous.store(eldest.raw(), Relaxed);
        // ord: MA27 alone: the holder's own (I3); who was behind it in the queue has been read
        domain.node(first).next.store(self.newest().map_or(NodeCode::NONE, NodeCode::raw), Relaxed);
        // ord: MA28 alone: the holder's own (I3)
        self.aside.store(first.raw(), Relaxed);
    }

    /// The newest, which is aside no more.
    fn recall_newest(&self, domain: &P::Domain) -> Option<NodeCode> {
        let newest = self.newest()?;
        // ord: MA29 alone: the holder's own (I3)
        let (older, eldest) = (domain.node(newest).next.load(Relaxed), Self::newer(domain, newest));
        if let Some(older) = NodeCode::from_raw(older).filter(|_| eldest != newest) {
            Self::swap_newer(domain, older, eldest);
            // ord: MA30 alone: the holder's own (I3)
            self.aside.store(older.raw(), Relaxed);
        } else {
            // ord: MA31 alone: the holder's own (I3)
            self.aside.store(NodeCode::NONE, Relaxed);
        }
        Some(newest)
    }

    /// The eldest, which is aside no more, if it is time.
    fn recall_eldest(&self, domain: &P::Domain) -> Option<NodeCode> {
        let newest = self.newest()?;
        // ord: MA32 alone: the holder's own (I3)
        let releases = self.releases.load(Relaxed) + 1;
        let is_time = releases >= Self::FAIR_ONE_IN;
        // ord: MA33 alone: the holder's own (I3)
        self.releases.store(if is_time { 0 } else { releases }, Relaxed);
        if !is_time {
            return None;
        }
        let eldest = Self::newer(domain, newest);
        if eldest == newest {
            return self.recall_newest(domain);
        }
        Self::swap_newer(domain, newest, Self::newer(domain, eldest));
        Some(eldest)
    }

    /// Who was set aside right after `node`; after the newest, the eldest.
    fn newer(domain: &P::Domain, node: NodeCode) -> NodeCode {
        // ord: MA34 alone: the holder's own (I3)
        NodeCode::from_raw(domain.node(node).previous.load(Relaxed)).expect("those aside form a ring (I3)")
    }

    /// The same, which is `newer` from now on.
    fn swap_newer(domain: &P::Domain, node: NodeCode, newer: NodeCode) -> NodeCode {
        let before = Self::newer(domain, node);
        // ord: MA35 alone: the holder's own (I3)
        domain.node(node).previous.store(newer.raw(), Relaxed);
        before
    }
}

impl<P: FamilyPlatform> MalthusianLock<P> {
    /// The way of a context that has no node.
    fn acquire_without_node(&self) {
        acquire_without_node::<P, _>(&self.tail, FREE, || {
            // ord: MA5 pairs MA3: the previous holder's section comes before ours
            self.tail.compare_exchange(FREE, HELD, Acquire, Relaxed).is_ok()
        });
    }
}

impl<P: FamilyPlatform> ConstLock for MalthusianLock<P>
where
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self =
        Self { tail: P::U16::ZERO, next: P::U16::ZERO, aside: P::U16::ZERO, releases: P::U16::ZERO };
}
