//! `hmcs`: a queue on each NUMA node, and a queue of the NUMA nodes.
//!
//! # Motivation
//!
//! As [`cna`](crate::cna): on several sockets, a lock should be handed to a waiter nearby, for a while. Here
//! no waiter sorts a queue: those of a NUMA node queue there, on a line of that node's own, and only the
//! first of each queues for the lock itself, with the other nodes. So an arrival, too, touches nothing that
//! other sockets write to. It costs memory: a line for each NUMA node.
//!
//! # Provenance
//!
//! Chabbi, Fagan and Mellor-Crummey, *High performance locks for multi-level NUMA systems*, PPoPP 2015, with
//! two levels. What differs, and why:
//!
//! - **The lock is a byte, and whoever is first in both queues polls it.** In the paper, being first in both
//!   queues is to hold the lock, and a release hands it on. Here an owner hands its places on as soon as it
//!   has the lock, as in [`qspin`](crate::qspin). A node belongs to a wait and not to a holder, and a release
//!   is one store and touches nothing after it.
//! - **A free lock is taken at once** where no NUMA node queues, by one exchange instead of two.
//! - **The nodes of the upper queue have fixed places in the lock**, for `NUMA_NODES`. With more, several
//!   share one.
//!
//! # Properties
//!
//! - Fairness: FIFO on each NUMA node, and FIFO among the nodes, each of which has a turn of `TURN`
//!   acquisitions at most. A context that read the lock as not queued for may take it once all the same. The
//!   order begins in the upper queue: until the first of a node stands there, contexts of other nodes come
//!   and go.
//! - Progress: as `qspin`: none while the holder or a waiter in front is preempted.
//! - Memory: 576 bytes a lock: a line, and one for each of eight NUMA nodes; four nodes a context.
//!
//! # The word, `(tail, -, locked)`
//!
//! `tail` is the number of the NUMA node that queued last, plus one. The tails of the nodes' own queues are
//! no part of it.
//!
//! | from | to | by |
//! |---|---|---|
//! | `0,0` | `0,1` | acquire, uncontended |
//! | `p,*` | `n,*` | a NUMA node queues |
//! | `n,0` | `n,1` | the first of the first node takes the lock |
//! | `n,1` | `0,1` | the node's turn is over, and it was the last |
//! | `*,1` | `*,0` | release |
//!
//! # The queues
//!
//! ```text
//!   tail ------------------------------+
//!                                      v
//!   node 0's place ------------> node 2's place          the first polls `locked`
//!     tail                         tail
//!      |                            |
//!      v                            v
//!   waiter --> waiter --> last    waiter --> last        each polls its own line
//! ```
//!
//! # Invariants
//!
//! - **I1** `locked` is 1 exactly while some context holds the lock; it becomes 1 only by compare-exchange
//!   from 0.
//! - **I2** Only the first of a NUMA node's queue uses the node's place in the upper queue; it hands that on
//!   with its own place.
//! - **I3** A node of either queue is ready before it is published, and linked once, by who displaced it from
//!   the tail.
//! - **I4** A NUMA node stands in the upper queue for one turn, and leaves it before the next of its waiters
//!   may queue it again.
//!
//! ## Memory orderings
//!
//! Mutual exclusion needs one pair: the release (HM3) with the claims (HM1, HM2, HM4, HM5). Each queue has
//! those of `qspin`: publication (HM6, HM10) and links (HM7, HM11). A hand-over on a NUMA node (HM9)
//! publishes its place (HM8); one in the upper queue publishes nothing. A queue that is left empty on a NUMA
//! node (HM14) publishes that its place has left the upper queue (I4).
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

/// For so many NUMA nodes there are places.
const NUMA_NODES: usize = 8;
/// Bytes of a line.
const LINE: usize = 64;

/// The hierarchical MCS lock; see the [module](self).
#[repr(C, align(4))]
pub struct HmcsLock<P: FamilyPlatform> {
    locked: P::U8,
    tail: P::U8,
    rest: [u8; LINE - 2],
    places: [Place<P>; NUMA_NODES],
}

