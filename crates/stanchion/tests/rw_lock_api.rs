//! Reader-writer locks as users meet them: under `lock_api`'s types, in statics, with guards that change, map
//! and own.
#![cfg(feature = "std")]

#[path = "support/fenced.rs"]
mod fenced;
#[path = "support/suppressions.rs"]
mod suppressions;

use core::time::Duration;
use stanchion::lock::{CountRwLock, PerCpuRwLock, PerCpuSimpleRwLock, QueuedRwLock, QueuedSpinRwLock};
use stanchion::lock_api::{
    ArcRwLockReadGuard, ArcRwLockWriteGuard, RawRwLock, RawRwLockDowngrade, RawRwLockUpgrade,
    RawRwLockUpgradeDowngrade, RawRwLockUpgradeTimed, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard,
};
use stanchion::{ReadAgain, percpu};
use std::sync::{Arc, Barrier};
use std::thread;

/// What a wait in vain is limited to.
const SHORT: Duration = Duration::from_millis(2);

/// All that a user can do with any of the locks.
fn check_user_interface<R>()
where
    R: RawRwLock + RawRwLockDowngrade + Send + Sync + 'static,
    RwLock<R, Vec<u32>>: ReadAgain,
{
    fenced::fence_if_sanitized();
    let elsewhere = |lock: &RwLock<R, Vec<u32>>| {
        thread::scope(|scope| {
            let tries = scope.spawn(|| {
                let read = lock.try_read().is_some();
                (read, lock.try_write().is_some())
            });
            tries.join().expect("no panic")
        })
    };
    let lock = RwLock::<R, Vec<u32>>::new(Vec::new());
    assert!(!lock.is_locked());
    let guard = lock.read();
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    assert_eq!(elsewhere(&lock), (true, false), "read");
    let again = lock.read_again();
    drop(guard); // in the order in which they came
    assert_eq!(elsewhere(&lock), (true, false), "read once more");
    drop(again);
    assert_eq!(elsewhere(&lock), (true, true), "free");

    let mut guard = lock.write();
    assert!(lock.is_locked_exclusive());
    guard.push(1);
    assert_eq!(elsewhere(&lock), (false, false), "written");
    let guard = RwLockWriteGuard::downgrade(guard);
    assert!(!lock.is_locked_exclusive());
    assert_eq!((elsewhere(&lock), guard.len()), ((true, false), 1), "downgraded");
    let mapped = RwLockReadGuard::map(guard, |data| &data[0]);
    assert_eq!((elsewhere(&lock), *mapped), ((true, false), 1), "mapped");
    drop(mapped);

    let panicked = std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| {
        let _guard = lock.write();
        std::panic::resume_unwind(Box::new("inside the section"));
    }));
    assert!(panicked.is_err() && !lock.is_locked(), "a panic gives it back and poisons nothing");

    let shared = Arc::new(lock);
    let mut guard: ArcRwLockWriteGuard<R, Vec<u32>> = shared.write_arc();
    guard.push(2);
    drop(guard);
    let guard: ArcRwLockReadGuard<R, Vec<u32>> = shared.read_arc();
    assert_eq!((elsewhere(&shared), guard.len()), ((true, false), 2), "a guard that owns its lock");
    drop(guard);
    assert_eq!(elsewhere(&shared), (true, true));
}

/// What locks with upgradable holders offer besides.
fn check_upgradable<R>()
where
    R: RawRwLockUpgradeDowngrade + RawRwLockUpgradeTimed<Duration = Duration> + Send + Sync + 'static,
{
    let lock = RwLock::<R, Vec<u32>>::new(Vec::new());
    let guard = lock.upgradable_read();
    assert!(lock.is_locked() && !lock.is_locked_exclusive());
    assert!(lock.try_upgradable_read().is_none(), "alone among its kind");
    let beside = lock.try_read().expect("readers are let in");
    let guard = RwLockUpgradableReadGuard::try_upgrade(guard).expect_err("there is a reader");
    drop(beside);
    let mut guard = RwLockUpgradableReadGuard::upgrade(guard);
    guard.push(1);
    assert!(lock.try_read().is_none());
    let guard = RwLockWriteGuard::downgrade_to_upgradable(guard);
    assert!(lock.try_read().is_some() && lock.try_write().is_none());
    let guard = RwLockUpgradableReadGuard::downgrade(guard);
    assert!(lock.try_upgradable_read().is_some(), "it only reads now");
    drop(guard);
    let guard = lock.try_upgradable_read_for(SHORT).expect("free");
    let beside = lock.try_read_for(SHORT).expect("readers are let in");
    assert!(lock.try_write_for(SHORT).is_none() && lock.try_upgradable_read_for(SHORT).is_none());
    let guard = RwLockUpgradableReadGuard::try_upgrade_for(guard, SHORT).expect_err("there is a reader");
    drop(beside);
    let mut guard = RwLockUpgradableReadGuard::try_upgrade_for(guard, SHORT).expect("there is no reader");
    guard.push(2);
    assert!(lock.try_read_for(SHORT).is_none());
    drop(guard);
    check_waiting_upgrade(&lock);
}

