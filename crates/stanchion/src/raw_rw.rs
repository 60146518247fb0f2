//! Any reader-writer lock of the family under `lock_api`'s traits.
use crate::raw::{GuardMarker, SoundPlatform};
use lock_api::GuardNoSend;
use stanchion_core::{ConstRwLock, Downgrade, Platform, RawRwLock, TooManyReaders, Upgradable};
#[cfg(feature = "family")]
use stanchion_family::FamilyPlatform;

/// Wraps a reader-writer lock of `stanchion-core` so that guards, mapped guards and `Arc` guards come from
/// [`lock_api`].
///
/// Where the lock can, guards can be downgraded, and there are upgradable guards. Taking one more read lock
/// than the lock can count panics; the others stay held. With `RECURSIVE`, all who read do so as in
/// [`ReadAgain`], and writers may starve.
///
/// ```
/// # #[cfg(feature = "std")] {
/// use stanchion::lock::QueuedRwLock;
/// static ROUTES: lock_api::RwLock<QueuedRwLock, Vec<u32>> = lock_api::RwLock::new(Vec::new());
/// ROUTES.write().push(1);
/// assert_eq!(ROUTES.read().len(), 1);
/// # }
/// ```
#[repr(transparent)]
#[derive(Debug)]
pub struct RawRw<L, const RECURSIVE: bool = false>(L);

impl<L, const RECURSIVE: bool> RawRw<L, RECURSIVE> {
    /// The lock itself, for reports.
    pub fn inner(&self) -> &L {
        &self.0
    }
}

/// A lock that data may be entrusted to.
///
/// # Safety
///
/// While a context is between the return of a writing acquisition and its release, no other may be between
/// those of any acquisition; each acquires what releases before it released; [`ConstRwLock::NEW`] must be
/// free. If `Guard` may be sent, an acquisition may be released by another context.
pub unsafe trait ExcludesWriters: RawRwLock + ConstRwLock {
    /// Decides whether guards may be sent to other threads.
    type Guard: Default;
    /// Whether the lock's word says how many read it.
    const COUNTS: bool = false;
}

/// In the pending byte of a word: somebody holds the lock upgradably.
const UPGRADABLE: u8 = 4;

/// Whether guards may be sent: a reader that is noted in its own context's cell stays with its thread.
macro_rules! guard {
    (counted) => {
        GuardMarker
    };
    (celled) => {
        GuardNoSend
    };
}

macro_rules! counts {
    (counted) => {
        true
    };
    (celled) => {
        false
    };
}

/// See `excludes` in `raw.rs`.
macro_rules! excludes {
    ([$storage:ident] $($row:ident $alias:ident [$lock:ty] $name:literal $readers:ident $ways:ident $again:ident;)*) => {$(
        // SAFETY: the lock's file derives exclusion (I1, I2) from atomic cells, and where it has them from a
        // queue's lock that excludes, a base lock, heavy barriers and distinct contexts, which
        // `SoundPlatform` promises. Who holds it is nowhere noted but in cells; a cell holds the lock's
        // address, and a guard keeps the lock where it is.
        unsafe impl<P: SoundPlatform + $storage> ExcludesWriters for $lock where Self: ConstRwLock {
            type Guard = guard!($readers);
            const COUNTS: bool = counts!($readers);
        }
    )*};
}

stanchion_core::for_each_rwlock! { P; excludes; Platform }
#[cfg(feature = "family")]
stanchion_family::with_family_rwlocks! { [P; stanchion_core::rwlock_types; excludes; FamilyPlatform] }

fn counted(acquired: Result<(), TooManyReaders>) {
    #[cold]
    fn refuse(error: TooManyReaders) -> ! {
        panic!("{error}")
    }
    acquired.unwrap_or_else(|error| refuse(error));
}

// SAFETY: `lock_api` asks for what `ExcludesWriters` promises. What unwinds holds nothing any more.
unsafe impl<L: ExcludesWriters, const RECURSIVE: bool> lock_api::RawRwLock for RawRw<L, RECURSIVE> {
    const INIT: Self = Self(L::NEW);
    type SharedGuard = L::Guard;
    type ExclusiveGuard = L::Guard;

    #[inline]
    fn lock_shared(&self) -> L::Guard {
        counted(if RECURSIVE { self.0.acquire_read_again() } else { self.0.acquire_read() });
        L::Guard::default()
    }

    #[inline]
    fn try_lock_shared(&self) -> Option<L::Guard> {
        let acquired = if RECURSIVE { self.0.try_read_again() } else { self.0.try_acquire_read() };
        acquired.then(L::Guard::default)
    }

    #[inline]
    unsafe fn unlock_shared(&self, _guard: L::Guard) {
        self.0.release_read();
    }

    #[inline]
    fn lock_exclusive(&self) -> L::Guard {
        self.0.acquire_write();
        L::Guard::default()
    }

    #[inline]
    fn try_lock_exclusive(&self) -> Option<L::Guard> {
        self.0.try_acquire_write().then(L::Guard::default)
    }

    #[inline]
    unsafe fn unlock_exclusive(&self, _guard: L::Guard) {
        self.0.release_write();
    }

