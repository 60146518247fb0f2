//! A ticket lock, and what may be wrong with it.
use super::{BROKEN, DOUBLE_GRANT, NARROW_TICKET, TORN_DRAW};
use core::fmt;
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};
use stanchion_family::TicketLock;

/// The lock.
#[repr(C)]
pub struct Ticketed<P: Platform, const FLAW: usize> {
    serving: P::U16,
    next: P::U16,
}

impl<P: Platform, const FLAW: usize> Ticketed<P, FLAW> {
    /// Where its fields stand and what they are called.
    pub const FIELDS: &[(usize, &str)] = &[(0, "serving"), (2, "next")];

    fn draw(&self) -> u16 {
        if FLAW != TORN_DRAW {
            return self.next.fetch_add(1, Relaxed);
        }
        let mine = self.next.load(Relaxed);
        self.next.store(mine.wrapping_add(1), Relaxed); // BUG: not one step
        mine
    }

    fn is_served(serving: u16, mine: u16) -> bool {
        match FLAW {
            // BUG: room for two, not for all that wait.
            NARROW_TICKET => (serving ^ mine) & 1 == 0,
            // Or already past: what makes a skipped ticket a second holder rather than a lost one.
            DOUBLE_GRANT => mine.wrapping_sub(serving).cast_signed() <= 0,
            _ => serving == mine,
        }
    }
}

impl<P: Platform, const FLAW: usize> RawLock for Ticketed<P, FLAW> {
    type Platform = P;
    const NAME: &'static str = BROKEN[FLAW].name;
    const TRANSITIONS: Table = <TicketLock<P> as RawLock>::TRANSITIONS;

    fn new() -> Self {
        Self { serving: P::U16::new(0), next: P::U16::new(0) }
    }

    fn acquire(&self) {
        let mine = self.draw();
        self.serving.wait_briefly::<P>(Acquire, |serving| Self::is_served(serving, mine));
    }

    fn try_acquire(&self) -> bool {
        // What schedules are explored for is the draw.
        if matches!(FLAW, TORN_DRAW | NARROW_TICKET) {
            return false;
        }
        let serving = self.serving.load(Relaxed);
        self.next.compare_exchange(serving, serving.wrapping_add(1), Acquire, Relaxed).is_ok()
    }

    fn release(&self) {
        let mine = self.serving.load(Relaxed);
        let wrong = FLAW == DOUBLE_GRANT && mine.is_multiple_of(1024) && {
            let waiters = self.next.load(Relaxed).wrapping_sub(mine).cast_signed() - 1;
            waiters >= 2
        };
        if FLAW == DOUBLE_GRANT {
            // BUG: with 2, the skipped ticket and the one after it are both served now. One step, because two
            // holders release at a time from then on.
            self.serving.fetch_add(if wrong { 2 } else { 1 }, Release);
        } else {
            self.serving.store(mine.wrapping_add(1), Release);
        }
    }

    fn word(&self) -> Word {
        let (next, serving) = (self.next.peek(), self.serving.peek());
        Word { tail: next, pending: 0, locked: u8::from(next != serving) }
    }
}

impl<P: Platform, const FLAW: usize> fmt::Display for Ticketed<P, FLAW> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "next ticket {}, serving {}", self.next.peek(), self.serving.peek())
    }
}
