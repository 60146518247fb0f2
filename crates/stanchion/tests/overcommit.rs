//! The paravirtual lock with far more threads than CPUs: exclusion, sleeping waiters, thieves, and slots that
//! come back.
#![cfg(feature = "std")]

#[path = "support/counts.rs"]
mod counts;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use counts::{count, turn};
use rustix::time::{ClockId, clock_gettime};
use stanchion::GuardMarker;
use stanchion::diagnose::describe;
use stanchion::lock::{PvQSpinKickAtUnlockLock, PvQSpinLock, counted};
use stanchion::lock_api::{Mutex, RawMutex};
use stanchion::native::{Counting, Native};
use stanchion::stanchion_core::{Event, RawLock};
use stanchion::stanchion_family::events::FamilyEvents as _;
use stanchion::{Raw, events};
use std::thread;
use std::time::Instant;
use watch::{Crew, until};

/// The lock of a mutex, to look at.
fn raw<R: RawMutex, T>(mutex: &Mutex<R, T>) -> &R {
    // SAFETY: the raw lock is looked at only, never locked or unlocked.
    unsafe { mutex.raw() }
}

/// Whether the head of the queue has left word where it sleeps (or is about to).
fn head_sleeps<C: Counting, L: RawLock<Platform = Native<C>>>(lock: &Raw<L>) -> bool {
    (1..=123).contains(&lock.inner().word().pending)
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// `threads` threads add to several plain words; every addition counts and no section is torn.
fn check_total<L>(shared: &'static Mutex<Raw<L>, [u64; 16]>, threads: u64, rounds: u64)
where
    L: RawLock<Platform = Native>,
    Raw<L>: RawMutex<Guard = GuardMarker>,
{
    let guard = shared.lock();
    let mut crew = Crew::new();
    for _ in 0..threads {
        crew.spawn(move || {
            for _ in 0..rounds {
                let mut words = shared.lock();
                let before = words[0];
                for word in words.iter_mut() {
                    assert_eq!(*word, before, "somebody else was inside");
                    *word += 1;
                }
            }
        });
    }
    // They start against a held lock, so that all of them queue however fast they would be one by one.
    until("a head that sleeps", || describe(raw(shared)), || head_sleeps(raw(shared)));
    drop(guard);
    crew.join(|| describe(raw(shared)));
    assert_eq!(*shared.lock(), [threads * rounds; 16]);
    let word = raw(shared).inner().word();
    assert_eq!((word.tail, word.pending, word.locked), (0, 0, 0));
}

macro_rules! totals {
    ($($name:ident: $lock:ty, $rounds:literal rounds;)*) => {$(
        #[test]
        fn $name() {
            static SHARED: Mutex<$lock, [u64; 16]> = Mutex::new([0; 16]);
            let _turn = turn();
            check_total(&SHARED, 32, $rounds);
        }
    )*};
}

totals! {
    merged_with_32_threads: PvQSpinLock, 1000 rounds;
    kick_at_unlock_with_32_threads: PvQSpinKickAtUnlockLock, 200 rounds;
}

#[test]
fn waiters_sleep_and_are_kicked() {
    static SHARED: Mutex<counted::PvQSpinLock, u64> = Mutex::new(0);
    const WAITERS: u64 = 4;
    const HELD: Duration = Duration::from_millis(100);
    let _turn = turn();
    events::reset();
    let guard = SHARED.lock();
    let mut crew = Crew::new();
    for _ in 0..WAITERS {
        crew.spawn(|| {
            let before = cpu_time();
            let mut total = SHARED.lock();
            *total += 1;
            cpu_time().saturating_sub(before)
        });
    }
    let all_halted = || count(Event::PvWaitHead) >= 1 && count(Event::PvWaitNode) >= WAITERS - 1;
    until("one head and three behind it that halt", || describe(raw(&SHARED)), all_halted);
    assert_eq!(count(Event::PvKickUnlock), 0, "nothing was released yet");
    let began = Instant::now();
    thread::sleep(HELD);
    let held = began.elapsed();
    drop(guard);
    for used in crew.join(|| describe(raw(&SHARED))) {
        assert!(used < held / 2, "a waiter used {used:?} of CPU time for a lock held for {held:?}");
    }
    assert_eq!(*SHARED.lock(), WAITERS);
    assert!(count(Event::PvKickUnlock) >= 1, "the head was kicked");
    assert!(count(Event::PvKickWake) >= 1, "and woke up by it");
}

#[test]
fn a_head_that_loses_to_a_thief_sleeps_again() {
    static SHARED: Mutex<counted::PvQSpinLock, u64> = Mutex::new(0);
    const WANTED: u64 = 5;
    let _turn = turn();
    events::reset();
    let done: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
    let mut guard = Some(SHARED.lock());
    let mut crew = Crew::new();
    crew.spawn(|| {
        while !done.load(Ordering::Relaxed) {
            *SHARED.lock() += 1;
        }
    });
    // Lets go while the head sleeps and takes the lock back before it is awake: that wins nearly always.
    let stolen_from_enough = || {
        if head_sleeps(raw(&SHARED)) {
            drop(guard.take());
            guard = SHARED.try_lock();
        }
        if guard.is_none() {
            guard = Some(SHARED.lock());
        }
        count(Event::PvWaitAgain) >= WANTED
    };
    until("a woken head that sleeps again", || describe(raw(&SHARED)), stolen_from_enough);
    done.store(true, Ordering::Relaxed);
    drop(guard);
    crew.join(|| describe(raw(&SHARED)));
    assert!(count(Event::PvKickUnlock) >= 1, "a head that slept was kicked before it slept again");
    let word = raw(&SHARED).inner().word();
    assert_eq!((word.tail, word.pending, word.locked), (0, 0, 0));
}

/// All locks are held, each with `waiters` waiters, until so many of the first waiters sleep; then all are
/// released.
fn check_sleeping_heads(
    locks: &[&'static Mutex<counted::PvQSpinLock, u64>],
    waiters: usize,
    heads_that_sleep: usize,
) {
    let report = || locks.iter().take(3).map(|shared| describe(raw(shared))).collect();
    let guards: Vec<_> = locks.iter().map(|shared| shared.lock()).collect();
    let mut crew = Crew::new();
    for &shared in locks {
        for _ in 0..waiters {
            crew.spawn(|| *shared.lock() += 1);
        }
    }
    let asleep = || locks.iter().filter(|shared| head_sleeps(raw(shared))).count();
    let queued = || locks.iter().filter(|shared| raw(shared).inner().word().tail != 0).count();
    let others_poll = || heads_that_sleep == locks.len() || count(Event::PvNoParking) > 0;
    // A head leaves its mark first, then makes sure that the lock is held, and then counts and halts.
    let halted = || count(Event::PvWaitHead) >= heads_that_sleep as u64;
    let ready = || queued() == locks.len() && asleep() == heads_that_sleep && halted() && others_poll();
    until("a queue at every lock", report, ready);
    drop(guards);
    crew.join(report);
    for shared in locks {
        assert_eq!(*shared.lock(), waiters as u64);
        let word = raw(shared).inner().word();
        assert_eq!((word.tail, word.pending, word.locked), (0, 0, 0));
    }
}

#[test]
fn heads_of_many_locks_sleep_at_once() {
    static LOCKS: [Mutex<counted::PvQSpinLock, u64>; 120] = [const { Mutex::new(0) }; 120];
    let _turn = turn();
    events::reset();
    check_sleeping_heads(&LOCKS.each_ref(), 2, LOCKS.len());
    assert!(count(Event::PvWaitHead) >= 120);
    assert_eq!(count(Event::PvNoParking), 0, "120 heads find a parking slot in any row");
}

#[test]
fn heads_without_a_slot_get_on_by_polling() {
    // Locks whose addresses select the same row of 123 parking slots: with more heads than that, some find no
    // parking slot.
    const HEADS: usize = 133;
    static LOCKS: [Mutex<counted::PvQSpinLock, u64>; 1 << 15] = [const { Mutex::new(0) }; 1 << 15];
    /// As `NativeDomain::parking` chooses; if that changes, this test waits for 123 sleeping heads in vain
    /// and says so.
    fn row(shared: &Mutex<counted::PvQSpinLock, u64>) -> usize {
        core::ptr::from_ref(raw(shared)).addr().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32 & 127
    }
    let _turn = turn();
    events::reset();
    let first = row(&LOCKS[0]);
    let same_row: Vec<_> = LOCKS.iter().filter(|shared| row(shared) == first).take(HEADS).collect();
    assert_eq!(same_row.len(), HEADS, "the rows are used evenly");
    check_sleeping_heads(&same_row, 1, 123);
    assert!(count(Event::PvNoParking) > 0, "ten heads more than parking slots");
}
