//! `mtx_*` and `cnd_*`, which are the POSIX objects by other names, as in libc: plain and timed mutexes are
//! normal ones.
//!
//! # Safety
//!
//! Functions that are exported ask of their callers what POSIX does.
#![expect(clippy::missing_safety_doc, reason = "the head says it for all")]

use crate::condition::{self, Until};
use crate::mutex;
use crate::object::{Mutex, NORMAL, RECURSIVE};
use core::ffi::c_int;
use core::ptr;
use libc::{EBUSY, ENOMEM, ETIMEDOUT, pthread_cond_t, pthread_mutex_t, timespec};

const THRD_SUCCESS: c_int = 0;
const THRD_BUSY: c_int = 1;
const THRD_ERROR: c_int = 2;
const THRD_NOMEM: c_int = 3;
const THRD_TIMEDOUT: c_int = 4;

const MTX_RECURSIVE: c_int = 1;
const MTX_TIMED: c_int = 2;

fn thrd(error: c_int) -> c_int {
    match error {
        0 => THRD_SUCCESS,
        EBUSY => THRD_BUSY,
        ENOMEM => THRD_NOMEM,
        ETIMEDOUT => THRD_TIMEDOUT,
        _ => THRD_ERROR,
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mtx_init(mutex: *mut pthread_mutex_t, kind: c_int) -> c_int {
    if kind & !(MTX_RECURSIVE | MTX_TIMED) != 0 {
        return THRD_ERROR;
    }
    let posix = if kind & MTX_RECURSIVE != 0 { RECURSIVE } else { NORMAL };
    // SAFETY: C11: the object may be written.
    unsafe { Mutex::make(mutex, posix) };
    THRD_SUCCESS
}

/// Functions that return nothing.
macro_rules! silent {
    ($($name:ident($object:ident: $type:ty) = $function:path;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($object: *mut $type) {
            // SAFETY: C11 asks the caller for what POSIX does.
            unsafe { $function($object) };
        }
    )*};
}

/// Functions that return how it went.
macro_rules! answering {
    ($($abi:literal $name:ident($($argument:ident: $type:ty),*) = $value:expr;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern $abi fn $name($($argument: $type),*) -> c_int {
            // SAFETY: C11 asks the caller for what POSIX does.
            thrd(unsafe { $value })
        }
    )*};
}

silent! {
    mtx_destroy(mutex: pthread_mutex_t) = mutex::pthread_mutex_destroy;
    cnd_destroy(condition: pthread_cond_t) = condition::pthread_cond_destroy;
}

answering! {
    "C" mtx_lock(mutex: *mut pthread_mutex_t) = mutex::lock(mutex);
    "C" mtx_trylock(mutex: *mut pthread_mutex_t) = mutex::try_lock(mutex);
    "C" mtx_timedlock(mutex: *mut pthread_mutex_t, time: *const timespec) = mutex::pthread_mutex_timedlock(mutex, time);
    "C" mtx_unlock(mutex: *mut pthread_mutex_t) = mutex::unlock(mutex);
    "C" cnd_init(condition: *mut pthread_cond_t) = condition::pthread_cond_init(condition, ptr::null());
    "C" cnd_signal(condition: *mut pthread_cond_t) = condition::pthread_cond_signal(condition);
    "C" cnd_broadcast(condition: *mut pthread_cond_t) = condition::pthread_cond_broadcast(condition);
    "C-unwind" cnd_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) =
        condition::wait_for(condition, mutex, Until::Notified);
    "C-unwind" cnd_timedwait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, time: *const timespec) =
        condition::wait_for(condition, mutex, Until::Time(time));
}
