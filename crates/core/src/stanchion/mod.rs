//! `stanchion`: the default lock.
//!
//! # Motivation
//!
//! A queue that hands the lock to a waiter is lost as soon as that waiter has no CPU. A lock that anybody may
//! take starves those who wait, and one whose waiters all try moves its line between CPUs instead of getting
//! work done. This lock lets running contexts take it when it is free, keeps all waiters but one asleep, and
//! bounds by time how long that one may be overtaken.
//!
//! # Five rules
//!
//! 1. **Barging.** A running context takes a lock that is free, whoever waits.
//! 2. **Adaptive spinning** (`newcomer.rs`, `spin.rs`). A context that finds it held spins for a while, and
//!    queues once it was overtaken too often. How long spins are follows from whether they pay off.
//! 3. **One heir, for a turn** (`waiter.rs`). Of those who queued, one at most is awake: the heir. A release
//!    wakes another one only if there is none. Once the heir's turn has come, 0.2 ms after it was roused,
//!    nobody barges any more. On a hot lock it sleeps until then. Where spins are in vain, an heir whose turn
//!    has come gives away its slice up to four times before it sleeps, as the holder may need its CPU.
//! 4. **Handing over the CPU** (`turn.rs`). If the heir's turn has come and it has no CPU, a context that is
//!    about to go on with the lock sleeps in its place. If nobody knows where the heir waits for a CPU, that
//!    context gives away its slice, half a turn later.
//! 5. **Near and urgent first** (`turn.rs`). The heir is the most urgent waiter if there are such of
//!    real-time priority, else one at home on the releaser's CPU or NUMA node, unless it came much later than
//!    the first: `near_us` for the node, at most a turn for the CPU.
//!
//! Each rule can be switched off by a tunable, and `stanchion ablate` measures what it is worth; how is told
//! in `docs/default-lock.md`.
//!
//! # Provenance
//!
//! Ours. The parts are known: barging and parking are those of Boehm and of WebKit's locks, one heir is
//! Dice's competitive succession, sleeping waiters that are not needed are Dice's Malthusian locks (2017),
//! the asymmetric fence is Dice, Huang and Yang's (2001), the list that only owners walk is that of the slim
//! reader-writer locks of Windows, near first is CNA (Dice and Kogan 2019).
//!
//! # Properties
//!
//! - Fairness: first come, first roused, but for rule 5. A waiter is passed over for those at home on the
//!   releaser's CPU that came up to a turn after it. On several NUMA nodes it is passed over for those of the
//!   releaser's node that came up to `near_us` (5 ms) after it. An heir is overtaken without bound for a turn
//!   (`turn_us`, 0.2 ms; half as long each time that it has gone back to sleep without the lock, so two turns
//!   in all); then, while it runs, by those only who were past their look at the lock; while it has no CPU,
//!   by running contexts, of which the one on its CPU gives way when it looks around: one in 16 acquisitions
//!   that barge does, at once or after a spin, one in 128 where so many take less than a quarter of a turn.
//!   Where spins are in vain, an heir whose turn has come asks for the lock five times, for as long as spins
//!   are by then, and anybody barges in between. If sections are longer, it may find the lock held each time
//!   and sleep again. The same holds where sections are longer than `spin_ns`. Each release rouses it, and
//!   there is no bound but chance. `try_acquire` may always overtake.
//! - A fair release ([`release_fair`](RawLock::release_fair)) hands the lock to the first waiter in line that
//!   has not given up, whatever its priority and asleep or not. Nobody barges, and the lock stands still
//!   until that one has its CPU.
//! - Bound: with *n* waiters, whose holders run and whose sections are short, so that spins pay off, the
//!   longest wait is about *n* times two and three quarter turns, and a turn. The turns of an heir are two at
//!   most all together. A due heir gets its CPU after half a turn more and the time between two looks. Those
//!   at home may pass for a turn. 32 waiters: 17.8 ms. On several NUMA nodes `near_us` stands in place of the
//!   last turn: 22.6 ms.
//! - Progress: needs the holder to run. A release that rouses chooses again when somebody has set *wake*
//!   meanwhile, and wakes nobody before the lock is free: each choice takes a waiter that came, or that woke
//!   up by itself. No wait for another context's few instructions: not for links, not for an heir that is
//!   preempted. Newcomers leave a free lock to an heir for some looks, 0.4 us.
//! - Timed: [`StanchionLock::acquire_until`] queues and sleeps as any other. When the time has come it leaves
//!   its place, and spins once more as a newcomer: for `spin_ns`, nominally 10 us, of CPU time after the
//!   deadline. A waiter that is late by more than half of its limit, and by more than 100 us, takes one look
//!   instead. It looks on only while the lock is free and left to an heir. A lock without barging does
//!   neither.
//! - Memory: 4 bytes a lock, 64 bytes for each context that waits at the same time. A wait that is given up
//!   leaves its 64 bytes in the queue. The next one with a deadline takes them over, of the 256 that came
//!   last. Where no node is left, contexts take naps instead of queueing, and are overtaken without bound.
//! - Wake-ups: one for each waiter, and one more for each spin of an heir that ends in vain.
//! - After a release the lock's second byte is read once more, and if somebody has to be woken, the lock may
//!   be taken again for that: **the lock must stay there until `release` returns**. In worlds whose
//!   [`Machine::release_then_look`](crate::Machine::release_then_look) looks for marks before it releases, it
//!   need not.
//! - A lock made by [`without_paravirt`](Paravirtual::without_paravirt) spins in the order of arrival; where
//!   [`Machine::paravirt`](crate::Machine::paravirt) says no, waiters poll instead of sleeping.
//!
//! # The word, `(newest waiter, flags, count)`
//!
//! The first byte counts: odd while held, one more with each acquisition and each release. So a spinning
//! context sees how often it was overtaken, for nothing. Flags: 1 *a release must wake somebody*, 2 *no
//! barging*, 4 and 8 *how often spins were in vain*, 16 *acquisitions are quick*, 32 *releases are fenced*,
//! 64 *somebody is urgent*, 128 *never sleeps*.
//!
//! | from | to | by |
//! |---|---|---|
//! | `t,*,even` | `t,*,odd` | acquire |
//! | `t,*,odd` | `t,*,even` | release |
//! | `o,*,*` | `n,*,*` | a waiter queues |
//! | `n,*,odd` | `o,*,odd` | the owner takes the newest waiter out |
//! | `*,f,*` | `*,g,*` | an heir is about to sleep (+1), or its turn has come (+2); the owner rouses somebody (−1) |
//! | `*,f,odd` | `*,g,odd` | the owner has releases fenced from its own on (+32), or not any more (−32) |
//! | `*,f,odd` | `*,g,odd` | the owner finds acquisitions quick (+16), or not any more (−16) |
//!
//! # Invariants
//!
//! - **I1** The count is odd exactly while some context holds the lock; it becomes odd by compare-exchange
//!   only.
//! - **I2** If there is a queue and nobody owns the lock, then a waiter is roused, or the flag *wake* is set,
//!   or a waiter is between having added its node to an empty queue and its first look. So somebody will look
//!   at the lock, or the next release will rouse somebody.
//! - **I3** An heir that goes to sleep says *waiting* in its node, then sets *wake*, passes the heavy
//!   barrier, and looks at the lock once more. A release that it does not see by then comes after the
//!   barrier, and sees the flag. Where releases are fenced (I7), a fence does in place of the barrier.
//! - **I4** Only owners rouse, and they clear *wake* before they look whom to. So the flag that an heir sets
//!   meanwhile stays.
//! - **I5** An owner that leaves the queue sets *wake* if others are in it and none is roused.
//! - **I6** A node is *granted* from when an owner hands over the lock until its waiter, the next owner,
//!   leaves the queue. The count stays odd meanwhile, so nobody else takes the lock; and a waiter changes the
//!   state of its node in the queue by exchange, so it cannot lose a grant.
//! - **I7** Owners alone set and clear *fenced*. So an owner that came after it was set sees it once it has
//!   released the lock, and looks at the flags again behind a fence, unless a later owner has cleared it. An
//!   owner clears it after a *wake* that was set beside it, and so whoever sees it cleared sees that one. A
//!   lock that never sleeps begins with it.
//!
//! ## Memory orderings
//!
//! Mutual exclusion: release (ST4) against acquiring claims (ST1). No lost wake-up: flag (ST6), heavy barrier
//! or fence (ST21), look at the lock (ST7) against store to the lock, look at the flags (ST4 in
//! [`Machine::release_then_look`](crate::Machine::release_then_look), ST22 or ST2 with a fence in between).
//! The queue: SQ1 against SQ5. Nodes: ND5 against ND6, which also orders the sections where the lock is
//! handed over (I6).
mod fair;
mod newcomer;
pub mod queue;
mod release;
mod spin;
mod turn;
mod waiter;
mod word;

