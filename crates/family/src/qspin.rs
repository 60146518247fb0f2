//! `qspin`: the queued spin lock in 4 bytes, with pending bit and per-context nodes.
//!
//! # Motivation
//!
//! A fair spin lock whose waiters each poll a line of their own, so that a release disturbs one waiter and
//! not all, in the size of a ticket lock. The second contender spins on the lock itself (the pending bit) and
//! needs no node.
//!
//! # Provenance
//!
//! The Linux kernel's queued spin lock (Waiman Long and Peter Zijlstra, Linux 4.2, 2015). What differs, and
//! why: the kernel accesses its word as 8, 16 and 32 bits at the same place. Here it is **three separate
//! atomics**, each accessed at its own size only. Mixed sizes are undefined in Rust, inexpressible in a model
//! checker, and slow: a wide compare-exchange right after a byte store defeats store forwarding. Hence the
//! byte is always *claimed by compare-exchange*, and the tail is cleared after the claim.
//!
//! # Properties
//!
//! - Fairness: FIFO but for a bounded overtaking. A context that read the tail as empty just before a waiter
//!   published itself may still take the byte, or the pending bit and then the byte, *once*: its next
//!   acquisition sees the tail. So **a queued waiter is overtaken at most once by each other context**, and
//!   never by one that arrives after it.
//! - Progress: none while the holder, or a waiter in front, is preempted. Do not use it in overcommit.
//! - Memory: 4 bytes a lock, four nodes a context. A context without a free node (fifth nesting level, or no
//!   context number left) polls for the byte instead; it overtakes and is overtaken without bound.
//! - Release is one byte store.
//!
//! # The word, `(tail, pending, locked)`
//!
//! | from | to | by |
//! |---|---|---|
//! | `0,0,0` | `0,0,1` | acquire, uncontended |
//! | `0,0,1` | `0,1,1` | the second contender becomes pending |
//! | `*,1,0` | `*,1,1` then `*,0,1` | the pending waiter claims the byte, then drops the bit |
//! | `p,*,*` | `n,*,*` | a waiter queues |
//! | `n,0,0` | `n,0,1` | the head claims the byte |
//! | `n,*,1` | `0,*,1` | the head was the last in the queue |
//! | `*,*,1` | `*,*,0` | release |
//!
//! # The queue
//!
//! ```text
//!   tail ------------------------------------------+
//!                                                  v
//!   +-----------+  next   +-----------+  next  +-----------+
//!   | head      |-------->| waiter    |------->| last      |
//!   | state=HEAD|         | state=WAIT|        | state=WAIT|
//!   +-----------+         +-----------+        +-----------+
//!    polls locked,         polls its own state
//!    then pending
//! ```
//!
//! # Invariants
//!
//! - **I1** `locked` is 1 exactly while some context holds the lock; it becomes 1 only by compare-exchange
//!   from 0.
//! - **I2** `pending` is 1 exactly while one context is between its swap and its own store of 0.
//! - **I3** A node's `next` is written by the node's context before the node is published, and after that
//!   once, by the context that displaced it from the tail.
//! - **I4** A node's `state` goes from WAIT to HEAD once, by the context whose `next` it is. A context that
//!   displaced nobody is head at once and leaves its state alone.
//! - **I5** The tail is changed only by waiters that publish themselves and by a head that finds itself
//!   there.
//!
//! ## Memory orderings
//!
//! Mutual exclusion needs one pair: release store of the byte (Q4) against the acquiring claims (Q1, Q2, Q6,
//! Q9). The queue needs two: publication of a node before it can be displaced (Q7 with itself, Q8, Q12), and
//! handing over the head's role (Q13, Q10).
use crate::events::FamilyEvents as _;
use crate::percpu::{PerCpu, QNode};
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::slow_path::{acquire_without_node, count_nesting};
use crate::tail::NodeCode;
use core::marker::PhantomData;
use stanchion_core::events::Event;
use stanchion_core::lock::{ConstLock, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release};
use stanchion_core::transitions::{Field, Is, Row, Table, Word};

/// The queued spin lock; see the [module](self).
#[repr(C, align(4))]
pub struct QSpinLock<P: FamilyPlatform, O: QueueOrder = Fifo> {
    pub(crate) locked: P::U8,
    pub(crate) pending: P::U8,
    pub(crate) tail: P::U16,
    order: PhantomData<fn() -> O>,
}