    /// Readers that a per-CPU lock keeps in cells are found by trying to write, so tries of others may fail
    /// meanwhile.
    fn is_locked(&self) -> bool {
        if L::COUNTS {
            let word = self.0.word();
            return word.locked != 0 || word.tail != 0 || word.pending & UPGRADABLE != 0;
        }
        let free = self.0.try_acquire_write();
        if free {
            self.0.release_write();
        }
        !free
    }

    /// In per-CPU locks and `rw-simple` also while a writer waits for readers to leave.
    fn is_locked_exclusive(&self) -> bool {
        let word = self.0.word();
        word.locked != 0 && word.pending & UPGRADABLE == 0 // both: an upgrade waits for readers
    }
}

// SAFETY: a downgrade counts a reader in the same step in which the writer leaves.
unsafe impl<L: ExcludesWriters + Downgrade, const RECURSIVE: bool> lock_api::RawRwLockDowngrade
    for RawRw<L, RECURSIVE>
{
    #[inline]
    unsafe fn downgrade(&self, guard: L::Guard) -> L::Guard {
        self.0.downgrade();
        guard
    }
}

// SAFETY: an upgradable holder excludes writers and its like until it is released, upgraded or downgraded.
unsafe impl<L: ExcludesWriters + Upgradable, const RECURSIVE: bool> lock_api::RawRwLockUpgrade
    for RawRw<L, RECURSIVE>
{
    type UpgradableGuard = L::Guard;

    fn lock_upgradable(&self) -> L::Guard {
        self.0.acquire_upgradable();
        L::Guard::default()
    }

    fn try_lock_upgradable(&self) -> Option<L::Guard> {
        self.0.try_acquire_upgradable().then(L::Guard::default)
    }

    unsafe fn unlock_upgradable(&self, _guard: L::Guard) {
        self.0.release_upgradable();
    }

    unsafe fn upgrade(&self, guard: L::Guard) -> L::Guard {
        self.0.upgrade();
        guard
    }

    unsafe fn try_upgrade(&self, guard: L::Guard) -> Result<L::Guard, L::Guard> {
        if self.0.try_upgrade() { Ok(guard) } else { Err(guard) }
    }
}

// SAFETY: both changes are one step of the word, so nobody writes in between.
unsafe impl<L: ExcludesWriters + Upgradable, const RECURSIVE: bool> lock_api::RawRwLockUpgradeDowngrade
    for RawRw<L, RECURSIVE>
{
    unsafe fn downgrade_upgradable(&self, guard: L::Guard) -> L::Guard {
        let downgraded = self.0.downgrade_upgradable();
        if downgraded.is_err() {
            self.0.release_upgradable(); // what consumes a guard and unwinds has released it
        }
        counted(downgraded);
        guard
    }

    unsafe fn downgrade_to_upgradable(&self, guard: L::Guard) -> L::Guard {
        self.0.downgrade_to_upgradable();
        guard
    }
}

// SAFETY: as for `RawRwLock`: a fair release is a release.
unsafe impl<L: ExcludesWriters, const RECURSIVE: bool> lock_api::RawRwLockFair for RawRw<L, RECURSIVE> {
    /// As each release: who reads next goes behind those who wait in line, if the lock has one.
    #[inline]
    unsafe fn unlock_shared_fair(&self, _guard: L::Guard) {
        self.0.release_read();
    }

    /// As each release. In `qrw`, a waiter is passed until it has polled 64 times in vain, and a writer later
    /// only while it has no CPU, by other writers.
    #[inline]
    unsafe fn unlock_exclusive_fair(&self, _guard: L::Guard) {
        self.0.release_write();
    }
}

// SAFETY: as for `RawRwLockUpgrade`: a fair release is a release.
unsafe impl<L: ExcludesWriters + Upgradable, const RECURSIVE: bool> lock_api::RawRwLockUpgradeFair
    for RawRw<L, RECURSIVE>
{
    #[inline]
    unsafe fn unlock_upgradable_fair(&self, _guard: L::Guard) {
        self.0.release_upgradable();
    }
}

/// Reading without waiting behind writers that wait: for signal handlers, and for threads that read the lock
/// already. Who reads the per-CPU lock for the first time waits for a writer that waits for other readers.
///
/// `lock_api` 0.5 has no trait for it; a lock of which all readers read so is a
/// [`RecursiveRwLock`](crate::RecursiveRwLock).
pub trait ReadAgain {
    /// The guard.
    type Guard<'a>
    where
        Self: 'a;

    /// Waits for a writer that is in, if there is one. If the thread reads the lock already it does not wait.
    ///
    /// # Panics
    ///
    /// If more read locks are held than can be counted.
    fn read_again(&self) -> Self::Guard<'_>;
}

impl<L: ExcludesWriters, const RECURSIVE: bool, T: ?Sized> ReadAgain
    for lock_api::RwLock<RawRw<L, RECURSIVE>, T>
{
    type Guard<'a>
        = lock_api::RwLockReadGuard<'a, RawRw<L, RECURSIVE>, T>
    where
        Self: 'a;

    fn read_again(&self) -> Self::Guard<'_> {
        // SAFETY: the raw lock is acquired only, and its guard is made below.
        let raw = unsafe { self.raw() };
        counted(raw.0.acquire_read_again());
        // SAFETY: this thread has just acquired a read lock, for which there is no other guard.
        unsafe { self.make_read_guard_unchecked(L::Guard::default()) }
    }
}
