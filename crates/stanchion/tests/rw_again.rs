//! Readers that must not wait behind writers that wait: while a writer is in, they sleep.
#![cfg(feature = "std")]

#[path = "support/asleep.rs"]
mod asleep;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use asleep::until_asleep;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use stanchion::lock_api::{RawRwLock, RwLock, RwLockWriteGuard};
use stanchion::stanchion_core::RawRwLock as _;
use stanchion::{ReadAgain, RecursiveRwLock};
use std::sync::{Arc, Mutex, PoisonError};
use watch::{Crew, until};

const READERS: usize = 4;

static TURN: Mutex<()> = Mutex::new(());

/// `read` waits for a writer that is in, and another writer waits in front of it.
fn check_asleep<R: RawRwLock + Sync>(lock: &'static RwLock<R, u64>, read: fn(&RwLock<R, u64>) -> u64) {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut guard = lock.write();
    let mut crew = Crew::new();
    let came = Arc::new(AtomicUsize::new(0));
    for number in 0..=READERS {
        let came = Arc::clone(&came);
        crew.spawn(move || {
            came.fetch_add(1, Relaxed);
            if number > 0 {
                return read(lock);
            }
            *lock.write() += 1;
            u64::MAX
        });
    }
    until("all threads", String::new, || came.load(Relaxed) == READERS + 1);
    until_asleep(String::new);
    *guard += 1;
    drop(guard);
    let sums = crew.join(String::new);
    assert!(sums.iter().all(|&sum| sum > 0), "the first writer was in: {sums:?}");
}

#[test]
fn a_recursive_reader_sleeps_while_a_writer_is_in() {
    static LOCK: RecursiveRwLock<u64> = RecursiveRwLock::new(0);
    check_asleep(&LOCK, |lock| *lock.read());
}

#[test]
fn whoever_reads_again_sleeps_while_a_writer_is_in() {
    static LOCK: stanchion::RwLock<u64> = stanchion::RwLock::new(0);
    check_asleep(&LOCK, |lock| *lock.read_again());
}

/// The reader stands in line behind a writer that waits, and nobody who reads may have to wait for that one.
#[test]
fn a_recursive_reader_passes_a_writer_that_waits_for_readers() {
    static LOCK: RecursiveRwLock<u64> = RecursiveRwLock::new(0);
    static READ: AtomicBool = AtomicBool::new(false);
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let guard = LOCK.write();
    let mut crew = Crew::new();
    // SAFETY: the raw lock is looked at only.
    let queue = || unsafe { LOCK.raw() }.inner().queue_word();
    let report = move || format!("{:?}", queue());
    let is_queue = |tail| queue().is_some_and(|queue| queue.locked == 1 && (queue.tail != 0) == tail);
    crew.spawn(|| *LOCK.write() += 1);
    until("a writer at the head", report, || is_queue(false));
    crew.spawn(|| READ.store(*LOCK.read() == 0, Relaxed));
    until("a reader behind it", report, || is_queue(true));
    let guard = RwLockWriteGuard::downgrade(guard);
    until("the reader in, beside us, for whom the writer waits", report, || READ.load(Relaxed));
    assert_eq!(*guard, 0, "and waits still");
    drop(guard);
    crew.join(report);
}
