//! `busted-lost-wakeup`: a parking ticket lock whose waiter looks whether it is its turn *before* it notes
//! which wake-up it is waiting for. A wake-up in between is missed, and since the lock was handed to that
//! very waiter, nobody gets it ever again.
//!
//! Detector: torture's stall watchdog. Exclusion is perfect; the lock just stops.
//!
//! A signal without `SA_RESTART` ends a futex wait, and the waiter looks again: signals *cure* this bug. That
//! is why the tormentor has calm spells, and spares workers that are getting nowhere (see `tormentor.rs`).
use crate::torture::tortured::TorturedMutex;
use core::sync::atomic::{AtomicU32, Ordering};
use lock_api::{GuardSend, RawMutex};
use rustix::thread::futex;

/// A ticket lock that sleeps and may not be woken.
pub(crate) struct LostWakeup {
    next: AtomicU32,
    serving: AtomicU32,
    /// Counts wake-ups; waiters sleep on it.
    wakeups: AtomicU32,
}

// SAFETY: a ticket is served once, with acquire and release on `serving`, so exclusion and visibility hold.
// What does not hold is that every waiter is ever served, which is the bug; the trait does not ask for it to
// be sound.
unsafe impl RawMutex for LostWakeup {
    const INIT: Self =
        Self { next: AtomicU32::new(0), serving: AtomicU32::new(0), wakeups: AtomicU32::new(0) };
    type Guard = GuardSend;

    fn lock(&self) -> GuardSend {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        while self.serving.load(Ordering::Acquire) != ticket {
            // A last chance for the holder before we pay for a sleep. It also gives the bug below a fair
            // chance.
            std::thread::yield_now();
            // BUG: this load belongs before the check above. As it is, the wake-up may already be in the
            // number that we are going to wait to see change.
            let seen = self.wakeups.load(Ordering::Relaxed);
            // An error is a spurious return (a signal, or the number changed after all): look again.
            let _ = futex::wait(&self.wakeups, futex::Flags::PRIVATE, seen, None);
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
        self.serving.fetch_add(1, Ordering::Release);
        self.wakeups.fetch_add(1, Ordering::Relaxed);
        // Waking nobody is not an error worth knowing.
        let _ = futex::wake(&self.wakeups, futex::Flags::PRIVATE, u32::MAX >> 1);
    }

    fn is_locked(&self) -> bool {
        self.next.load(Ordering::Relaxed) != self.serving.load(Ordering::Relaxed)
    }
}

impl TorturedMutex for LostWakeup {
    fn describe(&self) -> String {
        let (next, serving) = (self.next.load(Ordering::Relaxed), self.serving.load(Ordering::Relaxed));
        let wakeups = self.wakeups.load(Ordering::Relaxed);
        let waiters = next.wrapping_sub(serving);
        format!(
            "next ticket {next}, serving {serving} ({waiters} holding or waiting), {wakeups} wake-ups sent"
        )
    }
}
