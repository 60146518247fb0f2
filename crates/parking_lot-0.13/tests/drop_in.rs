//! What parking_lot 0.13 promises beside what its own tests try, from its documentation: the names of raw
//! types, and what their guards are.
use parking_lot::lock_api::{RawMutex as _, RawRwLock as _};
use parking_lot::{
    Condvar, FairMutex, Mutex, Once, RawCondvar, RawFairMutex, RawMutex, RawRwLock, RawRwLockRecursive,
    RecursiveRwLock, ReentrantMutex, RwLock,
};
use std::thread;

#[test]
fn raw_types_have_the_public_names() {
    let mutex: Mutex<u32> = Mutex::from_raw(<RawMutex as parking_lot::lock_api::RawMutex>::INIT, 1);
    let fair: FairMutex<u32> =
        FairMutex::from_raw(<RawFairMutex as parking_lot::lock_api::RawMutex>::INIT, 1);
    let plain: RwLock<u32> = RwLock::from_raw(<RawRwLock as parking_lot::lock_api::RawRwLock>::INIT, 1);
    let again: RecursiveRwLock<u32> =
        RecursiveRwLock::from_raw(<RawRwLockRecursive as parking_lot::lock_api::RawRwLock>::INIT, 1);
    let same: RawRwLock<true> = RawRwLockRecursive::INIT;
    assert!(!same.is_locked());
    assert_eq!(*mutex.lock() + *fair.lock() + *plain.read() + *again.read(), 4);
    // SAFETY: the raw lock is looked at only.
    assert!(!unsafe { mutex.raw() }.is_locked());
    let condvar: parking_lot::lock_api::Condvar<RawCondvar> = Condvar::new();
    assert!(!condvar.notify_one());
    assert_eq!(*ReentrantMutex::new(5).lock(), 5);
    assert!(Once::new_completed().is_completed());
}

#[cfg(feature = "send_guard")]
#[test]
fn guards_may_be_sent_when_asked_for() {
    let lock = RwLock::new(());
    let guard = lock.write();
    thread::scope(|scope| {
        scope.spawn(move || drop(guard));
    });
    assert!(!lock.is_locked());
}

#[test]
fn threads_on_a_recursive_lock_count_right() {
    let lock = RecursiveRwLock::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..500 {
                    *lock.write() += 1;
                    let (first, second) = (lock.read(), lock.read());
                    assert_eq!(*first, *second);
                }
            });
        }
    });
    assert_eq!(*lock.read(), 2000);
}
