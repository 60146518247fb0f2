//! The lock of a list: three states, held for a few instructions, and slept on if its holder is not running.
//! No queue, no order.
use crate::os;
use core::sync::atomic::{AtomicU32, Ordering};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody sleeps, or is about to.
const SLEPT_ON: u32 = 2;

/// How often a waiter looks before it sleeps. Sections are some tens of instructions: a holder that is not
/// done by then does not run.
const POLLS: u32 = 100;

/// A lock for a few instructions at a time, in four bytes. All-zero is free. Whoever comes when it is free
/// gets it; who waits polls 100 times and sleeps.
#[repr(transparent)]
pub struct Guard(AtomicU32);

impl Guard {
    /// A free one.
    pub const fn new() -> Self {
        Self(AtomicU32::new(FREE))
    }

    /// Waits until the calling thread holds it.
    #[inline]
    pub fn acquire(&self) {
        // ord: L10 pairs L11: the last holder's section comes before ours
        if self.0.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_err() {
            self.acquire_contended();
        }
    }

    #[cold]
    fn acquire_contended(&self) {
        for _ in 0..POLLS {
            // ord: L15 alone: a guess, the exchange decides
            if self.0.load(Ordering::Relaxed) == FREE {
                break;
            }
            core::hint::spin_loop();
        }
        // ord: L16 pairs L11: the last holder's section comes before ours
        while self.0.swap(SLEPT_ON, Ordering::Acquire) != FREE {
            // EINTR and EAGAIN are what the loop is there for.
            os::wait(&self.0, SLEPT_ON, None);
        }
    }

    /// Whether nobody holds it.
    pub(crate) fn is_free(&self) -> bool {
        // ord: L27 pairs L11: what the last holder did is over
        self.0.load(Ordering::Acquire) == FREE
    }

    /// Frees it, whoever holds it: for a holder that does not exist.
    pub fn forget(&self) {
        // ord: L18 alone: nobody uses it meanwhile
        self.0.store(FREE, Ordering::Relaxed);
    }

    /// Gives it up. The calling thread must hold it.
    #[inline]
    pub fn release(&self) {
        // ord: L11 pairs L10, L16, L27: our section comes before the next holder's
        if self.0.swap(FREE, Ordering::Release) == SLEPT_ON {
            os::wake(&self.0, 1);
        }
    }
}

impl Default for Guard {
    fn default() -> Self {
        Self::new()
    }
}
