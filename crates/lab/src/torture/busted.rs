//! How locks of the catalogue are tortured that are broken on purpose, to show that torture (or a sanitizer)
//! would notice; and the same without a flaw.
//!
//! CI holds torture to what the catalogue says must be noticed. None of them keeps what a lock promises:
//! torture treats the data behind a lock as racing (see `arena.rs`).
#![expect(unsafe_code, reason = "to give back a lock under torture is unsafe, whatever the lock makes of it")]
use super::lock::{Side, Tortured, describe};
use core::fmt::Display;
use stanchion::native::{Native, Silent};
use stanchion_core::{Machine as _, RawLock, RawRwLock};
use stanchion_suite::broken;

pub(crate) type Byte<const FLAW: usize> = Alone<broken::Byte<Native<Silent>, FLAW>>;
pub(crate) type Ticketed<const FLAW: usize> = Alone<broken::Ticketed<Native<Silent>, FLAW>>;
pub(crate) type Missed = Alone<broken::Missed<Native<Silent>>>;
pub(crate) type Counted<const FLAW: usize> = Together<broken::Counted<Native<Silent>, FLAW>>;
pub(crate) type Cells<const FLAW: usize> = Together<broken::Cells<Native<Silent>, FLAW>>;

/// A mutex.
pub(crate) struct Alone<L>(L);

impl<L: RawLock + Display> Tortured for Alone<L> {
    fn new(_test_lock: usize) -> Self {
        Self(L::new())
    }

    /// Takes the thread's number. A handler that interrupts its taking has none, with which a lock that is
    /// broken in another way does not reckon.
    fn begin() {
        L::Platform::this_cpu();
    }

    fn acquire(&self, _side: Side) {
        self.0.acquire();
    }

    fn try_acquire(&self, _side: Side) -> bool {
        self.0.try_acquire()
    }

    unsafe fn release(&self, _side: Side) {
        self.0.release();
    }

    fn describe(&self) -> String {
        self.0.to_string()
    }
}

/// A reader-writer lock.
pub(crate) struct Together<L>(L);

impl<L: RawRwLock> Tortured for Together<L> {
    fn new(_test_lock: usize) -> Self {
        Self(L::new())
    }

    fn acquire(&self, side: Side) {
        if side.reads() {
            self.0.acquire_read().expect("torture has far fewer readers than a lock can count");
        } else {
            self.0.acquire_write();
        }
    }

    fn try_acquire(&self, side: Side) -> bool {
        if side.reads() { self.0.try_acquire_read() } else { self.0.try_acquire_write() }
    }

    unsafe fn release(&self, side: Side) {
        if side.reads() { self.0.release_read() } else { self.0.release_write() }
    }

    fn describe(&self) -> String {
        describe(L::NAME, self.0.word())
    }
}
