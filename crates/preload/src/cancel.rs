//! Cancellation. A wait for a condition is a cancellation point: the thread must leave it with the mutex
//! held.
//!
//! libc cancels a thread inside a wait by a signal whose handler unwinds from the middle of a system call.
//! Ours does without: whoever cancels a thread pokes its waiter first. A waiter that is poked takes itself
//! off the list, acquires the mutex, and only then asks libc whether it is cancelled, which unwinds from
//! there.
//!
//! A thread takes its poke when the request has come that the poke announced. libc acts on that one now, or
//! when cancellation is enabled, or never, since the thread ends already: [`ENDS`]. A thread that ends waits
//! as any other, in its clean-up handlers and destructors.
//!
//! The waiter of another thread is found by its distance from that thread's pointer, which `pthread_t` tells
//! (`thread/`).
//!
//! # Safety
//!
//! Functions that are exported ask of their callers what POSIX does.
#![expect(clippy::missing_safety_doc, reason = "the head says it for all")]

use crate::condition::WAITER;
use crate::libc_own::{Own, own};
use crate::thread::Place;
use core::cell::Cell;
use core::ffi::c_int;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use libc::pthread_t;
use stanchion::condvar::Waiter;
use stanchion::deadline::sleep;

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

/// How many threads are between the poke and the request of a cancellation.
static ON_THEIR_WAY: AtomicUsize = AtomicUsize::new(0);

/// So long a thread that was poked waits for its request: for as many pauses, each of a system call and this.
/// It may be another thread's request that is on its way, and may be so for long.
const PAUSES: u32 = 20;
const PAUSE: Duration = Duration::from_micros(50);

thread_local! {
    /// The thread ends, cancelled or by itself: no cancellation means anything to it any more.
    static ENDS: Cell<bool> = const { Cell::new(false) };
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn pthread_cancel(thread: pthread_t) -> c_int {
    // The poke first, and nothing of the thread is touched after the request: it may be gone by then. A
    // thread that was poked keeps asking until the request has come.
    // SAFETY: POSIX: a thread that lives, or ended and was not joined; its control block, and our storage
    // beside it, are there. Nothing here is to be dropped if the calling thread is cancelled itself.
    unsafe {
        let waiter = waiter_of(thread);
        if ptr::eq(waiter, WAITER.with(ptr::from_ref)) {
            // Of the asynchronous type, it does not return.
            (*waiter).poke();
            return libc_s::pthread_cancel(thread);
        }
        // Who is cancelled in here is so at the end, when it does not count any more.
        let kept = Type::deferred();
        // ord: PX1 pairs PX3: a thread that is poked by us sees that the request is on its way
        ON_THEIR_WAY.fetch_add(1, Ordering::SeqCst);
        (*waiter).poke();
        let answer = libc_s::pthread_cancel(thread);
        // ord: PX2 pairs PX3: the request is there
        ON_THEIR_WAY.fetch_sub(1, Ordering::SeqCst);
        kept.restore();
        answer
    }
}

/// The child of a fork has nobody who cancels.
pub(crate) fn forked() {
    // ord: PX4 alone: the process has one thread
    ON_THEIR_WAY.store(0, Ordering::Relaxed);
}

fn waiter_of(thread: pthread_t) -> *const Waiter {
    static PLACE: Place<Waiter> = Place::new();
    WAITER.with(|mine| PLACE.find(mine));
    PLACE.of(thread)
}

/// Whether a thread that was poked gives its wait up, to be cancelled.
pub(crate) fn may_come() -> bool {
    !ENDS.get() && is_enabled()
}

/// Takes the poke of the calling thread, if it has one, and if the request has come. `false` if one is on its
/// way.
fn take(waiter: &Waiter) -> bool {
    if !waiter.take_poke() {
        return true;
    }
    // ord: PX3 pairs PX1, PX2: if nobody is on the way, whoever poked before has made its request
    if ON_THEIR_WAY.load(Ordering::SeqCst) != 0 {
        waiter.poke();
        return false;
    }
    if is_enabled() {
        // libc acts on the request when it is asked next, or would have done so if it meant anything.
        ENDS.set(true);
    }
    true
}

/// To be called by a thread whose wait was given up, before it has the mutex: lets the one who cancels it
/// come on.
pub(crate) fn let_come(waiter: &Waiter) {
    for _ in 0..PAUSES {
        if take(waiter) {
            return;
        }
        sleep(PAUSE);
    }
}

/// Acts on a cancellation that was asked for before the wait begins, as [`test`].
///
/// # Safety
///
/// As for [`test`].
pub(crate) unsafe fn begin() {
    WAITER.with(take);
    // SAFETY: the caller promises what `test` asks.
    unsafe { test() };
}

/// Whether the calling thread may be cancelled at a cancellation point.
fn is_enabled() -> bool {
    let mut state = PTHREAD_CANCEL_DISABLE;
    // SAFETY: the state has a place; it is put back as it was. Disabling does not act on a request; nor does
    // enabling by itself in a thread whose type is deferred, which it is while it waits.
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
