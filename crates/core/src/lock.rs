//! What every mutual exclusion lock of the family offers.
use crate::machine::Machine;
use crate::platform::Platform;
use crate::transitions::{Table, Word};

/// A mutual exclusion lock that needs nothing but its own word and the storage of its world.
///
/// Progress, fairness and cost are each lock's own and stand at the head of its file.
pub trait RawLock: Send + Sync + 'static {
    /// The world it runs in.
    type Platform: Platform;

    /// The name on command lines and in files.
    const NAME: &'static str;

    /// All that the word may do.
    const TRANSITIONS: Table;

    /// A free lock. Where the world allows constants, see [`ConstLock::NEW`].
    fn new() -> Self;

    /// Waits until the calling context holds the lock.
    fn acquire(&self);

    /// Takes the lock if that needs no waiting; whether it did.
    #[must_use]
    fn try_acquire(&self) -> bool;

    /// Waits until the calling context holds the lock, or the deadline has passed; whether it holds the lock.
    /// A lock that is free is acquired whatever the deadline.
    ///
    /// A place in the queue of most locks cannot be left, so they are tried again now and then, and under
    /// steady contention missed until the deadline; see [`Machine::try_until`].
    /// [`StanchionLock`](crate::StanchionLock) queues.
    #[must_use]
    fn acquire_until(&self, until: &<Self::Platform as Machine>::Deadline) -> bool {
        Self::Platform::try_until(until, || self.try_acquire())
    }

    /// Gives the lock up. The calling context (or one that passed it on) must hold it; otherwise mutual
    /// exclusion is lost, which debug builds notice where they can. The lock must stay readable until this
    /// returns.
    fn release(&self);

    /// Gives the lock up, and lets those who wait in line go before newcomers as far as the lock can. A lock
    /// that hands over in the order of arrival does so at each release, and so does this form of it: it is
    /// [`release`](Self::release). [`StanchionLock`](crate::StanchionLock) hands the lock to the first waiter
    /// in line. Another that may be overtaken bounds that as the head of its file says, and no closer here.
    fn release_fair(&self) {
        self.release();
    }

    /// Whether somebody may be waiting in line. A hint; `true` if the lock does not know.
    fn has_waiters(&self) -> bool {
        true
    }

    /// Whether nobody holds it, and nobody waits in line as far as it knows. A hint.
    #[inline]
    fn is_unused(&self) -> bool {
        self.word() == Word { tail: 0, pending: 0, locked: 0 }
    }

    /// The word as it is now, field by field, for reports; the fields may come from different moments.
    fn word(&self) -> Word;
}

/// A lock that can be made in a constant and so stand in a `static`.
pub trait ConstLock: RawLock {
    /// A free lock.
    const NEW: Self;
}

/// A lock whose waiters halt, unless the lock was made not to.
///
/// That is the switch of a single lock. The one of the whole world is [`Machine::paravirt`]; waiters ask both
/// before each halt.
pub trait Paravirtual: RawLock {
    /// A free lock whose waiters never halt.
    fn without_paravirt() -> Self;
}

/// A lock that can be made not to halt, and that in a constant.
pub trait ConstParavirtual: ConstLock + Paravirtual {
    /// A free lock whose waiters never halt.
    const WITHOUT_PARAVIRT: Self;
}