/// In which order the waiters of a queue become owners. All that a variant of the lock differs in is here.
pub trait QueueOrder: sealed::Sealed + Send + Sync + Sized + 'static {
    /// The name of the lock.
    const NAME: &'static str;

    /// Prepares a node for queueing.
    fn prepare<P: FamilyPlatform>(waiter: &Waiter<'_, P>);

    /// What the head does with the queue while the lock is busy.
    fn arrange<P: FamilyPlatform>(lock: &QSpinLock<P, Self>, waiter: &Waiter<'_, P>);

    /// The owner leaves the queue; somebody else may become head.
    fn pass_headship<P: FamilyPlatform>(lock: &QSpinLock<P, Self>, waiter: &Waiter<'_, P>);
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// First in, first out.
pub enum Fifo {}
impl sealed::Sealed for Fifo {}

/// A context in the queue.
pub struct Waiter<'a, P: FamilyPlatform> {
    pub(crate) domain: &'a P::Domain,
    pub(crate) percpu: &'a PerCpu<P>,
    pub(crate) me: NodeCode,
    pub(crate) node: &'a QNode<P>,
}

/// States of a queued node (I4).
const WAIT: u8 = 0;
const HEAD: u8 = 2; // as in `pv_qspin`, so that a report reads both

/// How often a head that has a queue to sort looks while the lock is free and somebody pends. A look takes 20
/// ns at least, and a line that has to move for the claim a few hundred.
const FREE_LOOKS: u32 = 64;

const TRANSITIONS: Table = Table(&[
    Row::claim("claim: t,p,0 -> t,p,1"),
    Row::named("become pending: t,0,l -> t,1,l").pending(Is::Value(0), Is::Value(1)),
    Row::named("drop pending: t,1,l -> t,0,l").pending(Is::Value(1), Is::Value(0)),
    Row::queue("queue: p,*,* -> n,*,*"),
    Row::named("the head was the last: n,*,1 -> 0,*,1").tail(Is::NonZero, Is::Value(0)),
    Row::release("release: t,p,1 -> t,p,0"),
]);

impl<P: FamilyPlatform, O: QueueOrder> RawLock for QSpinLock<P, O> {
    type Platform = P;
    const NAME: &'static str = O::NAME;
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { locked: P::U8::new(0), pending: P::U8::new(0), tail: P::U16::new(0), order: PhantomData }
    }

    #[inline]
    fn acquire(&self) {
        // ord: Q1 pairs Q4: the previous holder's section comes before ours
        if !self.is_contended() && self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
            return;
        }
        self.acquire_slow();
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        !self.is_contended()
            // ord: Q3 alone: keeps a failing try from owning the line
            && self.locked.load(Relaxed) == 0
            // ord: Q2 pairs Q4: the previous holder's section comes before ours
            && self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    #[inline]
    fn release(&self) {
        TRANSITIONS.check(Field::Locked, || self.locked.peek(), 0u8);
        // ord: Q4 pairs Q1, Q2, Q6, Q9, Q11: our section comes before the next holder's
        self.locked.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: self.tail.peek(), pending: self.pending.peek(), locked: self.locked.peek() }
    }
}

impl<P: FamilyPlatform, O: QueueOrder> QSpinLock<P, O> {
    /// Whether anybody waits. A newcomer that passed this check may overtake a waiter that queues right after
    /// it.
    #[inline(always)]
    fn is_contended(&self) -> bool {
        // ord: Q16 alone: decides the way only, the claim decides the lock
        self.tail.load(Relaxed) != NodeCode::NONE || self.pending.load(Relaxed) != 0
    }

    #[cold]
    fn acquire_slow(&self) {
        P::count(Event::LockSlowpath);
        if self.acquire_as_pending() {
            P::count(Event::LockPending);
            return;
        }
        P::with_domain(|domain| {
            let Some(cpu) = P::this_cpu() else { return self.acquire_without_node() };
            let percpu = domain.cpu(cpu);
            let Some(nesting) = percpu.enter() else { return self.acquire_without_node() };
            count_nesting::<P>(nesting.level());
            let me = NodeCode::new(cpu, nesting.level());
            self.acquire_queued(&Waiter { domain, percpu, me, node: nesting.node() });
        });
    }

