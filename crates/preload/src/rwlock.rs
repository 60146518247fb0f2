//! `pthread_rwlock_*`, on `qrw` whose waiters sleep.
//!
//! libc's default prefers readers: one that reads already must get in again though a writer waits, so readers
//! pass writers that wait. A reader that meets a writer *inside* holds nothing, and queues.
//! With `PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP` no reader passes a writer that has asked for the lock.
//! Who waits for a limited time waits as the others do, and leaves the queue when the time has come.
//!
//! # Safety
//!
//! Functions that are exported ask of their callers what POSIX does.
#![expect(clippy::missing_safety_doc, reason = "the head says it for all")]

use crate::config;
use crate::fork;
use crate::libc_own::own;
use crate::object::RwLock;
use crate::stats::{self, Left, rw};
use crate::thread::me;
use crate::time;
use crate::trace;
use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::Ordering;
use libc::{
    CLOCK_MONOTONIC, CLOCK_REALTIME, EAGAIN, EBUSY, EDEADLK, ETIMEDOUT, clockid_t, pthread_rwlock_t,
    pthread_rwlockattr_t, timespec,
};
use stanchion::deadline::Clock;
use stanchion_core::RawRwLock;

pub(crate) mod libc_s {
    //! libc's own, for its own objects.
    use super::{clockid_t, own, pthread_rwlock_t, pthread_rwlockattr_t, timespec};

    own! {
        fn pthread_rwlock_init(lock: *mut pthread_rwlock_t, attributes: *const pthread_rwlockattr_t);
        fn pthread_rwlock_destroy(lock: *mut pthread_rwlock_t);
        fn pthread_rwlock_rdlock(lock: *mut pthread_rwlock_t);
        fn pthread_rwlock_tryrdlock(lock: *mut pthread_rwlock_t);
        fn pthread_rwlock_timedrdlock(lock: *mut pthread_rwlock_t, time: *const timespec);
        fn pthread_rwlock_clockrdlock(lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec);
        fn pthread_rwlock_wrlock(lock: *mut pthread_rwlock_t);
        fn pthread_rwlock_trywrlock(lock: *mut pthread_rwlock_t);
        fn pthread_rwlock_timedwrlock(lock: *mut pthread_rwlock_t, time: *const timespec);
        fn pthread_rwlock_clockwrlock(lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec);
        fn pthread_rwlock_unlock(lock: *mut pthread_rwlock_t);
        fn pthread_rwlockattr_getpshared(attributes: *const pthread_rwlockattr_t, shared: *mut i32);
        fn pthread_rwlockattr_getkind_np(attributes: *const pthread_rwlockattr_t, kind: *mut i32);
    }
}

/// Whether the lock is ours; if so, it is fit to be used (IW4, IW5).
#[inline(always)]
fn is_ours(this: &RwLock) -> bool {
    let is_ours = config::choice().is_some() && this.is_ours();
    if is_ours {
        this.adopt();
        if this.is_held_by_libc() {
            this.look();
        }
    }
    is_ours
}

/// Whether a lock that was acquired just now is libc's.
#[inline(always)]
fn is_libcs(this: &RwLock, write: bool) -> bool {
    this.is_disputed() && !this.keeps(write)
}

