//! The default lock, checked: it knows its owner.
//!
//! Memory orderings: `owner` orders nothing. A thread finds its own mark there only if it put it there
//! itself, and takes it away itself, so relaxed accesses are enough (A1 to A3).
use crate::boundary::{disguise, on};
use crate::deadline::{self, Clock, Deadline};
use core::cell::Cell;
use core::ffi::c_int;
use core::sync::atomic::{AtomicUsize, Ordering};
use libc::timespec;
use stanchion::lock::StanchionLock;
use stanchion::native::Destroyable;
use stanchion_core::RawLock as _;

/// `stanchion_mutex_t` that tells misuse: `EDEADLK` instead of waiting for oneself, `EPERM` instead of
/// releasing what others hold.
///
/// Free if all bytes are zero. Whoever locks it last may destroy it, as `stanchion_mutex_t`. It stays with
/// the thread that locked it; after a `fork` the child's thread owns what the forking thread owned. If a
/// thread ends while it holds the mutex nobody can tell who does: a later thread may be taken for it. Memory:
/// 16 bytes, and as `stanchion_mutex_t`.
#[derive(Debug)]
#[repr(C)]
pub struct stanchion_checked_mutex_t {
    /// For the library alone.
    pub opaque: [u64; 2],
}
disguise!(stanchion_checked_mutex_t, Checked);

/// What it is.
#[repr(C, align(8))]
pub(crate) struct Checked {
    lock: StanchionLock<Destroyable>,
    /// The mark of the thread that holds it, or 0.
    owner: AtomicUsize,
}

/// A number that no other living thread has: the address of something of the thread's own. It costs no system
/// call, and is the same in a forked child. A later thread may have it again, once the C library has joined
/// or reaped the earlier one.
#[inline(always)]
fn mark() -> usize {
    thread_local! {
        static HERE: Cell<u8> = const { Cell::new(0) };
    }
    HERE.with(|here| core::ptr::from_ref(here).addr())
}

impl Checked {
    fn is_own(&self) -> bool {
        // ord: A1 alone: only this thread stores its mark, or takes it away
        self.owner.load(Ordering::Relaxed) == mark()
    }

    fn owned(&self) {
        // ord: A2 alone: only this thread looks for its mark
        self.owner.store(mark(), Ordering::Relaxed);
    }

    fn try_acquire(&self) -> bool {
        let acquired = self.lock.inner().try_acquire();
        if acquired {
            self.owned();
        }
        acquired
    }

    fn acquire_until(&self, until: &Deadline) -> bool {
        let acquired = self.lock.inner().acquire_until(until);
        if acquired {
            self.owned();
        }
        acquired
    }
}

/// Waits until the calling thread holds `lock`.
///
/// - Returns: 0, `EDEADLK` if the calling thread holds it already, or `EINVAL` if `lock` is null or
///   misaligned.
/// - Progress: needs the holder to run.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_checked_mutex_lock(lock: *mut stanchion_checked_mutex_t) -> c_int {
    let acquire = |lock: &Checked| {
        if lock.is_own() {
            return libc::EDEADLK;
        }
        lock.lock.inner().acquire();
        lock.owned();
        0
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, acquire) }
}

/// Acquires `lock` if that needs no waiting.
///
/// - Returns: 0, `EBUSY` if somebody holds it, the calling thread included, or `EINVAL` if `lock` is null or
///   misaligned.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_checked_mutex_trylock(lock: *mut stanchion_checked_mutex_t) -> c_int {
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, |lock| crate::boundary::busy_unless(lock.try_acquire())) }
}

/// Tries to acquire `lock` until `CLOCK_MONOTONIC` shows `until`.
///
/// - Returns: 0, `ETIMEDOUT`, `EDEADLK` if the calling thread holds it already, or `EINVAL` if a pointer is
///   null or misaligned or the nanoseconds are not below a second.
/// - Progress: queues and sleeps as `stanchion_checked_mutex_lock`.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use, `until` at a point of time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_checked_mutex_timedlock(
    lock: *mut stanchion_checked_mutex_t,
    until: *const timespec,
) -> c_int {
    let acquire = |lock: &Checked| {
        if lock.is_own() {
            return libc::EDEADLK;
        }
        // SAFETY: the caller promises what `by` asks of `until`.
        unsafe { deadline::by(Clock::Monotonic, until, |until| lock.acquire_until(until)) }
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, acquire) }
}

/// Releases `lock`.
///
/// - Returns: 0, `EPERM` if the calling thread does not hold it, or `EINVAL` if `lock` is null or misaligned.
///
/// # Safety
///
/// `lock` points at a lock that was zero before its first use.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stanchion_checked_mutex_unlock(lock: *mut stanchion_checked_mutex_t) -> c_int {
    let release = |lock: &Checked| {
        if !lock.is_own() {
            return libc::EPERM;
        }
        // ord: A3 alone: whoever holds the lock next stores its own mark; nobody but us looks for ours
        lock.owner.store(0, Ordering::Relaxed);
        lock.lock.inner().release();
        0
    };
    // SAFETY: the caller promises what `on` asks.
    unsafe { on(lock, release) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boundary::uncover;

    #[test]
    fn zero_is_free_and_nobodys() {
        let zero = stanchion_checked_mutex_t { opaque: [0; 2] };
        // SAFETY: the address is that of a lock on the stack, which was zero.
        let zero = unsafe { uncover(&raw const zero) }.expect("aligned");
        assert!(!zero.is_own() && zero.try_acquire() && zero.is_own());
    }

    #[test]
    fn threads_have_marks_of_their_own() {
        let here = mark();
        assert_eq!(here, mark());
        assert_ne!(std::thread::spawn(mark).join().expect("runs"), here);
    }
}
