//! The C library's spin lock: test-and-set on one word, never sleeps. The yardstick of uncontended cost.
#![expect(unsafe_code, reason = "calls the C library's spin lock")]
use crate::bench::contender::{Contender, Kind};
use core::cell::UnsafeCell;
use libc::{pthread_spin_init, pthread_spin_lock, pthread_spin_unlock, pthread_spinlock_t};

pub(crate) struct Spin(UnsafeCell<pthread_spinlock_t>);

// SAFETY: POSIX spin locks are made to be used by any thread through a shared address; the cell is
// touched by nothing but those calls.
unsafe impl Sync for Spin {}

impl Contender for Spin {
    const NAME: &'static str = "pthread-spin";
    const KIND: Kind = Kind::Peer;
    const ABOUT: &'static str = "pthread_spinlock_t: test-and-set word, never sleeps";
    const BYTES: usize = size_of::<pthread_spinlock_t>();

    fn new() -> Self {
        Self(UnsafeCell::new(0))
    }

    fn settle(&self) {
        // SAFETY: the lock is at its final address and no thread uses it yet (the trait's contract).
        unsafe { pthread_spin_init(self.0.get(), libc::PTHREAD_PROCESS_PRIVATE) };
    }

    #[inline]
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
        // SAFETY: `settle` initialised the lock at this address before any thread started.
        unsafe { pthread_spin_lock(self.0.get()) };
        let result = critical();
        // SAFETY: as above, and this thread holds the lock: it locked it in this very call.
        unsafe { pthread_spin_unlock(self.0.get()) };
        result
    }
}
