//! Threads that come and go use few numbers. Alone in its process: how many numbers there are depends on how
//! many threads there ever were at a time.
#![cfg(feature = "std")]

#[path = "support/counts.rs"]
mod counts;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use core::sync::atomic::{AtomicBool, Ordering};
use counts::{count, turn};
use stanchion::diagnose::describe;
use stanchion::lock::counted;
use stanchion::lock_api::{Mutex, RawMutex};
use stanchion::stanchion_core::Event;
use watch::{Crew, until};

fn raw<R: RawMutex>(mutex: &Mutex<R, u64>) -> &R {
    // SAFETY: the raw lock is looked at only, never locked or unlocked.
    unsafe { mutex.raw() }
}

/// The highest thread number among the queue nodes in use.
fn highest_number(report: &str) -> Option<u32> {
    report.split("node t").skip(1).filter_map(|node| node.split('.').next()?.parse().ok()).max()
}

#[test]
fn threads_that_come_and_go_share_few_slots() {
    static SHARED: Mutex<counted::PvQSpinLock, u64> = Mutex::new(0);
    const AT_ONCE: usize = 6;
    const WAVES: usize = 60;
    let _turn = turn();
    let stop: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let mut stayers = Crew::new();
    for _ in 0..2 {
        stayers.spawn(|| {
            let mut rounds = 0;
            while !stop.load(Ordering::Relaxed) {
                *SHARED.lock() += 1;
                rounds += 1;
            }
            rounds
        });
    }
    let mut highest = 0;
    for _ in 0..WAVES {
        let mut wave = Crew::new();
        let guard = SHARED.lock();
        for _ in 0..AT_ONCE {
            wave.spawn(|| *SHARED.lock() += 1);
        }
        // The whole wave and both that stay are queued; a thread that has exited has left no node behind.
        let queued = || describe(raw(&SHARED)).matches("node t").count();
        until("a queued wave", || describe(raw(&SHARED)), || queued() == AT_ONCE + 2);
        highest = highest.max(highest_number(&describe(raw(&SHARED))).expect("nodes are in use"));
        drop(guard);
        wave.join(|| describe(raw(&SHARED)));
    }
    stop.store(true, Ordering::Relaxed);
    let stayed: u64 = stayers.join(|| describe(raw(&SHARED))).iter().sum();
    assert_eq!(*SHARED.lock(), stayed + (AT_ONCE * WAVES) as u64);
    // At once: the wave, those that stay, and this thread. Numbers are taken back when some are needed.
    assert_ne!(count(Event::LockSlowpath), 0, "they waited");
    assert!(highest < 64, "{WAVES} waves of {AT_ONCE} reached thread number {highest}");
}
