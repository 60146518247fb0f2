//! Waiting for a condition: [`Condvar`] for Rust, and the parts that other condition variables are made of.
//!
//! [`WaitQueue`] is the list of those who wait, [`Waiter`] one of them, [`Relay`] the place beside a mutex where those stand who were notified
//! by its holder.
//!
//! - Fairness: threads of a real-time class (`SCHED_DEADLINE`, `SCHED_FIFO`, `SCHED_RR`) before all others, the highest priority first; among
//!   equals, first come, first notified. No wake-up is lost, and none is taken by somebody who came after it.
//! - Progress: needs the holder of the queue's [`Guard`](crate::futex::Guard) to run, for some tens of instructions, and some more for each
//!   real-time thread that waits.
//! - Memory: 16 bytes a condition, 32 bytes a thread that waits.
mod queue;
mod relay;
mod ring;

pub use queue::{Ending, WaitQueue, Waiter};
pub use relay::{Relay, Relayed};

use crate::deadline::Deadline;
use core::fmt;
use core::ptr;
use core::time::Duration;
use lock_api::{MutexGuard, RawMutex};

/// A condition variable for a mutex of any lock of this crate, or any other lock under `lock_api`. Sixteen bytes, no allocation.
///
/// As with every condition variable, use one with one mutex at a time. Threads wait in line: a notification goes to the one that came first, among
/// those of the highest real-time priority if there are any.
/// There are no spurious wake-ups, but a condition may be over by the time the mutex is acquired: wait in a loop, or with
/// [`wait_while`](Self::wait_while).
///
/// ```
/// use stanchion::{Condvar, Mutex};
///
/// static READY: Mutex<bool> = Mutex::new(false);
/// static CHANGED: Condvar = Condvar::new();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *READY.lock() = true;
///         CHANGED.notify_one();
///     });
///     let mut ready = READY.lock();
///     CHANGED.wait_while(&mut ready, |ready| !*ready);
/// });
/// ```
#[derive(Default)]
pub struct Condvar {
    queue: WaitQueue,
}

impl Condvar {
    /// One for which nobody waits.
    pub const fn new() -> Self {
        Self { queue: WaitQueue::new() }
    }

    /// Gives the mutex up, waits to be notified, and acquires the mutex again.
    pub fn wait<R: RawMutex, T: ?Sized>(&self, guard: &mut MutexGuard<'_, R, T>) {
        self.wait_for_ending(guard, None);
    }

    /// Waits until `condition` is false. It is asked with the mutex held.
    pub fn wait_while<R: RawMutex, T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, R, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) {
        while condition(guard) {
            self.wait(guard);
        }
    }

    /// As [`wait`](Self::wait), until `deadline` at the latest. Whether it was notified.
    pub fn wait_until<R: RawMutex, T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, R, T>,
        deadline: &Deadline,
    ) -> bool {
        self.wait_for_ending(guard, Some(deadline)) == Ending::Notified
    }

    /// As [`wait`](Self::wait), for `timeout` at the longest. Whether it was notified.
    pub fn wait_for<R: RawMutex, T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, R, T>,
        timeout: Duration,
    ) -> bool {
        self.wait_until(guard, &Deadline::after(timeout))
    }

    /// Notifies the first thread in line. Whether there was one.
    pub fn notify_one(&self) -> bool {
        self.queue.notify(1, |_| false) == 1
    }

    /// Notifies all threads that wait now. How many there were.
    pub fn notify_all(&self) -> usize {
        self.queue.notify(usize::MAX, |_| false)
    }

    fn wait_for_ending<R: RawMutex, T: ?Sized>(
        &self,
        guard: &mut MutexGuard<'_, R, T>,
        deadline: Option<&Deadline>,
    ) -> Ending {
        let waiter = Waiter::new();
        // SAFETY: the waiter is new, and stays here until `sleep`, the next thing that happens, has returned: releasing a raw lock does not
        // unwind.
        unsafe { self.queue.list(&waiter, ptr::null()) };
        MutexGuard::unlocked(guard, || self.queue.sleep(&waiter, deadline, || false))
    }
}

impl fmt::Debug for Condvar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Condvar { .. }")
    }
}
