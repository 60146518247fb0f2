//! The default lock natively: waits that are given up, threads that come and go, what is left when a queue
//! has ended.
#![cfg(feature = "std")]

#[path = "support/counts.rs"]
mod counts;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use counts::{count, turn};
use stanchion::diagnose::describe;
use stanchion::lock::{StanchionLock, counted};
use stanchion::lock_api;
use stanchion::lock_api::{Mutex, MutexGuard};
use stanchion::stanchion_core::{Event, RawLock};
use std::thread;
use std::time::Instant;
use watch::{Crew, until};

type Lock = Mutex<counted::StanchionLock, u64>;

fn raw<R: lock_api::RawMutex>(mutex: &Mutex<R, u64>) -> &R {
    // SAFETY: the raw lock is looked at only, never locked or unlocked.
    unsafe { mutex.raw() }
}

fn report(lock: &'static Lock) -> impl Fn() -> String + Copy {
    move || describe(raw(lock))
}

fn cpu_time() -> Duration {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// How many nodes are in a queue, abandoned ones included.
fn in_queue() -> usize {
    describe(raw(&QUIET)).matches("\n  wait ").count()
}

/// More than any test takes.
const LONG: Duration = Duration::from_mins(10);

static QUIET: Lock = Mutex::new(0);

/// How long a wait is that is given up.
const WAIT: Duration = Duration::from_millis(200);

/// Twenty threads wait at the same time for a lock that somebody holds throughout.
fn twenty_give_up(held: &'static Lock) {
    let mut crew = Crew::new();
    for _ in 0..20 {
        crew.spawn(|| assert!(held.try_lock_for(WAIT).is_none(), "somebody holds it"));
    }
    crew.join(report(held));
}

#[test]
fn a_wait_that_is_given_up_is_asleep() {
    static HELD: Lock = Mutex::new(0);
    let _turn = turn();
    let _guard = HELD.lock();
    let before = cpu_time();
    twenty_give_up(&HELD);
    let used = cpu_time().saturating_sub(before);
    assert!(used < WAIT / 2, "20 waiters of {WAIT:?} used {used:?} of CPU time");
}

#[test]
fn a_wait_is_given_up_on_time() {
    static HELD: Lock = Mutex::new(0);
    let _turn = turn();
    let guard = HELD.lock();
    let began = Instant::now();
    twenty_give_up(&HELD);
    let waited = began.elapsed();
    assert!(waited >= WAIT, "gave up after {waited:?}");
    assert_ne!(in_queue(), 0, "they have left their nodes behind");
    drop(guard);
    drop(HELD.lock());
    assert_eq!(in_queue(), 0, "an owner has taken them out: {}", describe(raw(&HELD)));
}

#[test]
fn whoever_gives_up_again_and_again_uses_few_nodes() {
    static HELD: Lock = Mutex::new(0);
    let _turn = turn();
    let guard = HELD.lock();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..300 {
                assert!(HELD.try_lock_for(Duration::from_micros(50)).is_none(), "somebody holds it");
            }
        });
    });
    assert!(in_queue() < 16, "{} nodes for one thread", in_queue());
    drop(guard);
    assert!(HELD.try_lock_for(Duration::ZERO).is_some(), "a lock that is free is had whatever the deadline");
    drop(HELD.lock());
}

#[test]
fn waiters_behind_one_that_gave_up_are_served() {
    static HELD: Lock = Mutex::new(0);
    const ROUNDS: usize = 100;
    let _turn = turn();
    for _ in 0..ROUNDS {
        let guard = HELD.lock();
        let mut crew = Crew::new();
        for thread in 0..6 {
            crew.spawn(move || {
                if thread % 2 == 0 {
                    let _ = HELD
                        .try_lock_for(Duration::from_micros(300 + 100 * thread))
                        .map(|mut total| *total += 1);
                } else {
                    *HELD.lock() += 1;
                }
            });
        }
        thread::sleep(Duration::from_micros(500));
        drop(guard);
        crew.join(report(&HELD));
    }
    assert!(*HELD.lock() >= 3 * ROUNDS as u64);
    assert_eq!(in_queue(), 0, "{}", describe(raw(&HELD)));
}

