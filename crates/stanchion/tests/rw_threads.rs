//! Reader-writer locks and the life of threads: numbers, classes that grow, guards that are leaked, and more
//! readers than can be counted.
#![cfg(feature = "std")]

#[path = "support/fenced.rs"]
mod fenced;
#[path = "support/sanitizer.rs"]
mod sanitizer;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use stanchion::native::Native;
use stanchion::percpu::{Class, PerCpuRwLock};
use stanchion::stanchion_core::{self as core_locks, Machine, RawRwLock, TooManyReaders, Upgradable};
use std::panic::catch_unwind;
use std::sync::{Arc, Barrier, Mutex, MutexGuard, PoisonError};
use std::thread;
use watch::{Crew, until};

/// Thread numbers belong to the whole process.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    fenced::fence_if_sanitized();
    TURN.lock().unwrap_or_else(PoisonError::into_inner) // a failed test does not fail the others
}

/// The standard library is not built for the sanitizer, which takes two panics that are written out at a time
/// for a race.
const PANICS: &str = "panics of the standard library look like races";

fn number() -> u16 {
    Native::<stanchion::native::Silent>::this_cpu().expect("few threads").index()
}

fn free(lock: &impl RawRwLock) -> bool {
    let word = lock.word();
    (word.tail, word.pending, word.locked) == (0, 0, 0)
}

#[test]
fn a_thread_that_exits_with_a_leaked_guard_keeps_writers_out_and_its_number() {
    static CLASS: Class = Class::new();
    static LEAKED: PerCpuRwLock<u64> = PerCpuRwLock::new(&CLASS, 0);
    static OTHER: PerCpuRwLock<u64> = PerCpuRwLock::new(&CLASS, 0);
    let _turn = turn();
    let read_and_leak = |leak: bool| {
        let reader = thread::spawn(move || {
            let guard = LEAKED.read();
            if leak {
                core::mem::forget(guard);
            }
            number()
        });
        reader.join().expect("no panic")
    };
    read_and_leak(false);
    assert!(LEAKED.try_write().is_some(), "a reader that left keeps nobody out");
    let leaker = read_and_leak(true);
    assert!(LEAKED.try_write().is_none(), "the guard lives on, though nobody can see it");
    let later: Vec<u16> = (0..300).map(|_| read_and_leak(false)).collect();
    assert!(!later.contains(&leaker), "a number under which somebody reads is nobody else's");
    // The first ones get what other tests, with a hundred threads at a time, have left.
    assert!(
        later[250..].iter().all(|&other| other < 24),
        "the numbers of those who left cleanly come back: {later:?}"
    );
    assert!(LEAKED.try_write().is_none(), "whoever came since has not cleared its cell");
    assert!(LEAKED.try_read().is_some() && OTHER.try_write().is_some(), "others are not concerned");
}

/// `at_once` threads read together, `waves` times, while a writer writes. The greatest number that a thread
/// had in the second half: the first ones get what other tests, with a hundred threads at a time, have left.
fn check_waves(lock: &'static PerCpuRwLock<[u64; 8]>, waves: usize, at_once: usize) -> u16 {
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let written: &'static AtomicU64 = Box::leak(Box::new(AtomicU64::new(0)));
    let report = || format!("{} writes", written.load(Relaxed));
    let mut writer = Crew::new();
    writer.spawn(move || {
        while !stop.load(Relaxed) {
            lock.write().iter_mut().for_each(|word| *word += 1);
            written.fetch_add(1, Relaxed);
            thread::yield_now();
        }
    });
    let mut greatest = 0;
    for wave_number in 0..waves {
        let all = Arc::new(Barrier::new(at_once));
        let mut wave = Crew::new();
        for _ in 0..at_once {
            let all = Arc::clone(&all);
            wave.spawn(move || {
                for _ in 0..20 {
                    let words = lock.read();
                    assert!(words.iter().all(|word| *word == words[0]), "a torn view");
                }
                all.wait(); // all have their numbers now
                number()
            });
        }
        let numbers = wave.join(report);
        if wave_number >= waves / 2 {
            greatest = greatest.max(numbers.into_iter().max().unwrap_or(0));
        }
    }
    let before = written.load(Relaxed);
    until("the writer goes on", report, || written.load(Relaxed) > before);
    stop.store(true, Relaxed);
    writer.join(report);
    let words = lock.read();
    assert_eq!(*words, [written.load(Relaxed); 8]);
    greatest
}

#[test]
fn hundreds_of_threads_one_after_the_other_share_few_cells() {
    static CLASS: Class = Class::new();
    static SHARED: PerCpuRwLock<[u64; 8]> = PerCpuRwLock::new(&CLASS, [0; 8]);
    let _turn = turn();
    let greatest = check_waves(&SHARED, 150, 4);
    // A wave, the writer, this thread, what other tests leaked, and a thread for each other test, which wait
    // for their turn.
    assert!(greatest < 24, "600 threads reached number {greatest}");
}

#[test]
fn a_class_grows_while_it_is_read_and_written() {
    static CLASS: Class = Class::new();
    static SHARED: PerCpuRwLock<[u64; 8]> = PerCpuRwLock::new(&CLASS, [0; 8]);
    let _turn = turn();
    let greatest = check_waves(&SHARED, 2, 140);
    assert!(greatest >= 128, "more than two chunks of cells: {greatest}");
}

