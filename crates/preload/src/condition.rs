//! `pthread_cond_*`.
//!
//! Waiters stand in line in the condition itself (`stanchion::condvar`). One that is notified by the holder
//! of its mutex is left with the mutex, and woken when that is released: before, it would find it held, or
//! take the holder's CPU from under it.
//!
//! One that is notified alone, and slept on another CPU, is woken at once. It leaves the holder its CPU. And
//! of two sides that keep each other in work, a wake-up within the section holds up both for as long. One
//! behind it slows the side that wakes, until the other has nothing to do, sleeps, and has to be woken again.
//!
//! Who owns what, as both objects say:
//!
//! | condition | mutex | who waits |
//! |---|---|---|
//! | ours | ours | we |
//! | ours | libc's | we; the mutex is released and acquired by libc |
//! | libc's | libc's | libc |
//! | libc's | ours | nobody can: libc would release our mutex as its own. The wait sleeps for a millisecond and returns, which POSIX allows at any time |
//!
//! # Safety
//!
//! Functions that are exported ask of their callers what POSIX does.
#![expect(clippy::missing_safety_doc, reason = "the head says it for all")]

use crate::cancel::{self, Type};
use crate::libc_own::own;
use crate::mutex;
use crate::object::{Condition, Kind, Mutex};
use crate::stats::{self, Left};
use crate::time;
use crate::trace;
use crate::uses::{lock_after_wait, unlock_to_wait};
use crate::whose::Whose;
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr::{self, NonNull};
use core::time::Duration;
use libc::{
    EBUSY, EPERM, ETIMEDOUT, clockid_t, pthread_cond_t, pthread_condattr_t, pthread_mutex_t, timespec,
};
use stanchion::condvar::{Ending, Waiter};
use stanchion::deadline::Deadline;

pub(crate) mod libc_s {
    //! libc's own, for its own objects. Conditions have an older version, of another layout.
    use super::{clockid_t, own, pthread_cond_t, pthread_condattr_t, pthread_mutex_t, timespec};

    own! {
        #["GLIBC_2.3.2"] fn pthread_cond_init(condition: *mut pthread_cond_t, attributes: *const pthread_condattr_t);
        #["GLIBC_2.3.2"] fn pthread_cond_destroy(condition: *mut pthread_cond_t);
        #["GLIBC_2.3.2"] fn pthread_cond_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t);
        #["GLIBC_2.3.2"] fn pthread_cond_timedwait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, time: *const timespec);
        fn pthread_cond_clockwait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t, time: *const timespec);
        #["GLIBC_2.3.2"] fn pthread_cond_signal(condition: *mut pthread_cond_t);
        #["GLIBC_2.3.2"] fn pthread_cond_broadcast(condition: *mut pthread_cond_t);
        fn pthread_condattr_getpshared(attributes: *const pthread_condattr_t, shared: *mut i32);
    }
}

