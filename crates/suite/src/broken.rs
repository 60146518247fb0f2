//! Locks that let everybody in: the bodies would pass any lock if their own checks were blind, so each world
//! shows that they fail these.
use stanchion_core::order::Relaxed;
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Downgrade, Platform, RawLock, RawRwLock, TooManyReaders};

/// A mutual exclusion lock without exclusion.
pub struct OpenLock<P: Platform>(P::U8);

impl<P: Platform> RawLock for OpenLock<P> {
    type Platform = P;
    const NAME: &'static str = "open";
    const TRANSITIONS: Table = Table(&[]);

    fn new() -> Self {
        Self(Atomic::new(0))
    }

    fn acquire(&self) {
        self.0.store(1, Relaxed);
    }

    fn try_acquire(&self) -> bool {
        self.acquire();
        true
    }

    fn release(&self) {
        self.0.store(0, Relaxed);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}

/// A reader-writer lock without exclusion.
pub struct OpenRwLock<P: Platform>(OpenLock<P>);

impl<P: Platform> RawRwLock for OpenRwLock<P> {
    type Platform = P;
    const NAME: &'static str = "open";
    const TRANSITIONS: Table = Table(&[]);
    const MOST_READERS: u32 = u32::MAX;

    fn new() -> Self {
        Self(OpenLock::new())
    }

    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        self.0.acquire();
        Ok(())
    }

    fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
        self.acquire_read()
    }

    fn try_acquire_read(&self) -> bool {
        self.acquire_read().is_ok()
    }

    fn release_read(&self) {
        self.0.release();
    }

    fn acquire_write(&self) {
        self.0.acquire();
    }

    fn try_acquire_write(&self) -> bool {
        self.0.try_acquire()
    }

    fn release_write(&self) {
        self.0.release();
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: 0 }
    }
}

impl<P: Platform> Downgrade for OpenRwLock<P> {
    fn downgrade(&self) {}
}