/// A NUMA node's own queue, and its node in the upper queue.
#[repr(C, align(4))]
struct Place<P: FamilyPlatform> {
    tail: P::U16,
    /// The number of the NUMA node behind, plus one.
    next: P::U8,
    state: P::U8,
    rest: [u8; LINE - 4],
}

/// States of a node: it waits; it is the first of its NUMA node, which has to queue for a turn; the number of
/// its acquisition in the turn, and `FIRST - 1` more.
const WAITS: u8 = 0;
const FIRST: u8 = 2; // a head, for a report
/// A NUMA node that is the first of the upper queue.
const HEAD: u8 = 2;

const TRANSITIONS: Table = Table(&[
    Row::claim("claim: t,0 -> t,1"),
    Row::queue("queue: p,* -> n,*"),
    Row::named("the node was the last: n,1 -> 0,1").tail(Is::NonZero, Is::Value(0)),
    Row::release("release: t,1 -> t,0"),
]);

impl<P: FamilyPlatform> RawLock for HmcsLock<P> {
    type Platform = P;
    const NAME: &'static str = "hmcs";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self {
            locked: P::U8::new(0),
            tail: P::U8::new(0),
            rest: [0; LINE - 2],
            places: core::array::from_fn(|_| Place {
                tail: P::U16::new(NodeCode::NONE),
                next: P::U8::new(0),
                state: P::U8::new(WAITS),
                rest: [0; LINE - 4],
            }),
        }
    }

    #[inline]
    fn acquire(&self) {
        // ord: HM1 pairs HM3: the previous holder's section comes before ours
        if self.is_queued_for() || self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.acquire_slow();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        !self.is_queued_for()
            // ord: HM15 alone: keeps a failing try from owning the line
            && self.locked.load(Relaxed) == 0
            // ord: HM2 pairs HM3: the previous holder's section comes before ours
            && self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    #[inline]
    fn release(&self) {
        TRANSITIONS.check(Field::Locked, || self.locked.peek(), 0u8);
        // ord: HM3 pairs HM1, HM2, HM4, HM5: our section comes before the next holder's
        self.locked.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: self.tail.peek().into(), pending: 0, locked: self.locked.peek() }
    }
}

impl<P: FamilyPlatform> HmcsLock<P> {
    /// How many acquisitions a NUMA node's turn has at most.
    const TURN: u8 = if P::EXPLORES { 2 } else { 64 };

    /// Whether a NUMA node queues. A newcomer that passed this check may overtake one that queues right after
    /// it.
    #[inline(always)]
    fn is_queued_for(&self) -> bool {
        // ord: HM16 alone: decides the way only, the claim decides the lock
        self.tail.load(Relaxed) != 0
    }

    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn acquire_slow(&self) {
        P::count(Event::LockSlowpath);
        P::with_domain(|domain| {
            let Some(cpu) = P::this_cpu() else { return self.acquire_without_node() };
            let Some(nesting) = domain.cpu(cpu).enter() else { return self.acquire_without_node() };
            count_nesting::<P>(nesting.level());
            let numa = usize::from(P::numa_node()) % NUMA_NODES;
            let me = NodeCode::new(cpu, nesting.level());
            let turn = self.queue_on_node(domain, numa, nesting.node(), me);
            if turn == FIRST {
                self.queue_node(numa);
            }
            self.claim();
            self.pass_on(domain, numa, nesting.node(), me, turn);
        });
    }

    /// Queues behind the others of this NUMA node, and waits to be the first of them. The acquisition of the
    /// turn that ours is.
    fn queue_on_node(&self, domain: &P::Domain, numa: usize, node: &QNode<P>, me: NodeCode) -> u8 {
        // ord: HM17 alone: published by HM6
        node.next.store(NodeCode::NONE, Relaxed);
        // ord: HM18 alone: published by HM6
        node.state.store(WAITS, Relaxed);
        // ord: HM6 pairs HM6, HM14: our node is ready before anybody displaces it, so is the one that we
        // displace, and so is the place
        let before = self.places[numa].tail.swap(me.raw(), AcqRel);
        let Some(before) = NodeCode::from_raw(before) else { return FIRST };
        // ord: HM7 pairs HM19, HM20: the link comes after our node was ready
        domain.node(before).next.store(me.raw(), Release);
        // ord: HM8 pairs HM9: what the one in front did with the place comes before what we do (I2)
        node.state.wait_until(Acquire, |state| state != WAITS)
    }

