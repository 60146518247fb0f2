//! `busted-impatient`: a waiter that has polled for long believes that the holder is dead, and takes the
//! lock.
//!
//! Detector: mutual exclusion, when the holder (or anybody) is descheduled for long.
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;
use stanchion_core::order::{AcqRel, Acquire, Relaxed};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};
use stanchion_family::ByteLock;

/// No section takes so many polls, unless its context is not running.
const MOST_POLLS: u32 = 24;

/// The lock.
struct Impatient<P: Platform>(P::U8);

impl<P: Platform> RawLock for Impatient<P> {
    type Platform = P;
    const NAME: &'static str = "busted-impatient";
    const TRANSITIONS: Table = <ByteLock<P> as RawLock>::TRANSITIONS;

    fn new() -> Self {
        Self(P::U8::new(0))
    }

    fn acquire(&self) {
        let mut polls = 0;
        while !self.try_acquire() {
            P::relax(1);
            polls += 1;
            if polls > MOST_POLLS {
                self.0.swap(1, AcqRel); // BUG: the holder is only asleep
                return;
            }
        }
    }

    fn try_acquire(&self) -> bool {
        self.0.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    fn release(&self) {
        self.0.swap(0, AcqRel);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "takes the lock from a holder that is away for long";
    Subject::broken::<Impatient<crate::explore::Stepped>>(about, &[Kind::Exclusion], 1_000, &[])
}
