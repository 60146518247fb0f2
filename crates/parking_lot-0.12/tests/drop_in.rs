//! What parking_lot 0.12 promises beside what its own tests try, from its documentation: constants, fair and
//! timed forms, reading again.
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;
use parking_lot::lock_api::{self, RawRwLock as _};
use parking_lot::{
    Condvar, FairMutex, FairMutexGuard, MappedFairMutexGuard, Mutex, MutexGuard, Once, OnceState,
    ReentrantMutex, ReentrantMutexGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard, const_fair_mutex, const_mutex, const_reentrant_mutex, const_rwlock,
};
use std::thread;
use std::time::Instant;

/// Compile if the raw locks have all traits that parking_lot 0.12 implements for its own.
const fn mutex<T>()
where
    T: lock_api::RawMutex
        + lock_api::RawMutexFair
        + lock_api::RawMutexTimed<Duration = Duration, Instant = Instant>,
{
}

const fn rwlock<T>()
where
    T: lock_api::RawRwLockFair
        + lock_api::RawRwLockDowngrade
        + lock_api::RawRwLockTimed<Duration = Duration, Instant = Instant>
        + lock_api::RawRwLockRecursive
        + lock_api::RawRwLockRecursiveTimed
        + lock_api::RawRwLockUpgradeFair
        + lock_api::RawRwLockUpgradeDowngrade
        + lock_api::RawRwLockUpgradeTimed,
{
}

const _: () = {
    mutex::<parking_lot::RawMutex>();
    mutex::<parking_lot::RawFairMutex>();
    rwlock::<parking_lot::RawRwLock>();
};

static MUTEX: Mutex<u32> = const_mutex(1);
static FAIR: FairMutex<u32> = const_fair_mutex(2);
static REENTRANT: ReentrantMutex<u32> = const_reentrant_mutex(3);
static RW: RwLock<u32> = const_rwlock(4);

const SHORT: Duration = Duration::from_millis(2);

/// Runs `f` on another thread.
fn elsewhere<T: Send>(f: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(f).join().expect("no panic"))
}

#[test]
fn locks_stand_in_statics() {
    assert_eq!((*MUTEX.lock(), *FAIR.lock(), *REENTRANT.lock(), *RW.read()), (1, 2, 3, 4));
}

#[test]
fn a_mutex_is_released_fairly_and_bumped() {
    let (mutex, fair) = (Mutex::new(0), FairMutex::new(0));
    MutexGuard::unlock_fair(mutex.lock());
    FairMutexGuard::unlock_fair(fair.lock());
    assert!(!mutex.is_locked() && !fair.is_locked());
    let mut guard = mutex.lock();
    MutexGuard::bump(&mut guard);
    assert!(mutex.is_locked());
    drop(MappedFairMutexGuard::map(FairMutexGuard::map(fair.lock(), |data| data), |data| data));
    assert!(!fair.is_locked());
}

/// Who bumps a fair mutex gives it to those that wait, each time.
#[test]
fn a_fair_mutex_goes_to_who_waits() {
    let (fair, waits, turns) = (FairMutex::new(()), AtomicBool::new(false), AtomicU32::new(0));
    let mut guard = fair.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            waits.store(true, Ordering::Relaxed);
            let _guard = fair.lock();
            turns.fetch_add(1, Ordering::Relaxed);
        });
        while !waits.load(Ordering::Relaxed) {
            thread::yield_now();
        }
        while turns.load(Ordering::Relaxed) == 0 {
            FairMutexGuard::bump(&mut guard);
        }
        assert!(fair.is_locked(), "it came back");
    });
}

#[test]
fn a_held_mutex_is_given_up_on_in_time() {
    let mutex = Mutex::new(());
    let guard = mutex.lock();
    elsewhere(|| {
        let end = Instant::now() + SHORT;
        assert!(mutex.try_lock_until(end).is_none() && Instant::now() >= end);
        assert!(mutex.try_lock_for(Duration::ZERO).is_none());
    });
    drop(guard);
    assert!(mutex.try_lock_for(Duration::MAX).is_some());
}

#[test]
fn a_held_rwlock_is_given_up_on_in_time() {
    let lock = RwLock::new(());
    let guard = lock.read();
    elsewhere(|| {
        assert!(lock.try_read_for(SHORT).is_some() && lock.try_read_recursive_for(SHORT).is_some());
        let end = Instant::now() + SHORT;
        assert!(lock.try_write_until(end).is_none() && Instant::now() >= end);
    });
    drop(guard);
    let guard = lock.try_upgradable_read_for(SHORT).expect("free");
    let guard = RwLockUpgradableReadGuard::try_upgrade_for(guard, SHORT).expect("no reader");
    elsewhere(|| {
        assert!(
            lock.try_read_for(SHORT).is_none() && lock.try_read_recursive_until(Instant::now()).is_none()
        );
    });
    drop(RwLockWriteGuard::downgrade_to_upgradable(guard));
    assert!(!lock.is_locked());
}

