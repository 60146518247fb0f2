//! `qrw-readers-first`: readers get in beside readers, whoever waits, as POSIX threads expect it of Linux's
//! default kind.
//!
//! # Properties
//!
//! - Fairness: a reader waits for writers that are in only, and for the writers and readers that were there
//!   before it. It is passed by writers until it has lost some races (`rw_head_polls`) and queues, and then
//!   as in [`QueuedRwLock`]. A writer that has polled in vain waits in line among its kind. While it waits
//!   for readers, they may starve it, and newcomers that write may pass it.
//! - Progress: a context that reads may read again, and may wait for others to read.
//! - Timed, memory: as [`QueuedRwLock`].
//!
//! # Invariant
//!
//! - **I6** A writer that waits for readers holds `writers`, so it is the only one, and does not hold the
//!   queue; so readers in the queue get in.
use super::QueuedRwLock;
use super::slow::acquire;
use super::word::Want;
use crate::lock::RawLock;
use crate::platform::Platform;
use crate::rw::{ConstRwLock, Downgrade, RawRwLock, TooManyReaders};
use crate::transitions::{Table, Word};
use crate::tunables::Tunable;

/// A [`QueuedRwLock`] whose readers pass writers that wait; see the [module](self).
#[repr(transparent)]
pub struct ReadersFirst<P: Platform> {
    lock: QueuedRwLock<P>,
}

impl<P: Platform> QueuedRwLock<P> {
    /// Waits until the calling context holds a read lock, and goes in beside readers, whoever waits. It
    /// queues when it loses races, so that writers cannot pass it for ever.
    #[inline]
    pub fn acquire_read_beside_readers(&self) -> Result<(), TooManyReaders> {
        if self.try_once_to_read_again()? == Some(true) { Ok(()) } else { self.acquire_read_after_race() }
    }

    #[cold]
    #[inline(never)]
    fn acquire_read_after_race(&self) -> Result<(), TooManyReaders> {
        if self.races_to_read()? { Ok(()) } else { self.acquire_read() }
    }

    /// [`acquire_read_beside_readers`](Self::acquire_read_beside_readers), up to the deadline. Whether it
    /// holds one.
    pub fn acquire_read_beside_readers_until(&self, until: &P::Deadline) -> Result<bool, TooManyReaders> {
        if self.races_to_read()? { Ok(true) } else { self.acquire_read_until(until) }
    }

    /// Tries until a writer is in, or for a while. Whether it holds a read lock.
    fn races_to_read(&self) -> Result<bool, TooManyReaders> {
        for _ in 0..P::tunable(Tunable::RwHeadPolls) {
            if let Some(done) = self.try_once_to_read_again()? {
                return Ok(done);
            }
        }
        Ok(false)
    }

    /// Waits until the calling context holds the lock alone, and lets readers in beside readers until then.
    #[inline]
    pub fn acquire_write_letting_readers_in(&self) {
        if !self.acquire_write_at_once() {
            let acquired = self.acquire_write_in_line(None);
            debug_assert!(acquired, "without a deadline nobody gives up");
        }
    }

    /// The same up to the deadline. Whether it holds the lock.
    #[must_use]
    pub fn acquire_write_letting_readers_in_until(&self, until: &P::Deadline) -> bool {
        self.acquire_write_at_once() || self.acquire_write_in_line(Some(until))
    }

    #[cold]
    #[inline(never)]
    fn acquire_write_in_line(&self, until: Option<&P::Deadline>) -> bool {
        if self.acquire_as_newcomer(Want::Write) == Ok(true) {
            return true;
        }
        if !acquire(&self.writers, until) {
            return false;
        }
        let acquired = self.acquire_write_after_readers(until);
        self.writers.release();
        acquired
    }
}

impl<P: Platform> RawRwLock for ReadersFirst<P> {
    type Platform = P;
    const NAME: &'static str = "qrw-readers-first";
    const TRANSITIONS: Table = <QueuedRwLock<P> as RawRwLock>::TRANSITIONS;
    const QUEUE: Table = <QueuedRwLock<P> as RawRwLock>::QUEUE;
    const MOST_READERS: u32 = <QueuedRwLock<P> as RawRwLock>::MOST_READERS;

    fn new() -> Self {
        Self { lock: RawRwLock::new() }
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

    fn acquire_read_until(&self, until: &P::Deadline) -> Result<bool, TooManyReaders> {
        self.lock.acquire_read_beside_readers_until(until)
    }

    fn acquire_read_again_until(&self, until: &P::Deadline) -> Result<bool, TooManyReaders> {
        self.lock.acquire_read_again_until(until)
    }

    fn acquire_write_until(&self, until: &P::Deadline) -> bool {
        self.lock.acquire_write_letting_readers_in_until(until)
    }

    #[inline]
    fn release_read(&self) {
        self.lock.release_read();
    }

    #[inline]
    fn acquire_write(&self) {
        self.lock.acquire_write_letting_readers_in();
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
{
    const NEW: Self = Self { lock: ConstRwLock::NEW };
}
