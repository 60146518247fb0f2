//! Cancellation. A wait for a condition is a cancellation point: the thread must leave it with the mutex held.
//!
//! libc cancels a thread inside a wait by a signal whose handler unwinds from the middle of a system call. Ours does without: whoever
//! cancels a thread pokes its waiter first. A waiter that is poked takes itself off the list, acquires the mutex, and only then asks libc
//! whether it is cancelled, which unwinds from there.
//!
//! The waiter of another thread is found by its distance from the thread's control block, which is what `pthread_t` is (`thread.rs`).
use crate::condition::WAITER;
use crate::libc_own::{Own, own};
use crate::thread::Place;
use core::ffi::c_int;
use core::ptr;
use libc::pthread_t;
use stanchion::condvar::Waiter;

mod libc_s {
    //! libc's own.
    use super::{own, pthread_t};

    own! {
        fn pthread_cancel(thread: pthread_t);
        fn pthread_setcanceltype(kind: i32, before: *mut i32);
        fn pthread_setcancelstate(state: i32, before: *mut i32);
    }
}

const PTHREAD_CANCEL_DEFERRED: c_int = 0;
const PTHREAD_CANCEL_ENABLE: c_int = 0;
const PTHREAD_CANCEL_DISABLE: c_int = 1;

/// # Safety
///
/// What POSIX asks of the caller.
#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_cancel(thread: pthread_t) -> c_int {
    // The poke first, and nothing of the thread is touched after the request: it may be gone by then. A thread that was poked keeps asking
    // until the request has come.
    // SAFETY: POSIX: a thread that lives, or ended and was not joined; its control block, and our storage beside it, are there.
    unsafe {
        (*waiter_of(thread)).poke();
        libc_s::pthread_cancel(thread)
    }
}

fn waiter_of(thread: pthread_t) -> *const Waiter {
    static PLACE: Place<Waiter> = Place::new();
    WAITER.with(|mine| PLACE.find(mine));
    PLACE.of(thread as usize)
}

/// Whether the calling thread may be cancelled at a cancellation point.
pub(crate) fn is_enabled() -> bool {
    let mut state = PTHREAD_CANCEL_DISABLE;
    // SAFETY: the state has a place; it is put back as it was. Disabling does not act on a request; nor does enabling by itself in a
    // thread whose type is deferred, which it is while it waits.
    unsafe {
        libc_s::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &raw mut state);
        if state == PTHREAD_CANCEL_ENABLE {
            libc_s::pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, ptr::null_mut());
        }
    }
    state == PTHREAD_CANCEL_ENABLE
}

static TEST: Own = Own::new(c"pthread_testcancel");

/// Looks libc's functions up.
pub(crate) fn resolve() {
    TEST.resolve();
    libc_s::resolve();
}

/// Acts on a cancellation that was asked for: does not return then.
///
/// # Safety
///
/// No frame up to the program's may need to drop anything.
pub(crate) unsafe fn test() {
    // SAFETY: the type is the one that POSIX gives the name; the caller says that unwinding is harmless.
    unsafe {
        if let Some(test) = TEST.get::<unsafe extern "C-unwind" fn()>() {
            test();
        }
    }
}

/// The cancellation type that the thread had.
pub(crate) struct Type(c_int);

impl Type {
    /// From now on the thread is cancelled at cancellation points only.
    pub(crate) fn deferred() -> Self {
        let mut before = PTHREAD_CANCEL_DEFERRED;
        // SAFETY: the former type has a place.
        unsafe { libc_s::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &raw mut before) };
        Self(before)
    }

    /// Back to what it was; which may act on a cancellation at once.
    ///
    /// # Safety
    ///
    /// As for [`test`].
    pub(crate) unsafe fn restore(&self) {
        if self.0 != PTHREAD_CANCEL_DEFERRED {
            // SAFETY: the type is one that the thread had; the caller says that unwinding is harmless.
            unsafe { libc_s::pthread_setcanceltype(self.0, ptr::null_mut()) };
        }
    }
}
