//! What every reader-writer lock of the family offers.
use crate::machine::Machine;
use crate::platform::Platform;
use crate::transitions::{Table, Word};
use core::fmt;

/// So many read locks are held that one more could not be counted. Nothing was acquired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyReaders;

impl fmt::Display for TooManyReaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "too many read locks are held at once; release some, or look for guards that were forgotten",
        )
    }
}

impl core::error::Error for TooManyReaders {}

/// A lock that any number of readers or one writer can hold.
///
/// Progress, fairness and cost are each lock's own and stand at the head of its file. In [`RawRwLock::word`]
/// the `tail` is the number of readers that the word counts, `pending` holds marks (see the lock's table),
/// and `locked` is 1 while a writer has it.
pub trait RawRwLock: Send + Sync + 'static {
    /// The world it runs in.
    type Platform: Platform;

    /// The name on command lines and in files.
    const NAME: &'static str;

    /// All that the word may do.
    const TRANSITIONS: Table;

    /// All that the word of the lock may do for which those wait in line that wait for this one, if there is
    /// such a lock.
    const QUEUE: Table = Table(&[]);

    /// How many read locks can be held at once; one more is an error.
    const MOST_READERS: u32;

    /// A free lock. Where the world allows constants, see [`ConstRwLock::NEW`].
    fn new() -> Self;

    /// Waits until the calling context holds a read lock. It may wait behind a writer that waits itself, so a
    /// context that holds one already must use [`RawRwLock::acquire_read_again`]. A context that must not
    /// wait behind others ([`Machine::is_priority`]) does so by itself.
    fn acquire_read(&self) -> Result<(), TooManyReaders>;

    /// The same without waiting behind writers that wait: for interrupt handlers, and contexts that hold a
    /// read lock. If the calling context holds one, it is granted without waiting.
    fn acquire_read_again(&self) -> Result<(), TooManyReaders>;

    /// [`RawRwLock::acquire_read_again`] if that needs no waiting; whether it did. A lock that does not know
    /// better refuses while somebody waits to write.
    #[must_use]
    fn try_read_again(&self) -> bool {
        self.try_acquire_read()
    }

    /// Takes a read lock if that needs no waiting; whether it did. No more read locks than can be counted is
    /// a reason not to.
    #[must_use]
    fn try_acquire_read(&self) -> bool;

    /// Waits until the calling context holds a read lock, or the deadline has passed; whether it holds one.
    /// One that is to be had without waiting is had whatever the deadline.
    ///
    /// Most locks are tried again now and then, and under steady contention missed until the deadline; see
    /// [`Machine::try_until`]. [`QueuedRwLock`](crate::QueuedRwLock) queues, and its waiters sleep.
    fn acquire_read_until(
        &self,
        until: &<Self::Platform as Machine>::Deadline,
    ) -> Result<bool, TooManyReaders> {
        Ok(Self::Platform::try_until(until, || self.try_acquire_read()))
    }

    /// The same for holding the lock alone.
    #[must_use]
    fn acquire_write_until(&self, until: &<Self::Platform as Machine>::Deadline) -> bool {
        Self::Platform::try_until(until, || self.try_acquire_write())
    }

    /// [`RawRwLock::acquire_read_again`] until the deadline, as [`RawRwLock::acquire_read_until`].
    fn acquire_read_again_until(
        &self,
        until: &<Self::Platform as Machine>::Deadline,
    ) -> Result<bool, TooManyReaders> {
        Ok(Self::Platform::try_until(until, || self.try_read_again()))
    }

    /// Gives a read lock up, in any order with those of other locks. The calling context must have acquired
    /// it.
    fn release_read(&self);

    /// Waits until the calling context holds the lock alone.
    fn acquire_write(&self);

    /// Takes the lock for writing if that needs no waiting; whether it did.
    #[must_use]
    fn try_acquire_write(&self) -> bool;

    /// Gives the write lock up, which the calling context must hold.
    fn release_write(&self);

    /// The word as it is now, for reports.
    fn word(&self) -> Word;

    /// The word of the lock for which those wait in line that wait for this one, if there is such a lock; for
    /// reports.
    fn queue_word(&self) -> Option<Word> {
        None
    }
}

/// A lock that can be made in a constant and so stand in a `static`.
pub trait ConstRwLock: RawRwLock {
    /// A free lock.
    const NEW: Self;
}

/// A lock whose writer can become a reader without letting another writer in between.
pub trait Downgrade: RawRwLock {
    /// Turns the write lock, which the calling context holds, into a read lock.
    fn downgrade(&self);
}

/// A lock with a third way to hold it: together with readers, alone among its kind, and able to become a
/// writer.
pub trait Upgradable: Downgrade {
    /// Waits until the calling context holds the lock upgradably.
    fn acquire_upgradable(&self);

    /// The same if that needs no waiting; whether it did.
    #[must_use]
    fn try_acquire_upgradable(&self) -> bool;

    /// Waits until the calling context holds the lock upgradably, or the deadline has passed; whether it
    /// holds it.
    #[must_use]
    fn acquire_upgradable_until(&self, until: &<Self::Platform as Machine>::Deadline) -> bool;

    /// Gives it up.
    fn release_upgradable(&self);

    /// Becomes the writer: lets no more readers in, and waits for those that are. Nobody writes in between.
    ///
    /// An interrupt handler that comes in the middle of it and reads the lock waits for the context that it
    /// has interrupted. It waits for ever unless another reader is in. So a context whose handlers read the
    /// lock masks them before it upgrades, as before it writes.
    fn upgrade(&self);

    /// Becomes the writer if there are no readers; whether it did.
    #[must_use]
    fn try_upgrade(&self) -> bool;

    /// Becomes a reader. If another takes the last place at that moment, there is one more than
    /// [`RawRwLock::MOST_READERS`].
    fn downgrade_upgradable(&self) -> Result<(), TooManyReaders>;

    /// The writer becomes an upgradable holder.
    fn downgrade_to_upgradable(&self);
}
