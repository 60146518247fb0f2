//! As many readers at a time as can be counted, and a hundred thousand threads one after another.
#![cfg(feature = "std")]

#[path = "support/fenced.rs"]
mod fenced;
#[path = "support/sanitizer.rs"]
mod sanitizer;
#[path = "support/suppressions.rs"]
mod suppressions;

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use stanchion::native::{Native, Silent};
use stanchion::percpu::{Class, PerCpuRwLock};
use stanchion::stanchion_core::{Machine, RawRwLock as _};
use stanchion::stanchion_family::FamilyDomain;
use stanchion::{Mutex, RecursiveRwLock, RwLock, lock, lock_api};
use std::thread;

/// What `qrw` can count; `rw_threads.rs` has the test of one more.
const MOST: usize = 16_384;

#[test]
fn a_thread_may_read_as_often_as_that_while_a_writer_waits() {
    let (lock, wrote) = (RecursiveRwLock::new(0), AtomicBool::new(false));
    let mut guards = vec![lock.read()];
    thread::scope(|scope| {
        scope.spawn(|| {
            *lock.write() += 1;
            wrote.store(true, Ordering::Relaxed);
        });
        // SAFETY: the raw lock is looked at only.
        let queue = || unsafe { lock.raw() }.inner().queue_word().map(|queue| queue.locked);
        while queue() != Some(1) {
            thread::yield_now();
        }
        while guards.len() < MOST {
            guards.push(lock.read());
        }
        assert!(!wrote.load(Ordering::Relaxed), "it is read all the time");
        guards.clear();
    });
    assert_eq!(*lock.read(), 1);
}

#[test]
fn thirteen_thousand_threads_read_a_lock_at_a_time() {
    static LOCK: RwLock<u32> = RwLock::new(7);
    const THREADS: usize = 13_000;
    if sanitizer::skips("it has no room for so many threads") {
        return;
    }
    let (came, reading, gate) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(()));
    thread::scope(|scope| {
        let shut = gate.lock();
        for running in 0..THREADS {
            let spawned = thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, || {
                let read = LOCK.try_read_for(Duration::from_mins(1));
                reading.fetch_add(usize::from(read.is_some()), Ordering::Relaxed);
                came.fetch_add(1, Ordering::Relaxed);
                drop(gate.lock());
            });
            if let Err(error) = spawned {
                return eprintln!("skipped: {running} threads are all that the system has room for: {error}");
            }
        }
        while came.load(Ordering::Relaxed) < THREADS {
            thread::yield_now();
        }
        assert_eq!(reading.load(Ordering::Relaxed), THREADS);
        assert!(LOCK.try_write().is_none(), "they read");
        drop(shut);
    });
    assert!(LOCK.try_write().is_some(), "nobody reads any more");
}

#[test]
fn thirteen_thousand_read_a_per_cpu_lock_at_a_time() {
    static CLASS: Class = Class::new();
    fenced::fence_if_sanitized();
    let lock = PerCpuRwLock::new(&CLASS, 7);
    let guards: Vec<_> = (0..13_000).map(|_| lock.read_again()).collect();
    assert!(guards.iter().all(|guard| **guard == 7) && lock.try_write().is_none());
    drop(guards);
    assert!(lock.try_write().is_some());
}

#[test]
fn a_hundred_thousand_threads_one_after_another_leave_nothing_behind() {
    static DONE: Mutex<u32> = Mutex::new(0);
    static QUEUED: lock_api::Mutex<lock::PvQSpinLock, u32> = lock_api::Mutex::new(0);
    static CLASS: Class = Class::new();
    static ROUTES: PerCpuRwLock<u32> = PerCpuRwLock::new(&CLASS, 7);
    fenced::fence_if_sanitized();
    // To the sanitizer a tenth shows as much: two at a time run the same code.
    let threads = if sanitizer::skips("nine threads of ten") { 10_000 } else { 100_000 };
    for _ in 0..threads / 2 {
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    *DONE.lock() += 1;
                    *QUEUED.lock() += *ROUTES.read() / 7;
                });
            }
        });
    }
    assert_eq!((*DONE.lock(), *QUEUED.lock()), (threads, threads));
    *ROUTES.write() += 1;
    let numbers = Native::<Silent>::with_domain(FamilyDomain::<Native>::contexts);
    assert!(numbers < 64, "numbers of threads that have ended come back; {numbers} were handed out");
}
