//! `busted-try`: `try_lock` sometimes says that it took a lock that somebody else holds.
//!
//! Detector: torture, with the extra `tries` on. Without that extra the lock is sound, which a test shows
//! too.
use super::relax;
use crate::torture::tortured::TorturedMutex;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use lock_api::{GuardSend, RawMutex};

/// A test-and-set lock with an optimistic `try_lock`.
pub(crate) struct TryLies {
    held: AtomicBool,
    refusals: AtomicU32,
}

/// One refusal in this many is turned into a lie.
const RARELY: u32 = 64;

// SAFETY: none is offered: `try_lock` may acquire a held lock. It is private to torture, which treats the
// data behind it as racing (see `test_lock.rs`).
unsafe impl RawMutex for TryLies {
    const INIT: Self = Self { held: AtomicBool::new(false), refusals: AtomicU32::new(0) };
    type Guard = GuardSend;

    fn lock(&self) -> GuardSend {
        let mut polls = 0;
        while self.held.swap(true, Ordering::Acquire) {
            while self.held.load(Ordering::Relaxed) {
                relax(&mut polls);
            }
        }
        GuardSend::new()
    }

    fn try_lock(&self) -> Option<GuardSend> {
        if !self.held.swap(true, Ordering::Acquire) {
            return Some(GuardSend::new());
        }
        // BUG: it is held, whatever this says.
        (self.refusals.fetch_add(1, Ordering::Relaxed) % RARELY == RARELY - 1).then(GuardSend::new)
    }

    unsafe fn unlock(&self, _guard: GuardSend) {
        self.held.store(false, Ordering::Release);
    }

    fn is_locked(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }
}

impl TorturedMutex for TryLies {}
