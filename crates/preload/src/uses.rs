//! Mutexes with which somebody waits for a condition: nobody holds them, and they are in use all the same.
//! Destroying one is `EBUSY`, as in libc.
//!
//! The count is the holder's: who begins to wait still holds the mutex, and who is done waiting holds it
//! again.
use crate::mutex;
use crate::object::Mutex;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::{EOWNERDEAD, pthread_mutex_t};

/// Where libc counts who uses one of its own mutexes: its holder, and those who wait for a condition.
const LIBCS_USERS: usize = 12;

/// Gives the mutex up for a wait.
///
/// # Safety
///
/// The calling thread must hold the mutex.
pub(crate) unsafe fn unlock_to_wait(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller holds it; if it does not, nothing is released, and the count is as before.
    unsafe {
        count(mutex, 1);
        let released = mutex::unlock(mutex);
        if released != 0 {
            count(mutex, -1);
        }
        released
    }
}

/// Takes the mutex back after the wait.
///
/// # Safety
///
/// The calling thread must have given it up by [`unlock_to_wait`].
pub(crate) unsafe fn lock_after_wait(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the mutex is counted as used, so it is there.
    unsafe {
        let acquired = mutex::lock(mutex);
        if acquired == 0 || acquired == EOWNERDEAD {
            count(mutex, -1);
        }
        acquired
    }
}

/// # Safety
///
/// `mutex` must point to an object that is initialised, and lives.
unsafe fn count(mutex: *mut pthread_mutex_t, more: i16) {
    // SAFETY: the caller's object. In libc's ones these four bytes are a count, which its holder changes.
    let (this, libcs) =
        unsafe { (Mutex::at(mutex), AtomicU32::from_ptr(mutex.byte_add(LIBCS_USERS).cast())) };
    // One that was ours when the wait began is counted here also when it is libc's now.
    if this.kind().is_some() || this.was_handed_over() {
        // ord: PX20 alone: the holder's own
        this.waits.store(this.waits.load(Ordering::Relaxed).wrapping_add_signed(more), Ordering::Relaxed);
    } else {
        // ord: PX21 alone: the holder's own
        libcs.store(libcs.load(Ordering::Relaxed).wrapping_add_signed(more.into()), Ordering::Relaxed);
    }
}

/// Whether somebody waits for a condition with a mutex that is ours, or was.
pub(crate) fn is_waited_with(mutex: &Mutex) -> bool {
    // ord: PX23 alone: for who knows that nobody uses the mutex, or is told that somebody does
    mutex.waits.load(Ordering::Relaxed) != 0
}