use crate::lock::{ConstLock, ConstParavirtual, Paravirtual, RawLock};
use crate::machine::{Atomic, ConstAtomic, Released};
use crate::numbers::NodeId;
use crate::order::{AcqRel, Acquire, Relaxed};
use crate::platform::Platform;
use crate::transitions::{Field, Table, Word};
pub(crate) use newcomer::FREE_LOOKS;
pub(crate) use word::NO_BARGING;
use word::{HELD, MARKS, SPINS, TRANSITIONS};

/// The default lock; see the [module](self). `IN_ORDER`: nobody overtakes whoever waits but more urgent
/// waiters, as the queue of a reader-writer lock needs it.
#[repr(C, align(4))]
pub struct StanchionLock<P: Platform, const IN_ORDER: bool = false> {
    /// I1
    count: P::U8,
    flags: P::U8,
    /// The raw [`NodeId`] of the waiter that queued last.
    newest: P::U16,
}

impl<P: Platform, const IN_ORDER: bool> RawLock for StanchionLock<P, IN_ORDER> {
    type Platform = P;
    const NAME: &'static str = "stanchion";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self::with_flags(0)
    }

    #[inline]
    fn acquire(&self) {
        match self.barge() {
            Ok(count) if !self.is_to_look_around(count) => {}
            Ok(_) => self.look_around(),
            Err(count) => self.acquire_contended(count),
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        // ord: ST9 alone: the claim decides
        self.claim(self.count.load(Relaxed))
    }

    #[inline]
    fn acquire_until(&self, until: &P::Deadline) -> bool {
        self.barge().map_or_else(|count| self.acquire_slow(count, until), |_| true)
    }

    #[inline]
    fn release(&self) {
        // The line may be with somebody who polls.
        self.count.prefetch_write();
        TRANSITIONS.check(Field::Locked, || self.count.peek() & HELD, 0u8);
        match self.release_and_look() {
            Released::Unmarked => {}
            Released::Held => self.release_rousing(),
            Released::Marked => self.rouse_after_release(),
        }
    }

    #[inline]
    fn release_fair(&self) {
        if !self.has_queue() || !self.hand_over() {
            self.release();
        }
    }

    #[inline]
    fn has_waiters(&self) -> bool {
        self.has_queue()
    }

    #[inline]
    fn is_unused(&self) -> bool {
        // First the queue, then the holder: who leaves the queue holds the lock by then.
        // ord: ST13 alone: a hint to those who come
        !self.has_queue() && self.count.load(Relaxed) & HELD == 0
    }

    fn word(&self) -> Word {
        let flags = self.flags.peek();
        let pending = if flags & SPINS == 0 { flags & MARKS } else { SPINS };
        Word { tail: self.newest.peek(), pending, locked: self.count.peek() & HELD }
    }
}

