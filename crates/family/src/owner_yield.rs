//! `ppc-simple`: the test-and-set lock that knows its owner, so that waiters can give it their time.
//!
//! # Motivation
//!
//! Where a hypervisor lets one virtual CPU give its slice to another, a waiter that finds the owner preempted
//! has something better to do than to spin: it lends the owner its CPU. The lock has to tell who the owner
//! is.
//!
//! # Provenance
//!
//! The "simple spinlock" of 64-bit powerpc, the baseline of the 2020 announcement of queued spin locks there
//! (Nick Piggin). What differs, and why: a context may have no number
//! here, so there is an owner that nobody knows. Lowering the priority of an SMT thread is the world's spin
//! hint.
//!
//! # Properties
//!
//! - Fairness: none. A waiter can be overtaken without bound.
//! - Progress: some waiter gets a free lock. While the owner is preempted, waiters run it, if the world knows
//!   that it is preempted and can give it a slice. Where it cannot, they yield to anybody (natively:
//!   `sched_yield`).
//! - Memory: 4 bytes; nothing per context. Never halts.
//! - Cost: acquisition asks for the number of its context. Release is one store of four bytes.
//!
//! # The word, `(tail, pending, locked)`
//!
//! One number of 32 bits: zero while free, else `HELD` and the owner's number. It is shown as `locked`, 0 or
//! 1.
//!
//! | from | to | by |
//! |---|---|---|
//! | `(0,0,0)` | `(0,0,1)` | acquire |
//! | `(0,0,1)` | `(0,0,0)` | release |
//!
//! # Invariants
//!
//! - **I1** The word is not zero exactly while some context holds the lock; it changes from zero only by
//!   compare-exchange.
//! - **I2** While held the word names the context that acquired the lock, or nobody. A lock that another
//!   context releases names the wrong one until then: waiters lend their time to somebody who cannot use it
//!   for the lock, nothing else.
//!
//! ## Memory orderings
//!
//! The release store (Y3) pairs with the claims (Y1, Y2). Conferring is a hint: the owner's count is sampled,
//! then the word is read again (Y6, behind the fence Y5), and a count that has moved on makes a late hint
//! void.
use crate::events::FamilyEvents as _;
use stanchion_core::events::Event;
use stanchion_core::lock::{ConstLock, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::numbers::CpuId;
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::platform::Platform;
use stanchion_core::transitions::{Field, Row, Table, Word};

/// The lock that knows its owner; see the [module](self).
#[repr(C, align(4))]
pub struct OwnerYieldLock<P: Platform> {
    word: P::U32,
}

/// In the word: somebody holds the lock.
const HELD: u32 = 0x8000_0000;
/// The owner, where it has no number: no context has this one.
const UNKNOWN: u32 = 0xFFFF;
const _: () = assert!(CpuId::LIMIT as u32 <= UNKNOWN);

/// How often a waiter polls between two looks at whether the owner runs.
const POLLS: u32 = 32;

const TRANSITIONS: Table = Table(&[Row::claim("acquire"), Row::release("release")]);

impl<P: Platform> RawLock for OwnerYieldLock<P> {
    type Platform = P;
    const NAME: &'static str = "ppc-simple";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { word: P::U32::new(0) }
    }

    #[inline]
    fn acquire(&self) {
        let mine = held_by::<P>();
        // ord: Y1 pairs Y3: the previous holder's section comes before ours
        if self.word.compare_exchange(0, mine, Acquire, Relaxed).is_err() {
            self.acquire_slow(mine);
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        self.claim(held_by::<P>())
    }

    #[inline]
    fn release(&self) {
        TRANSITIONS.check(Field::Locked, || u8::from(self.word.peek() != 0), 0u8);
        // ord: Y3 pairs Y1, Y2: our section comes before the next holder's
        self.word.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: u8::from(self.word.peek() != 0) }
    }
}

/// The word of a lock that the calling context holds.
#[inline]
fn held_by<P: Platform>() -> u32 {
    HELD | P::this_cpu().map_or(UNKNOWN, |cpu| cpu.index().into())
}

impl<P: Platform> OwnerYieldLock<P> {
    #[inline]
    fn claim(&self, mine: u32) -> bool {
        // ord: Y4 alone: keeps a failing try from owning the line
        self.word.load(Relaxed) == 0
            // ord: Y2 pairs Y3: the previous holder's section comes before ours
            && self.word.compare_exchange(0, mine, Acquire, Relaxed).is_ok()
    }

    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn acquire_slow(&self, mine: u32) {
        P::count(Event::LockSlowpath);
        P::publish_running();
        loop {
            // ord: Y7 alone: waits until a claim has a chance
            match self.word.wait_until_polls(POLLS, Relaxed, |word| word == 0) {
                Ok(_) if self.claim(mine) => return,
                Ok(_) => {}
                Err(held) => self.lend_time(held),
            }
        }
    }

    /// Gives this context's time to the owner that `held` names, if it does not run and still is the owner.
    fn lend_time(&self, held: u32) {
        let Some(owner) = CpuId::new(held as u16) else { return P::yield_slice() };
        let count = P::yield_count(owner);
        if count.is_multiple_of(2) {
            return;
        }
        // ord: Y5 alone: the reason is read again after the count, so that the count belongs to an owner
        P::fence(Acquire);
        // ord: Y6 alone: a hint, behind the fence Y5
        if self.word.load(Relaxed) == held {
            P::count(Event::OwnerConfer);
            P::confer(owner, count);
            P::publish_running();
        }
    }
}

impl<P: Platform> ConstLock for OwnerYieldLock<P>
where
    P::U32: ConstAtomic<u32>,
{
    const NEW: Self = Self { word: P::U32::ZERO };
}
