//! What torture asks of a lock, and how Stanchion's and `parking_lot`'s answer.
#![expect(unsafe_code, reason = "locks are given back by unsafe functions")]
use lock_api::{RawMutex as _, RawRwLock as _, RawRwLockUpgrade as _};
use stanchion::native::{Class, Counting, Native};
use stanchion::{Excludes, Raw};
use stanchion_core::transitions::Word;
use stanchion_core::{Downgrade, PerCpuRwLock, RawRwLock as _, TooManyReaders, Upgradable};
use stanchion_family::catalogue::{Facts, InHandlers};

/// How a lock is taken. A mutex makes no difference between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// Together with other readers.
    Reads,
    /// Alone.
    Writes,
    /// Together with readers, and perhaps alone later.
    Upgrades,
}

/// What a lock can do beyond excluding; workers and handlers keep to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each skill is had or not, whatever the others")]
pub(super) struct Skills {
    /// Readers are inside together.
    pub(super) shares: bool,
    /// A thread that reads it may read it again, whoever waits: [`Tortured::acquire_again`].
    pub(super) reads_again: bool,
    /// Handlers may take it for writing.
    pub(super) handlers_write: bool,
    /// A writer may go on as a reader.
    pub(super) downgrades: bool,
    /// There are upgradable holders.
    pub(super) upgrades: bool,
}

impl Skills {
    /// Those of a mutex.
    pub(super) const MUTEX: Self =
        Self { shares: false, reads_again: false, handlers_write: true, downgrades: false, upgrades: false };
    /// Those of a plain reader-writer lock.
    pub(super) const READERS: Self = Self { shares: true, ..Self::MUTEX };

    /// Those of a lock of the catalogue.
    pub(super) const fn of(facts: &Facts) -> Self {
        Self {
            shares: facts.shares.is_some(),
            reads_again: matches!(facts.shares, Some(shares) if shares.reads_again),
            handlers_write: matches!(facts.in_handlers, InHandlers::All),
            downgrades: facts.shares.is_some(),
            upgrades: facts.upgrades,
        }
    }
}

/// A lock that can be tortured. As with the core's locks, a context gives back only what it has, and changes
/// only how it has it; [`Skills`] say what is asked of a lock at all.
///
/// The workers are generic over this trait, not over trait objects: a virtual call in front of every
/// acquisition would widen the windows in which a broken lock does no harm.
pub(super) trait Tortured: Send + Sync + 'static {
    /// A free lock for test lock number `test_lock`.
    fn new(test_lock: usize) -> Self
    where
        Self: Sized;

    /// Waits until the calling context has it.
    fn acquire(&self, side: Side);

    /// Takes it if that needs no waiting; whether it did.
    fn try_acquire(&self, side: Side) -> bool;

    /// Reads without waiting behind writers that wait.
    fn acquire_again(&self) {
        self.acquire(Side::Reads);
    }

    /// Gives it back.
    ///
    /// # Safety
    ///
    /// The calling context holds it on that side, by an acquisition that is not yet released.
    unsafe fn release(&self, side: Side);

    /// The writer goes on as a reader.
    ///
    /// # Safety
    ///
    /// The calling context holds it as its writer, by an acquisition that is not yet released.
    unsafe fn downgrade(&self) {
        panic!("this lock cannot be downgraded");
    }

    /// The upgradable holder becomes the writer.
    ///
    /// # Safety
    ///
    /// The calling context holds it upgradably, by an acquisition that is not yet released.
    unsafe fn upgrade(&self) {
        panic!("this lock cannot be upgraded");
    }

    /// The state of the lock and its queue for a stall report, where the lock can tell: the word as
    /// `(tail,pending,locked)` and the queue slot by slot. It is called while the lock is stuck: it must only
    /// load.
    fn describe(&self) -> String;
}

/// All that some locks tell of themselves.
pub(super) fn no_queue(state: &str) -> String {
    format!("{state} (this lock does not describe its queue)")
}