/// Nobody writes while an upgrade waits for readers.
fn check_waiting_upgrade<R: RawRwLockUpgrade + Sync>(lock: &RwLock<R, Vec<u32>>) {
    let read = lock.read();
    let upgradable = Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            let guard = lock.upgradable_read();
            upgradable.wait();
            let _guard = RwLockUpgradableReadGuard::upgrade(guard);
            assert!(lock.is_locked_exclusive(), "upgraded");
        });
        upgradable.wait();
        while lock.try_read().is_some() {
            thread::yield_now(); // until the upgrade keeps readers out
        }
        let exclusive = lock.is_locked_exclusive();
        drop(read);
        assert!(!exclusive, "the upgrade waits");
    });
    assert!(!lock.is_locked());
}

macro_rules! user_interface {
    ($($name:ident: $lock:ty $(, $upgradable:ident)?;)*) => {$(
        #[test]
        fn $name() {
            check_user_interface::<$lock>();
        }

        $(
            #[test]
            fn $upgradable() {
                check_upgradable::<$lock>();
            }
        )?
    )*};
}

user_interface! {
    rw_simple: CountRwLock;
    qrw: QueuedRwLock, qrw_upgradable;
    qrw_spin: QueuedSpinRwLock, qrw_spin_upgradable;
    percpu_rw: PerCpuRwLock;
    percpu_rw_simple: PerCpuSimpleRwLock;
}

#[test]
fn the_default_rwlock_stands_in_statics_and_is_twelve_bytes() {
    static TABLE: stanchion::RwLock<Vec<u32>> = stanchion::RwLock::new(Vec::new());
    thread::scope(|scope| {
        for number in 0..4 {
            scope.spawn(move || {
                let mut guard: stanchion::RwLockWriteGuard<'_, _> = TABLE.write();
                guard.push(number);
            });
        }
    });
    let guard: stanchion::RwLockReadGuard<'_, _> = TABLE.read();
    assert_eq!(guard.len(), 4);
    assert_eq!(size_of::<stanchion::RwLock<()>>(), 12);
}

#[test]
fn a_lock_of_a_class_has_guards_of_its_own() {
    static CLASS: percpu::Class = percpu::Class::new();
    static LOCK: percpu::PerCpuRwLock<Vec<u32>> = percpu::PerCpuRwLock::new(&CLASS, Vec::new());
    fenced::fence_if_sanitized();
    let tries = || {
        let tries = thread::spawn(|| {
            let read = LOCK.try_read().is_some();
            (read, LOCK.try_write().is_some())
        });
        tries.join().expect("no panic")
    };
    let mut guard = LOCK.write();
    guard.push(1);
    assert_eq!(tries(), (false, false));
    assert!(format!("{LOCK:?}").contains("<locked>"));
    let guard = percpu::WriteGuard::downgrade(guard);
    assert_eq!((tries(), guard.len()), ((true, false), 1));
    let again = LOCK.read_again();
    drop(guard);
    assert_eq!(tries(), (true, false), "read once more");
    drop(again);
    assert_eq!(tries(), (true, true));
    assert!(format!("{LOCK:?}").contains("[1]"));
    let mut own = percpu::PerCpuRwLock::new(&CLASS, 3);
    *own.get_mut() += 1;
    assert_eq!(own.into_inner(), 4);
}
