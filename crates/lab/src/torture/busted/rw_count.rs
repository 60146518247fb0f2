//! `busted-rw-*`: a count of readers and a writer's flag with one flaw each, and the same lock without any,
//! `reference-rw`.
//!
//! Detector: torture. Two of them exclude perfectly: one stops (the watchdog's business), the other lets one
//! reader in at a time (which the readers' own meetings tell).
use super::{inside, relax};
use crate::torture::lock::{Side, Tortured};
use core::sync::atomic::{AtomicU32, Ordering};
use rustix::thread::futex;

/// Nothing is wrong.
pub(crate) const SOUND: u8 = 0;
/// A reader looks for a writer, and counts itself in a second step.
pub(crate) const CHECK_THEN_ACT: u8 = 1;
/// A writer does not wait for the readers that are in.
pub(crate) const NO_WAIT: u8 = 2;
/// A try to read succeeds though somebody writes.
pub(crate) const TRY_LIES: u8 = 3;
/// A writer sleeps until the readers have left, and none of them wakes it.
pub(crate) const LOST_WAKEUP: u8 = 4;
/// A reader that leaves now and then counts for two.
pub(crate) const WRONG_COUNT: u8 = 5;
/// Readers exclude each other.
pub(crate) const SERIAL: u8 = 6;

/// A reader-writer lock with the flaw of that number.
pub(crate) struct RwCount<const FLAW: u8> {
    /// The readers, and [`WRITER`].
    count: AtomicU32,
    /// Picks the moments of what happens rarely.
    rarely: AtomicU32,
}

const WRITER: u32 = 1 << 31;
/// What happens rarely does so one time in this many.
const RARELY: u32 = 16;

impl<const FLAW: u8> RwCount<FLAW> {
    fn now(&self) -> bool {
        self.rarely.fetch_add(1, Ordering::Relaxed) % RARELY == RARELY - 1
    }

    fn try_read(&self) -> bool {
        let seen = self.count.load(Ordering::Relaxed);
        if seen & WRITER != 0 {
            return false;
        }
        if FLAW == CHECK_THEN_ACT {
            if self.now() {
                std::thread::yield_now(); // gives the bug below a fair chance
            }
            // BUG: a writer may have come since, and seen nobody.
            self.count.fetch_add(1, Ordering::Acquire);
            return true;
        }
        self.count.compare_exchange(seen, seen + 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// The flag is ours; the readers may still be in.
    fn try_flag(&self) -> bool {
        self.count.fetch_or(WRITER, Ordering::Acquire) & WRITER == 0
    }

    fn wait_for_readers(&self) {
        if FLAW == NO_WAIT {
            return; // BUG: they may be in.
        }
        let mut polls = 0;
        loop {
            let seen = self.count.load(Ordering::Acquire);
            if seen == WRITER {
                return;
            }
            if FLAW == LOST_WAKEUP {
                // An error is a spurious return (a signal, or the count has changed): look again.
                let _ = futex::wait(&self.count, futex::Flags::PRIVATE, seen, None);
            } else {
                relax(&mut polls);
            }
        }
    }

    fn leave_read(&self) {
        let seen = self.count.load(Ordering::Relaxed);
        if FLAW == WRONG_COUNT && seen & !WRITER > 1 && self.now() {
            self.count.fetch_sub(2, Ordering::Release); // BUG: the other one is still in.
        } else {
            // With LOST_WAKEUP this is the BUG: the writer that sleeps is not told.
            self.count.fetch_sub(1, Ordering::Release);
        }
    }
}

impl<const FLAW: u8> Tortured for RwCount<FLAW> {
    fn new(_test_lock: usize) -> Self {
        Self { count: AtomicU32::new(0), rarely: AtomicU32::new(0) }
    }

    fn acquire(&self, side: Side) {
        let mut polls = 0;
        if side == Side::Reads && FLAW != SERIAL {
            while !self.try_read() {
                relax(&mut polls);
            }
        } else {
            while !self.try_flag() {
                relax(&mut polls);
            }
            self.wait_for_readers();
        }
    }

    fn try_acquire(&self, side: Side) -> bool {
        if side != Side::Reads || FLAW == SERIAL {
            return self.count.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).is_ok();
        }
        let lies = FLAW == TRY_LIES && self.count.load(Ordering::Relaxed) == WRITER;
        if lies {
            self.count.fetch_add(1, Ordering::Acquire); // BUG: somebody writes.
        }
        lies || self.try_read()
    }

    unsafe fn release(&self, side: Side) {
        if side == Side::Reads && FLAW != SERIAL {
            self.leave_read();
        } else {
            self.count.fetch_and(!WRITER, Ordering::Release);
        }
    }

    fn describe(&self) -> String {
        let count = self.count.load(Ordering::Relaxed);
        inside((count & !WRITER) as usize, count & WRITER != 0)
    }
}
