//! `busted-check-then-set`: the test-and-set is not one step. A waiter that saw the lock free stores *held*,
//! and so does the other waiter that saw it free between the two.
//!
//! Detector: torture. The window is a few nanoseconds wide and open at every hand-over.
use super::relax;
use crate::torture::tortured::TorturedMutex;
use core::sync::atomic::{AtomicU32, Ordering};
use lock_api::{GuardSend, RawMutex};

/// A lock that looks, and then takes.
pub(crate) struct CheckThenSet(AtomicU32);

// SAFETY: none is offered: two waiters may both acquire. It is private to torture, which treats the data
// behind it as racing (see `test_lock.rs`).
unsafe impl RawMutex for CheckThenSet {
    const INIT: Self = Self(AtomicU32::new(0));
    type Guard = GuardSend;

    fn lock(&self) -> GuardSend {
        let mut polls = 0;
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            relax(&mut polls);
        }
    }

    fn try_lock(&self) -> Option<GuardSend> {
        // BUG: between the load and the store anybody else may do the same.
        if self.0.load(Ordering::Acquire) != 0 {
            return None;
        }
        self.0.store(1, Ordering::Relaxed);
        Some(GuardSend::new())
    }

    unsafe fn unlock(&self, _guard: GuardSend) {
        self.0.store(0, Ordering::Release);
    }

    fn is_locked(&self) -> bool {
        self.0.load(Ordering::Relaxed) != 0
    }
}

impl TorturedMutex for CheckThenSet {}
