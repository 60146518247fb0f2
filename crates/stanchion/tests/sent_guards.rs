//! With the feature `send_guard`, guards may be released by another thread. Without it they do not compile
//! so.
#![cfg(all(feature = "std", feature = "send_guard"))]

use stanchion::{FairMutex, Mutex, RwLock};
use std::sync::Arc;
use std::thread;

#[test]
fn another_thread_may_release() {
    let (mutex, fair, rw) = (Mutex::new(0), FairMutex::new(0), RwLock::new(0));
    let (mut one, mut other, mut write) = (mutex.lock(), fair.lock(), rw.write());
    thread::scope(|scope| {
        scope.spawn(move || {
            *one += 1;
            *other += 1;
            *write += 1;
        });
    });
    assert!(!mutex.is_locked() && !fair.is_locked() && !rw.is_locked());
    assert_eq!((*mutex.lock(), *fair.lock(), *rw.read()), (1, 1, 1));
    let (read, upgradable) = (rw.read(), rw.upgradable_read());
    thread::scope(|scope| {
        scope.spawn(move || drop((read, upgradable)));
    });
    assert!(!rw.is_locked());
}

#[test]
fn guards_that_own_their_lock_may_be_sent_too() {
    let mutex = Arc::new(Mutex::new(1));
    let guard = mutex.lock_arc();
    thread::spawn(move || drop(guard)).join().expect("no panic");
    assert!(!mutex.is_locked());
}