impl<C: Counting, L: Excludes<Platform = Native<C>>> Tortured for Raw<L> {
    fn new(_test_lock: usize) -> Self {
        lock_api::RawMutex::INIT
    }

    #[inline(always)]
    fn acquire(&self, _side: Side) {
        self.inner().acquire();
    }

    #[inline(always)]
    fn try_acquire(&self, _side: Side) -> bool {
        self.inner().try_acquire()
    }

    #[inline(always)]
    unsafe fn release(&self, _side: Side) {
        self.inner().release();
    }

    fn describe(&self) -> String {
        stanchion::diagnose::describe(self)
    }
}

impl Tortured for parking_lot::RawMutex {
    fn new(_test_lock: usize) -> Self {
        Self::INIT
    }

    fn acquire(&self, _side: Side) {
        self.lock();
    }

    fn try_acquire(&self, _side: Side) -> bool {
        self.try_lock().is_some()
    }

    unsafe fn release(&self, _side: Side) {
        // SAFETY: the calling context has the lock. Its guard is a mark without content.
        unsafe { self.unlock(<Self as lock_api::RawMutex>::Guard::new()) };
    }

    fn describe(&self) -> String {
        no_queue(if self.is_locked() { "held" } else { "free" })
    }
}

/// A mark without content, the same for all sides.
type ParkingGuard = <parking_lot::RawRwLock as lock_api::RawRwLock>::SharedGuard;

impl Tortured for parking_lot::RawRwLock {
    fn new(_test_lock: usize) -> Self {
        Self::INIT
    }

    fn acquire(&self, side: Side) {
        match side {
            Side::Reads => self.lock_shared(),
            Side::Writes => self.lock_exclusive(),
            Side::Upgrades => self.lock_upgradable(),
        };
    }

    fn try_acquire(&self, side: Side) -> bool {
        match side {
            Side::Reads => self.try_lock_shared().is_some(),
            Side::Writes => self.try_lock_exclusive().is_some(),
            Side::Upgrades => self.try_lock_upgradable().is_some(),
        }
    }

    unsafe fn release(&self, side: Side) {
        let guard = ParkingGuard::new();
        match side {
            // SAFETY: the calling context has the lock as a reader.
            Side::Reads => unsafe { self.unlock_shared(guard) },
            // SAFETY: the calling context has the lock as its writer.
            Side::Writes => unsafe { self.unlock_exclusive(guard) },
            // SAFETY: the calling context has the lock upgradably.
            Side::Upgrades => unsafe { self.unlock_upgradable(guard) },
        }
    }

    unsafe fn downgrade(&self) {
        // SAFETY: the calling context has the lock as its writer.
        unsafe { lock_api::RawRwLockDowngrade::downgrade(self, ParkingGuard::new()) };
    }

    unsafe fn upgrade(&self) {
        // SAFETY: the calling context has the lock upgradably.
        unsafe { lock_api::RawRwLockUpgrade::upgrade(self, ParkingGuard::new()) };
    }

    fn describe(&self) -> String {
        no_queue(match (self.is_locked_exclusive(), self.is_locked()) {
            (true, _) => "written",
            (false, true) => "read",
            (false, false) => "free",
        })
    }
}

/// One of the catalogue's reader-writer locks, as the core has it.
pub(super) struct Rw<L>(L);

/// One of those that can be held upgradably.
pub(super) struct UpgradableRw<L>(Rw<L>);

/// No run has as many threads as that.
fn counted<T>(acquired: Result<T, TooManyReaders>) {
    acquired.expect("torture has far fewer readers than a lock can count");
}

/// The word, and every queue node in use in this process.
fn describe(name: &str, word: Word) -> String {
    let some_lock = <stanchion::lock::ByteLock as lock_api::RawMutex>::INIT;
    let nodes = stanchion::diagnose::describe(&some_lock);
    let nodes = nodes.find('\n').map_or("", |end| &nodes[end..]);
    format!("{name} ({} readers,{},{}){nodes}", word.tail, word.pending, word.locked)
}

