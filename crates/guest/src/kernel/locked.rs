//! What the kernel itself keeps under a lock, with interrupts disabled. The kernel does not use the locks
//! that it is there to test.
use super::arch;
use core::cell::UnsafeCell;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicBool, Ordering};

/// A value that one vCPU at a time may use.
pub(super) struct Locked<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached by `with` only, between an exchange that found the flag clear and the store
// that clears it.
unsafe impl<T: Send> Sync for Locked<T> {}

impl<T> Locked<T> {
    pub(super) const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs `f` with the value, without interrupts. It must not be called in `f` again.
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        arch::undisturbed(|| {
            while !self.take() {
                spin_loop();
            }
            // SAFETY: we found the flag clear and set it; handlers on this vCPU cannot come in between.
            let result = f(unsafe { &mut *self.value.get() });
            self.give();
            result
        })
    }

    /// Waits for so many polls at most until nobody uses the value, keeps others away, and runs `f`, which is
    /// told whether that worked.
    pub(super) fn with_timeout(&self, polls: u32, f: impl FnOnce(bool)) {
        arch::undisturbed(|| {
            let taken = (0..polls).any(|_| {
                spin_loop();
                self.take()
            });
            f(taken);
            if taken {
                self.give();
            }
        });
    }

    fn take(&self) -> bool {
        // ord: AB5 pairs AB6: what the last user did comes before
        !self.taken.swap(true, Ordering::Acquire)
    }

    fn give(&self) {
        // ord: AB6 pairs AB5: the next user sees what was done
        self.taken.store(false, Ordering::Release);
    }
}
