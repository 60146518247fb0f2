//! glibc's adaptive mutex: spins for about as long as past waits took, then sleeps.
#![expect(unsafe_code, reason = "calls the C library's mutex")]
use crate::bench::contender::{Contender, Kind};
use core::cell::UnsafeCell;
use libc::{pthread_mutex_lock, pthread_mutex_t, pthread_mutex_unlock};

pub(crate) struct Adaptive(UnsafeCell<pthread_mutex_t>);

// SAFETY: POSIX mutexes are made to be locked and unlocked by any thread through a shared address; the
// cell is touched by nothing but those calls.
unsafe impl Sync for Adaptive {}

impl Contender for Adaptive {
    const NAME: &'static str = "pthread-adaptive";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "PTHREAD_MUTEX_ADAPTIVE_NP: spins as past waits suggest, then sleeps";
    const BYTES: usize = size_of::<pthread_mutex_t>();

    fn new() -> Self {
        Self(UnsafeCell::new(libc::PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP))
    }

    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        // SAFETY: the mutex was statically initialised and has not moved since its first use, because
        // the worker keeps it in one allocation for the life of the process.
        unsafe { pthread_mutex_lock(self.0.get()) };
        let result = critical();
        // SAFETY: as above, and this thread holds the mutex: it locked it in this very call.
        unsafe { pthread_mutex_unlock(self.0.get()) };
        result
    }
}