#[test]
fn a_reader_reads_again_while_a_writer_waits() {
    let (lock, wrote) = (RwLock::new(0), AtomicBool::new(false));
    let first = lock.read();
    thread::scope(|scope| {
        scope.spawn(|| {
            *lock.write() += 1;
            wrote.store(true, Ordering::Relaxed);
        });
        // SAFETY: the raw lock is acquired and released as a pair.
        let raw = unsafe { lock.raw() };
        while raw.try_lock_shared() {
            // SAFETY: the loop has just acquired a read lock.
            unsafe { raw.unlock_shared() };
            thread::yield_now();
        }
        // A newcomer is kept out, so a writer waits.
        let second = lock.read_recursive();
        let third = lock.try_read_recursive().expect("a reader is in");
        assert_eq!((*first, *second, *third, wrote.load(Ordering::Relaxed)), (0, 0, 0, false));
        drop((second, third, first));
    });
    assert_eq!(*lock.read(), 1);
}

#[test]
fn an_rwlock_is_released_fairly_and_bumped() {
    let lock = RwLock::new(());
    let mut guard = lock.read();
    RwLockReadGuard::bump(&mut guard);
    RwLockReadGuard::unlock_fair(guard);
    let mut guard = lock.write();
    RwLockWriteGuard::bump(&mut guard);
    RwLockWriteGuard::unlock_fair(guard);
    let mut guard = lock.upgradable_read();
    RwLockUpgradableReadGuard::bump(&mut guard);
    RwLockUpgradableReadGuard::unlock_fair(guard);
    assert!(!lock.is_locked());
}

#[test]
fn a_reentrant_mutex_belongs_to_its_thread() {
    let outer = REENTRANT.lock();
    let inner = REENTRANT.lock();
    assert!(REENTRANT.is_owned_by_current_thread());
    assert!(elsewhere(|| REENTRANT.try_lock().is_none()));
    drop(outer);
    assert!(elsewhere(|| REENTRANT.try_lock().is_none()), "the inner guard is left");
    drop(ReentrantMutexGuard::map(inner, |data| data));
    assert!(elsewhere(|| REENTRANT.try_lock().is_some()));
}

#[test]
fn a_wait_while_a_condition_holds_ends_by_condition_or_time() {
    let (mutex, changed) = (Mutex::new(0), Condvar::new());
    let mut guard = mutex.lock();
    let result = changed.wait_while_for(&mut guard, |count| *count == 0, SHORT);
    assert!(result.timed_out());
    thread::scope(|scope| {
        scope.spawn(|| {
            *mutex.lock() = 1;
            changed.notify_all()
        });
        let long = Duration::MAX;
        assert!(!changed.wait_while_for(&mut guard, |count| *count == 0, long).timed_out());
    });
    assert!(!changed.notify_one());
}

#[test]
fn what_runs_once_tells_its_state() {
    let once = Once::new();
    assert_eq!(once.state(), OnceState::New);
    once.call_once(|| assert_eq!(once.state(), OnceState::InProgress));
    assert!(once.state().done());
}

#[cfg(feature = "deadlock_detection")]
#[test]
fn the_names_of_the_deadlock_detector_are_there() {
    assert!(parking_lot::deadlock::check_deadlock().is_empty());
}

#[test]
fn a_full_lock_lets_no_writer_in_beside_a_reader() {
    let lock = RwLock::new(7);
    let mut ours = lock.read();
    // While it does not hold the lock, another thread fills that with readers.
    std::thread::scope(|scope| {
        RwLockReadGuard::unlocked(&mut ours, || {
            let (tell, told) = std::sync::mpsc::channel();
            let lock = &lock;
            scope.spawn(move || {
                let all: Vec<_> = (0..16_384).map(|_| lock.read()).collect();
                tell.send(()).expect("somebody listens");
                std::thread::sleep(std::time::Duration::from_millis(20));
                assert!(all.iter().all(|guard| **guard == 7));
            });
            told.recv().expect("it is full");
        });
    });
    assert!(lock.try_write().is_none(), "one reads");
    drop(ours);
    let upgradable = lock.upgradable_read();
    let all: Vec<_> = (0..16_384).map(|_| lock.read()).collect();
    let downgrade = || drop(RwLockUpgradableReadGuard::downgrade(upgradable));
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(downgrade)).expect_err("one too many");
    drop(all);
    *lock.try_write().expect("nobody holds it") += 1;
}
