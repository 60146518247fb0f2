//! `pv-qspin`: the paravirtual queued lock, whose waiters halt.
//!
//! # Motivation
//!
//! A queue that spins is lost as soon as a waiter's CPU is taken away; a queue that hands the lock to a
//! sleeping waiter is lost to the wake-up latency. This lock queues its waiters so that each sleeps at a
//! place of its own, but lets contexts that *are running* take a free lock ahead of the queue while its head
//! sleeps.
//!
//! # Provenance
//!
//! The paravirtual queued spin lock of the Linux kernel (Waiman Long, 4.2 to 4.15). Each patch of the 2015
//! series is a policy (`policy.rs`), so that the series can be rebuilt step by step. [`EagerKick`] is the
//! form before it. Then come [`KickAtUnlock`], [`KickAhead`], [`WaitEarlyAtOnce`] with its merged form
//! [`WaitEarlySampled`], and [`FirstPends`]; [`Patched`] is all of it. POWER's form is [`Conferring`].
//! [`Merged`], the default, is that of 4.15. What differs from what was announced, and why:
//!
//! - **Three separate atomics**, as in [`qspin`](crate::qspin).
//! - **Release is a byte store and a read.** The kernel releases by compare-exchange because "slow" stands in
//!   the locked byte. Here the head leaves its mark in the second byte and pays for the store-buffering pair
//!   with [`heavy_barrier`](stanchion_core::Machine::heavy_barrier) when it is about to sleep anyway.
//! - **A parking slot instead of a hash table**: the mark is the index of the place where the head sleeps;
//!   see [`parking`](crate::parking). A released lock is not written again, only read. The kernel's table
//!   ([`Hashed`]) and a pointer in the lock ([`Pointed`], 8 bytes) are there to be measured against it
//!   (`lookup.rs`).
//! - **A roused waiter has a state of its own** (`kick_ahead.rs`). Without it, a waiter that becomes head
//!   while its kick is under way waits for ever, as the schedule explorer shows.
//! - **The pending waiter is a mark in the second byte**, set and cleared by compare-exchange; a head may
//!   write over it.
//! - **A head that lost to a thief sleeps again.** In the original its entry is gone after the first kick and
//!   it spins until it wins; here it arms its parking slot again.
//! - **Node states are one cell changed by read-modify-write only**, so that the hand-over of the head's role
//!   needs no fences.
//! - **Newcomers give up.** In the kernel a newcomer of 4.15 tries for as long as the head sleeps, and queues
//!   at once where there is no queue. Here it tries for 20 us in any case.
//!
//! # Properties
//!
//! - Fairness: FIFO among those that queued. Under [`Merged`] newcomers overtake without bound while the head
//!   sleeps; a head that runs is overtaken by those only who were past the check. Under the others the bound
//!   is that of `qspin`: once by each other context. `try_acquire` heeds the same. A context without a node
//!   (fifth nesting level, or no number left) cannot queue; it heeds the head's request only.
//! - Progress: needs the holder to run, and a head that sleeps to get a CPU, unless newcomers steal. A head
//!   that has forbidden that and is preempted leaves a free lock idle until it runs again: that is the
//!   algorithm's, in the kernel, too.
//! - Memory: 4 bytes a lock (8 with [`Pointed`]); a context that ever waited has four nodes of 16 bytes.
//! - A lock made by [`without_paravirt`](Paravirtual::without_paravirt), and every lock where
//!   [`Machine::paravirt`](stanchion_core::Machine::paravirt) says no, spins in FIFO order instead of
//!   halting.
//! - Wake-ups: at most one kick for each time a head halts, and one for each waiter that is kicked ahead.
//! - After a release the lock's second byte is read again: **the lock's memory must stay readable until
//!   `release` returns**, also when another context may already destroy it. Safe Rust sees to that.
//!
//! # The word, `(tail, head, locked)`
//!
//! `head` is what the head of the queue left for others. 0 is nothing, 1–123 the parking slot where it
//! sleeps, 124 "it sleeps, look it up", 125 "one waiter is pending", 126 "do not steal". 255 is "this lock
//! spins", for good.
//!
//! | from | to | by |
//! |---|---|---|
//! | `0,0,0` | `0,0,1` | acquire, uncontended |
//! | `t,h,0` | `t,h,1` | steal, `h` ≠ 126; or the head's own claim |
//! | `p,*,*` | `n,*,*` | a waiter queues |
//! | `n,0,*` | `n,126,*` | the head is awake and did not get the lock at once |
//! | `n,*,*` | `n,s,*` | the head is about to sleep at parking slot `s`; or the new owner marks a sleeping new head |
//! | `n,*,*` | `n,0,*` | the head woke up, or has acquired |
//! | `n,0,1` | `0,0,1` | the head was the last in the queue |
//! | `*,*,1` | `*,*,0` | release; then kick the context at parking slot `h`, if there is one |
//!
//! # The queue
//!
//! ```text
//!   lock: locked=1 head=7 ------> slot 7: armed for c1      tail --------+
//!                                     |                                  v
//!                    +------------+  next  +--------------+  next  +--------------+
//!     holder and     | c1  HEAD   |------->| c2  HALTED   |------->| c3  WAIT     |
//!     thieves run    | asleep at 7|        | asleep on its|        | polls briefly|
//!                    +------------+        | own state    |        +--------------+
//!                                          +--------------+
//! ```
//!
//! # Invariants
//!
//! - **I1** `locked` is 1 exactly while some context holds the lock; it becomes 1 only by compare-exchange
//!   from 0.
//! - **I2** `head` is written by the head of the queue only, except that an owner writes it once for a new
//!   head that sleeps, before it lets that head know (through the node's `parking`).
//! - **I3** A node's `state` goes WAIT → HALTED → WAIT by its own context. It goes HALTED → ROUSED by a
//!   release that is about to kick it, and ROUSED → WAIT by its own context. Any of them goes → HEAD by the
//!   owner in front. All of these are read-modify-writes, so the owner knows whether the new head sleeps, and
//!   the new head knows that it knows.
//! - **I4** A head halts only after: place armed, mark in `head`, heavy barrier, lock seen held. Hence the
//!   release of that holder, or of a later one, sees the mark.
//! - **I5** When the queue empties, `head` says nothing before `tail` is 0.
//!
//! ## Memory orderings
//!
//! Mutual exclusion: release (V4) against acquiring claims (V5). No lost wake-up: mark (V9), heavy barrier,
//! look at the lock (V10) against store the lock, look at the mark (V4, inside
//! [`store_then_load`](stanchion_core::Machine::store_then_load)). The pair also shows the place behind the
//! mark to a release that the head has not seen. For a holder that follows the queue from the mark it is V9
//! against R4. Queue: as in `qspin` (V6 with itself, V7, V13, V15). Head's role: V16 against V8, V39 and V40;
//! the place that an owner took for a sleeping head: V17 against V14.
mod kick_ahead;
mod lookup;
mod newcomer;
mod policy;
mod waiter;
mod word;

