//! Waiting for a condition: [`RawCondvar`] for Rust, and the parts that other condition variables are made
//! of.
//!
//! [`WaitQueue`] is the list of those who wait, [`Waiter`] one of them, [`Relay`] the place beside a mutex
//! where those stand who were notified by its holder.
//!
//! - Fairness: threads of a real-time class (`SCHED_DEADLINE`, `SCHED_FIFO`, `SCHED_RR`) before all others,
//!   the highest priority first; among equals, first come, first notified. No wake-up is lost, and none is
//!   taken by somebody who came after it.
//! - Progress: needs the holder of the queue's [`Guard`](crate::futex::Guard) to run, for some tens of
//!   instructions, and some more for each real-time thread that waits, or that a broadcast wakes.
//! - Memory: 16 bytes a condition, 32 bytes a thread that waits.
mod queue;
mod relay;
mod ring;
mod waiter;

pub use queue::{Ending, Sign, WaitQueue};
pub use relay::{Relay, Relayed};
pub use waiter::Waiter;

use crate::deadline::Deadline;
use crate::lock::StanchionLock;
use crate::os;
use core::marker::PhantomData;
use core::time::Duration;
use core::{fmt, ptr};
use lock_api::{RawMutex, RawMutexTimed};
use std::time::Instant;

/// A condition variable under [`lock_api::Condvar`], for a mutex of lock `R`. There are no spurious wake-ups,
/// and notifications are counted exactly. Waiting with two mutexes at the same time panics.
pub struct RawCondvar<R = StanchionLock> {
    queue: WaitQueue,
    mutex: PhantomData<fn(&R)>,
}

// SAFETY: a waiter is listed before it unlocks the mutex, so each notification after that finds it; it has
// locked the mutex again when it returns (or the process is gone), and who is refused has not unlocked it.
unsafe impl<R: RawMutex> lock_api::RawCondvar for RawCondvar<R> {
    const INIT: Self = Self { queue: WaitQueue::new(), mutex: PhantomData };
    type RawMutex = R;

    unsafe fn wait(&self, mutex: &R, guard: &mut R::Guard) {
        // SAFETY: the caller holds the mutex, and `guard` is of that acquisition.
        unsafe { self.wait_for_ending(mutex, guard, None) };
    }

    fn notify_one(&self) -> bool {
        self.queue.notify(1, |_| false) == 1
    }

    fn notify_all(&self) -> usize {
        self.queue.notify(usize::MAX, |_| false)
    }
}

// SAFETY: as above; a wait that was notified says so, whatever the time is.
unsafe impl<R> lock_api::RawCondvarTimed for RawCondvar<R>
where
    R: RawMutexTimed<Duration = Duration, Instant = Instant>,
{
    fn checked_duration_to_instant(timeout: &Duration) -> Option<Instant> {
        Instant::now().checked_add(*timeout)
    }

    unsafe fn wait_until(&self, mutex: &R, guard: &mut R::Guard, timeout: &Instant) -> bool {
        let deadline = Deadline::after(timeout.saturating_duration_since(Instant::now()));
        // SAFETY: the caller holds the mutex, and `guard` is of that acquisition.
        unsafe { self.wait_for_ending(mutex, guard, Some(&deadline)) == Ending::TimedOut }
    }
}

impl<R: RawMutex> RawCondvar<R> {
    /// # Safety
    ///
    /// The calling thread must hold the mutex, and `guard` must be what the acquisition returned.
    unsafe fn wait_for_ending(&self, mutex: &R, guard: &mut R::Guard, deadline: Option<&Deadline>) -> Ending {
        let waiter = Waiter::new();
        let fuse = Fuse;
        // SAFETY: the waiter is new, and stays here until `sleep` has returned: what unwinds before that ends
        // the process.
        let listed = unsafe { self.queue.list_with_same(&waiter, ptr::from_ref(mutex).cast()) };
        if !listed {
            core::mem::forget(fuse);
            panic!("attempted to use a condition variable with more than one mutex at a time");
        }
        // SAFETY: the caller holds the mutex; `guard` is moved out, and written again before anybody can use
        // it.
        let ending = unsafe {
            mutex.unlock(ptr::read(guard));
            let ending = self.queue.sleep(&waiter, deadline, || false);
            // It was told, and is listed by nobody else.
            if ending == Ending::Notified && waiter.is_at_home() && mutex.is_locked() {
                os::yield_slice(); // who notified us holds the mutex, and needs the CPU that we took
            }
            ptr::write(guard, mutex.lock());
            ending
        };
        core::mem::forget(fuse);
        ending
    }
}

impl<R> fmt::Debug for RawCondvar<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RawCondvar { .. }")
    }
}

/// Ends the process if it goes in a panic: one of a lock that cannot be released or acquired leaves nothing
/// to go on with.
struct Fuse;

impl Drop for Fuse {
    fn drop(&mut self) {
        std::process::abort();
    }
}
