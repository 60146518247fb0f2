//! Which of `lock_api`'s traits the default locks have: all that parking_lot 0.13 implements for its own.
#![cfg(feature = "std")]

use core::time::Duration;
use stanchion::condvar::RawCondvar;
use stanchion::lock::{FairLock, QueuedRwLock, RecursiveRwLock, StanchionLock};
use stanchion::native::Native;
use stanchion::stanchion_core::{self, ConstLock, ConstRwLock};
use stanchion::{Raw, RawRw, SoundPlatform, lock_api};
use std::time::Instant;

/// Compiles if `T` has them all; its word is as small as said.
const fn mutex<T>(bytes: usize)
where
    T: lock_api::RawMutex
        + lock_api::RawMutexFair
        + lock_api::RawMutexTimed<Duration = Duration, Instant = Instant>,
{
    assert!(size_of::<T>() == bytes);
}

const fn rwlock<T>(bytes: usize)
where
    T: lock_api::RawRwLock
        + lock_api::RawRwLockFair
        + lock_api::RawRwLockDowngrade
        + lock_api::RawRwLockTimed<Duration = Duration, Instant = Instant>
        + lock_api::RawRwLockUpgrade
        + lock_api::RawRwLockUpgradeFair
        + lock_api::RawRwLockUpgradeDowngrade
        + lock_api::RawRwLockUpgradeTimed,
{
    assert!(size_of::<T>() == bytes);
}

const fn condvar<T: lock_api::RawCondvarTimed>(bytes: usize)
where
    T::RawMutex: lock_api::RawMutexTimed,
{
    assert!(size_of::<T>() == bytes);
}

const _: () = {
    mutex::<StanchionLock>(4);
    mutex::<FairLock>(4);
    rwlock::<QueuedRwLock>(12);
    rwlock::<RecursiveRwLock>(12);
    condvar::<RawCondvar>(16);
};

/// Compiles if platforms need no storage for the family's locks to have the product's: the feature `family`,
/// which is on in all tests, takes nothing away.
const fn product<P: SoundPlatform>()
where
    stanchion_core::StanchionLock<P>: ConstLock,
    stanchion_core::StanchionLock<P, true>: ConstLock,
    stanchion_core::QueuedRwLock<P>: ConstRwLock<Platform = P>,
    stanchion_core::qrw::ReadersFirst<P>: ConstRwLock,
    stanchion_core::PerCpuRwLock<P>: ConstRwLock,
{
    raw_mutex::<Raw<stanchion_core::StanchionLock<P>>>();
    raw_mutex::<Raw<stanchion_core::StanchionLock<P, true>>>();
    raw_rwlock::<RawRw<stanchion_core::QueuedRwLock<P>>>();
    raw_rwlock::<RawRw<stanchion_core::qrw::ReadersFirst<P>>>();
    raw_rwlock::<RawRw<stanchion_core::PerCpuRwLock<P>>>();
}

const fn raw_mutex<T: lock_api::RawMutex>() {}
const fn raw_rwlock<T: lock_api::RawRwLock>() {}

const _: () = product::<Native>();

/// A guard of any kind does on this thread what its name says; that the traits are there is seen above.
#[test]
fn each_way_to_hold_an_rwlock_turns_into_each_other() {
    use stanchion::{RwLock, RwLockUpgradableReadGuard as Upgradable, RwLockWriteGuard as Write};
    let lock = RwLock::new(1);
    let write = Upgradable::upgrade(lock.upgradable_read());
    let upgradable = Write::downgrade_to_upgradable(write);
    assert!(lock.try_write().is_none() && lock.try_upgradable_read().is_none() && lock.try_read().is_some());
    let write = Upgradable::try_upgrade_for(upgradable, Duration::ZERO).expect("nobody reads");
    let read = Write::downgrade(write);
    assert!(lock.try_upgradable_read().is_some() && lock.try_write().is_none());
    drop(read);
    let read = Upgradable::downgrade(lock.try_upgradable_read_until(Instant::now()).expect("free"));
    assert_eq!(*read, 1);
}
