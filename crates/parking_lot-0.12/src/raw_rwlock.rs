//! The reader-writer lock of `stanchion`, which goes by the traits of `lock_api` 0.5, under those of 0.4.
use crate::GuardMarker;
use core::time::Duration;
use stanchion::deadline::Deadline;
use stanchion::lock::QueuedRwLock;
use stanchion::lock_api::{
    RawRwLock as Inner, RawRwLockDowngrade as _, RawRwLockFair as _, RawRwLockTimed as _,
    RawRwLockUpgrade as _, RawRwLockUpgradeDowngrade as _, RawRwLockUpgradeFair as _,
    RawRwLockUpgradeTimed as _,
};
use stanchion::stanchion_core::{RawRwLock as _, Upgradable as _};
use std::thread;
use std::time::Instant;

/// What the inner lock returns to those who hold it. It says nothing, so one may be dropped and another made
/// for the release.
const HELD: fn() -> stanchion::GuardMarker = stanchion::GuardMarker::new;

/// So long a reader sleeps that found the lock full of readers.
const FULL: Duration = Duration::from_millis(1);

/// The lock of [`RwLock`](crate::RwLock).
#[repr(transparent)]
pub struct RawRwLock(QueuedRwLock);

// SAFETY: the inner lock promises the same to `lock_api` 0.5.
unsafe impl lock_api::RawRwLock for RawRwLock {
    const INIT: Self = Self(<QueuedRwLock as Inner>::INIT);
    type GuardMarker = GuardMarker;

    /// One reader more than the lock counts waits until it has room: `lock_api` 0.4 reads again in `unlocked`
    /// with a guard alive, which would release what it does not hold if this unwound.
    #[inline]
    fn lock_shared(&self) {
        while self.0.inner().acquire_read().is_err() {
            thread::sleep(FULL);
        }
    }

    #[inline]
    fn try_lock_shared(&self) -> bool {
        self.0.try_lock_shared().is_some()
    }

    #[inline]
    unsafe fn unlock_shared(&self) {
        // SAFETY: the caller holds a read lock.
        unsafe { self.0.unlock_shared(HELD()) }
    }

    #[inline]
    fn lock_exclusive(&self) {
        self.0.lock_exclusive();
    }

    #[inline]
    fn try_lock_exclusive(&self) -> bool {
        self.0.try_lock_exclusive().is_some()
    }

    #[inline]
    unsafe fn unlock_exclusive(&self) {
        // SAFETY: the caller holds the write lock.
        unsafe { self.0.unlock_exclusive(HELD()) }
    }

    fn is_locked(&self) -> bool {
        self.0.is_locked()
    }

    fn is_locked_exclusive(&self) -> bool {
        self.0.is_locked_exclusive()
    }
}

// SAFETY: the inner lock promises the same.
unsafe impl lock_api::RawRwLockFair for RawRwLock {
    unsafe fn unlock_shared_fair(&self) {
        // SAFETY: the caller holds a read lock.
        unsafe { self.0.unlock_shared_fair(HELD()) }
    }

    unsafe fn unlock_exclusive_fair(&self) {
        // SAFETY: the caller holds the write lock.
        unsafe { self.0.unlock_exclusive_fair(HELD()) }
    }

    unsafe fn bump_shared(&self) {
        // SAFETY: the caller holds a read lock.
        unsafe { self.unlock_shared_fair() };
        <Self as lock_api::RawRwLock>::lock_shared(self);
    }

    unsafe fn bump_exclusive(&self) {
        // SAFETY: the caller holds the write lock.
        unsafe { self.0.bump_exclusive(&mut HELD()) }
    }
}

// SAFETY: the inner lock promises the same.
unsafe impl lock_api::RawRwLockDowngrade for RawRwLock {
    unsafe fn downgrade(&self) {
        // SAFETY: the caller holds the write lock.
        unsafe { self.0.downgrade(HELD()) };
    }
}

// SAFETY: the inner lock promises the same.
unsafe impl lock_api::RawRwLockTimed for RawRwLock {
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_shared_for(&self, timeout: Duration) -> bool {
        self.0.try_lock_shared_for(timeout).is_some()
    }