/// One read lock more than `most` is an error, of which nothing remains.
fn check_overflow<L: RawRwLock>(lock: &L, most: u32) {
    (0..most).for_each(|held| assert_eq!(lock.acquire_read_again(), Ok(()), "{}: {held} are held", L::NAME));
    for _ in 0..3 {
        assert_eq!(lock.acquire_read(), Err(TooManyReaders), "{}", L::NAME);
        assert_eq!(lock.acquire_read_again(), Err(TooManyReaders), "{}", L::NAME);
        assert!(!lock.try_acquire_read() && !lock.try_acquire_write(), "{}", L::NAME);
    }
    lock.release_read();
    assert!(lock.try_acquire_read(), "{}: there is room for one", L::NAME);
    assert_eq!(lock.acquire_read(), Err(TooManyReaders), "{}: and for no more", L::NAME);
    (0..most).for_each(|_| lock.release_read());
    assert!(free(lock), "{}: {:?}", L::NAME, lock.word());
    assert!(lock.try_acquire_write(), "{}: all are gone", L::NAME);
    assert!(!lock.try_acquire_read(), "{}: and it excludes as before", L::NAME);
    lock.release_write();
}

#[test]
fn one_reader_too_many_is_an_error_and_no_wrap() {
    type Queued = core_locks::QueuedRwLock<Native>;
    type PerCpu = core_locks::PerCpuRwLock<Native>;
    let _turn = turn();
    check_overflow(&Queued::new(), Queued::MOST_READERS);
    // The cell counts once and 65535 times more; the base lock is out of reach then, as its writer would wait
    // for the cell.
    check_overflow(&PerCpu::new(), 1 + u32::from(u16::MAX));
}

#[test]
fn an_upgradable_holder_is_not_made_a_reader_too_many() {
    type Queued = core_locks::QueuedRwLock<Native>;
    let _turn = turn();
    let lock = Queued::new();
    lock.acquire_upgradable();
    (0..Queued::MOST_READERS).for_each(|_| assert_eq!(lock.acquire_read(), Ok(())));
    assert_eq!(lock.downgrade_upgradable(), Err(TooManyReaders));
    assert!(!lock.try_acquire_upgradable(), "it is still held upgradably");
    lock.release_read();
    assert_eq!(lock.downgrade_upgradable(), Ok(()));
    (0..Queued::MOST_READERS).for_each(|_| lock.release_read());
    assert!(free(&lock));
}

#[test]
fn one_guard_too_many_panics_and_the_others_stay() {
    if sanitizer::skips(PANICS) {
        return;
    }
    let _turn = turn();
    let lock = stanchion::RwLock::new(7);
    let guards: Vec<_> = (0..16_384).map(|_| lock.read()).collect();
    let panic = catch_unwind(AssertUnwindSafe(|| drop(lock.read()))).expect_err("one too many");
    let says = panic.downcast_ref::<String>().expect("a message");
    assert!(says.contains("too many read locks"), "{says}");
    assert!(lock.try_read().is_none() && lock.try_write().is_none());
    assert!(guards.iter().all(|guard| **guard == 7));
    drop(guards);
    *lock.write() += 1;
    assert_eq!(*lock.read(), 8);
}

#[test]
fn a_downgrade_that_finds_too_many_readers_releases_what_it_took() {
    if sanitizer::skips(PANICS) {
        return;
    }
    let _turn = turn();
    let lock = stanchion::RwLock::new(7);
    let upgradable = lock.upgradable_read();
    let guards: Vec<_> = (0..16_384).map(|_| lock.read()).collect();
    let downgrade = AssertUnwindSafe(|| drop(stanchion::RwLockUpgradableReadGuard::downgrade(upgradable)));
    catch_unwind(downgrade).expect_err("one too many");
    assert!(lock.try_upgradable_read().is_some());
    drop(guards);
    *lock.try_write().expect("nobody holds it") += 1;
}

#[test]
#[cfg(debug_assertions)]
fn writing_what_the_thread_reads_panics_in_debug_builds() {
    static CLASS: Class = Class::new();
    static LOCK: PerCpuRwLock<u64> = PerCpuRwLock::new(&CLASS, 0);
    if sanitizer::skips(PANICS) {
        return;
    }
    let _turn = turn();
    let guard = LOCK.read();
    let panic = catch_unwind(|| drop(LOCK.write())).expect_err("it would wait for itself");
    let says = panic.downcast_ref::<&str>().expect("a message");
    assert!(says.contains("would wait for itself"), "{says}");
    assert_eq!(*guard, 0);
    drop(guard);
    *LOCK.write() += 1;
    assert_eq!(*LOCK.read(), 1, "nothing remains of the attempt");
}

#[test]
#[cfg(debug_assertions)]
fn the_cells_of_another_class_panic_in_debug_builds() {
    static RIGHT: Class = Class::new();
    static WRONG: Class = Class::new();
    type PerCpu = core_locks::PerCpuRwLock<Native>;
    let (right, wrong) = (&RIGHT, &WRONG);
    if sanitizer::skips(PANICS) {
        return;
    }
    let _turn = turn();
    let lock = PerCpu::new_in(&right);
    let mismatches: [(&str, &dyn Fn()); 5] = [
        ("read", &|| assert!(lock.acquire_read_in(&wrong).is_err())),
        ("read again", &|| assert!(lock.acquire_read_again_in(&wrong).is_err())),
        ("try to read", &|| assert!(lock.try_acquire_read_in(&wrong).is_none())),
        ("write", &|| lock.acquire_write_in(&wrong)),
        ("the common class", &|| assert!(lock.acquire_read().is_err())),
    ];
    for (what, act) in mismatches {
        let panic = catch_unwind(AssertUnwindSafe(act)).expect_err(what);
        let says = panic.downcast_ref::<String>().map_or("", String::as_str);
        assert!(says.contains("another class"), "{what}: {says}");
    }
    assert!(lock.acquire_read_in(&right).is_ok());
    lock.release_read_in(&right);
    assert!(lock.try_acquire_write_in(&right), "nobody reads it");
    lock.release_write_in(&right);
}