thread_local! {
    /// What the thread waits with. Constant and without a destructor, at the same distance from each thread's
    /// control block (`thread.rs`).
    pub(crate) static WAITER: Waiter = const { Waiter::new() };
    /// Whether it does. Who waits meanwhile is the handler of a signal.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_cond_init(
    condition: *mut pthread_cond_t,
    attributes: *const pthread_condattr_t,
) -> c_int {
    let mut shared = 0;
    // SAFETY: POSIX: the object may be written, the attributes are null or initialised.
    unsafe {
        if !attributes.is_null() {
            libc_s::pthread_condattr_getpshared(attributes, &raw mut shared);
        }
        if shared != 0 {
            stats::left_to_libc(Left::SharedCondition);
        }
        libc_s::pthread_cond_init(condition, attributes)
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_cond_destroy(condition: *mut pthread_cond_t) -> c_int {
    // SAFETY: POSIX: an initialised condition, for which nobody waits.
    unsafe {
        match Condition::at(condition).whose() {
            Whose::Libcs => libc_s::pthread_cond_destroy(condition),
            // Also if it is nobody's: the last one to leave may still hold the guard.
            _ if Condition::at(condition).queue.is_quiet() => 0,
            _ => EBUSY,
        }
    }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_cond_signal(condition: *mut pthread_cond_t) -> c_int {
    // SAFETY: POSIX: an initialised condition.
    unsafe { wake(condition, 1, libc_s::pthread_cond_signal) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn pthread_cond_broadcast(condition: *mut pthread_cond_t) -> c_int {
    // SAFETY: POSIX: an initialised condition.
    unsafe { wake(condition, usize::MAX, libc_s::pthread_cond_broadcast) }
}

/// # Safety
///
/// The condition is initialised; `libcs` is libc's function for the same.
#[inline(always)]
unsafe fn wake(
    condition: *mut pthread_cond_t,
    most: usize,
    libcs: unsafe fn(*mut pthread_cond_t) -> c_int,
) -> c_int {
    // SAFETY: an initialised condition, and what libc asks, as the caller promises.
    unsafe {
        let whose = Condition::at(condition).whose();
        if whose == Whose::Libcs {
            return libcs(condition);
        }
        trace::notifies(condition.addr(), most > 1);
        if whose == Whose::Ours {
            notify(Condition::at(condition), most);
        }
        0
    }
}

fn notify(condition: &Condition, most: usize) {
    let relay = |waiter: NonNull<Waiter>| {
        // SAFETY: `notify` chose the waiter, which exists until it is told, and so does its mutex.
        unsafe {
            let address = waiter.as_ref().mutex().cast_mut().cast::<pthread_mutex_t>();
            let mutex = Mutex::at(address);
            mutex::ours(mutex).is_some() && mutex.relay(waiter, most == 1)
        }
    };
    condition.queue.notify(most, relay);
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_cond_wait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
) -> c_int {
    // SAFETY: POSIX: initialised objects, and the mutex is held.
    unsafe { wait_for(condition, mutex, Until::Notified) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_cond_timedwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: POSIX: initialised objects, the mutex is held, and a time.
    unsafe { wait_for(condition, mutex, Until::Time(time)) }
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn pthread_cond_clockwait(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    clock: clockid_t,
    time: *const timespec,
) -> c_int {
    // SAFETY: POSIX: initialised objects, the mutex is held, and a time.
    unsafe { wait_for(condition, mutex, Until::ClockTime(clock, time)) }
}

/// How long to wait, as the caller said it.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    Notified,
    /// On the condition's clock.
    Time(*const timespec),
    ClockTime(clockid_t, *const timespec),
}

/// Waits. A cancellation leaves through here by unwinding, so nothing in this frame and below it may need to
/// be dropped (and all that is called with `C-unwind` is called last or with nothing alive).
///
/// # Safety
///
/// As `pthread_cond_clockwait`.
pub(crate) unsafe fn wait_for(
    condition: *mut pthread_cond_t,
    mutex: *mut pthread_mutex_t,
    until: Until,
) -> c_int {
    // SAFETY: the caller's promise, as far as libc's functions go.
    unsafe {
        let this = Mutex::at(mutex);
        let own = Condition::at(condition);
        let (ours, is_libcs) = (mutex::ours(this), own.whose() == Whose::Libcs);
        if is_libcs && ours.is_none() {
            return match until {
                Until::Notified => libc_s::pthread_cond_wait(condition, mutex),
                Until::Time(time) => libc_s::pthread_cond_timedwait(condition, mutex, time),
                Until::ClockTime(clock, time) => {
                    libc_s::pthread_cond_clockwait(condition, mutex, clock, time)
                }
            };
        }
        let deadline = match deadline(own, until) {
            Ok(deadline) => deadline,
            Err(error) => return error,
        };
        match ours {
            Some((_, Kind::Checking | Kind::Recursive)) if !this.is_mine() => return EPERM,
            _ => {}
        }
        // The waiter stands in a list: a thread that may be cancelled at any moment must not leave it there.
        let kept = Type::deferred();
        // A handler's wait is no cancellation point: unwinding would pass the wait around it, whose waiter
        // stands in a list, too.
        let is_inner = WAITS.get();
        if !is_inner {
            cancel::begin();
        }
        let deadline = deadline.as_ref();
        let ending = if is_libcs {
            nap(mutex, deadline)
        } else if is_inner {
            wait_in_line(own, mutex, deadline, &Waiter::new(), || false)
        } else {
            WAITS.set(true);
            let ending = WAITER.with(|waiter| wait_in_line(own, mutex, deadline, waiter, cancel::may_come));
            WAITS.set(false);
            ending
        };
        if let Ok(Ending::Interrupted) = ending {
            // Does not return, unless the request has not come so far, or means nothing: then the wait is
            // over for no reason.
            cancel::test();
        }
        kept.restore();
        match ending {
            Ok(Ending::TimedOut) => ETIMEDOUT,
            Ok(_) => 0,
            Err(error) => error,
        }
    }
}

/// The deadline of a wait.
///
/// # Safety
///
/// A time must be readable.
unsafe fn deadline(condition: &Condition, until: Until) -> Result<Option<Deadline>, c_int> {
    let (clock, time) = match until {
        Until::Notified => return Ok(None),
        Until::ClockTime(clock, time) => (time::clock(clock)?, time),
        Until::Time(time) => (time::clock(condition.clock())?, time),
    };
    // SAFETY: the caller promises that the time is readable.
    unsafe { time::deadline(clock, time) }.map(Some)
}

/// Stands in line until it is notified, or was poked and `leaves` says so. The error is that of acquiring the
/// mutex again.
///
/// # Safety
///
/// The mutex must be held by the calling thread, and the waiter be its own and in no list.
unsafe fn wait_in_line(
    condition: &Condition,
    mutex: *mut pthread_mutex_t,
    deadline: Option<&Deadline>,
    waiter: &Waiter,
    leaves: fn() -> bool,
) -> Result<Ending, c_int> {
    // SAFETY: the mutex is held, and the waiter is the caller's own and stands still.
    unsafe {
        let queue = &condition.queue;
        queue.list(waiter, mutex.cast_const().cast());
        let released = unlock_to_wait(mutex);
        if released != 0 {
            // It was not held. The wait is over before it began.
            if queue.sleep(waiter, Some(&Deadline::EPOCH), || false) == Ending::Notified {
                notify(condition, 1); // it was for somebody else
            }
            return Err(released);
        }
        let since = trace::now();
        // Whoever was woken before this one goes on with the mutex, and wakes the next when it releases that.
        // One that does not, such as in the handler of a signal, is passed: a release wakes the next as well.
        let helps = || {
            if mutex::try_lock(mutex) == 0 {
                mutex::unlock(mutex);
            }
        };
        let ending = queue.sleep_in_relay(waiter, deadline, leaves, helps);
        trace::waited_for(ptr::from_ref(condition).addr(), since, ending == Ending::Notified);
        if ending == Ending::Interrupted {
            cancel::let_come(waiter);
        }
        let acquired = lock_after_wait(mutex);
        if acquired == 0 { Ok(ending) } else { Err(acquired) }
    }
}

/// The longest a wait lasts that cannot be notified.
const NAP: Duration = Duration::from_millis(1);

/// Our mutex with libc's condition: a short sleep, and a return for no reason.
///
/// # Safety
///
/// The mutex must be ours, and held by the calling thread.
unsafe fn nap(mutex: *mut pthread_mutex_t, deadline: Option<&Deadline>) -> Result<Ending, c_int> {
    // SAFETY: the mutex is held, and ours.
    unsafe {
        let released = unlock_to_wait(mutex);
        if released != 0 {
            return Err(released);
        }
        if !deadline.is_some_and(Deadline::has_passed) {
            stanchion::deadline::sleep(NAP);
        }
        lock_after_wait(mutex);
        let is_over = deadline.is_some_and(Deadline::has_passed);
        Ok(if is_over { Ending::TimedOut } else { Ending::Notified })
    }
}
