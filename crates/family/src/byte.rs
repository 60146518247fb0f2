//! `byte`: the unfair byte lock, test-and-test-and-set.
//!
//! # Motivation
//!
//! The simplest lock that survives overcommit: any running context can take it, so nobody waits for a context
//! that the hypervisor has put aside. It is the yardstick for every unfair lock, and what kernels fall back
//! to on a hypervisor without paravirtual support.
//!
//! # Provenance
//!
//! The "unfair byte lock" of the 2015 paravirtual series and the lock-byte of the 2008 Xen measurements, in
//! the form that reads until the byte is free before it tries again.
//!
//! # Properties
//!
//! - Fairness: none. A waiter can be overtaken without bound.
//! - Progress: lock-free between waiters (some waiter gets a free lock), no progress while the holder is
//!   preempted.
//! - Memory: 4 bytes, of which 1 is used; nothing per context. Never halts, never enters the operating
//!   system.
//!
//! # The word, `(tail, pending, locked)`
//!
//! | from | to | by |
//! |---|---|---|
//! | `(0,0,0)` | `(0,0,1)` | acquire |
//! | `(0,0,1)` | `(0,0,0)` | release |
//!
//! # Invariants
//!
//! - **I1** `locked` is 1 exactly while some context holds the lock.
//!
//! ## Memory orderings
//!
//! The release store (B3) pairs with the acquire of whoever takes the byte next (B1, B2); the polls in
//! between need none, because the compare-exchange decides.
use stanchion_core::lock::{ConstLock, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::platform::Platform;
use stanchion_core::transitions::{Field, Row, Table, Word};

/// The unfair byte lock; see the [module](self).
#[repr(C, align(4))]
pub struct ByteLock<P: Platform> {
    locked: P::U8,
}

const TRANSITIONS: Table = Table(&[Row::claim("acquire"), Row::release("release")]);

impl<P: Platform> RawLock for ByteLock<P> {
    type Platform = P;
    const NAME: &'static str = "byte";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { locked: P::U8::new(0) }
    }

    #[inline]
    fn acquire(&self) {
        // ord: B1 pairs B3: the previous holder's section comes before ours
        if self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.acquire_slow();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        // ord: B2 pairs B3: as B1; the read before it keeps a failing try from owning the line
        self.locked.load(Relaxed) == 0 && self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    #[inline]
    fn release(&self) {
        TRANSITIONS.check(Field::Locked, || self.locked.peek(), 0u8);
        // ord: B3 pairs B1, B2: our section comes before the next holder's
        self.locked.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.locked.peek() }
    }
}

impl<P: Platform> ByteLock<P> {
    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn acquire_slow(&self) {
        P::count(stanchion_core::Event::LockSlowpath);
        loop {
            // ord: B6 alone: waits until a try has a chance, the try decides
            self.locked.wait_until(Relaxed, |locked| locked == 0);
            if self.try_acquire() {
                return;
            }
        }
    }
}

impl<P: Platform> ConstLock for ByteLock<P>
where
    P::U8: ConstAtomic<u8>,
{
    const NEW: Self = Self { locked: P::U8::ZERO };
}
