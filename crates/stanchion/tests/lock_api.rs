//! The locks as users meet them: under `lock_api`'s types, in statics, with mapped and shared guards.
#![cfg(feature = "std")]

#[path = "support/suppressions.rs"]
mod suppressions;

use core::panic::AssertUnwindSafe;
use stanchion::lock_api::{ArcMutexGuard, MappedMutexGuard, Mutex, MutexGuard, RawMutex};
use stanchion::native::Native;
use stanchion::{GuardMarker, Raw};
use std::collections::BTreeMap;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::thread;

/// All that a user can do with a mutex on lock `R`.
fn check_user_interface<R>(fresh: impl Fn() -> Mutex<R, Vec<u32>>)
where
    R: RawMutex<Guard = GuardMarker> + Send + Sync + 'static,
{
    // Locking, trying, looking.
    let mutex = fresh();
    assert!(!mutex.is_locked());
    let guard = mutex.lock();
    assert!(mutex.is_locked());
    assert!(mutex.try_lock().is_none());
    assert!(thread::scope(|scope| scope.spawn(|| mutex.try_lock().is_none()).join().expect("no panic")));
    drop(guard);
    assert!(!mutex.is_locked());
    mutex.try_lock().expect("free").push(1);

    // A guard's part of the data, and the whole of it when the guard is unlocked by hand.
    let mapped: MappedMutexGuard<'_, R, u32> = MutexGuard::map(mutex.lock(), |data| &mut data[0]);
    assert!(mutex.is_locked());
    assert_eq!(*mapped, 1);
    drop(mapped);
    let mut guard = mutex.lock();
    MutexGuard::unlocked(&mut guard, || assert!(!mutex.is_locked()));
    assert!(mutex.is_locked());
    drop(guard);

    thread::scope(|scope| {
        scope.spawn(|| mutex.lock().push(2));
    });
    assert_eq!(*mutex.lock(), [1, 2]);

    // A panic inside a section gives the lock back, and poisons nothing.
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let _guard = mutex.lock();
        std::panic::resume_unwind(Box::new("inside the section"));
    }));
    assert!(panicked.is_err());
    assert!(!mutex.is_locked());
    mutex.lock().push(3);

    // A forgotten guard keeps the lock; its owner can take it back by force.
    core::mem::forget(mutex.lock());
    assert!(mutex.is_locked());
    // SAFETY: the lock is held, by the guard that was forgotten and that nobody can use any more.
    unsafe { mutex.force_unlock(GuardMarker::new()) };
    assert!(!mutex.is_locked());
    assert_eq!(mutex.into_inner(), [1, 2, 3]);

    // A guard that owns its mutex.
    let shared = Arc::new(fresh());
    let mut guard: ArcMutexGuard<R, Vec<u32>> = shared.lock_arc();
    guard.push(4);
    let other = Arc::clone(&shared);
    drop(shared);
    drop(guard);
    assert_eq!(*other.lock(), [4]);
}

macro_rules! user_interface {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {$(
        #[test]
        fn $row() {
            check_user_interface::<Raw<$lock>>(|| Mutex::new(Vec::new()));
        }
    )*};
}

stanchion::stanchion_family::for_each_mutex! { Native; user_interface; }

#[test]
fn the_default_mutex_stands_in_statics_and_is_four_bytes() {
    static TABLE: stanchion::Mutex<BTreeMap<u32, &str>> = stanchion::Mutex::new(BTreeMap::new());
    let guard: stanchion::MutexGuard<'_, _> = TABLE.lock();
    assert!(guard.is_empty());
    drop(guard);
    thread::scope(|scope| {
        for key in 0..4 {
            scope.spawn(move || TABLE.lock().insert(key, "value"));
        }
    });
    assert_eq!(TABLE.lock().len(), 4);
    assert_eq!(size_of::<stanchion::Mutex<()>>(), 4);
    assert_eq!(size_of::<stanchion::Mutex<u32>>(), 8);
}

#[test]
fn the_default_mutex_has_a_default_and_shows_itself() {
    let mutex = stanchion::Mutex::<u32>::default();
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 0 }");
    let guard = mutex.lock();
    assert_eq!(format!("{mutex:?}"), "Mutex { data: <locked> }");
    drop(guard);
    assert_eq!(stanchion::Mutex::from(7).into_inner(), 7);
}

#[test]
fn threads_on_the_default_mutex_count_right() {
    static HITS: stanchion::Mutex<u64> = stanchion::Mutex::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..1000).for_each(|_| *HITS.lock() += 1));
        }
    });
    assert_eq!(*HITS.lock(), 8000);
}
