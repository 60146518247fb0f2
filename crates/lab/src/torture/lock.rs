//! What torture asks of a lock, and how Stanchion's and `parking_lot`'s answer.
#![expect(unsafe_code, reason = "locks are given back by unsafe functions")]
use lock_api::{RawMutex, RawRwLock as _, RawRwLockDowngrade, RawRwLockUpgrade};
use stanchion::native::{Class, Counting, Native};
use stanchion::{Excludes, RawRw};
use stanchion_core::transitions::Word;
use stanchion_core::{PerCpuRwLock, RawRwLock as _, TooManyReaders};
use stanchion_family::catalogue::{Facts, InHandlers};

/// How a lock is taken. A mutex makes no difference between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Reads,
    /// The same, without waiting behind writers that wait: who reads it already may come so.
    ReadsAgain,
    Writes,
    /// Together with readers, and perhaps alone later.
    Upgrades,
}

impl Side {
    pub(super) const fn reads(self) -> bool {
        matches!(self, Self::Reads | Self::ReadsAgain)
    }
}

/// What a lock can do beyond excluding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each skill is had or not, whatever the others")]
pub(super) struct Skills {
    pub(super) shares: bool,
    /// A thread that reads it may read it again, whoever waits.
    pub(super) reads_again: bool,
    pub(super) handlers_write: bool,
    pub(super) downgrades: bool,
    pub(super) upgrades: bool,
}

impl Skills {
    pub(super) const MUTEX: Self =
        Self { shares: false, reads_again: false, handlers_write: true, downgrades: false, upgrades: false };
    pub(super) const READERS: Self = Self { shares: true, ..Self::MUTEX };

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

/// A lock that can be tortured; [`Skills`] say what is asked of it at all.
///
/// Workers are generic over it: a virtual call in front of every acquisition would widen the windows in which
/// a broken lock does no harm.
pub(super) trait Tortured: Send + Sync + 'static {
    fn new(test_lock: usize) -> Self
    where
        Self: Sized;

    /// What the calling thread does before handlers can interrupt it.
    fn begin()
    where
        Self: Sized,
    {
    }

    /// Waits until the calling context has it.
    fn acquire(&self, side: Side);

    /// Takes it if that needs no waiting; whether it did.
    fn try_acquire(&self, side: Side) -> bool;

    /// Gives it back.
    ///
    /// # Safety
    ///
    /// The calling context holds it on that side, by an acquisition that is not yet released.
    unsafe fn release(&self, side: Side);

    /// The writer goes on as a reader, or the upgradable holder as the writer.
    ///
    /// # Safety
    ///
    /// The calling context holds it on that side, by an acquisition that is not yet released.
    unsafe fn change(&self, from: Side) {
        panic!("this lock cannot be changed by who has it as {from:?}");
    }

    /// The state of the lock and its queue for a stall report: the word as `(tail,pending,locked)` and the
    /// queue slot by slot, where the lock can tell. The lock is stuck: this must only load.
    fn describe(&self) -> String;
}

pub(super) fn no_queue(state: &str) -> String {
    format!("{state} (this lock does not describe its queue)")
}

/// A lock under `lock_api`'s traits, and what those do not ask of it.
pub(super) trait Raw: Send + Sync + 'static {
    fn describe(&self) -> String;

    fn read_again(&self) {
        panic!("this lock cannot be read again");
    }
}

impl<C: Counting, L: Excludes<Platform = Native<C>>> Raw for stanchion::Raw<L> {
    fn describe(&self) -> String {
        stanchion::diagnose::describe(self)
    }
}

impl<L: stanchion_core::RawRwLock> Raw for RawRw<L> {
    fn describe(&self) -> String {
        describe(L::NAME, self.inner().word())
    }

    fn read_again(&self) {
        counted(self.inner().acquire_read_again());
    }
}

impl Raw for parking_lot::RawMutex {
    fn describe(&self) -> String {
        no_queue(if self.is_locked() { "held" } else { "free" })
    }
}

impl Raw for parking_lot::RawRwLock {
    fn describe(&self) -> String {
        no_queue(match (self.is_locked_exclusive(), self.is_locked()) {
            (true, _) => "written",
            (false, true) => "read",
            (false, false) => "free",
        })
    }
}

pub(super) struct Mutex<R>(R);

impl<R: RawMutex<Guard: Default> + Raw> Tortured for Mutex<R> {
    fn new(_test_lock: usize) -> Self {
        Self(R::INIT)
    }

    #[inline(always)]
    fn acquire(&self, _side: Side) {
        self.0.lock();
    }

    #[inline(always)]
    fn try_acquire(&self, _side: Side) -> bool {
        self.0.try_lock().is_some()
    }

    #[inline(always)]
    unsafe fn release(&self, _side: Side) {
        // SAFETY: the calling context has the lock. Its guard is a mark without content.
        unsafe { self.0.unlock(Default::default()) };
    }