impl<L: Downgrade> Tortured for Rw<L> {
    fn new(_test_lock: usize) -> Self {
        Self(L::new())
    }

    #[inline(always)]
    fn acquire(&self, side: Side) {
        match side {
            Side::Reads => counted(self.0.acquire_read()),
            Side::Writes | Side::Upgrades => self.0.acquire_write(),
        }
    }

    #[inline(always)]
    fn try_acquire(&self, side: Side) -> bool {
        match side {
            Side::Reads => self.0.try_acquire_read(),
            Side::Writes | Side::Upgrades => self.0.try_acquire_write(),
        }
    }

    fn acquire_again(&self) {
        counted(self.0.acquire_read_again());
    }

    #[inline(always)]
    unsafe fn release(&self, side: Side) {
        match side {
            Side::Reads => self.0.release_read(),
            Side::Writes | Side::Upgrades => self.0.release_write(),
        }
    }

    unsafe fn downgrade(&self) {
        self.0.downgrade();
    }

    fn describe(&self) -> String {
        describe(L::NAME, self.0.word())
    }
}

impl<L: Upgradable> Tortured for UpgradableRw<L> {
    fn new(test_lock: usize) -> Self {
        Self(Rw::new(test_lock))
    }

    #[inline(always)]
    fn acquire(&self, side: Side) {
        match side {
            Side::Upgrades => self.0.0.acquire_upgradable(),
            Side::Reads | Side::Writes => self.0.acquire(side),
        }
    }

    #[inline(always)]
    fn try_acquire(&self, side: Side) -> bool {
        match side {
            Side::Upgrades => self.0.0.try_acquire_upgradable(),
            Side::Reads | Side::Writes => self.0.try_acquire(side),
        }
    }

    fn acquire_again(&self) {
        self.0.acquire_again();
    }

    #[inline(always)]
    unsafe fn release(&self, side: Side) {
        match side {
            Side::Upgrades => self.0.0.release_upgradable(),
            // SAFETY: the caller's promise is ours.
            Side::Reads | Side::Writes => unsafe { self.0.release(side) },
        }
    }

    unsafe fn downgrade(&self) {
        // SAFETY: the caller's promise is ours.
        unsafe { self.0.downgrade() };
    }

    unsafe fn upgrade(&self) {
        self.0.0.upgrade();
    }

    fn describe(&self) -> String {
        self.0.describe()
    }
}

/// The per-CPU lock in classes of a user's own: neighbouring test locks belong to different ones.
pub(super) struct Classed {
    lock: PerCpuRwLock<Native>,
    class: &'static Class,
}

impl Tortured for Classed {
    fn new(test_lock: usize) -> Self {
        static CLASSES: [Class; 2] = [const { Class::new() }; 2];
        let class = &CLASSES[test_lock % CLASSES.len()];
        Self { lock: PerCpuRwLock::new_in(&class), class }
    }

    #[inline(always)]
    fn acquire(&self, side: Side) {
        match side {
            Side::Reads => counted(self.lock.acquire_read_in(&self.class)),
            Side::Writes | Side::Upgrades => self.lock.acquire_write_in(&self.class),
        }
    }

    #[inline(always)]
    fn try_acquire(&self, side: Side) -> bool {
        match side {
            Side::Reads => self.lock.try_acquire_read_in(&self.class).is_some(),
            Side::Writes | Side::Upgrades => self.lock.try_acquire_write_in(&self.class),
        }
    }

    fn acquire_again(&self) {
        counted(self.lock.acquire_read_again_in(&self.class));
    }

    #[inline(always)]
    unsafe fn release(&self, side: Side) {
        match side {
            Side::Reads => self.lock.release_read_in(&self.class),
            Side::Writes | Side::Upgrades => self.lock.release_write_in(&self.class),
        }
    }

    unsafe fn downgrade(&self) {
        self.lock.downgrade_in(&self.class);
    }

    fn describe(&self) -> String {
        describe("percpu-rw in a class", self.lock.word())
    }
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
