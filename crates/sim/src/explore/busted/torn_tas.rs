//! `busted-torn-tas`: test-and-set torn into a test and a set.
//!
//! Detector: mutual exclusion. Two contexts see the byte free before either sets it.
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};
use stanchion_family::ByteLock;

/// The lock.
struct TornTas<P: Platform>(P::U8);

impl<P: Platform> RawLock for TornTas<P> {
    type Platform = P;
    const NAME: &'static str = "busted-torn-tas";
    const TRANSITIONS: Table = <ByteLock<P> as RawLock>::TRANSITIONS;

    fn new() -> Self {
        Self(P::U8::new(0))
    }

    fn acquire(&self) {
        self.0.wait_until(Acquire, |locked| locked == 0);
        self.0.store(1, Relaxed); // BUG: somebody may have done so in between
    }

    fn try_acquire(&self) -> bool {
        false
    }

    fn release(&self) {
        self.0.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "tests and then sets, in two steps";
    Subject::broken::<TornTas<crate::explore::Stepped>>(about, &[Kind::Exclusion], 50, &[])
}