impl<P: Platform, const IN_ORDER: bool> StanchionLock<P, IN_ORDER> {
    /// The bits of the count that are zero in one of 128 acquisitions; in one of two in worlds that explore.
    const RARELY: u8 = if P::EXPLORES { 2 } else { 0xfe };

    fn with_flags(flags: u8) -> Self {
        Self { count: P::U8::new(0), flags: P::U8::new(flags), newest: P::U16::new(0) }
    }

    /// Rule 1: takes the lock if it is free and no-barging is not set. What the count was; the error says the
    /// same of a lock that was not taken.
    #[inline(always)]
    fn barge(&self) -> Result<u8, u8> {
        // ord: ST8 alone: a guess, the compare-exchange decides
        let count = self.count.load(Relaxed);
        if count & HELD == 0
            && !self.is_barging_forbidden()
            && !(IN_ORDER && self.has_queue())
            && self.claim(count)
        {
            Ok(count)
        } else {
            Err(count)
        }
    }

    /// Takes the lock if it is free; `count` is what it was a moment ago. Others may have had the lock
    /// meanwhile, and left it free.
    #[inline(always)]
    fn claim(&self, mut count: u8) -> bool {
        while count & HELD == 0 {
            // ord: ST1 pairs ST2, ST4: the previous owner's section comes before ours
            match self.count.compare_exchange(count, count | HELD, Acquire, Relaxed) {
                Ok(_) => {
                    P::keep(&self.count, count | HELD);
                    return true;
                }
                Err(now) => count = now,
            }
        }
        false
    }

