//! The queued reader-writer lock, twelve bytes.
use crate::boundary::{busy_unless, disguise, on};
use crate::deadline::{self, Clock};
use core::ffi::c_int;
use libc::timespec;
use stanchion::lock::QueuedRwLock;
use stanchion_core::{Downgrade as _, RawRwLock as _};

/// A reader-writer lock, `qrw`. Those who wait queue and sleep, one writer at a time; they may be passed for
/// some microseconds, and a writer also by other writers while it has no CPU.
///
/// Free if all bytes are zero. Whoever locks it last may destroy it, while others return from unlock. Memory:
/// 12 bytes, and at most 192 bytes for each thread that ever waited for any lock of this library.
#[derive(Debug)]
#[repr(C)]
pub struct stanchion_rwlock_t {
    /// For the library alone.
    pub opaque: [u32; 3],
}
disguise!(stanchion_rwlock_t, QueuedRwLock);

/// Waits until the calling thread reads.
///
/// - Returns: 0, `EAGAIN` if 16384 read locks are held already, or `EINVAL` if `lock` is null or misaligned.
/// - Progress: needs the holders to run. A thread that reads already may wait for ever: behind a writer that
///   waits for it.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_rwlock_rdlock(lock: *mut stanchion_rwlock_t) -> c_int {
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, |lock| lock.inner().acquire_read().map_or(libc::EAGAIN, |()| 0)) }
}

/// Reads if that needs no waiting.
///
/// - Returns: 0, `EBUSY` if somebody writes, waits to write, or too many read, or `EINVAL` if `lock` is null
///   or misaligned.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_rwlock_tryrdlock(lock: *mut stanchion_rwlock_t) -> c_int {
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, |lock| busy_unless(lock.inner().try_acquire_read())) }
}

/// Tries to read until `CLOCK_MONOTONIC` shows `until`.
///
/// - Returns: 0, `ETIMEDOUT`, `EAGAIN` if 16384 read locks are held already, or `EINVAL` if a pointer is null
///   or misaligned or the nanoseconds are not below a second.
/// - Progress: as `stanchion_rwlock_rdlock`; waits in line, asleep, and leaves it when the time has come.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use, `until` at a point of time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_rwlock_timedrdlock(
    lock: *mut stanchion_rwlock_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller promises what both ask.
    unsafe {
        on(lock, |lock| {
            let Some(until) = deadline::read(Clock::Monotonic, until) else { return libc::EINVAL };
            match lock.inner().acquire_read_until(&until) {
                Ok(true) => 0,
                Ok(false) => libc::ETIMEDOUT,
                Err(_) => libc::EAGAIN,
            }
        })
    }
}

/// Waits until the calling thread holds `lock` alone.
///
/// - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
/// - Progress: needs the holders to run. A thread that reads or writes already waits for ever.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_rwlock_wrlock(lock: *mut stanchion_rwlock_t) -> c_int {
    let acquire = |lock: &QueuedRwLock| {
        lock.inner().acquire_write();
        0
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, acquire) }
}

/// Writes if that needs no waiting.
///
/// - Returns: 0, `EBUSY` if somebody reads, writes, or is the first to wait, or `EINVAL` if `lock` is null or
///   misaligned.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_rwlock_trywrlock(lock: *mut stanchion_rwlock_t) -> c_int {
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, |lock| busy_unless(lock.inner().try_acquire_write())) }
}

/// Tries to write until `CLOCK_MONOTONIC` shows `until`.
///
/// - Returns: 0, `ETIMEDOUT`, or `EINVAL` if a pointer is null or misaligned or the nanoseconds are not below
///   a second.
/// - Progress: as `stanchion_rwlock_wrlock`; waits in line, asleep, and leaves it when the time has come. New
///   readers wait behind it.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use, `until` at a point of time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_rwlock_timedwrlock(
    lock: *mut stanchion_rwlock_t,
    until: *const timespec,
) -> c_int {
    // SAFETY: the caller promises what both ask.
    unsafe {
        on(lock, |lock| {
            deadline::by(Clock::Monotonic, until, |until| lock.inner().acquire_write_until(until))
        })
    }
}

/// Gives up a read lock.
///
/// - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
///
/// # Safety
///
/// The calling thread, or one that passed it on to the calling thread, holds a read lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_rwlock_rdunlock(lock: *mut stanchion_rwlock_t) -> c_int {
    let release = |lock: &QueuedRwLock| {
        lock.inner().release_read();
        0
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, release) }
}

/// Gives up the write lock.
///
/// - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
///
/// # Safety
///
/// The calling thread, or one that passed it on to the calling thread, holds the write lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_rwlock_wrunlock(lock: *mut stanchion_rwlock_t) -> c_int {
    let release = |lock: &QueuedRwLock| {
        lock.inner().release_write();
        0
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, release) }
}

/// Turns the write lock into a read lock; no writer comes in between. `stanchion_rwlock_rdunlock` gives it
/// up.
///
/// - Returns: 0, or `EINVAL` if `lock` is null or misaligned.
///
/// # Safety
///
/// The calling thread, or one that passed it on to the calling thread, holds the write lock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_rwlock_downgrade(lock: *mut stanchion_rwlock_t) -> c_int {
    let downgrade = |lock: &QueuedRwLock| {
        lock.inner().downgrade();
        0
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, downgrade) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::uncover;

    #[test]
    fn zero_is_free() {
        let zero = stanchion_rwlock_t { opaque: [0; 3] };
        // SAFETY: the address is that of a lock on the stack, which was zero.
        let zero = unsafe { uncover(&raw const zero) }.expect("aligned");
        let new: QueuedRwLock = stanchion::lock_api::RawRwLock::INIT;
        assert_eq!(zero.inner().word(), new.inner().word());
    }
}
