//! `pthread_spin_*`: spins for a while and then sleeps, in the caller's four bytes.
//!
//! The words are libc's, with one more that libc takes for a lock that is held. So one works beside functions
//! of libc that do not come to us, and between processes. Initialising and destroying are libc's.
//!
//! | word on x86-64 | elsewhere | meaning |
//! |---|---|---|
//! | 1 | 0 | free |
//! | 0 and a little less | 1 | held |
//! | −2³⁰ and a little less | 2 | held, and somebody sleeps, or is about to |
//!
//! libc's functions count waiters below the words on x86-64. They wake nobody, and may write "held" over the
//! last word: a sleeper looks each millisecond.
//!
//! # Safety
//!
//! Functions that are exported ask of their callers what POSIX does.
#![expect(clippy::missing_safety_doc, reason = "the head says it for all")]

use crate::config;
use crate::libc_own::own;
use crate::locks::World;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use libc::EBUSY;
use stanchion::futex;
use stanchion_core::Machine;

/// libc's type is a volatile `int`.
type Spin = c_int;

pub(crate) mod libc_s {
    //! libc's own, for `lock=libc`.
    use super::{Spin, own};

    own! {
        fn pthread_spin_lock(lock: *mut Spin);
        fn pthread_spin_trylock(lock: *mut Spin);
        fn pthread_spin_unlock(lock: *mut Spin);
    }
}

#[cfg(target_arch = "x86_64")]
const WORDS: [i32; 3] = [1, 0, -(1 << 30)];
#[cfg(not(target_arch = "x86_64"))]
const WORDS: [i32; 3] = [0, 1, 2];
const FREE: u32 = WORDS[0].cast_unsigned();
const HELD: u32 = WORDS[1].cast_unsigned();
const SLEPT_ON: u32 = WORDS[2].cast_unsigned();

/// How often a waiter looks before it sleeps, for how many nanoseconds it looks away in between, and how long
/// it sleeps if nobody wakes it.
const LOOKS: u32 = 64;
const PAUSE: u32 = 40;
const SLEEP: Duration = Duration::from_millis(1);

/// Whether somebody may sleep who has to be woken. libc's functions may have counted the word down.
fn is_slept_on(word: u32) -> bool {
    if FREE == 1 { word.cast_signed() < WORDS[2] / 2 } else { word == SLEPT_ON }
}

/// # Safety
///
/// `lock` must point to a spin lock that is initialised, and lives.
#[inline(always)]
unsafe fn at<'a>(lock: *mut Spin) -> &'a AtomicU32 {
    // SAFETY: four bytes, aligned, which are touched atomically only.
    unsafe { AtomicU32::from_ptr(lock.cast()) }
}

fn try_acquire(word: &AtomicU32) -> bool {
    // ord: M22 pairs M25: the last holder's section comes before ours
    word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_lock(lock: *mut Spin) -> c_int {
    // SAFETY: POSIX: an initialised lock.
    unsafe {
        if config::choice().is_none() {
            return libc_s::pthread_spin_lock(lock);
        }
        if !try_acquire(at(lock)) {
            wait(at(lock));
        }
        0
    }
}

#[cold]
#[inline(never)]
fn wait(word: &AtomicU32) {
    for _ in 0..LOOKS {
        World::relax(PAUSE);
        // ord: M23 alone: a guess, the exchange decides
        if word.load(Ordering::Relaxed) == FREE && try_acquire(word) {
            return;
        }
    }
    // Whoever slept takes the lock as one that is slept on: there may be others.
    // ord: M26 pairs M25: the last holder's section comes before ours
    while word.swap(SLEPT_ON, Ordering::Acquire) != FREE {
        futex::wait_while_in_any_process(word, SLEPT_ON, SLEEP);
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_trylock(lock: *mut Spin) -> c_int {
    // SAFETY: POSIX: an initialised lock.
    unsafe {
        match config::choice() {
            None => libc_s::pthread_spin_trylock(lock),
            Some(_) if try_acquire(at(lock)) => 0,
            Some(_) => EBUSY,
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_unlock(lock: *mut Spin) -> c_int {
    // SAFETY: POSIX: an initialised lock, which the caller holds.
    unsafe {
        if config::choice().is_none() {
            return libc_s::pthread_spin_unlock(lock);
        }
        // ord: M25 pairs M22, M26: our section comes before the next holder's
        if is_slept_on(at(lock).swap(FREE, Ordering::Release)) {
            // The lock may be gone by now: then this wakes nobody, or somebody for nothing.
            futex::wake_one_in_any_process(lock.cast());
        }
        0
    }
}