    /// Whether a waiter asks newcomers to leave the lock to it.
    #[inline(always)]
    fn is_barging_forbidden(&self) -> bool {
        // ord: ST10 alone: a request; missing it costs the waiter one overtaking
        self.flags.load(Relaxed) & NO_BARGING != 0
    }

    #[inline(always)]
    fn has_queue(&self) -> bool {
        // ord: ST11 alone: decides the way only
        self.newest.load(Relaxed) != NodeId::NONE
    }

    fn flags(&self) -> u8 {
        // ord: ST12 alone: changed by compare-exchange
        self.flags.load(Relaxed)
    }

    /// Changes the flags. What they were.
    fn change_flags(&self, change: impl Fn(u8) -> u8) -> u8 {
        let mut before = self.flags();
        loop {
            let after = change(before);
            // ord: ST6 pairs ST5: what we said in our node comes before the flag; before ST7 stands the heavy
            // barrier, or ST21
            // ord: ST5 pairs ST6: who set a flag that we clear has said why in its node
            match self.flags.compare_exchange(before, after, AcqRel, Relaxed) {
                Ok(_) => break TRANSITIONS.check(Field::Pending, || before & MARKS, after & MARKS),
                Err(now) => before = now,
            }
        }
        before
    }

    /// Whether this lock's waiters spin for good.
    fn spins_only(&self) -> bool {
        self.flags() & SPINS != 0
    }

    /// Whether those who wait get the lock in the order in which they came.
    fn is_in_order(&self) -> bool {
        IN_ORDER || self.spins_only()
    }
}

impl<P: Platform, const IN_ORDER: bool> Paravirtual for StanchionLock<P, IN_ORDER> {
    fn without_paravirt() -> Self {
        Self::with_flags(u8::MAX)
    }
}

impl<P: Platform, const IN_ORDER: bool> ConstLock for StanchionLock<P, IN_ORDER>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self = Self { count: P::U8::ZERO, flags: P::U8::ZERO, newest: P::U16::ZERO };
}

impl<P: Platform, const IN_ORDER: bool> ConstParavirtual for StanchionLock<P, IN_ORDER>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
{
    const WITHOUT_PARAVIRT: Self = Self { count: P::U8::ZERO, flags: P::U8::ONES, newest: P::U16::ZERO };
}
