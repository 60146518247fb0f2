//! Waiters that were notified by somebody who held their mutex, and are woken one at a time as it is
//! released.
//!
//! To wake a waiter while its mutex is held may be to wake it for nothing, and to wake all of them at once is
//! a stampede. So whoever notifies and holds the mutex leaves the waiters with the mutex; each release wakes
//! the first, by priority and arrival, which releases in its turn, and so on.
use super::ring::{self, Last};
use super::waiter::Waiter;
use core::ptr::{self, NonNull};

/// The waiters that stand before one mutex: a pointer beside its lock. All-zero is an empty one.
///
/// Invariant **IL5**: touched by the holder of that mutex only.
#[repr(transparent)]
pub struct Relay {
    last: Last,
}

impl Relay {
    /// One before which nobody stands.
    pub const fn new() -> Self {
        Self { last: Last::new() }
    }

    /// Takes a waiter that was chosen; see [`WaitQueue::notify`](super::WaitQueue::notify).
    ///
    /// # Safety
    ///
    /// The calling thread must hold the mutex that the relay belongs to, and the waiter must have been given
    /// to it by `notify`.
    pub unsafe fn take(&self, waiter: NonNull<Waiter>) {
        // SAFETY: the caller has the relay to itself (L5); a waiter that was chosen exists until it is told,
        // and is in no list.
        unsafe { ring::insert(&self.last, waiter.as_ref()) };
    }

    /// The waiter to wake with this release, if there is one.
    ///
    /// # Safety
    ///
    /// The calling thread must hold the mutex that the relay belongs to.
    #[inline(always)]
    pub unsafe fn next(&self) -> Option<Relayed> {
        if self.last.get().is_null() {
            return None;
        }
        // SAFETY: the caller has the relay to itself (L5); those in it were chosen and not told, so they
        // exist.
        unsafe { ring::pop(&self.last) }.map(Relayed)
    }

    /// Forgets who stands there.
    ///
    /// # Safety
    ///
    /// As for [`WaitQueue::forget`](super::WaitQueue::forget).
    pub unsafe fn forget(&self) {
        self.last.set(ptr::null());
    }

    /// Whether nobody stands there.
    ///
    /// # Safety
    ///
    /// The calling thread must hold the mutex that the relay belongs to, or know that nobody does.
    #[inline(always)]
    pub unsafe fn is_empty(&self) -> bool {
        self.last.get().is_null()
    }
}

impl Default for Relay {
    fn default() -> Self {
        Self::new()
    }
}

/// A waiter that is about to be woken.
#[must_use = "a waiter that was relayed sleeps until it is woken"]
pub struct Relayed(NonNull<Waiter>);

impl Relayed {
    /// Wakes it. Best after the mutex was released, so that it finds it free.
    #[cold]
    pub fn wake(self) {
        // SAFETY: it came out of a relay, where only those are that were chosen and not told.
        unsafe { Waiter::tell(self.0) };
    }
}