/// As libc's type.
fn raw(this: &RwLock) -> *mut pthread_rwlock_t {
    ptr::from_ref(this).cast_mut().cast()
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_rwlock_init(
    lock: *mut pthread_rwlock_t,
    attributes: *const pthread_rwlockattr_t,
) -> c_int {
    let (mut shared, mut kind) = (0, 0);
    // SAFETY: POSIX: the object may be written, the attributes are null or initialised.
    unsafe {
        let failures = if attributes.is_null() {
            0
        } else {
            libc_s::pthread_rwlockattr_getpshared(attributes, &raw mut shared)
                | libc_s::pthread_rwlockattr_getkind_np(attributes, &raw mut kind)
        };
        if shared != 0 {
            stats::left_to_libc(Left::SharedRwLock);
        }
        if failures != 0 || shared != 0 || config::choice().is_none() {
            return libc_s::pthread_rwlock_init(lock, attributes);
        }
        lock.write_bytes(0, 1);
        // ord: M19 alone: the program orders its use of what it initialised
        RwLock::at(lock).preference.store(kind as u32, Ordering::Relaxed);
        // ord: M49 alone: as M19, the program orders its use of it
        RwLock::at(lock).generation.store(fork::generation(), Ordering::Relaxed);
        0
    }
}

#[inline(always)]
fn read(this: &RwLock) -> c_int {
    if this.is_mine() {
        return EDEADLK;
    }
    let (comer, came) = (rw::come(this, false, true), trace::come());
    let answer = read_uncounted(this);
    if answer == 0 && is_libcs(this, false) {
        // SAFETY: an initialised lock, which is libc's now.
        return unsafe { libc_s::pthread_rwlock_rdlock(raw(this)) };
    }
    if answer == 0 {
        got_in(this, false, comer, came);
    }
    answer
}

#[inline(always)]
fn read_uncounted(this: &RwLock) -> c_int {
    if this.prefers_readers() {
        return if this.lock().acquire_read_beside_readers().is_ok() { 0 } else { EAGAIN };
    }
    if this.lock().acquire_read().is_ok() { 0 } else { EAGAIN }
}

fn try_read(this: &RwLock) -> c_int {
    let answer = if this.prefers_readers() {
        match this.lock().try_acquire_read_again() {
            Ok(true) => 0,
            Ok(false) => EBUSY,
            Err(_) => EAGAIN,
        }
    } else if this.lock().try_acquire_read() {
        0
    } else {
        EBUSY
    };
    if answer == 0 && is_libcs(this, false) {
        // SAFETY: an initialised lock, which is libc's now.
        return unsafe { libc_s::pthread_rwlock_tryrdlock(raw(this)) };
    }
    answer
}

#[inline(always)]
fn write(this: &RwLock) -> c_int {
    if this.is_mine() {
        return EDEADLK;
    }
    let (comer, came) = (rw::come(this, true, true), trace::come());
    this.acquire_write();
    if is_libcs(this, true) {
        // SAFETY: an initialised lock, which is libc's now.
        return unsafe { libc_s::pthread_rwlock_wrlock(raw(this)) };
    }
    this.set_writer(me());
    got_in(this, true, comer, came);
    0
}

fn try_write(this: &RwLock) -> c_int {
    if !this.lock().try_acquire_write() {
        return EBUSY;
    }
    if is_libcs(this, true) {
        // SAFETY: an initialised lock, which is libc's now.
        return unsafe { libc_s::pthread_rwlock_trywrlock(raw(this)) };
    }
    this.set_writer(me());
    0
}

/// How a trace calls it.
fn kind(write: bool) -> u64 {
    if write { trace::WRITE } else { trace::READ }
}

/// Who came at `came` got in: for those who count and those who record.
#[inline(always)]
fn got_in(this: &RwLock, write: bool, comer: rw::Comer, came: u64) {
    comer.enter(this, write);
    trace::enter(ptr::from_ref(this).addr(), kind(write), came);
}

/// A try form.
#[inline(always)]
fn once(this: &RwLock, write: bool, attempt: impl Fn(&RwLock) -> c_int) -> c_int {
    let comer = rw::come(this, write, false);
    match attempt(this) {
        0 => {
            comer.enter(this, write);
            trace::enter_at_once(ptr::from_ref(this).addr(), kind(write));
            0
        }
        answer => {
            comer.fail();
            answer
        }
    }
}

/// Waits until the time has come, as POSIX asks: the time matters only if there is something to wait for.
///
/// # Safety
///
/// `time` must be readable.
unsafe fn until(
    this: &RwLock,
    clock: Clock,
    time: *const timespec,
    attempt: impl Fn(&RwLock) -> c_int,
    is_writer: bool,
) -> c_int {
    if this.is_mine() {
        return EDEADLK;
    }
    let (mut comer, came) = (rw::come(this, is_writer, false), trace::come());
    match attempt(this) {
        EBUSY => comer.waits(),
        0 => {
            got_in(this, is_writer, comer, came);
            return 0;
        }
        answer => return answer,
    }
    // SAFETY: the caller promises that it is readable.
    let until = match unsafe { time::deadline(clock, time) } {
        Ok(until) => until,
        Err(error) => return error,
    };
    let answer = match this.acquire_until(is_writer, &until) {
        Err(_) => EAGAIN,
        Ok(false) => ETIMEDOUT,
        Ok(true) if is_libcs(this, is_writer) => {
            let clock = if clock == Clock::Realtime { CLOCK_REALTIME } else { CLOCK_MONOTONIC };
            // SAFETY: an initialised lock, which is libc's now; the caller promises that the time is
            // readable.
            return unsafe {
                if is_writer {
                    libc_s::pthread_rwlock_clockwrlock(raw(this), clock, time)
                } else {
                    libc_s::pthread_rwlock_clockrdlock(raw(this), clock, time)
                }
            };
        }
        Ok(true) => 0,
    };
    if answer == 0 && is_writer {
        this.set_writer(me());
    }
    match answer {
        0 => got_in(this, is_writer, comer, came),
        _ => comer.fail(),
    }
    answer
}

/// The timed forms: by time of day, and by a clock that is named.
macro_rules! timed {
    ($($timed:ident, $clocked:ident, $attempt:ident, writes $is_writer:literal;)*) => {$(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $timed(lock: *mut pthread_rwlock_t, time: *const timespec) -> c_int {
            // SAFETY: POSIX: an initialised lock and a time.
            unsafe {
                let this = RwLock::at(lock);
                if !is_ours(this) {
                    return libc_s::$timed(lock, time);
                }
                until(this, Clock::Realtime, time, $attempt, $is_writer)
            }
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn $clocked(lock: *mut pthread_rwlock_t, clock: clockid_t, time: *const timespec) -> c_int {
            // SAFETY: POSIX: an initialised lock and a time.
            unsafe {
                let this = RwLock::at(lock);
                if !is_ours(this) {
                    return libc_s::$clocked(lock, clock, time);
                }
                match time::clock(clock) {
                    Ok(clock) => until(this, clock, time, $attempt, $is_writer),
                    Err(error) => error,
                }
            }
        }
    )*};
}

timed! {
    pthread_rwlock_timedrdlock, pthread_rwlock_clockrdlock, try_read, writes false;
    pthread_rwlock_timedwrlock, pthread_rwlock_clockwrlock, try_write, writes true;
}

/// Who is not the writer reads.
#[inline(always)]
fn unlock(this: &RwLock) -> c_int {
    let (at, is_writer) = (trace::now(), this.is_mine());
    if this.is_held_by_libc() && !this.is_read_by_ours(is_writer) {
        // SAFETY: an initialised lock, which libc holds.
        return unsafe { libc_s::pthread_rwlock_unlock(raw(this)) };
    }
    if is_writer {
        rw::leave(this, true, || {
            this.set_writer(0);
            this.lock().release_write();
        });
    } else {
        rw::leave(this, false, || this.lock().release_read());
    }
    trace::left(ptr::from_ref(this).addr(), kind(is_writer), at);
    0
}

/// The forms without a time.
macro_rules! forms {
    ($($name:ident = $ours:expr;)*) => {$(
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name(lock: *mut pthread_rwlock_t) -> c_int {
            // SAFETY: POSIX: an initialised lock, which who unlocks it holds, and who destroys it alone uses.
            unsafe {
                let this = RwLock::at(lock);
                if is_ours(this) { ($ours)(this) } else { libc_s::$name(lock) }
            }
        }
    )*};
}

forms! {
    pthread_rwlock_destroy = |_| 0;
    pthread_rwlock_rdlock = read;
    pthread_rwlock_tryrdlock = |this| once(this, false, try_read);
    pthread_rwlock_wrlock = write;
    pthread_rwlock_trywrlock = |this| once(this, true, try_write);
    pthread_rwlock_unlock = unlock;
}
