//! `busted-odd-word`: excludes, but its second contender makes the word say what the table does not list.
//!
//! Detector: the word's transition table. Nothing else is wrong with it.
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;
use stanchion_core::order::{AcqRel, Acquire, Relaxed};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};
use stanchion_family::ByteLock;

/// The lock.
struct OddWord<P: Platform>(P::U8);

impl<P: Platform> RawLock for OddWord<P> {
    type Platform = P;
    const NAME: &'static str = "busted-odd-word";
    const TRANSITIONS: Table = <ByteLock<P> as RawLock>::TRANSITIONS;

    fn new() -> Self {
        Self(P::U8::new(0))
    }

    fn acquire(&self) {
        while !self.try_acquire() {
            // BUG: "held, and wanted" is no state of this word.
            let _ = self.0.compare_exchange(1, 2, Relaxed, Relaxed);
            self.0.wait_until(Relaxed, |locked| locked == 0);
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
    let about = "the word goes where the table does not";
    Subject::broken::<OddWord<crate::explore::Stepped>>(about, &[Kind::Transition], 50, &[])
}
