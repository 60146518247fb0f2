//! `busted-double-grant`: a ticket lock whose release, once in a while, serves two tickets at once.
//!
//! Detector: torture. Two waiters come in together, and because each of them serves the next when it leaves,
//! there are two holders from then on: the flags and the protected words disagree.
use super::relax;
use crate::torture::tortured::TorturedMutex;
use core::sync::atomic::{AtomicU32, Ordering};
use lock_api::{GuardSend, RawMutex};

/// A ticket lock that sometimes counts wrong.
pub(crate) struct DoubleGrant {
    next: AtomicU32,
    serving: AtomicU32,
}

/// One release in this many counts wrong, provided that there are two to serve.
const RARELY: u32 = 1024;

// SAFETY: none is offered: two waiters may both be granted. It is private to torture, which treats the data
// behind it as racing (see `test_lock.rs`).
unsafe impl RawMutex for DoubleGrant {
    const INIT: Self = Self { next: AtomicU32::new(0), serving: AtomicU32::new(0) };
    type Guard = GuardSend;

    fn lock(&self) -> GuardSend {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let mut polls = 0;
        // "Served or already past": what makes a skipped ticket a second holder rather than a lost one.
        while ticket.wrapping_sub(self.serving.load(Ordering::Acquire)).cast_signed() > 0 {
            relax(&mut polls);
        }
        GuardSend::new()
    }

    fn try_lock(&self) -> Option<GuardSend> {
        let serving = self.serving.load(Ordering::Relaxed);
        self.next
            .compare_exchange(serving, serving.wrapping_add(1), Ordering::Acquire, Ordering::Relaxed)
            .ok()
            .map(|_| GuardSend::new())
    }

    unsafe fn unlock(&self, _guard: GuardSend) {
        let serving = self.serving.load(Ordering::Relaxed);
        let waiters = self.next.load(Ordering::Relaxed).wrapping_sub(serving).cast_signed() - 1;
        // BUG: the skipped ticket and the one after it are both served now.
        let served = if waiters >= 2 && serving.is_multiple_of(RARELY) { 2 } else { 1 };
        self.serving.fetch_add(served, Ordering::Release);
    }

    fn is_locked(&self) -> bool {
        self.next.load(Ordering::Relaxed) != self.serving.load(Ordering::Relaxed)
    }
}

impl TorturedMutex for DoubleGrant {
    fn describe(&self) -> String {
        let (next, serving) = (self.next.load(Ordering::Relaxed), self.serving.load(Ordering::Relaxed));
        format!("next ticket {next}, serving {serving}")
    }
}