#[test]
fn threads_that_come_and_go_use_few_nodes() {
    static SHARED: Lock = Mutex::new(0);
    let _turn = turn();
    let mut highest = 0;
    for _ in 0..50 {
        let guard = SHARED.lock();
        let mut wave = Crew::new();
        for _ in 0..6 {
            wave.spawn(|| *SHARED.lock() += 1);
        }
        until("a queued wave", report(&SHARED), || in_queue() == 6);
        let numbers = describe(raw(&SHARED));
        let numbers =
            numbers.split("\n  wait ").skip(1).filter_map(|wait| wait.split(':').next()?.parse::<u32>().ok());
        highest = highest.max(numbers.max().expect("six wait"));
        drop(guard);
        wave.join(report(&SHARED));
    }
    assert_eq!(*SHARED.lock(), 300);
    assert!(highest <= 64, "six threads at a time reached node {highest}");
}

#[test]
fn a_busy_lock_is_had_by_all_and_within_a_deadline() {
    static BUSY: Mutex<StanchionLock, u64> = Mutex::new(0);
    static MISSED: AtomicU64 = AtomicU64::new(0);
    let _turn = turn();
    let stop = AtomicBool::new(false);
    let rounds: Vec<u64> = thread::scope(|scope| {
        let busy = || {
            let mut rounds = 0;
            while !stop.load(Relaxed) {
                *BUSY.lock() += 1;
                rounds += 1;
            }
            rounds
        };
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(busy)).collect();
        let until = Instant::now() + Duration::from_secs(2);
        while Instant::now() < until {
            match BUSY.try_lock_for(Duration::from_secs(1)) {
                Some(mut total) => *total += 1,
                None => _ = MISSED.fetch_add(1, Relaxed),
            }
        }
        stop.store(true, Relaxed);
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(MISSED.load(Relaxed), 0);
    assert!(rounds.iter().all(|&rounds| rounds > 0), "{rounds:?}");
}

#[test]
fn a_lock_that_was_contended_has_no_marks_when_its_queue_has_ended() {
    static SHARED: Lock = Mutex::new(0);
    let _turn = turn();
    let mut crew = Crew::new();
    for _ in 0..4 {
        crew.spawn(|| (0..10_000).for_each(|_| *SHARED.lock() += 1));
    }
    crew.join(report(&SHARED));
    let word = raw(&SHARED).inner().word();
    assert_eq!((word.tail, word.pending, word.locked), (0, 0, 0));
    let before = count(Event::LockSlowpath);
    (0..1000).for_each(|_| *SHARED.lock() += 1);
    assert_eq!(count(Event::LockSlowpath), before, "nothing but the fast path");
}

#[test]
fn a_fair_unlock_hands_over_in_the_order_of_arrival() {
    static SHARED: Mutex<counted::StanchionLock, Vec<usize>> = Mutex::new(Vec::new());
    const WAITERS: usize = 4;
    // SAFETY: the raw lock is looked at only, never locked or unlocked.
    let report = || describe(unsafe { SHARED.raw() });
    // A node is named in the report before its waiter has queued; the lock's word has the newest that has.
    // SAFETY: as above, it is looked at only.
    let newest = || unsafe { SHARED.raw() }.inner().word().tail;
    let _turn = turn();
    for _ in 0..50 {
        let mut guard = SHARED.lock();
        guard.clear();
        let mut crew = Crew::new();
        crew.spawn(|| drop(SHARED.try_lock_for(Duration::from_millis(1))));
        until("one that gives up", report, || report().contains("Abandoned"));
        for waiter in 0..WAITERS {
            let before = newest();
            crew.spawn(move || {
                let mut guard = SHARED.lock();
                guard.push(waiter);
                MutexGuard::unlock_fair(guard);
            });
            until("a waiter behind the others", report, || newest() != before);
        }
        MutexGuard::bump(&mut guard);
        assert_eq!(*guard, [0, 1, 2, 3], "each that waited has come before us, in its turn");
        drop(guard);
        crew.join(report);
    }
}

#[test]
fn whoever_unlocks_fairly_does_not_come_before_a_waiter() {
    static SHARED: Lock = Mutex::new(0);
    let _turn = turn();
    for round in 0..200 {
        let guard = SHARED.lock();
        let mut crew = Crew::new();
        if round % 2 == 0 {
            crew.spawn(|| *SHARED.lock() += 1);
        } else {
            crew.spawn(|| *SHARED.try_lock_for(LONG).expect("it is handed over") += 1);
        }
        until("a waiter", report(&SHARED), || raw(&SHARED).inner().has_waiters());
        MutexGuard::unlock_fair(guard);
        let missed = SHARED.try_lock().is_none_or(|sum| *sum == round + 1);
        assert!(missed, "it is not free before the waiter has had it");
        assert_eq!(*SHARED.lock(), round + 1);
        crew.join(report(&SHARED));
    }
    MutexGuard::unlock_fair(SHARED.lock());
    assert!(!SHARED.is_locked(), "nobody waited");
}
