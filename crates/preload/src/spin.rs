//! `pthread_spin_*`: a lock that spins for a while and then sleeps, in the caller's four bytes.
//!
//! A spin lock has no attribute but "shared between processes", and no place to note it. Ours says so itself:
//! its last byte holds [`OURS`] in every state, which none of libc's words does (they are 1, 0, and small
//! negative numbers). A word that does not hold it is libc's, also if another process initialised it. One
//! that lies in shared memory works between processes all the same, as libc's do: the sleep is not bound to a
//! process.
//!
//! | word, without its last byte | meaning |
//! |---|---|
//! | 0 | free |
//! | 1 | held |
//! | 2 | held, and somebody sleeps, or is about to |
//!
//! # Safety
//!
//! Functions that are exported ask of their callers what POSIX does.
use crate::config;
use crate::libc_own::own;
use crate::locks::World;
use crate::stats::{self, Left};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::EBUSY;
use stanchion::futex;
use stanchion_core::Machine;

/// libc's type is a volatile `int`.
type Spin = c_int;

pub(crate) mod libc_s {
    //! libc's own, for its own objects.
    use super::{Spin, own};

    own! {
        fn pthread_spin_init(lock: *mut Spin, shared: i32);
        fn pthread_spin_destroy(lock: *mut Spin);
        fn pthread_spin_lock(lock: *mut Spin);
        fn pthread_spin_trylock(lock: *mut Spin);
        fn pthread_spin_unlock(lock: *mut Spin);
    }
}

const OURS: u32 = 0xa5 << 24;
const FREE: u32 = OURS;
const HELD: u32 = OURS + 1;
const SLEPT_ON: u32 = OURS + 2;

/// How often a waiter looks before it sleeps, and for how many nanoseconds it looks away in between.
const LOOKS: u32 = 64;
const PAUSE: u32 = 40;

/// # Safety
///
/// `lock` must point to a spin lock that is initialised, and lives.
#[inline(always)]
unsafe fn at<'a>(lock: *mut Spin) -> &'a AtomicU32 {
    // SAFETY: four bytes, aligned, which are touched atomically only.
    unsafe { AtomicU32::from_ptr(lock.cast()) }
}

#[inline(always)]
fn is_ours(word: u32) -> bool {
    word & (0xff << 24) == OURS
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_init(lock: *mut Spin, shared: c_int) -> c_int {
    // SAFETY: POSIX: the object may be written.
    unsafe {
        if shared != libc::PTHREAD_PROCESS_PRIVATE {
            stats::left_to_libc(Left::SharedSpin);
        }
        if shared != libc::PTHREAD_PROCESS_PRIVATE || config::choice().is_none() {
            return libc_s::pthread_spin_init(lock, shared);
        }
        // ord: M20 alone: the program orders its use of what it initialised
        at(lock).store(FREE, Ordering::Relaxed);
        0
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_destroy(lock: *mut Spin) -> c_int {
    // SAFETY: POSIX: an initialised lock, which nobody uses any more.
    unsafe {
        // ord: M21 alone: only the last byte matters, which does not change
        if is_ours(at(lock).load(Ordering::Relaxed)) { 0 } else { libc_s::pthread_spin_destroy(lock) }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_lock(lock: *mut Spin) -> c_int {
    // SAFETY: POSIX: an initialised lock.
    unsafe {
        // ord: M22 pairs M25: the last holder's section comes before ours
        match at(lock).compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => 0,
            Err(word) if is_ours(word) => {
                wait(at(lock));
                0
            }
            Err(_) => libc_s::pthread_spin_lock(lock),
        }
    }
}

#[cold]
#[inline(never)]
fn wait(word: &AtomicU32) {
    for _ in 0..LOOKS {
        World::relax(PAUSE);
        // ord: M23 alone: a guess, the exchange decides
        if word.load(Ordering::Relaxed) == FREE
            // ord: M24 pairs M25: the last holder's section comes before ours
            && word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
        {
            return;
        }
    }
    // Whoever slept takes the lock as one that is slept on: there may be others.
    // ord: M26 pairs M25: the last holder's section comes before ours
    while word.swap(SLEPT_ON, Ordering::Acquire) != FREE {
        futex::wait_while_in_any_process(word, SLEPT_ON);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_trylock(lock: *mut Spin) -> c_int {
    // SAFETY: POSIX: an initialised lock.
    unsafe {
        // ord: M27 pairs M25: the last holder's section comes before ours
        match at(lock).compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => 0,
            Err(word) if is_ours(word) => EBUSY,
            Err(_) => libc_s::pthread_spin_trylock(lock),
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_unlock(lock: *mut Spin) -> c_int {
    // SAFETY: POSIX: an initialised lock, which the caller holds.
    unsafe {
        // ord: M28 alone: only the last byte matters, which does not change
        if !is_ours(at(lock).load(Ordering::Relaxed)) {
            return libc_s::pthread_spin_unlock(lock);
        }
        // ord: M25 pairs M22, M24, M26, M27: our section comes before the next holder's
        if at(lock).swap(FREE, Ordering::Release) == SLEPT_ON {
            // The lock may be gone by now: then this wakes nobody, or somebody for nothing.
            futex::wake_one_in_any_process(lock.cast());
        }
        0
    }
}
