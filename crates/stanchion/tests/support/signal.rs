//! Signals in tests: one real-time signal a nesting level, sent to one thread.

/// A thread that can be interrupted while it runs.
#[derive(Clone, Copy)]
pub(crate) struct Target(libc::pthread_t);

impl Target {
    pub(crate) fn this_thread() -> Self {
        // SAFETY: `pthread_self` has no preconditions and cannot fail.
        Self(unsafe { libc::pthread_self() })
    }

    /// Runs the handler of `level` on the thread, which must still be running (the test sees to that).
    pub(crate) fn interrupt(self, level: usize) {
        // SAFETY: the thread is alive, because it ends only after the test has sent its last signal; the
        // signal has a handler (`install`), so it does not end the process.
        let failed = unsafe { libc::pthread_kill(self.0, number(level)) };
        assert_eq!(failed, 0, "signal of level {level}");
    }
}

/// Makes `handlers[n]` the handler of level *n* + 1. A handler is interrupted by those of higher levels only,
/// so that locks are taken in ascending order.
pub(crate) fn install(handlers: &[extern "C" fn(i32)]) {
    for (index, &handler) in handlers.iter().enumerate() {
        // SAFETY: `sigaction` is a plain C structure for which zero means no flags, an empty mask and no
        // handler.
        let mut action: libc::sigaction = unsafe { core::mem::zeroed() };
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        for lower in 1..=index {
            // SAFETY: the mask is a valid empty set, and the number is one of the real-time signals.
            unsafe { libc::sigaddset(&raw mut action.sa_mask, number(lower)) };
        }
        // SAFETY: the action is fully initialised, its handler takes a signal number (no `SA_SIGINFO`) and
        // does nothing that a handler may not do: it takes a lock of this library, which is what is under
        // test.
        let failed = unsafe { libc::sigaction(number(index + 1), &raw const action, core::ptr::null_mut()) };
        assert_eq!(failed, 0, "handler of level {}", index + 1);
    }
}

fn number(level: usize) -> i32 {
    libc::SIGRTMIN() + i32::try_from(level).expect("a few levels")
}