pub use lookup::{HashTable, ParkingSlots, Pointer, SleeperLookup};
pub use policy::{
    Conferring, EagerKick, FirstPends, Hashed, KickAhead, KickAtUnlock, Merged, OnlyWaitEarly, Patched,
    Pointed, WaitEarly, WaitEarlyAtOnce, WaitEarlySampled, WaitPolicy,
};
pub use word::NO_STEALING;

use crate::platform::FamilyPlatform;
use crate::tail::NodeCode;
use core::marker::PhantomData;
use lookup::{At, ConstInLock, InLock};
use policy::Limits;
use stanchion_core::events::Event;
use stanchion_core::lock::{ConstLock, ConstParavirtual, Paravirtual, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::order::{Acquire, Relaxed};
use stanchion_core::transitions::{Field, Table, Word};
use word::{OPEN, PENDING, SPINS, TRANSITIONS};

/// The paravirtual queued lock; see the [module](self).
#[repr(C, align(4))]
pub struct PvQSpinLock<P: FamilyPlatform, W: WaitPolicy = Merged> {
    locked: P::U8,
    head: P::U8,
    tail: P::U16,
    lookup: InLockOf<P, W>,
    policy: PhantomData<fn() -> W>,
}

/// What the lock holds for its lookup.
type InLockOf<P, W> = <<W as WaitPolicy>::SleeperLookup as SleeperLookup>::InLock<P>;

impl<P: FamilyPlatform, W: WaitPolicy> RawLock for PvQSpinLock<P, W> {
    type Platform = P;
    const NAME: &'static str = W::NAME;
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self::with_head(OPEN)
    }

    #[inline]
    fn acquire(&self) {
        // A held lock is only read: a compare-exchange that fails would take the line away from the holder.
        if self.has_queue() || !self.claim() {
            self.acquire_contended();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        if self.has_queue() && !self.may_steal_now() {
            return false;
        }
        self.claim()
    }

    #[inline]
    fn release(&self) {
        TRANSITIONS.check(Field::Locked, || self.locked.peek(), 0u8);
        if W::KICKS_AHEAD && self.head_sleeps() {
            return self.release_kicking_ahead();
        }
        self.release_and_kick_the_head();
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        self.has_queue()
    }

    fn word(&self) -> Word {
        Word { tail: self.tail.peek(), pending: self.head.peek(), locked: self.locked.peek() }
    }
}

impl<P: FamilyPlatform, W: WaitPolicy> PvQSpinLock<P, W> {
    fn with_head(head: u8) -> Self {
        Self {
            locked: P::U8::new(0),
            head: P::U8::new(head),
            tail: P::U16::new(0),
            lookup: InLock::new(),
            policy: PhantomData,
        }
    }

    /// Whether anybody waits in line, a pending waiter included.
    #[inline(always)]
    fn has_queue(&self) -> bool {
        // ord: V21 alone: decides the way only, the claim decides the lock
        self.tail.load(Relaxed) != NodeCode::NONE
            // ord: V43 alone: as V21, decides the way only
            || (W::PENDING && self.head.load(Relaxed) == PENDING)
    }

    /// Whether newcomers are to leave the lock to the queue: the head has set the no-barging flag, or the
    /// lock is made so.
    #[inline(always)]
    fn is_barging_forbidden(&self) -> bool {
        // ord: V22 alone: a request; missing it costs the head one overtaking
        matches!(self.head.load(Relaxed), SPINS | NO_STEALING)
    }

    /// Whether a newcomer may take the lock ahead of the queue.
    #[inline(always)]
    fn may_steal_now(&self) -> bool {
        Limits::<P, W>::STEALS && !self.is_barging_forbidden()
    }

    /// Where the sleeping head of this lock is looked for.
    #[inline]
    fn at<'a>(&'a self, domain: &'a P::Domain) -> At<'a, P, InLockOf<P, W>> {
        At { domain, address: core::ptr::from_ref(self).addr(), in_lock: &self.lookup }
    }

    /// One try to take a free lock, queue or no queue.
    #[inline(always)]
    fn claim(&self) -> bool {
        // ord: V23 alone: keeps a failing try from owning the line
        self.locked.load(Relaxed) == 0
            // ord: V5 pairs V4: the previous holder's section comes before ours
            && self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    #[inline(always)]
    fn release_and_kick_the_head(&self) {
        // V4: store 0 to `locked` (release), then read the mark: the light side of the pair with V10.
        // ord: V4 pairs V5, V10: our section comes before the next holder's; a head that did not see this
        // store left its mark for us
        let mark = P::store_then_load(&self.locked, 0, &self.head);
        if mark != OPEN {
            self.kick_head(mark);
        }
    }

    /// Kicks the head that `mark` leads to. The lock may be somebody else's by now.
    #[cold]
    fn kick_head(&self, mark: u8) {
        if matches!(mark, NO_STEALING | SPINS | PENDING) {
            return;
        }
        if let Some(cpu) = P::with_domain(|domain| W::SleeperLookup::consume(self.at(domain), mark)) {
            P::count(Event::PvKickUnlock);
            P::kick(cpu);
        }
    }
}

impl<P: FamilyPlatform, W: WaitPolicy> Paravirtual for PvQSpinLock<P, W> {
    fn without_paravirt() -> Self {
        Self::with_head(SPINS)
    }
}

impl<P: FamilyPlatform, W: WaitPolicy> ConstLock for PvQSpinLock<P, W>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
    InLockOf<P, W>: ConstInLock,
{
    const NEW: Self = Self {
        locked: P::U8::ZERO,
        head: P::U8::ZERO,
        tail: P::U16::ZERO,
        lookup: ConstInLock::NEW,
        policy: PhantomData,
    };
}

impl<P: FamilyPlatform, W: WaitPolicy> ConstParavirtual for PvQSpinLock<P, W>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
    InLockOf<P, W>: ConstInLock,
{
    const WITHOUT_PARAVIRT: Self = Self {
        locked: P::U8::ZERO,
        head: P::U8::ONES,
        tail: P::U16::ZERO,
        lookup: ConstInLock::NEW,
        policy: PhantomData,
    };
}