    /// Queues this NUMA node behind the others, and waits until it is the first.
    fn queue_node(&self, numa: usize) {
        let place = &self.places[numa];
        // ord: HM21 alone: published by HM10
        place.next.store(0, Relaxed);
        // ord: HM22 alone: published by HM10
        place.state.store(WAITS, Relaxed);
        let number = numa as u8 + 1;
        // ord: HM10 pairs HM10: our place is ready before anybody displaces it, and so is the one that we
        // displace
        let before = self.tail.swap(number, AcqRel);
        TRANSITIONS.check(Field::Tail, || before, number);
        if let Some(before) = before.checked_sub(1) {
            // ord: HM11 pairs HM23: the link comes after our place was ready
            self.places[usize::from(before)].next.store(number, Release);
            // ord: HM12 alone: says when to poll the lock; what was done in front of us is ordered by the
            // claim (HM4)
            place.state.wait_until(Relaxed, |state| state == HEAD);
        }
    }

    /// `n,0 -> n,1`, as the first of both queues.
    fn claim(&self) {
        loop {
            // ord: HM24 alone: waits until a claim has a chance
            self.locked.wait_until(Relaxed, |locked| locked == 0);
            // ord: HM4 pairs HM3: the previous holder's section comes before ours
            if self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                return;
            }
        }
    }

    /// The new owner leaves both queues. Somebody of its NUMA node goes on with the turn, or the turn is
    /// over.
    fn pass_on(&self, domain: &P::Domain, numa: usize, node: &QNode<P>, me: NodeCode, turn: u8) {
        let grant = |next, turn| {
            // ord: HM9 pairs HM8: what we did with the place comes before what the next one does (I2)
            domain.node(next).state.store(turn, Release);
        };
        // ord: HM19 pairs HM7: the node behind was ready
        let next = NodeCode::from_raw(node.next.load(Acquire));
        if let Some(next) = next.filter(|_| turn - FIRST + 1 < Self::TURN) {
            return grant(next, turn + 1);
        }
        self.end_turn(numa);
        // ord: HM14 pairs HM6: the place has left the upper queue before it queues again (I4)
        if self.places[numa].tail.compare_exchange(me.raw(), NodeCode::NONE, Release, Relaxed).is_err() {
            // ord: HM20 pairs HM7: the node behind was ready
            let next = node.next.wait_briefly::<P>(Acquire, |next| next != NodeCode::NONE);
            grant(NodeCode::from_raw(next).expect("a link names a node (I3)"), FIRST);
        }
    }

    /// `n,1 -> 0,1`, or the NUMA node behind is the first.
    fn end_turn(&self, numa: usize) {
        // ord: HM25 alone: nobody follows an empty tail to our place
        if self.tail.compare_exchange(numa as u8 + 1, 0, Relaxed, Relaxed).is_err() {
            // ord: HM23 pairs HM11: the place behind was ready
            let next = self.places[numa].next.wait_briefly::<P>(Acquire, |next| next != 0);
            // ord: HM13 alone: as HM12; our release (HM3) comes behind it
            self.places[usize::from(next) - 1].state.store(HEAD, Relaxed);
        }
    }

    /// The way of a context that has no node.
    fn acquire_without_node(&self) {
        acquire_without_node::<P, _>(&self.locked, 0, || {
            // ord: HM5 pairs HM3: the previous holder's section comes before ours
            self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
        });
    }
}

impl<P: FamilyPlatform> Place<P>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
{
    const FREE: Self =
        Self { tail: P::U16::ZERO, next: P::U8::ZERO, state: P::U8::ZERO, rest: [0; LINE - 4] };
}

impl<P: FamilyPlatform> ConstLock for HmcsLock<P>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self = Self {
        locked: P::U8::ZERO,
        tail: P::U8::ZERO,
        rest: [0; LINE - 2],
        places: [Place::<P>::FREE; NUMA_NODES],
    };
}
