//! Timer interrupts of threads: one signal, sent to one thread by a timer of its own.
use core::cell::Cell;
use core::mem::zeroed;
use core::ptr::{from_ref, null_mut};
use std::sync::OnceLock;

static HANDLER: OnceLock<fn()> = OnceLock::new();

thread_local! {
    static TIMER: Cell<Option<libc::timer_t>> = const { Cell::new(None) };
}

fn signal() -> i32 {
    libc::SIGRTMIN() + 3
}

extern "C" fn on_signal(_signal: i32) {
    // SAFETY: takes nothing and returns this thread's `errno`, which is valid for as long as the thread is.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above; a plain integer of this thread.
    let saved = unsafe { *errno };
    if let Some(handler) = HANDLER.get() {
        handler();
    }
    // SAFETY: `errno` is still this thread's, and nothing else on this thread runs while the handler does.
    unsafe { *errno = saved };
}

/// Makes `handler` what the signal runs, with the signal blocked.
pub(super) fn install(handler: fn()) {
    HANDLER.get_or_init(|| {
        // SAFETY: `sigaction` is a plain C structure for which zero means no flags, an empty mask and no
        // handler.
        let mut action: libc::sigaction = unsafe { zeroed() };
        action.sa_sigaction = on_signal as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        // SAFETY: the action is initialised, and its handler takes a signal number (no `SA_SIGINFO`). What it
        // runs takes locks of this library, which is under test, and allocates only where its thread does
        // not.
        let failed = unsafe { libc::sigaction(signal(), from_ref(&action), null_mut()) };
        assert_eq!(failed, 0, "the timer's signal has a handler");
        handler
    });
}

/// Runs `f` with the signal blocked, or let in.
pub(super) fn masked<R>(blocked: bool, f: impl FnOnce() -> R) -> R {
    let how = if blocked { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK };
    // SAFETY: both sets are plain data for which zero is an empty set; the number is one of the real-time
    // signals.
    let (mut set, mut old): (libc::sigset_t, libc::sigset_t) = unsafe { (zeroed(), zeroed()) };
    // SAFETY: the set is live and initialised, the number that of a signal.
    unsafe { libc::sigaddset(&raw mut set, signal()) };
    // SAFETY: both sets are live; the mask of this thread only changes.
    unsafe { libc::pthread_sigmask(how, from_ref(&set), &raw mut old) };
    let result = f();
    // SAFETY: `old` was filled in by the call above.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, from_ref(&old), null_mut()) };
    result
}

fn timer() -> libc::timer_t {
    TIMER.get().unwrap_or_else(|| {
        // SAFETY: a plain C structure for which zero is valid; what matters is set below.
        let mut event: libc::sigevent = unsafe { zeroed() };
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal();
        // SAFETY: takes nothing and always succeeds.
        event.sigev_notify_thread_id = unsafe { libc::gettid() };
        let mut timer = null_mut();
        // SAFETY: the event is initialised and names this thread; the timer's number goes to a live place.
        let failed = unsafe { libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer) };
        assert_eq!(failed, 0, "a thread can have a timer");
        TIMER.set(Some(timer));
        timer
    })
}

fn spec(nanos: u64) -> libc::timespec {
    libc::timespec {
        tv_sec: (nanos / 1_000_000_000).cast_signed(),
        tv_nsec: (nanos % 1_000_000_000).cast_signed(),
    }
}

/// Has the signal come to this thread every so often; 0: not at all.
pub(super) fn set(period_nanos: u64) {
    let period = libc::itimerspec { it_interval: spec(period_nanos), it_value: spec(period_nanos) };
    // SAFETY: the timer is this thread's own and exists; the period is a live, valid structure.
    let failed = unsafe { libc::timer_settime(timer(), 0, from_ref(&period), null_mut()) };
    assert_eq!(failed, 0, "a timer can be set");
}

/// Sleeps for so long, or until a signal came.
pub(super) fn sleep(nanos: u64) {
    let duration = spec(nanos);
    // SAFETY: the duration is a live, valid structure, and what is left of it is not asked for.
    unsafe { libc::clock_nanosleep(libc::CLOCK_MONOTONIC, 0, from_ref(&duration), null_mut()) };
}
