//! `busted-sticky-mark`: excludes, but a waiter marks the lock and leaves the mark behind.
//!
//! Detector: that a lock which nobody uses looks like a new one. Nothing else is wrong with it.
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;
use stanchion_core::order::{AcqRel, Acquire, Relaxed};
use stanchion_core::transitions::{Is, Row, Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};

/// The lock.
#[repr(C, align(4))]
struct StickyMark<P: Platform> {
    locked: P::U8,
    waited: P::U8,
}

impl<P: Platform> RawLock for StickyMark<P> {
    type Platform = P;
    const NAME: &'static str = "busted-sticky-mark";
    const TRANSITIONS: Table = Table(&[
        Row::claim("acquire"),
        Row::named("somebody waits").pending(Is::Value(0), Is::Value(1)),
        Row::release("release"),
    ]);

    fn new() -> Self {
        Self { locked: P::U8::new(0), waited: P::U8::new(0) }
    }

    fn acquire(&self) {
        while !self.try_acquire() {
            self.waited.swap(1, Relaxed); // BUG: nobody takes it back
            self.locked.wait_until(Relaxed, |locked| locked == 0);
        }
    }

    fn try_acquire(&self) -> bool {
        self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    fn release(&self) {
        self.locked.swap(0, AcqRel);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: self.waited.peek(), locked: self.locked.peek() }
    }
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "the word of an idle lock says that somebody waits";
    Subject::broken::<StickyMark<crate::explore::Stepped>>(about, &[Kind::Leftover], 50, &[])
}
