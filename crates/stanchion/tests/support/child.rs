//! The child of a `fork` in tests: it runs a few steps, and its exit status is the number of the one that
//! failed.
use core::cell::Cell;
use core::panic::AssertUnwindSafe;
use core::time::Duration;
use std::panic::catch_unwind;
use std::thread::{self, JoinHandle};
use std::time::Instant;

#[path = "sanitizer.rs"]
mod sanitizer;

/// Far beyond what the child needs.
const LIMIT: Duration = Duration::from_mins(1);

/// The status of a child that panicked after all.
const PANICKED: i32 = 101;

/// A step of the child, by number; `Err` is the status that it exits with.
pub(crate) type Step = Result<(), i32>;

pub(crate) fn ensure(true_or: i32, holds: bool) -> Step {
    if holds { Ok(()) } else { Err(true_or) }
}

/// As `watch::until`, without a panic.
pub(crate) fn eventually(true_or: i32, mut done: impl FnMut() -> bool) -> Step {
    let began = Instant::now();
    while !done() {
        ensure(true_or, began.elapsed() < LIMIT)?;
        thread::sleep(Duration::from_micros(50));
    }
    Ok(())
}

/// Runs `child` in a forked process. Fails if that does not end well in time.
pub(crate) fn assert_child_succeeds(child: impl FnOnce() -> Step) {
    // SAFETY: the child runs `child` only, which keeps to what the file's head says: no output, and no return
    // into the test harness, not even by a panic (`catch_unwind` and `_exit` below).
    let pid = unsafe { libc::fork() };
    assert!(pid >= 0, "fork failed");
    if pid == 0 {
        let status = catch_unwind(AssertUnwindSafe(child)).map_or(PANICKED, |step| step.err().unwrap_or(0));
        // SAFETY: `_exit` has no preconditions; it runs no destructors of the parent's state.
        unsafe { libc::_exit(status) };
    }
    let began = Instant::now();
    let ended = Cell::new(None);
    let is_over = || {
        let mut status = 0;
        // SAFETY: `status` is a valid place, and the process is our child, which nobody else waits for.
        let waited = unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) };
        assert!(waited >= 0, "the child is ours to wait for");
        ended.set((waited == pid).then_some(status));
        waited == pid
    };
    while !is_over() && began.elapsed() < 2 * LIMIT {
        thread::sleep(Duration::from_millis(1));
    }
    if ended.get().is_none() {
        // SAFETY: the process is our child and was not waited for yet, so the number is still its own.
        unsafe { libc::kill(pid, libc::SIGKILL) };
        // SAFETY: as for the wait above; a null place means that the status is not wanted.
        unsafe { libc::waitpid(pid, core::ptr::null_mut(), 0) };
    }
    let status = ended.get().expect("the child hangs; it was killed");
    assert!(libc::WIFEXITED(status), "the child was ended by signal {}", libc::WTERMSIG(status));
    assert_eq!(libc::WEXITSTATUS(status), 0, "the step of the child that failed");
}

/// Starts threads without the standard library's panics on failure.
pub(crate) fn start(true_or: i32, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, i32> {
    thread::Builder::new().spawn(body).map_err(|_| true_or)
}

/// Whether forking tests are left out.
pub(crate) fn skipped() -> bool {
    sanitizer::skips("it does not follow a threaded process into the threads of its child")
}
