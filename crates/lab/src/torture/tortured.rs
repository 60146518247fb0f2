//! What torture asks of a lock.
#![expect(unsafe_code, reason = "giving a lock back is unsafe to call, as `lock_api`'s `unlock` is")]
use lock_api::RawMutex;
use stanchion::native::{Counting, Native};
use stanchion::{Excludes, Raw};

/// How a lock is taken. A mutex makes no difference between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Together with other readers.
    Reads,
    /// Alone.
    Writes,
    /// Together with readers, and perhaps alone later.
    Upgrades,
}

/// What a lock can do beyond excluding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each skill is had or not, whatever the others")]
pub(crate) struct Skills {
    /// Readers are inside together.
    pub(crate) shares: bool,
    /// A thread that reads it may read it again, whoever waits: [`Tortured::acquire_again`].
    pub(crate) reads_again: bool,
    /// Handlers may take it for writing.
    pub(crate) handlers_write: bool,
    /// A writer may go on as a reader.
    pub(crate) downgrades: bool,
    /// There are upgradable holders.
    pub(crate) upgrades: bool,
}

impl Skills {
    /// Those of a mutex.
    pub(crate) const MUTEX: Self =
        Self { shares: false, reads_again: false, handlers_write: true, downgrades: false, upgrades: false };
    /// Those of a plain reader-writer lock.
    pub(crate) const READERS: Self = Self { shares: true, ..Self::MUTEX };
}

/// A lock that can be tortured.
///
/// The workers are generic over this trait, not over trait objects: a virtual call in front of every
/// acquisition would widen the windows in which a broken lock does no harm.
pub(crate) trait Tortured: Send + Sync + 'static {
    /// What an acquisition gives and its release takes.
    type Guard;

    /// What it can do; workers and handlers keep to it.
    const SKILLS: Skills;

    /// A free lock for test lock number `test_lock`.
    fn new(test_lock: usize) -> Self;

    /// Waits until the calling context has it.
    fn acquire(&self, side: Side) -> Self::Guard;

    /// Takes it if that needs no waiting.
    fn try_acquire(&self, side: Side) -> Option<Self::Guard>;

    /// Reads without waiting behind writers that wait.
    fn acquire_again(&self) -> Self::Guard {
        self.acquire(Side::Reads)
    }

    /// Gives it back.
    ///
    /// # Safety
    ///
    /// `guard` is from an acquisition of this very lock by the calling context and was not given back yet.
    unsafe fn release(&self, guard: Self::Guard);

    /// The writer goes on as a reader.
    ///
    /// # Safety
    ///
    /// As for [`Tortured::release`], and `guard` is a writer's.
    unsafe fn downgrade(&self, guard: Self::Guard) -> Self::Guard {
        guard
    }

    /// The upgradable holder becomes the writer.
    ///
    /// # Safety
    ///
    /// As for [`Tortured::release`], and `guard` is an upgradable holder's.
    unsafe fn upgrade(&self, guard: Self::Guard) -> Self::Guard {
        guard
    }

    /// The state of the lock and its queue for a stall report, where the lock can tell: the word as
    /// `(tail,pending,locked)` and the queue slot by slot. It is called while the lock is stuck: it must only
    /// load.
    fn describe(&self) -> String;
}

/// A mutex that can be tortured: both sides take it alone.
pub(crate) trait TorturedMutex: RawMutex + Send + Sync + 'static {
    /// See [`Tortured::describe`].
    fn describe(&self) -> String {
        format!("{} (this lock does not describe its queue)", if self.is_locked() { "held" } else { "free" })
    }
}

impl<L: TorturedMutex> Tortured for L {
    type Guard = <L as RawMutex>::Guard;
    const SKILLS: Skills = Skills::MUTEX;

    fn new(_test_lock: usize) -> Self {
        Self::INIT
    }

    #[inline(always)]
    fn acquire(&self, _side: Side) -> Self::Guard {
        self.lock()
    }

    #[inline(always)]
    fn try_acquire(&self, _side: Side) -> Option<Self::Guard> {
        self.try_lock()
    }

    #[inline(always)]
    unsafe fn release(&self, guard: Self::Guard) {
        // SAFETY: the caller has `guard` from `acquire` or `try_acquire` above, in this context, and gives it
        // back once.
        unsafe { self.unlock(guard) };
    }

    fn describe(&self) -> String {
        TorturedMutex::describe(self)
    }
}

impl TorturedMutex for parking_lot::RawMutex {}

impl<C: Counting, L: Excludes<Platform = Native<C>>> TorturedMutex for Raw<L> {
    fn describe(&self) -> String {
        stanchion::diagnose::describe(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stanchion_s_locks_describe_their_word() {
        let lock: stanchion::lock::QSpinLock = RawMutex::INIT;
        let free = Tortured::describe(&lock);
        let _guard = lock.lock();
        let held = Tortured::describe(&lock);
        assert!(free.contains("(0,0,0)"), "{free}");
        assert!(held.contains("(0,0,1)"), "{held}");
    }

    #[test]
    fn a_lock_that_cannot_describe_itself_says_whether_it_is_held() {
        let lock = parking_lot::RawMutex::INIT;
        assert!(Tortured::describe(&lock).starts_with("free"));
        let _guard = lock.lock();
        assert!(Tortured::describe(&lock).starts_with("held"));
    }
}
