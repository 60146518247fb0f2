//! Lock events: counted by the counting locks only, summed over all threads there ever were, and resettable.
#![cfg(feature = "std")]

#[path = "support/counts.rs"]
mod counts;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use counts::{count, turn};
use stanchion::diagnose::describe;
use stanchion::events::{reset, snapshot};
use stanchion::lock::{self, counted};
use stanchion::lock_api::Mutex;
use stanchion::native::{Counting, Native};
use stanchion::stanchion_core::{Event, RawLock};
use stanchion::stanchion_family::events::FamilyEvents as _;
use stanchion::{Raw, lock_api};
use std::sync::mpsc::channel;
use watch::{Crew, until};

/// Runs one contended acquisition in a thread of its own, which has exited when this returns.
fn wait_once<C: Counting, L>(shared: &'static Mutex<Raw<L>, u64>)
where
    Raw<L>: lock_api::RawMutex,
    L: RawLock<Platform = Native<C>>,
{
    // SAFETY: the raw lock is read for its word and for reports only, never locked or unlocked.
    let raw = unsafe { shared.raw() };
    let guard = shared.lock();
    let mut crew = Crew::new();
    crew.spawn(|| *shared.lock() += 1);
    until("a waiter in the queue", || describe(raw), || raw.inner().word().tail != 0);
    drop(guard);
    crew.join(|| describe(raw));
}

#[test]
fn silent_locks_count_nothing() {
    static BYTE: Mutex<lock::ByteLock, u64> = Mutex::new(0);
    static PV: Mutex<lock::PvQSpinLock, u64> = Mutex::new(0);
    let _turn = turn();
    reset();
    wait_once(&PV);
    for _ in 0..100 {
        *BYTE.lock() += 1;
        *PV.lock() += 1;
    }
    for line in snapshot() {
        assert_eq!(line.count, 0, "{}", line.event.name());
    }
    assert_eq!((*BYTE.lock(), *PV.lock()), (100, 101));
}

#[test]
fn an_uncontended_counting_lock_counts_nothing_either() {
    static PV: Mutex<counted::PvQSpinLock, u64> = Mutex::new(0);
    let _turn = turn();
    reset();
    for _ in 0..100 {
        *PV.lock() += 1;
    }
    assert!(snapshot().iter().all(|line| line.count == 0), "only slow paths count: {:?}", snapshot());
}

#[test]
fn counts_outlive_their_threads_and_are_reset() {
    static PV: Mutex<counted::PvQSpinLock, u64> = Mutex::new(0);
    const WAITS: u64 = 20;
    let _turn = turn();
    reset();
    for waits in 1..=WAITS {
        // Each of these threads gets the number of the one before, so the counts of both are in one place.
        wait_once(&PV);
        assert_eq!(count(Event::LockSlowpath), waits, "each waiter queued once and has exited");
    }
    reset();
    assert!(snapshot().iter().all(|line| line.count == 0), "after a reset: {:?}", snapshot());
    wait_once(&PV);
    assert_eq!(count(Event::LockSlowpath), 1, "counting goes on after a reset");
}

#[test]
fn counts_of_threads_that_run_at_once_add_up() {
    static LOCKS: [Mutex<counted::QSpinLock, u64>; 4] = [const { Mutex::new(0) }; 4];
    let _turn = turn();
    reset();
    let guards: Vec<_> = LOCKS.iter().map(Mutex::lock).collect();
    let (ready, all_ready) = channel();
    let mut crew = Crew::new();
    for shared in &LOCKS {
        let ready = ready.clone();
        crew.spawn(move || {
            ready.send(()).expect("the test listens");
            *shared.lock() += 1;
        });
    }
    for _ in &LOCKS {
        all_ready.recv().expect("a waiter started");
    }
    until("four pending waiters", String::new, || count(Event::LockSlowpath) == 4);
    assert_eq!(count(Event::LockPending), 0, "nobody got a lock yet");
    drop(guards);
    crew.join(String::new);
    assert_eq!(count(Event::LockPending), 4, "each was the only waiter of its lock");
    assert_eq!(count(Event::LockSlowpath), 4);
}

#[test]
fn a_snapshot_names_every_event_once_in_order() {
    let events: Vec<Event> = snapshot().into_iter().map(|line| line.event).collect();
    assert_eq!(events, stanchion::events::ALL);
}
