//! The condition variable of `stanchion` for mutexes under `lock_api` 0.4.
use crate::{MutexGuard, RawMutex};
use core::fmt;
use core::time::Duration;
use stanchion::condvar::RawCondvar;
use stanchion::lock_api::{RawCondvar as _, RawCondvarTimed as _};
use std::time::Instant;

/// Whether a wait ended because its time was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitTimeoutResult(bool);

impl WaitTimeoutResult {
    /// Whether it did. If not, somebody notified this thread.
    pub fn timed_out(self) -> bool {
        self.0
    }
}

/// A condition variable for [`Mutex`](crate::Mutex). It never wakes for no reason, and panics if it is used
/// with two mutexes at the same time.
pub struct Condvar(RawCondvar);

impl Condvar {
    /// One for which nobody waits.
    pub const fn new() -> Self {
        Self(RawCondvar::INIT)
    }

    /// Notifies the first thread in line. Whether there was one.
    pub fn notify_one(&self) -> bool {
        self.0.notify_one()
    }

    /// Notifies all threads that wait now. How many there were.
    pub fn notify_all(&self) -> usize {
        self.0.notify_all()
    }

    /// Gives the mutex up, waits to be notified, and acquires the mutex again.
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        // SAFETY: the guard is proof that the mutex is held, and borrowed until it is so again.
        unsafe { self.0.wait(raw(guard).inner(), &mut stanchion::GuardMarker::new()) };
    }

    /// As [`wait`](Self::wait), until `timeout` at the latest.
    pub fn wait_until<T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        timeout: Instant,
    ) -> WaitTimeoutResult {
        let mut held = stanchion::GuardMarker::new();
        // SAFETY: the guard is proof that the mutex is held, and borrowed until it is so again.
        WaitTimeoutResult(unsafe { self.0.wait_until(raw(guard).inner(), &mut held, &timeout) })
    }

    /// As [`wait`](Self::wait), for `timeout` at the longest.
    pub fn wait_for<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, timeout: Duration) -> WaitTimeoutResult {
        let mut held = stanchion::GuardMarker::new();
        // SAFETY: the guard is proof that the mutex is held, and borrowed until it is so again.
        WaitTimeoutResult(unsafe { self.0.wait_for(raw(guard).inner(), &mut held, &timeout) })
    }

    /// Waits until `condition` is false. It is asked with the mutex held.
    pub fn wait_while<T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: F,
    ) {
        while condition(guard) {
            self.wait(guard);
        }
    }

    /// As [`wait_while`](Self::wait_while), until `timeout` at the latest. The condition is not asked again
    /// once the time is over.
    pub fn wait_while_until<T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        mut condition: F,
        timeout: Instant,
    ) -> WaitTimeoutResult {
        let mut result = WaitTimeoutResult(false);
        while !result.timed_out() && condition(guard) {
            result = self.wait_until(guard, timeout);
        }
        result
    }

    /// As [`wait_while`](Self::wait_while), for `timeout` at the longest. The condition is not asked again
    /// once the time is over.
    pub fn wait_while_for<T: ?Sized, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        timeout: Duration,
    ) -> WaitTimeoutResult {
        if let Some(timeout) = Instant::now().checked_add(timeout) {
            return self.wait_while_until(guard, condition, timeout);
        }
        self.wait_while(guard, condition);
        WaitTimeoutResult(false)
    }
}

fn raw<'a, T: ?Sized>(guard: &MutexGuard<'a, T>) -> &'a RawMutex {
    // SAFETY: nobody releases it by this reference.
    unsafe { MutexGuard::mutex(guard).raw() }
}

impl Default for Condvar {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Condvar { .. }")
    }
}
