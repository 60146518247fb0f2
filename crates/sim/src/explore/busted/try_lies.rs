//! `busted-try`: a try that finds the lock free says that it took it, and does not take it.
//!
//! Detector: mutual exclusion, in schedules with tries.
use crate::explore::failure::Kind;
use crate::explore::fault::Fault;
use crate::explore::subjects::Subject;
use stanchion_core::order::{Acquire, Relaxed};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};
use stanchion_family::ByteLock;

/// The lock.
struct TryLies<P: Platform>(P::U8);

impl<P: Platform> RawLock for TryLies<P> {
    type Platform = P;
    const NAME: &'static str = "busted-try";
    const TRANSITIONS: Table = <ByteLock<P> as RawLock>::TRANSITIONS;

    fn new() -> Self {
        Self(P::U8::new(0))
    }

    fn acquire(&self) {
        while self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.0.wait_until(Relaxed, |locked| locked == 0);
        }
    }

    fn try_acquire(&self) -> bool {
        self.0.load(Acquire) == 0 // BUG: looking is not taking
    }

    fn release(&self) {
        self.0.swap(0, stanchion_core::order::AcqRel);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a try that succeeds takes nothing";
    Subject::broken::<TryLies<crate::explore::Stepped>>(about, &[Kind::Exclusion], 100, &[Fault::Tries])
}
