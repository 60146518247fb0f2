//! `busted-none`: the lock does nothing at all. This is the kernel's `lock_busted`.
//!
//! Detector: torture. Two workers are inside together at once, so the flags disagree within milliseconds.
use crate::torture::tortured::TorturedMutex;
use lock_api::{GuardSend, RawMutex};

/// A lock that lets everybody in.
pub(crate) struct NoExclusion;

// SAFETY: none is offered: mutual exclusion, which the trait promises, is exactly what this lock does not
// provide. It is private to torture, which treats the data behind it as racing (see `test_lock.rs`).
unsafe impl RawMutex for NoExclusion {
    const INIT: Self = Self;
    type Guard = GuardSend;

    fn lock(&self) -> GuardSend {
        GuardSend::new()
    }

    fn try_lock(&self) -> Option<GuardSend> {
        Some(GuardSend::new())
    }

    unsafe fn unlock(&self, _guard: GuardSend) {}

    fn is_locked(&self) -> bool {
        false
    }
}

impl TorturedMutex for NoExclusion {}