    fn try_lock_shared_until(&self, timeout: Instant) -> bool {
        self.0.try_lock_shared_until(timeout).is_some()
    }

    fn try_lock_exclusive_for(&self, timeout: Duration) -> bool {
        self.0.try_lock_exclusive_for(timeout).is_some()
    }

    fn try_lock_exclusive_until(&self, timeout: Instant) -> bool {
        self.0.try_lock_exclusive_until(timeout).is_some()
    }
}

// SAFETY: what the inner lock calls reading again counts a reader like any other.
unsafe impl lock_api::RawRwLockRecursive for RawRwLock {
    fn lock_shared_recursive(&self) {
        if let Err(too_many) = self.0.inner().acquire_read_again() {
            panic!("{too_many}");
        }
    }

    fn try_lock_shared_recursive(&self) -> bool {
        self.0.inner().try_read_again()
    }
}

// SAFETY: as for the trait above.
unsafe impl lock_api::RawRwLockRecursiveTimed for RawRwLock {
    fn try_lock_shared_recursive_for(&self, timeout: Duration) -> bool {
        self.0.inner().acquire_read_again_until(&Deadline::after(timeout)) == Ok(true)
    }

    fn try_lock_shared_recursive_until(&self, timeout: Instant) -> bool {
        self.try_lock_shared_recursive_for(timeout.saturating_duration_since(Instant::now()))
    }
}

// SAFETY: the inner lock promises the same.
unsafe impl lock_api::RawRwLockUpgrade for RawRwLock {
    fn lock_upgradable(&self) {
        self.0.lock_upgradable();
    }

    fn try_lock_upgradable(&self) -> bool {
        self.0.try_lock_upgradable().is_some()
    }

    unsafe fn unlock_upgradable(&self) {
        // SAFETY: the caller holds the lock upgradably.
        unsafe { self.0.unlock_upgradable(HELD()) }
    }

    unsafe fn upgrade(&self) {
        // SAFETY: the caller holds the lock upgradably.
        unsafe { self.0.upgrade(HELD()) };
    }

    unsafe fn try_upgrade(&self) -> bool {
        // SAFETY: the caller holds the lock upgradably.
        unsafe { self.0.try_upgrade(HELD()) }.is_ok()
    }
}

// SAFETY: the inner lock promises the same.
unsafe impl lock_api::RawRwLockUpgradeFair for RawRwLock {
    unsafe fn unlock_upgradable_fair(&self) {
        // SAFETY: the caller holds the lock upgradably.
        unsafe { self.0.unlock_upgradable_fair(HELD()) }
    }

    unsafe fn bump_upgradable(&self) {
        // SAFETY: the caller holds the lock upgradably.
        unsafe { self.0.bump_upgradable(&mut HELD()) }
    }
}

// SAFETY: the inner lock promises the same.
unsafe impl lock_api::RawRwLockUpgradeDowngrade for RawRwLock {
    unsafe fn downgrade_upgradable(&self) {
        // `lock_api` 0.4 releases the guard if this unwinds, and so it stays held then.
        let downgraded = self.0.inner().downgrade_upgradable();
        downgraded.unwrap_or_else(|error| panic!("{error}"));
    }

    unsafe fn downgrade_to_upgradable(&self) {
        // SAFETY: the caller holds the write lock.
        unsafe { self.0.downgrade_to_upgradable(HELD()) };
    }
}

// SAFETY: the inner lock promises the same.
unsafe impl lock_api::RawRwLockUpgradeTimed for RawRwLock {
    fn try_lock_upgradable_for(&self, timeout: Duration) -> bool {
        self.0.try_lock_upgradable_for(timeout).is_some()
    }

    fn try_lock_upgradable_until(&self, timeout: Instant) -> bool {
        self.0.try_lock_upgradable_until(timeout).is_some()
    }

    unsafe fn try_upgrade_for(&self, timeout: Duration) -> bool {
        // SAFETY: the caller holds the lock upgradably.
        unsafe { self.0.try_upgrade_for(HELD(), timeout) }.is_ok()
    }

    unsafe fn try_upgrade_until(&self, timeout: Instant) -> bool {
        // SAFETY: the caller holds the lock upgradably.
        unsafe { self.0.try_upgrade_until(HELD(), timeout) }.is_ok()
    }
}
