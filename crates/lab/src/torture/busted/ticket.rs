//! `busted-double-grant` and `busted-lost-wakeup`: a ticket lock with one flaw each.
use super::relax;
use crate::torture::lock::{Side, Tortured};
use core::sync::atomic::{AtomicU32, Ordering};
use rustix::thread::futex;

/// The release, once in a while, serves two tickets at once.
///
/// Detector: torture. Two waiters come in together, and because each of them serves the next when it leaves,
/// there are two holders from then on: the flags and the protected words disagree.
pub(crate) const DOUBLE_GRANT: u8 = 0;
/// A waiter that parks looks whether it is its turn *before* it notes which wake-up it is waiting for. A
/// wake-up in between is missed, and since the lock was handed to that very waiter, nobody gets it ever
/// again.
///
/// Detector: torture's stall watchdog. Exclusion is perfect; the lock just stops.
///
/// A signal without `SA_RESTART` ends a futex wait, and the waiter looks again: signals *cure* this bug. That
/// is why the tormentor has calm spells, and spares workers that are getting nowhere (see `tormentor.rs`).
pub(crate) const MISSED: u8 = 1;

/// One release in this many counts wrong, provided that there are two to serve.
const RARELY: u32 = 1024;

/// A ticket lock with the flaw of that number.
pub(crate) struct Ticket<const FLAW: u8> {
    next: AtomicU32,
    serving: AtomicU32,
    /// Counts wake-ups; waiters that park sleep on it.
    wakeups: AtomicU32,
}

impl<const FLAW: u8> Ticket<FLAW> {
    /// The calling context has just seen that it is not its turn.
    fn park(&self) {
        // A last chance for the holder before we pay for a sleep. It also gives the bug below a fair chance.
        std::thread::yield_now();
        // BUG: this load belongs before the check. As it is, the wake-up may already be in the number that we
        // are going to wait to see change.
        let seen = self.wakeups.load(Ordering::Relaxed);
        // An error is a spurious return (a signal, or the number changed after all): look again.
        let _ = futex::wait(&self.wakeups, futex::Flags::PRIVATE, seen, None);
    }
}

impl<const FLAW: u8> Tortured for Ticket<FLAW> {
    fn new(_test_lock: usize) -> Self {
        Self { next: AtomicU32::new(0), serving: AtomicU32::new(0), wakeups: AtomicU32::new(0) }
    }

    fn acquire(&self, _side: Side) {
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let mut polls = 0;
        // "Served or already past": what makes a skipped ticket a second holder rather than a lost one.
        while ticket.wrapping_sub(self.serving.load(Ordering::Acquire)).cast_signed() > 0 {
            if FLAW == MISSED {
                self.park();
            } else {
                relax(&mut polls);
            }
        }
    }

    fn try_acquire(&self, _side: Side) -> bool {
        let serving = self.serving.load(Ordering::Relaxed);
        let next = serving.wrapping_add(1);
        self.next.compare_exchange(serving, next, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    unsafe fn release(&self, _side: Side) {
        let serving = self.serving.load(Ordering::Relaxed);
        let waiters = self.next.load(Ordering::Relaxed).wrapping_sub(serving).cast_signed() - 1;
        let wrong = FLAW == DOUBLE_GRANT && waiters >= 2 && serving.is_multiple_of(RARELY);
        // BUG: the skipped ticket and the one after it are both served now.
        self.serving.fetch_add(if wrong { 2 } else { 1 }, Ordering::Release);
        if FLAW == MISSED {
            self.wakeups.fetch_add(1, Ordering::Relaxed);
            // Waking nobody is not an error worth knowing.
            let _ = futex::wake(&self.wakeups, futex::Flags::PRIVATE, u32::MAX >> 1);
        }
    }

    fn describe(&self) -> String {
        let [next, serving, wakeups] =
            [&self.next, &self.serving, &self.wakeups].map(|number| number.load(Ordering::Relaxed));
        format!("next ticket {next}, serving {serving}, {wakeups} wake-ups sent")
    }
}