    /// `0,0,1 -> 0,1,1 -> 0,1,0 -> 0,1,1 -> 0,0,1`: the second contender waits at the lock itself.
    fn acquire_as_pending(&self) -> bool {
        // ord: Q17 alone: the bit orders waiters, not sections
        if self.tail.load(Relaxed) != NodeCode::NONE || self.pending.swap(1, Relaxed) != 0 {
            return false;
        }
        // ord: Q18 alone: a queue that formed meanwhile goes first; missing it costs one overtaking
        let alone = self.tail.load(Relaxed) == NodeCode::NONE;
        if alone {
            loop {
                // ord: Q19 alone: waits until a claim has a chance
                self.locked.wait_until(Relaxed, |locked| locked == 0);
                // ord: Q6 pairs Q4: the previous holder's section comes before ours
                if self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                    break;
                }
            }
        }
        // ord: Q20 alone: the bit orders waiters, not sections (I2)
        self.pending.store(0, Relaxed);
        alone
    }

    fn acquire_queued(&self, waiter: &Waiter<'_, P>) {
        let (node, me) = (waiter.node, waiter.me);
        // ord: Q21 alone: published by Q7
        node.next.store(NodeCode::NONE, Relaxed);
        // ord: Q22 alone: published by Q7
        node.state.store(WAIT, Relaxed);
        O::prepare(waiter);

        // p,*,* -> n,*,*
        // ord: Q7 pairs Q7, Q8, C4: our node is ready before anybody can displace it, and so is the one that
        // we displace
        let before = self.tail.swap(me.raw(), AcqRel);
        TRANSITIONS.check(Field::Tail, || before, me.raw());
        if let Some(before) = NodeCode::from_raw(before) {
            // ord: Q8 pairs Q7, Q12, C13, C16: the link comes after the displaced node was ready
            waiter.domain.node(before).next.store(me.raw(), Release);
            // ord: Q10 pairs Q13: what the previous head did with the queue comes before what we do
            node.state.wait_until(Acquire, |state| state == HEAD);
        }
        O::arrange(self, waiter);
        waiter.expect_to_pass();
        self.claim_as_head();
        O::pass_headship(self, waiter);
    }

    /// `n,0,0 -> n,0,1`, after whoever is pending.
    fn claim_as_head(&self) {
        loop {
            // ord: Q23 alone: waits until a claim has a chance
            self.locked.wait_until(Relaxed, |locked| locked == 0);
            // ord: Q24 alone: a pending waiter came before the queue and goes first
            if self.pending.load(Relaxed) != 0 {
                // ord: Q25 alone: as in Q24, a pending waiter goes first
                self.pending.wait_briefly::<P>(Relaxed, |pending| pending == 0);
                continue;
            }
            // ord: Q9 pairs Q4: the previous holder's section comes before ours
            if self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok() {
                return;
            }
        }
    }

    /// Whether the lock is held, or a pending waiter is about to have it; `free` counts the looks in a row
    /// that found it free. One that leaves it free for so long has no CPU, or is on its way to the queue.
    pub(crate) fn is_busy(&self, free: &mut u32) -> bool {
        // ord: Q28 alone: decides whether there is time to sort the queue, nothing else
        if self.locked.load(Relaxed) != 0 {
            *free = 0;
            return true;
        }
        *free += 1;
        // ord: Q30 alone: decides as Q28 does, nothing else
        *free < FREE_LOOKS && self.pending.load(Relaxed) != 0
    }

    /// `n,*,1 -> 0,*,1`, if the owner is the last in the queue. Whether it was.
    pub(crate) fn leave_as_last(&self, waiter: &Waiter<'_, P>) -> bool {
        // ord: Q26 alone: nobody follows an empty tail to our node
        self.tail.compare_exchange(waiter.me.raw(), NodeCode::NONE, Relaxed, Relaxed).is_ok()
    }

    /// The way of a context that has no node.
    fn acquire_without_node(&self) {
        acquire_without_node::<P, _>(&self.locked, 0, || {
            // ord: Q11 pairs Q4: the previous holder's section comes before ours
            self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
        });
    }
}

impl<P: FamilyPlatform> Waiter<'_, P> {
    /// The head's last words to the queue will go to the node behind: asks for its line while there is time,
    /// as in the kernel.
    pub(crate) fn expect_to_pass(&self) {
        // ord: Q29 alone: names a node whose line is asked for; nothing of it is read here
        if let Some(next) = NodeCode::from_raw(self.node.next.load(Relaxed)) {
            self.domain.node(next).state.prefetch_write();
        }
    }

    /// The node behind, which exists and will link itself.
    pub(crate) fn behind(&self) -> NodeCode {
        // ord: Q12 pairs Q8: the node behind was ready before it linked itself
        let next = self.node.next.wait_briefly::<P>(Acquire, |next| next != NodeCode::NONE);
        NodeCode::from_raw(next).expect("a link names a node (I3)")
    }

    /// `next` becomes head.
    pub(crate) fn make_head(&self, next: NodeCode) {
        // ord: Q13 pairs Q10: what we did with the queue comes before what the next head does
        self.domain.node(next).state.store(HEAD, Release);
    }
}

impl QueueOrder for Fifo {
    const NAME: &'static str = "qspin";

    #[inline(always)]
    fn prepare<P: FamilyPlatform>(_waiter: &Waiter<'_, P>) {}

    #[inline(always)]
    fn arrange<P: FamilyPlatform>(_lock: &QSpinLock<P, Self>, _waiter: &Waiter<'_, P>) {}

    fn pass_headship<P: FamilyPlatform>(lock: &QSpinLock<P, Self>, waiter: &Waiter<'_, P>) {
        if !lock.leave_as_last(waiter) {
            waiter.make_head(waiter.behind());
        }
    }
}

impl<P: FamilyPlatform, O: QueueOrder> ConstLock for QSpinLock<P, O>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self =
        Self { locked: P::U8::ZERO, pending: P::U8::ZERO, tail: P::U16::ZERO, order: PhantomData };
}
