//! `qrw-readers-first`: readers get in beside readers, whoever waits, as POSIX threads expect it of Linux's default kind.
//!
//! # Properties
//!
//! - Fairness: a reader waits for writers that are in only, and for the writers and readers that were there before it. It is passed by writers
//!   until it has lost some races (`rw_head_polls`) and queues, and then as in [`QueuedRwLock`]. Writers wait in line among
//!   themselves, and may be starved by readers.
//! - Progress: a context that reads may read again, and may wait for others to read.
//! - Memory: 12 bytes, and as [`QueuedRwLock`].
//!
//! # Invariant
//!
//! - **I6** A writer that waits for readers holds `writers`, so it is the only one, and does not hold the queue; so readers in the queue get in.
use super::QueuedRwLock;
use crate::lock::{ConstLock, RawLock};
use crate::platform::Platform;
use crate::rw::{ConstRwLock, Downgrade, RawRwLock, TooManyReaders};
use crate::stanchion::StanchionLock;
use crate::transitions::{Table, Word};
use crate::tunables::Tunable;

/// A [`QueuedRwLock`] whose readers pass writers that wait; see the [module](self).
#[repr(C)]
pub struct ReadersFirst<P: Platform> {
    lock: QueuedRwLock<P>,
    /// Held by a writer from when it comes until it is in (I6).
    writers: StanchionLock<P>,
}

impl<P: Platform> QueuedRwLock<P> {
    /// Waits until the calling context holds a read lock, and goes in beside readers, whoever waits. It queues when it loses races, so that writers
    /// cannot pass it for ever.
    #[inline]
    pub fn acquire_read_beside_readers(&self) -> Result<(), TooManyReaders> {
        if self.try_once_to_read_again()? == Some(true) { Ok(()) } else { self.acquire_read_after_race() }
    }

    #[cold]
    #[inline(never)]
    fn acquire_read_after_race(&self) -> Result<(), TooManyReaders> {
        for _ in 0..P::tunable(Tunable::RwHeadPolls) {
            match self.try_once_to_read_again()? {
                Some(true) => return Ok(()),
                Some(false) => break,
                None => {}
            }
        }
        self.acquire_read()
    }

    /// Waits until the calling context holds the lock alone, and lets readers in beside readers until then: for those who keep the two parts of a
    /// [`ReadersFirst`] apart. `writers` belongs to this lock, and to this function alone.
    #[inline]
    pub fn acquire_write_letting_readers_in(&self, writers: &StanchionLock<P>) {
        if !self.acquire_write_at_once() {
            writers.acquire();
            self.acquire_write_after_readers();
            writers.release();
        }
    }
}

impl<P: Platform> RawRwLock for ReadersFirst<P> {
    type Platform = P;
    const NAME: &'static str = "qrw-readers-first";
    const TRANSITIONS: Table = <QueuedRwLock<P> as RawRwLock>::TRANSITIONS;
    const QUEUE: Table = <QueuedRwLock<P> as RawRwLock>::QUEUE;
    const MOST_READERS: u32 = <QueuedRwLock<P> as RawRwLock>::MOST_READERS;

    fn new() -> Self {
        Self { lock: RawRwLock::new(), writers: RawLock::new() }
    }

    #[inline]
    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        self.lock.acquire_read_beside_readers()
    }

    fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
        self.lock.acquire_read_again()
    }

    fn try_acquire_read(&self) -> bool {
        self.lock.try_acquire_read_again() == Ok(true)
    }

    #[inline]
    fn release_read(&self) {
        self.lock.release_read();
    }

    #[inline]
    fn acquire_write(&self) {
        self.lock.acquire_write_letting_readers_in(&self.writers);
    }

    fn try_acquire_write(&self) -> bool {
        self.lock.try_acquire_write()
    }

    #[inline]
    fn release_write(&self) {
        self.lock.release_write();
    }

    fn word(&self) -> Word {
        self.lock.word()
    }

    fn queue_word(&self) -> Option<Word> {
        self.lock.queue_word()
    }
}

impl<P: Platform> Downgrade for ReadersFirst<P> {
    fn downgrade(&self) {
        self.lock.downgrade();
    }
}

impl<P: Platform> ConstRwLock for ReadersFirst<P>
where
    QueuedRwLock<P>: ConstRwLock,
    StanchionLock<P>: ConstLock,
{
    const NEW: Self = Self { lock: ConstRwLock::NEW, writers: ConstLock::NEW };
}
