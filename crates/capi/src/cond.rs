//! The condition variable.
use crate::boundary::{disguise, guarded, on, uncover};
use crate::deadline::{self, Clock, Deadline};
use crate::mutexes::stanchion_mutex_t;
use core::ffi::c_int;
use core::ptr;
use libc::timespec;
use stanchion::condvar::{Ending, WaitQueue, Waiter};
use stanchion::lock::StanchionLock;
use stanchion::native::Destroyable;
use stanchion_core::RawLock as _;

/// A condition variable for `stanchion_mutex_t`; one mutex at a time. Threads wait in line, and a signal goes
/// to the one that came first, among those of the highest real-time priority if there are any. There are no
/// spurious wake-ups, but a condition may be over by the time the mutex is acquired, so wait in a loop.
///
/// Nobody waits if all bytes are zero. It may be moved or freed while nobody waits, right after a broadcast
/// too. Memory: 16 bytes, and 32 on the stack of each thread that waits. Waiting is no cancellation point.
#[derive(Debug)]
#[repr(C)]
pub struct stanchion_cond_t {
    /// For the library alone.
    pub opaque: [u64; 2],
}
disguise!(stanchion_cond_t, WaitQueue);

/// Gives the mutex up, waits to be told or for the deadline, and acquires the mutex again.
///
/// # Safety
///
/// As [`on`], for both; the calling thread holds the mutex.
unsafe fn wait(
    cond: *const stanchion_cond_t,
    mutex: *const stanchion_mutex_t,
    deadline: Option<&Deadline>,
) -> c_int {
    // SAFETY: the caller promises what `uncover` asks.
    let (Some(queue), Some(mutex)) = (unsafe { (uncover(cond), uncover(mutex)) }) else {
        return libc::EINVAL;
    };
    let mutex: &StanchionLock<Destroyable> = mutex;
    guarded(|| {
        let waiter = Waiter::new();
        // SAFETY: the waiter is new, and stays here until `sleep`, which follows: if releasing the mutex
        // panicked, the process would end.
        unsafe { queue.list(&waiter, ptr::null()) };
        mutex.inner().release();
        let ending = queue.sleep(&waiter, deadline, || false);
        mutex.inner().acquire();
        if ending == Ending::Notified { 0 } else { libc::ETIMEDOUT }
    })
}

/// Gives `mutex` up, waits for `stanchion_cond_signal` or `stanchion_cond_broadcast`, and acquires `mutex`
/// again.
///
/// - Returns: 0, or `EINVAL` if a pointer is null or misaligned; then `mutex` was not given up.
///
/// # Safety
///
/// `cond` points at a condition variable that was zero before its first use, and the calling thread holds
/// `mutex`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_cond_wait(
    cond: *mut stanchion_cond_t,
    mutex: *mut stanchion_mutex_t,
) -> c_int {
    // SAFETY: the caller promises what `wait` asks.
    unsafe { wait(cond, mutex, None) }
}

/// As `stanchion_cond_wait`, until `CLOCK_MONOTONIC` shows `until`. (`pthread_cond_timedwait` takes
/// `CLOCK_REALTIME` unless told otherwise.)
///
/// - Returns: 0, `ETIMEDOUT`, with `mutex` acquired in both cases, or `EINVAL` if a pointer is null or
///   misaligned or the nanoseconds are not below a second; then `mutex` was not given up.
///
/// # Safety
///
/// As `stanchion_cond_wait`; `until` points at a point of time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_cond_timedwait(
    cond: *mut stanchion_cond_t,
    mutex: *mut stanchion_mutex_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller promises what `read` and `wait` ask.
    unsafe {
        match deadline::read(Clock::Monotonic, until) {
            Some(deadline) => wait(cond, mutex, Some(&deadline)),
            None => libc::EINVAL,
        }
    }
}

/// As `stanchion_cond_timedwait`, until `clock` shows `until`.
///
/// - Returns: as `stanchion_cond_timedwait`, and `EINVAL` if `clock` is neither `CLOCK_MONOTONIC` nor
///   `CLOCK_REALTIME`.
///
/// # Safety
///
/// As `stanchion_cond_timedwait`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_cond_clockwait(
    cond: *mut stanchion_cond_t,
    mutex: *mut stanchion_mutex_t,
    clock: c_int,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller promises what `read` and `wait` ask.
    unsafe {
        match deadline::clock(clock).and_then(|clock| deadline::read(clock, until)) {
            Some(deadline) => wait(cond, mutex, Some(&deadline)),
            None => libc::EINVAL,
        }
    }
}

/// Wakes the first thread in line, if there is one. Best called with the mutex held, or right after it was
/// released.
///
/// - Returns: 0, or `EINVAL` if `cond` is null or misaligned.
///
/// # Safety
///
/// `cond` points at a condition variable that was zero before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_cond_signal(cond: *mut stanchion_cond_t) -> c_int {
    // SAFETY: the caller promises what `notify` asks.
    unsafe { notify(cond, 1) }
}

/// Wakes all threads that wait now.
///
/// - Returns: 0, or `EINVAL` if `cond` is null or misaligned.
///
/// # Safety
///
/// `cond` points at a condition variable that was zero before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_cond_broadcast(cond: *mut stanchion_cond_t) -> c_int {
    // SAFETY: the caller promises what `notify` asks.
    unsafe { notify(cond, usize::MAX) }
}

/// # Safety
///
/// As [`on`].
unsafe fn notify(cond: *const stanchion_cond_t, most: usize) -> c_int {
    let notify = |queue: &WaitQueue| {
        queue.notify(most, |_| false);
        0
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(cond, notify) }
}
