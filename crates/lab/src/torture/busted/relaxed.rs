//! `busted-relaxed`: a test-and-set lock that is correct but for its orderings, which are all `Relaxed`, and
//! its sound twin `reference-tas`, which differs in nothing else.
//!
//! Detector: ThreadSanitizer. On x86 an atomic exchange orders everything around it whatever the source says,
//! so mutual exclusion holds and torture alone *cannot* see the bug there (on a weakly ordered machine the
//! torn-view check may). Built with `-Zsanitizer=thread`, the same run reports a data race on the protected
//! words, and the child process ends with ThreadSanitizer's exit code; the twin shows that this is not the
//! harness racing with itself.
use super::relax;
use crate::torture::tortured::TorturedMutex;
use core::sync::atomic::{AtomicBool, Ordering};
use lock_api::{GuardSend, RawMutex};

/// A lock that excludes but does not order.
pub(crate) struct AllRelaxed(AtomicBool);

/// The same lock with its orderings.
pub(crate) struct Sound(AtomicBool);

macro_rules! test_and_set {
    ($name:ident, $acquire:ident, $release:ident) => {
        // SAFETY: exactly one swap at a time turns `false` into `true`, so holders exclude each other.
        // `Sound` also orders them, as the trait asks; `AllRelaxed` does not, on purpose, and is private to
        // torture, which treats the data behind it as racing (see `test_lock.rs`).
        unsafe impl RawMutex for $name {
            const INIT: Self = Self(AtomicBool::new(false));
            type Guard = GuardSend;

            fn lock(&self) -> GuardSend {
                let mut polls = 0;
                while self.0.swap(true, Ordering::$acquire) {
                    while self.0.load(Ordering::Relaxed) {
                        relax(&mut polls);
                    }
                }
                GuardSend::new()
            }

            fn try_lock(&self) -> Option<GuardSend> {
                (!self.0.swap(true, Ordering::$acquire)).then(GuardSend::new)
            }

            unsafe fn unlock(&self, _guard: GuardSend) {
                self.0.store(false, Ordering::$release);
            }

            fn is_locked(&self) -> bool {
                self.0.load(Ordering::Relaxed)
            }
        }

        impl TorturedMutex for $name {}
    };
}

// BUG: nothing here makes one holder's writes visible to the next.
test_and_set!(AllRelaxed, Relaxed, Relaxed);
test_and_set!(Sound, Acquire, Release);
