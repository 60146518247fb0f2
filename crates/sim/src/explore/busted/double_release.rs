//! `busted-double-release`: a releaser that finds the lock still held after its release takes its store for
//! lost and releases once more, the next holder's lock.
//!
//! Detector: mutual exclusion.
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;
use stanchion_core::order::{AcqRel, Acquire, Relaxed};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};
use stanchion_family::ByteLock;

/// The lock.
struct DoubleRelease<P: Platform>(P::U8);

impl<P: Platform> RawLock for DoubleRelease<P> {
    type Platform = P;
    const NAME: &'static str = "busted-double-release";
    const TRANSITIONS: Table = <ByteLock<P> as RawLock>::TRANSITIONS;

    fn new() -> Self {
        Self(P::U8::new(0))
    }

    fn acquire(&self) {
        while !self.try_acquire() {
            self.0.wait_until(Relaxed, |locked| locked == 0);
        }
    }

    fn try_acquire(&self) -> bool {
        self.0.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    fn release(&self) {
        self.0.swap(0, AcqRel);
        if self.0.load(Relaxed) != 0 {
            self.0.swap(0, AcqRel); // BUG: the lock was somebody else's by then
        }
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "releases again what the next one has taken";
    Subject::broken::<DoubleRelease<crate::explore::Stepped>>(about, &[Kind::Exclusion], 200, &[])
}
