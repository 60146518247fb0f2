//! `pthread_mutex_*`.
//!
//! What each kind does is POSIX's, and libc's where that leaves a choice: destroying a held mutex is `EBUSY`,
//! and a destroyed one is `EINVAL`. A timed form looks at its time only if it has to wait.
//!
//! # Safety
//!
//! Functions that are exported ask of their callers what POSIX does.
#![expect(clippy::missing_safety_doc, reason = "the head says it for all")]

use crate::libc_own::own;
use crate::locks::Choice;
use crate::object::{DESTROYED, Kind, Mutex, NORMAL};
use crate::stats::{self, Attempt, Left};
use crate::{config, rules, time, trace, two, uses};
use core::ffi::c_int;
use core::sync::atomic::Ordering;
use libc::{EBUSY, EDEADLK, EPERM, ETIMEDOUT, clockid_t, pthread_mutex_t, pthread_mutexattr_t, timespec};
use stanchion::deadline::{Clock, sleep};

pub(crate) mod libc_s {
    //! libc's own, for its own objects.
    use super::{clockid_t, own, pthread_mutex_t, pthread_mutexattr_t, timespec};

    own! {
        fn pthread_mutex_init(mutex: *mut pthread_mutex_t, attributes: *const pthread_mutexattr_t);
        fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t);
        fn pthread_mutex_lock(mutex: *mut pthread_mutex_t);
        fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t);
        fn pthread_mutex_timedlock(mutex: *mut pthread_mutex_t, time: *const timespec);
        fn pthread_mutex_clocklock(mutex: *mut pthread_mutex_t, clock: clockid_t, time: *const timespec);
        fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t);
        fn pthread_mutexattr_gettype(attributes: *const pthread_mutexattr_t, kind: *mut i32);
        fn pthread_mutexattr_getpshared(attributes: *const pthread_mutexattr_t, shared: *mut i32);
        fn pthread_mutexattr_getprotocol(attributes: *const pthread_mutexattr_t, protocol: *mut i32);
        fn pthread_mutexattr_getrobust(attributes: *const pthread_mutexattr_t, robust: *mut i32);
    }
}

/// The most a recursive mutex counts.
const MOST: u32 = u32::MAX - 1;

