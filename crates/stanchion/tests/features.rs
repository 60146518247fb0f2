//! The features that parking_lot has, too: `send_guard`, without which a guard does not go to another thread,
//! `arc_lock`, `serde` and `owning_ref`.
#![cfg(all(feature = "std", feature = "send_guard"))]

use owning_ref::OwningRef;
use stanchion::{FairMutex, Mutex, ReentrantMutex, RwLock};
use std::sync::Arc;
use std::thread;

#[test]
fn another_thread_may_release() {
    let (mutex, fair, rw) = (Mutex::new(0), FairMutex::new(0), RwLock::new(0));
    let (mut one, mut other, mut write) = (mutex.lock(), fair.lock(), rw.write());
    // Joined by hand: the thread sanitizer does not see the end of a scope.
    let released = thread::scope(|scope| {
        let adds = move || {
            *one += 1;
            *other += 1;
            *write += 1;
        };
        scope.spawn(adds).join()
    });
    assert!(released.is_ok() && !mutex.is_locked() && !fair.is_locked() && !rw.is_locked());
    assert_eq!((*mutex.lock(), *fair.lock(), *rw.read()), (1, 1, 1));
    let (read, upgradable) = (rw.read(), rw.upgradable_read());
    let released = thread::scope(|scope| scope.spawn(move || drop((read, upgradable))).join());
    assert!(released.is_ok() && !rw.is_locked());
}

#[test]
fn guards_that_own_their_lock_may_be_sent_too() {
    let mutex = Arc::new(Mutex::new(1));
    let guard = mutex.lock_arc();
    thread::spawn(move || drop(guard)).join().expect("no panic");
    assert!(!mutex.is_locked());
}

#[test]
fn what_locks_protect_is_written_and_read_by_serde() {
    type Locks = (Mutex<u32>, RwLock<Vec<u32>>, FairMutex<String>, ReentrantMutex<u32>);
    let locks =
        (Mutex::new(1), RwLock::new(vec![2, 3]), FairMutex::new("four".to_owned()), ReentrantMutex::new(5));
    let text = serde_json::to_string(&locks).expect("written");
    assert_eq!(text, r#"[1,[2,3],"four",5]"#);
    let (mutex, rw, fair, reentrant): Locks = serde_json::from_str(&text).expect("read");
    assert_eq!((*mutex.lock(), rw.read().len(), fair.lock().as_str(), *reentrant.lock()), (1, 2, "four", 5));
}

#[test]
fn a_guard_owns_what_a_part_of_its_data_refers_to() {
    let (mutex, rw) = (Mutex::new((1, 2)), RwLock::new([3, 4]));
    let (second, first) =
        (OwningRef::new(mutex.lock()).map(|pair| &pair.1), OwningRef::new(rw.read()).map(|list| &list[0]));
    assert!((*second, *first) == (2, 3) && mutex.is_locked() && rw.is_locked());
    drop((second, first));
    assert!(!mutex.is_locked() && !rw.is_locked());
}
