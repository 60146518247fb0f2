//! `busted-none`, `busted-check-then-set`, `busted-try` and `busted-relaxed`: a test-and-set lock with one
//! flaw each, and the same lock without any, `reference-tas`.
use super::relax;
use crate::torture::lock::{Side, Tortured, no_queue};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Nothing is wrong.
pub(crate) const SOUND: u8 = 0;
/// The lock does nothing at all: the kernel's `lock_busted`.
///
/// Detector: torture. Two workers are inside together at once, so the flags disagree within milliseconds.
pub(crate) const OPEN: u8 = 1;
/// The test-and-set is not one step. A waiter that saw the lock free stores *held*, and so does the other
/// waiter that saw it free between the two.
///
/// Detector: torture. The window is a few nanoseconds wide and open at every hand-over.
pub(crate) const CHECK_THEN_SET: u8 = 2;
/// A try sometimes says that it took a lock that somebody else holds.
///
/// Detector: torture, with the extra `tries` on. Without that extra the lock is sound, which a test shows
/// too.
pub(crate) const TRY_LIES: u8 = 3;
/// All orderings are `Relaxed`: the lock excludes but makes no holder's writes visible to the next.
///
/// Detector: ThreadSanitizer. On x86 an atomic exchange orders everything around it whatever the source says,
/// so mutual exclusion holds and torture alone *cannot* see the bug there (on a weakly ordered machine the
/// torn-view check may). Built with `-Zsanitizer=thread`, the same run reports a data race on the protected
/// words, and the child process ends with ThreadSanitizer's exit code; the sound twin, which differs in
/// nothing else, shows that this is not the harness racing with itself.
pub(crate) const RELAXED: u8 = 4;

/// With [`TRY_LIES`], one refusal in this many is turned into a lie.
const RARELY: u32 = 64;

/// A test-and-set lock with the flaw of that number.
pub(crate) struct Flag<const FLAW: u8> {
    held: AtomicBool,
    refusals: AtomicU32,
}

impl<const FLAW: u8> Flag<FLAW> {
    const ACQUIRE: Ordering = if FLAW == RELAXED { Ordering::Relaxed } else { Ordering::Acquire };
    const RELEASE: Ordering = if FLAW == RELAXED { Ordering::Relaxed } else { Ordering::Release };

    fn take(&self) -> bool {
        match FLAW {
            // BUG: nobody is kept out.
            OPEN => true,
            // BUG: between the load and the store anybody else may do the same.
            CHECK_THEN_SET => {
                let free = !self.held.load(Ordering::Acquire);
                if free {
                    self.held.store(true, Ordering::Relaxed);
                }
                free
            }
            // With RELAXED this is the BUG, together with the release.
            _ => !self.held.swap(true, Self::ACQUIRE),
        }
    }
}

impl<const FLAW: u8> Tortured for Flag<FLAW> {
    fn new(_test_lock: usize) -> Self {
        Self { held: AtomicBool::new(false), refusals: AtomicU32::new(0) }
    }

    fn acquire(&self, _side: Side) {
        let mut polls = 0;
        while !self.take() {
            while self.held.load(Ordering::Relaxed) {
                relax(&mut polls);
            }
        }
    }

    fn try_acquire(&self, _side: Side) -> bool {
        let lies = || self.refusals.fetch_add(1, Ordering::Relaxed) % RARELY == RARELY - 1;
        // BUG: it is held, whatever this says.
        self.take() || FLAW == TRY_LIES && lies()
    }

    unsafe fn release(&self, _side: Side) {
        if FLAW != OPEN {
            self.held.store(false, Self::RELEASE);
        }
    }

    fn describe(&self) -> String {
        no_queue(if self.held.load(Ordering::Relaxed) { "held" } else { "free" })
    }
}