/// The lock and the kind of a mutex that is ours, and fit to be used (IW4, IW5).
#[inline(always)]
pub(crate) fn ours(mutex: &Mutex) -> Option<(Choice, Kind)> {
    let (process, kind) = (config::choice()?, mutex.kind()?);
    let choice = if config::has_rules() { rules::choice_of(mutex, process) } else { process };
    mutex.adopt(choice);
    // SAFETY: the mutex is ours, with this lock.
    if mutex.is_disturbed() && unsafe { mutex.settle(choice) } {
        return None;
    }
    Some((choice, kind))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_mutex_init(
    mutex: *mut pthread_mutex_t,
    attributes: *const pthread_mutexattr_t,
) -> c_int {
    // SAFETY: POSIX: the object may be written, the attributes are null or initialised.
    unsafe {
        let kind = if attributes.is_null() { Some(NORMAL) } else { plain_kind(attributes) };
        match kind {
            Some(kind) if config::choice().is_some() => {
                Mutex::make(mutex, kind);
                0
            }
            _ => libc_s::pthread_mutex_init(mutex, attributes),
        }
    }
}

/// The kind that the attributes ask for; `None` if they ask for what only libc can do.
///
/// # Safety
///
/// The attributes must be initialised.
unsafe fn plain_kind(attributes: *const pthread_mutexattr_t) -> Option<c_int> {
    let (mut kind, mut shared, mut protocol, mut robust) = (0, 0, 0, 0);
    // SAFETY: the attributes are initialised, and the results have places.
    let failures = unsafe {
        libc_s::pthread_mutexattr_gettype(attributes, &raw mut kind)
            | libc_s::pthread_mutexattr_getpshared(attributes, &raw mut shared)
            | libc_s::pthread_mutexattr_getprotocol(attributes, &raw mut protocol)
            | libc_s::pthread_mutexattr_getrobust(attributes, &raw mut robust)
    };
    for (is, why) in [(robust, Left::Robust), (protocol, Left::Protocol), (shared, Left::SharedMutex)] {
        if is != 0 {
            stats::left_to_libc(why);
        }
    }
    let plain = failures == 0 && shared == 0 && protocol == 0 && robust == 0 && (0..=3).contains(&kind);
    plain.then_some(kind)
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_mutex_destroy(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: POSIX: an initialised mutex, which nobody uses any more.
    unsafe {
        let this = Mutex::at(mutex);
        let ours = ours(this);
        if (ours.is_some() || this.was_handed_over()) && uses::is_waited_with(this) {
            return EBUSY;
        }
        let Some((choice, _)) = ours else { return libc_s::pthread_mutex_destroy(mutex) };
        if choice.is_held(&raw const this.word) || !this.relay.is_empty() {
            return EBUSY;
        }
        stats::destroyed(this);
        // ord: M14 alone: the program orders its use of what it destroys
        this.kind.store(DESTROYED, Ordering::Relaxed);
        0
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_mutex_lock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: POSIX: an initialised mutex.
    unsafe { lock(mutex) }
}

/// # Safety
///
/// As `pthread_mutex_lock`.
#[inline(always)]
pub(crate) unsafe fn lock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's promise; a plain one is ours, with the default lock.
    unsafe {
        let this = Mutex::at(mutex);
        if !is_plain(this) || !this.announce() {
            return lock_other(mutex);
        }
        Choice::DEFAULT.acquire(&raw const this.word);
        if !this.enter() {
            return lock_libcs(mutex, Choice::DEFAULT);
        }
        0
    }
}

/// Gives a mutex over that libc holds, too, or that is libc's already, and acquires it there.
///
/// # Safety
///
/// As `pthread_mutex_lock`; the mutex is ours with this lock, and the calling thread has just acquired that.
#[cold]
#[inline(never)]
unsafe fn lock_libcs(mutex: *mut pthread_mutex_t, choice: Choice) -> c_int {
    // SAFETY: the caller's promise; from then on the mutex is libc's.
    unsafe {
        Mutex::at(mutex).hand_over(choice);
        libc_s::pthread_mutex_lock(mutex)
    }
}

/// Whether the mutex is a normal one of ours, in a process with the default lock that never forked.
#[inline(always)]
fn is_plain(this: &Mutex) -> bool {
    config::is_plain() && this.is_normal()
}

/// # Safety
///
/// As `pthread_mutex_lock`.
#[inline(never)]
unsafe fn lock_other(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's promise; the mutex is ours where it is treated as ours.
    unsafe {
        let this = Mutex::at(mutex);
        let Some((choice, kind)) = ours(this) else { return libc_s::pthread_mutex_lock(mutex) };
        if kind != Kind::Normal
            && let Some(answer) = again(this, kind)
        {
            return answer;
        }
        trace::acquire(this, choice);
        if !this.enter_at_once() {
            trace::left(mutex.addr(), trace::MUTEX, trace::now());
            return lock_libcs(mutex, choice);
        }
        0
    }
}

/// What a thread gets that holds the mutex already.
#[cold]
fn again(this: &Mutex, kind: Kind) -> Option<c_int> {
    if !this.is_mine() {
        return None;
    }
    match kind {
        Kind::Normal => None,
        Kind::Checking => Some(EDEADLK),
        Kind::Recursive => {
            // ord: M15 alone: touched by the holder only
            let count = this.count.load(Ordering::Relaxed);
            if count == MOST {
                return Some(libc::EAGAIN);
            }
            // ord: M16 alone: touched by the holder only
            this.count.store(count + 1, Ordering::Relaxed);
            Some(0)
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_mutex_trylock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: POSIX: an initialised mutex.
    unsafe { try_lock(mutex) }
}

/// # Safety
///
/// As `pthread_mutex_trylock`.
pub(crate) unsafe fn try_lock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's promise is that of the other function.
    unsafe { attempt(mutex, Attempt::Once) }
}

/// # Safety
///
/// As `pthread_mutex_trylock`.
unsafe fn attempt(mutex: *mut pthread_mutex_t, meant: Attempt) -> c_int {
    // SAFETY: the caller's promise; the mutex is ours where it is treated as ours.
    unsafe {
        let this = Mutex::at(mutex);
        let Some((choice, kind)) = ours(this) else { return libc_s::pthread_mutex_trylock(mutex) };
        if kind == Kind::Recursive
            && let Some(answer) = again(this, kind)
        {
            return answer;
        }
        if !stats::try_acquire(this, choice, meant) {
            return EBUSY;
        }
        if !this.enter_at_once() {
            this.hand_over(choice);
            return EBUSY;
        }
        match meant {
            Attempt::Waiting(.., came) => trace::enter(mutex.addr(), trace::MUTEX, came),
            Attempt::Once | Attempt::First => trace::enter_at_once(mutex.addr(), trace::MUTEX),
        }
        0
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_mutex_timedlock(
    mutex: *mut pthread_mutex_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: POSIX: an initialised mutex and a time.
    unsafe {
        if ours(Mutex::at(mutex)).is_none() {
            return libc_s::pthread_mutex_timedlock(mutex, time);
        }
        lock_until(mutex, Clock::Realtime, time)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_mutex_clocklock(
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: POSIX: an initialised mutex and a time.
    unsafe {
        if ours(Mutex::at(mutex)).is_none() {
            return libc_s::pthread_mutex_clocklock(mutex, clock, time);
        }
        match time::clock(clock) {
            Ok(clock) => lock_until(mutex, clock, time),
            Err(error) => error,
        }
    }
}

/// # Safety
///
/// `mutex` must be ours, and `time` readable.
pub(crate) unsafe fn lock_until(mutex: *mut pthread_mutex_t, clock: Clock, time: *const timespec) -> c_int {
    // SAFETY: the caller's mutex and time, as it promises.
    unsafe {
        let (this, answer) = (Mutex::at(mutex), attempt(mutex, Attempt::First));
        if answer != EBUSY {
            return answer;
        }
        if this.kind() == Some(Kind::Checking) && this.is_mine() {
            return EDEADLK;
        }
        let deadline = match time::deadline(clock, time) {
            Ok(deadline) => deadline,
            Err(error) => return error,
        };
        let meant = Attempt::Waiting(stats::arrive(this), deadline, trace::come());
        while attempt(mutex, meant) != 0 {
            if deadline.has_passed() {
                stats::gave_up(this);
                return ETIMEDOUT;
            }
            sleep(two::PAUSE); // it has become libc's
        }
        0
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_mutex_unlock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: POSIX: an initialised mutex, which a normal one's caller holds.
    unsafe { unlock(mutex) }
}

/// # Safety
///
/// As `pthread_mutex_unlock`.
#[inline(always)]
pub(crate) unsafe fn unlock(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's promise; a plain one is ours, with the default lock.
    unsafe {
        let this = Mutex::at(mutex);
        if !is_plain(this) || !this.is_mine_alone() {
            return unlock_other(mutex);
        }
        // From here on nobody is left with the mutex, not by the handler of a signal either.
        this.leave();
        if !this.relay.is_empty() {
            return give_up(mutex, Choice::DEFAULT);
        }
        Choice::DEFAULT.release(&raw const this.word);
        // From here on the mutex may be gone (IW3).
        0
    }
}

/// Releases a mutex that has no owner any more, and wakes the next of those who were left with it.
///
/// # Safety
///
/// The mutex is ours with this lock, and nobody else releases it.
#[inline(never)]
unsafe fn give_up(mutex: *mut pthread_mutex_t, choice: Choice) -> c_int {
    // SAFETY: the caller's promise: nobody else releases the mutex, so its relay is ours (L5).
    unsafe {
        let this = Mutex::at(mutex);
        let next = this.relay.next();
        let at = trace::now();
        stats::release(this, choice);
        // From here on the mutex may be gone (IW3).
        if let Some(next) = next {
            next.wake();
        }
        trace::left(mutex.addr(), trace::MUTEX, at);
        0
    }
}

#[inline(never)]
unsafe fn unlock_other(mutex: *mut pthread_mutex_t) -> c_int {
    // SAFETY: the caller's promise; the mutex is ours where it is treated as ours.
    unsafe {
        let this = Mutex::at(mutex);
        let Some((choice, kind)) = ours(this) else { return libc_s::pthread_mutex_unlock(mutex) };
        if kind != Kind::Normal
            && let Some(answer) = not_yet(this, kind)
        {
            return answer;
        }
        if this.is_mine() {
            this.leave();
        } else {
            this.disown();
        }
        give_up(mutex, choice)
    }
}

/// What a thread gets whose unlock releases nothing.
#[cold]
fn not_yet(this: &Mutex, kind: Kind) -> Option<c_int> {
    if !this.is_mine() {
        return Some(EPERM);
    }
    if kind == Kind::Recursive {
        let count = this.count.load(Ordering::Relaxed); // ord: M17 alone: touched by the holder only
        if count > 0 {
            // ord: M18 alone: touched by the holder only
            this.count.store(count - 1, Ordering::Relaxed);
            return Some(0);
        }
    }
    None
}
