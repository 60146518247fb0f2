//! Locks of other libraries, and none at all.
use crate::bench::contender::Contender;
use crossbeam_utils::sync::ShardedLock;
use std::sync::{Mutex, PoisonError, RwLock};

// No critical section of the benchmark panics, so poison means nothing here.

impl Contender for Mutex<()> {
    fn new() -> Self {
        Self::new(())
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.lock().unwrap_or_else(PoisonError::into_inner);
        critical()
    }
}

/// A futex word for the state, and one that writers sleep on; writers first.
impl Contender for RwLock<()> {
    fn new() -> Self {
        Self::new(())
    }

    #[inline]
    fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.read().unwrap_or_else(PoisonError::into_inner);
        critical()
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.write().unwrap_or_else(PoisonError::into_inner);
        critical()
    }
}

impl Contender for ShardedLock<()> {
    fn new() -> Self {
        Self::new(())
    }

    #[inline]
    fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.read().unwrap_or_else(PoisonError::into_inner);
        critical()
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.write().unwrap_or_else(PoisonError::into_inner);
        critical()
    }
}

impl Contender for spin::Mutex<()> {
    fn new() -> Self {
        Self::new(())
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.lock();
        critical()
    }
}

/// Readers may starve writers.
impl Contender for spin::RwLock<()> {
    fn new() -> Self {
        Self::new(())
    }

    #[inline]
    fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.read();
        critical()
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.write();
        critical()
    }
}

/// One word is both the lock and the head of the queue.
impl Contender for usync::Mutex<()> {
    fn new() -> Self {
        Self::new(())
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.lock();
        critical()
    }
}

impl Contender for usync::RwLock<()> {
    fn new() -> Self {
        Self::new(())
    }

    #[inline]
    fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.read();
        critical()
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        let _guard = self.write();
        critical()
    }
}

/// Each waiter spins on its own node on its own stack.
impl Contender for mcslock::raw::spins::Mutex<()> {
    fn new() -> Self {
        Self::new(())
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        self.lock_then(|()| critical())
    }
}

/// No lock at all. With one thread it is the harness's own overhead; with more it must be caught.
pub(crate) struct None;

impl Contender for None {
    fn new() -> Self {
        Self
    }

    #[inline]
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R {
        critical()
    }
}
