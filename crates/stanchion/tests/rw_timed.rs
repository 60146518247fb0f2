//! Reader-writer locks with a deadline, by `lock_api`: who has given up is gone, and who waits for long
//! enough gets in.
#![cfg(feature = "std")]

use core::time::Duration;
use stanchion::{RecursiveRwLock, RwLock};
use std::thread;
use std::time::Instant;

/// More than any test takes.
const LONG: Duration = Duration::from_mins(10);
const SHORT: Duration = Duration::from_millis(20);

#[test]
fn one_that_finds_too_many_readers_waits_for_room() {
    let lock = RwLock::new(());
    let mut guards: Vec<_> = (0..16_384).map(|_| lock.read()).collect();
    let began = Instant::now();
    assert!(lock.try_read_for(SHORT).is_none());
    assert!(began.elapsed() >= SHORT, "it gives up at its deadline, not before");
    thread::scope(|scope| {
        let waits = scope.spawn(|| lock.try_read_for(LONG).is_some());
        guards.pop();
        assert!(waits.join().expect("no panic"));
    });
}

#[test]
fn who_gives_up_leaves_the_lock_as_if_it_had_never_come() {
    let lock = RwLock::new(0);
    let reader = lock.read();
    assert!(lock.try_write_for(SHORT).is_none(), "somebody reads");
    assert!(lock.try_read_for(SHORT).is_some(), "the writer keeps nobody out any more");
    drop(reader);
    let writer = lock.write();
    assert!(lock.try_read_for(SHORT).is_none() && lock.try_write_for(SHORT).is_none(), "somebody writes");
    drop(writer);
    assert!(lock.try_write().is_some() && lock.try_read().is_some(), "nobody has it");
}

#[test]
fn a_deadline_that_has_passed_does_not_matter_for_a_free_lock() {
    let lock = RwLock::new(0);
    assert!(lock.try_write_for(Duration::ZERO).is_some());
    assert!(lock.try_read_for(Duration::ZERO).is_some());
}

#[test]
fn whose_time_suffices_gets_in_behind_those_that_give_up() {
    let lock = RwLock::new(0_u32);
    let writer = lock.write();
    thread::scope(|scope| {
        let patient: Vec<_> = (0..4)
            .map(|n| {
                let lock = &lock;
                scope.spawn(move || match n % 2 {
                    0 => lock.try_read_for(LONG).map(|_| ()),
                    _ => lock.try_write_for(LONG).map(|mut sum| *sum += 1),
                })
            })
            .collect();
        let hasty: Vec<_> = (0..4).map(|_| scope.spawn(|| lock.try_write_for(SHORT).is_some())).collect();
        for thread in hasty {
            assert!(!thread.join().expect("no panic"), "somebody wrote all the time");
        }
        drop(writer);
        for thread in patient {
            assert_eq!(thread.join().expect("no panic"), Some(()));
        }
    });
    assert_eq!(*lock.read(), 2);
}

#[test]
fn upgradable_and_recursive_waits_give_up_and_get_in_behind_others() {
    let lock = RwLock::new(());
    let holder = lock.upgradable_read();
    thread::scope(|scope| {
        let hasty = scope.spawn(|| lock.try_upgradable_read_for(SHORT).is_some());
        let patient = scope.spawn(|| lock.try_upgradable_read_for(LONG).is_some());
        assert!(!hasty.join().expect("no panic"), "somebody holds it upgradably all the time");
        drop(holder);
        assert!(patient.join().expect("no panic"));
    });
    let lock = RecursiveRwLock::new(());
    let writer = lock.write();
    thread::scope(|scope| {
        let hasty = scope.spawn(|| lock.try_read_for(SHORT).is_some());
        let patient = scope.spawn(|| lock.try_read_for(LONG).is_some());
        assert!(!hasty.join().expect("no panic"), "somebody writes all the time");
        drop(writer);
        assert!(patient.join().expect("no panic"));
    });
    assert!(lock.try_write().is_some(), "nobody has it");
}
