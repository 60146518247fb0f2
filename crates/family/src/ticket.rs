//! `ticket`: the FIFO ticket lock.
//!
//! # Motivation
//!
//! Perfectly fair, two halfwords, no nodes: the kernel's spin lock from 2008 to 2015 and the classic victim
//! of overcommit, because exactly one waiter can use a free lock and it may not be running. It is here as the
//! baseline that every other lock is measured against.
//!
//! # Provenance
//!
//! The comparator of the 2008 Xen measurements, with 16-bit tickets.
//!
//! # Properties
//!
//! - Fairness: strict FIFO in the order of the ticket draw.
//! - Progress: none while the holder *or the next in line* is preempted.
//! - Memory: 4 bytes; nothing per context. At most 65 535 contexts may wait at once.
//! - Cost: a release invalidates the line of every waiter.
//!
//! # The word, `(tail, pending, locked)`
//!
//! The two halves are the next ticket (shown as `tail`) and the ticket being served. They have no `locked`
//! byte, so the transition table is stated on the next ticket alone: it only ever advances.
//!
//! # Invariants
//!
//! - **I1** The lock is free exactly while `next == serving`.
//! - **I2** Only the holder changes `serving`, and only by adding one.
//!
//! ## Memory orderings
//!
//! The release of `serving` (T4) pairs with the acquire poll of the waiter whose turn it is (T2, T5).
use stanchion_core::lock::{ConstLock, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::platform::Platform;
use stanchion_core::transitions::{Is, Row, Table, Word};

/// The ticket lock; see the [module](self).
#[repr(C, align(4))]
pub struct TicketLock<P: Platform> {
    serving: P::U16,
    next: P::U16,
}

pub(crate) const TRANSITIONS: Table = Table(&[
    Row::named("draw a ticket").tail(Is::Any, Is::Any),
    Row::named("the drawn ticket is served at once")
        .tail(Is::Any, Is::Any)
        .locked(Is::Value(0), Is::Value(1)),
    Row::release("release with nobody waiting"),
]);

impl<P: Platform> RawLock for TicketLock<P> {
    type Platform = P;
    const NAME: &'static str = "ticket";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { serving: P::U16::new(0), next: P::U16::new(0) }
    }

    #[inline]
    fn acquire(&self) {
        // ord: T1 alone: the draw orders nothing, the turn does (T2)
        let mine = self.next.fetch_add(1, Relaxed);
        // ord: T2 pairs T4: the previous holder's section comes before ours
        if self.serving.load(Acquire) != mine {
            self.wait_for_turn(mine);
        }
    }

    /// Takes a free lock. The halves cannot be compared at once: if other contexts drew exactly 65 536
    /// tickets between the read and the draw, the try has joined the queue and waits for its turn like
    /// [`RawLock::acquire`].
    #[inline]
    fn try_acquire(&self) -> bool {
        // ord: T3 alone: which ticket would be served at once; checked again below
        let mine = self.serving.load(Relaxed);
        // ord: T6 alone: the draw orders nothing, as T1
        if self.next.compare_exchange(mine, mine.wrapping_add(1), Relaxed, Relaxed).is_err() {
            return false;
        }
        // ord: T7 pairs T4: the previous holder's section comes before ours
        if self.serving.load(Acquire) != mine {
            self.wait_for_turn(mine);
        }
        true
    }

    #[inline]
    fn release(&self) {
        // ord: T8 alone: only the holder changes it (I2)
        let mine = self.serving.load(Relaxed);
        debug_assert_ne!(mine, self.next.peek(), "released a ticket lock that nobody holds (I1)");
        // ord: T4 pairs T2, T5, T7: our section comes before the next holder's
        self.serving.store(mine.wrapping_add(1), Release);
    }

    fn word(&self) -> Word {
        let (next, serving) = (self.next.peek(), self.serving.peek());
        Word { tail: next, pending: 0, locked: u8::from(next != serving) }
    }
}

impl<P: Platform> TicketLock<P> {
    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn wait_for_turn(&self, mine: u16) {
        P::count(stanchion_core::Event::LockSlowpath);
        // ord: T5 pairs T4: the previous holder's section comes before ours
        self.serving.wait_until(Acquire, |serving| serving == mine);
    }
}

impl<P: Platform> ConstLock for TicketLock<P>
where
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self = Self { serving: P::U16::ZERO, next: P::U16::ZERO };
}