    fn describe(&self) -> String {
        self.0.describe()
    }
}

pub(super) struct Rw<R>(R);

/// One that can be held upgradably.
pub(super) struct UpgradableRw<R>(Rw<R>);

fn counted<T>(acquired: Result<T, TooManyReaders>) {
    acquired.expect("torture has far fewer readers than a lock can count");
}

/// The word, and every queue node in use in this process.
pub(super) fn describe(name: &str, word: Word) -> String {
    let some_lock = <stanchion::lock::ByteLock as RawMutex>::INIT;
    let nodes = stanchion::diagnose::describe(&some_lock);
    let nodes = nodes.find('\n').map_or("", |end| &nodes[end..]);
    format!("{name} ({} readers,{},{}){nodes}", word.tail, word.pending, word.locked)
}

impl<R: RawRwLockDowngrade<SharedGuard: Default, ExclusiveGuard: Default> + Raw> Tortured for Rw<R> {
    fn new(_test_lock: usize) -> Self {
        Self(R::INIT)
    }

    #[inline(always)]
    fn acquire(&self, side: Side) {
        match side {
            Side::Reads => drop(self.0.lock_shared()),
            Side::ReadsAgain => self.0.read_again(),
            Side::Writes | Side::Upgrades => drop(self.0.lock_exclusive()),
        }
    }

    #[inline(always)]
    fn try_acquire(&self, side: Side) -> bool {
        if side.reads() { self.0.try_lock_shared().is_some() } else { self.0.try_lock_exclusive().is_some() }
    }

    #[inline(always)]
    unsafe fn release(&self, side: Side) {
        if side.reads() {
            // SAFETY: the calling context has the lock as a reader. The guard is a mark without content.
            unsafe { self.0.unlock_shared(Default::default()) };
        } else {
            // SAFETY: the calling context has the lock as its writer. The guard is a mark without content.
            unsafe { self.0.unlock_exclusive(Default::default()) };
        }
    }

    unsafe fn change(&self, from: Side) {
        assert_eq!(from, Side::Writes, "this lock has no upgradable holders");
        // SAFETY: the calling context has the lock as its writer. The guard is a mark without content.
        unsafe { self.0.downgrade(Default::default()) };
    }

    fn describe(&self) -> String {
        self.0.describe()
    }
}

impl<R: RawRwLockUpgrade<UpgradableGuard: Default>> Tortured for UpgradableRw<R>
where
    Rw<R>: Tortured,
{
    fn new(test_lock: usize) -> Self {
        Self(Rw::new(test_lock))
    }

    #[inline(always)]
    fn acquire(&self, side: Side) {
        if side == Side::Upgrades { drop(self.0.0.lock_upgradable()) } else { self.0.acquire(side) }
    }

    #[inline(always)]
    fn try_acquire(&self, side: Side) -> bool {
        match side {
            Side::Upgrades => self.0.0.try_lock_upgradable().is_some(),
            _ => self.0.try_acquire(side),
        }
    }

    #[inline(always)]
    unsafe fn release(&self, side: Side) {
        match side {
            // SAFETY: the calling context has the lock upgradably. The guard is a mark without content.
            Side::Upgrades => unsafe { self.0.0.unlock_upgradable(Default::default()) },
            // SAFETY: the caller's promise is ours.
            _ => unsafe { self.0.release(side) },
        }
    }

    unsafe fn change(&self, from: Side) {
        if from == Side::Upgrades {
            // SAFETY: the calling context has the lock upgradably. The guard is a mark without content.
            unsafe { self.0.0.upgrade(Default::default()) };
        } else {
            // SAFETY: the caller's promise is ours.
            unsafe { self.0.change(from) };
        }
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
            Side::ReadsAgain => counted(self.lock.acquire_read_again_in(&self.class)),
            Side::Writes | Side::Upgrades => self.lock.acquire_write_in(&self.class),
        }
    }

    #[inline(always)]
    fn try_acquire(&self, side: Side) -> bool {
        match side {
            Side::Reads | Side::ReadsAgain => self.lock.try_acquire_read_in(&self.class).is_some(),
            Side::Writes | Side::Upgrades => self.lock.try_acquire_write_in(&self.class),
        }
    }

    #[inline(always)]
    unsafe fn release(&self, side: Side) {
        let Self { lock, class } = self;
        if side.reads() { lock.release_read_in(class) } else { lock.release_write_in(class) }
    }

    unsafe fn change(&self, from: Side) {
        assert_eq!(from, Side::Writes, "this lock has no upgradable holders");
        self.lock.downgrade_in(&self.class);
    }

    fn describe(&self) -> String {
        describe("percpu-rw in a class", self.lock.word())
    }
}

#[cfg(test)]
#[path = "lock_tests.rs"]
mod tests;
