//! `fork()` in a threaded process whose other threads wait and sleep: the child uses locks that were free at
//! the fork.
//!
//! The child does what a child of a threaded process may do and little more: it takes locks, starts threads,
//! and ends with `_exit`. It writes nothing, and a panic would not leave it; its exit status is the number of
//! the step that failed.
#![cfg(feature = "std")]

#[path = "support/child.rs"]
mod child;
#[path = "support/counts.rs"]
mod counts;
#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use child::{Step, assert_child_succeeds, ensure, eventually, skipped, start};
use core::sync::atomic::{AtomicBool, Ordering};
use counts::{count, turn};
use stanchion::diagnose::describe;
use stanchion::lock::{self, counted};
use stanchion::lock_api::{Mutex, MutexGuard, RawMutex};
use stanchion::percpu::{Class, PerCpuRwLock};
use stanchion::stanchion_core::{Event, Machine, QueuedRwLock, RawLock, RawRwLock as _};
use stanchion::{Condvar, Raw, native};
use std::panic::catch_unwind;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::thread;
use watch::{Crew, until};

fn raw<R: RawMutex, T>(mutex: &Mutex<R, T>) -> &R {
    // SAFETY: the raw lock is looked at only, never locked or unlocked.
    unsafe { mutex.raw() }
}

fn tail<L: RawLock>(mutex: &Mutex<Raw<L>, u64>) -> u16
where
    Raw<L>: RawMutex,
{
    raw(mutex).inner().word().tail
}

/// In the child: threads contend for a lock, so that some sleep and are kicked. Steps from `first` on.
fn contend<L: RawLock>(first: i32, shared: &'static Mutex<Raw<L>, u64>, threads: u64, rounds: u64) -> Step
where
    Raw<L>: RawMutex,
{
    let before = *shared.lock();
    let guard = shared.lock();
    let mut crew = Vec::new();
    for _ in 0..threads {
        crew.push(start(first, move || (0..rounds).for_each(|_| *shared.lock() += 1))?);
    }
    eventually(first + 1, || tail(shared) != 0)?;
    drop(guard);
    for thread in &crew {
        eventually(first + 2, || thread.is_finished())?;
    }
    for thread in crew {
        thread.join().map_err(|_| first + 3)?;
    }
    ensure(first + 4, *shared.lock() == before + threads * rounds)?;
    let word = raw(shared).inner().word();
    ensure(first + 5, (word.tail, word.pending, word.locked) == (0, 0, 0))
}

/// A parent with three threads that sleep in the queue of a held lock.
struct BusyParent {
    guard: MutexGuard<'static, counted::PvQSpinLock, u64>,
    crew: Crew<()>,
}

static HELD: Mutex<counted::PvQSpinLock, u64> = Mutex::new(0);

impl BusyParent {
    fn new() -> Self {
        let guard = HELD.lock();
        let (heads, behind) = (count(Event::PvWaitHead), count(Event::PvWaitNode));
        let mut crew = Crew::new();
        for _ in 0..3 {
            crew.spawn(|| *HELD.lock() += 1);
        }
        let asleep = || count(Event::PvWaitHead) > heads && count(Event::PvWaitNode) >= behind + 2;
        until("three sleeping waiters", || describe(raw(&HELD)), asleep);
        Self { guard, crew }
    }

    /// What the child did is not seen here.
    fn assert_untouched(self) {
        let before = *self.guard;
        drop(self.guard);
        self.crew.join(|| describe(raw(&HELD)));
        assert_eq!(*HELD.lock(), before + 3);
        assert_eq!(tail(&HELD), 0);
    }
}

#[test]
fn uncontended_locks_that_were_free_work_in_the_child() {
    static BYTE: Mutex<lock::ByteLock, u64> = Mutex::new(0);
    static TICKET: Mutex<lock::TicketLock, u64> = Mutex::new(0);
    static QSPIN: Mutex<lock::QSpinLock, u64> = Mutex::new(0);
    static PV: stanchion::Mutex<u64> = stanchion::Mutex::new(0);
    if skipped() {
        return;
    }
    let _turn = turn();
    let parent = BusyParent::new();
    assert_child_succeeds(|| {
        for round in 0..1000 {
            ensure(1, *BYTE.lock() == round && *TICKET.lock() == round)?;
            ensure(2, *QSPIN.lock() == round && *PV.lock() == round)?;
            *BYTE.lock() += 1;
            *TICKET.lock() += 1;
            *QSPIN.lock() += 1;
            *PV.lock() += 1;
        }
        ensure(3, PV.try_lock().is_some())?;
        ensure(4, HELD.try_lock().is_none()) // what was held stays held
    });
    assert_eq!((*BYTE.lock(), *PV.lock()), (0, 0), "the child's memory is its own");
    parent.assert_untouched();
}

#[test]
fn contended_locks_work_in_the_child() {
    static QSPIN: Mutex<counted::QSpinLock, u64> = Mutex::new(0);
    static PV: Mutex<lock::PvQSpinLock, u64> = Mutex::new(0);
    static KICK_AT_UNLOCK: Mutex<lock::PvQSpinKickAtUnlockLock, u64> = Mutex::new(0);
    if skipped() {
        return;
    }
    let _turn = turn();
    let parent = BusyParent::new();
    assert_child_succeeds(|| {
        contend(10, &PV, 8, 200)?;
        contend(20, &KICK_AT_UNLOCK, 8, 50)?;
        contend(30, &QSPIN, 2, 50) // two and this one: the second of them queues
    });
    assert_eq!((*PV.lock(), *KICK_AT_UNLOCK.lock(), *QSPIN.lock()), (0, 0, 0));
    contend(0, &PV, 8, 200).expect("and the parent's locks still work");
    parent.assert_untouched();
}

#[test]
fn sleeping_heads_are_kicked_in_the_child() {
    static PV: Mutex<counted::PvQSpinLock, u64> = Mutex::new(0);
    if skipped() {
        return;
    }
    let _turn = turn();
    let parent = BusyParent::new();
    let asymmetric = native::facts().asymmetric_release;
    assert_child_succeeds(|| {
        ensure(1, native::facts().asymmetric_release == asymmetric)?;
        let kicks = count(Event::PvKickUnlock);
        for _ in 0..20 {
            let heads = count(Event::PvWaitHead);
            let guard = PV.lock();
            let waiter = start(2, || *PV.lock() += 1)?;
            eventually(3, || count(Event::PvWaitHead) > heads)?;
            drop(guard);
            eventually(4, || waiter.is_finished())?;
            waiter.join().map_err(|_| 5)?;
        }
        ensure(6, count(Event::PvKickUnlock) > kicks)?;
        ensure(7, count(Event::PvNoBarrier) == 0)?;
        ensure(8, *PV.lock() == 20)
    });
    parent.assert_untouched();
}

#[test]
fn reader_writer_locks_that_were_free_work_in_the_child() {
    static CLASS: Class = Class::new();
    static QUEUED: stanchion::RwLock<u64> = stanchion::RwLock::new(0);
    static PERCPU: PerCpuRwLock<u64> = PerCpuRwLock::new(&CLASS, 0);
    const THREADS: u64 = 6;
    const ROUNDS: u64 = 50;
    if skipped() {
        return;
    }
    let _turn = turn();
    let parent = BusyParent::new();
    // Another thread of the parent has a cell of the class; its number stays taken in the child.
    let (tell, told) = channel();
    let (finish, finished) = channel::<()>();
    let mut reader = Crew::new();
    reader.spawn(move || {
        assert_eq!(*PERCPU.read(), 0);
        tell.send(()).expect("the test listens");
        let _ = finished.recv(); // the sender is only ever dropped
    });
    told.recv().expect("the reader has read");
    assert_child_succeeds(|| {
        let mut crew = Vec::new();
        for _ in 0..THREADS {
            crew.push(start(1, || {
                for _ in 0..ROUNDS {
                    *QUEUED.write() += 1;
                    *PERCPU.write() += 1;
                    drop((PERCPU.read(), QUEUED.read()));
                }
            })?);
        }
        for thread in &crew {
            eventually(2, || thread.is_finished())?;
        }
        for thread in crew {
            thread.join().map_err(|_| 3)?;
        }
        ensure(4, *QUEUED.read() == THREADS * ROUNDS && *PERCPU.read() == THREADS * ROUNDS)?;
        ensure(5, QUEUED.try_write().is_some() && PERCPU.try_write().is_some())
    });
    drop(finish);
    reader.join(String::new);
    assert_eq!((*QUEUED.read(), *PERCPU.read()), (0, 0), "the child's memory is its own");
    parent.assert_untouched();
}

#[test]
fn a_lock_that_was_read_at_the_fork_stays_read_in_the_child() {
    static CLASS: Class = Class::new();
    static PERCPU: PerCpuRwLock<u64> = PerCpuRwLock::new(&CLASS, 0);
    if skipped() {
        return;
    }
    let _turn = turn();
    let guard = PERCPU.read();
    assert_child_succeeds(|| {
        ensure(1, start(2, || assert!(PERCPU.try_write().is_none()))?.join().is_ok())?;
        ensure(3, *guard == 0)
    });
    drop(guard);
    assert!(PERCPU.try_write().is_some());
}

#[test]
fn a_condition_is_notified_in_the_child_while_a_thread_of_the_parent_notifies_it() {
    static CHANGED: Condvar = Condvar::new();
    static IS_OVER: AtomicBool = AtomicBool::new(false);
    if skipped() {
        return;
    }
    let _turn = turn();
    let notifies = thread::spawn(|| {
        while !IS_OVER.load(Ordering::Relaxed) {
            CHANGED.notify_one();
            CHANGED.notify_all();
        }
    });
    for _ in 0..100 {
        assert_child_succeeds(|| ensure(1, !CHANGED.notify_one() && CHANGED.notify_all() == 0));
    }
    IS_OVER.store(true, Ordering::Relaxed);
    notifies.join().expect("no panic");
}

#[test]
fn a_child_of_a_child_works_too() {
    static PV: Mutex<lock::PvQSpinLock, u64> = Mutex::new(0);
    if skipped() {
        return;
    }
    let _turn = turn();
    let parent = BusyParent::new();
    assert_child_succeeds(|| {
        contend(10, &PV, 4, 50)?;
        assert_child_succeeds(|| contend(20, &PV, 4, 50));
        contend(30, &PV, 4, 50)
    });
    parent.assert_untouched();
}

fn number() -> u16 {
    native::Native::<native::Silent>::this_cpu().expect("few threads").index()
}

#[test]
fn the_child_gets_the_numbers_back_that_nobody_uses() {
    const THREADS: usize = 30;
    if skipped() {
        return;
    }
    let _turn = turn();
    let parent = BusyParent::new();
    let (mine, all) = (number(), Arc::new(Barrier::new(THREADS + 1)));
    let idle = (0..THREADS).map(|_| {
        let all = Arc::clone(&all);
        let (tell, told) = channel();
        let thread = thread::spawn(move || {
            tell.send(number()).expect("somebody listens");
            all.wait();
        });
        (thread, told.recv().expect("it has a number"))
    });
    let (threads, theirs): (Vec<_>, Vec<_>) = idle.unzip();
    assert_child_succeeds(|| {
        for first in [1, 11] {
            let mut came_back = false;
            for _ in 0..100 {
                let got = thread::Builder::new().spawn(number).map_err(|_| first)?.join();
                let got = got.map_err(|_| first + 1)?;
                ensure(first + 2, got != mine && number() == mine)?;
                came_back |= theirs.contains(&got);
            }
            ensure(first + 3, came_back)?;
        }
        Ok(())
    });
    all.wait();
    for thread in threads {
        thread.join().expect("no panic");
    }
    parent.assert_untouched();
}

/// Starts three writers and a reader. They end by themselves once they get the lock.
fn start_readers_and_writers(lock: &'static CountedRw) -> Result<Vec<thread::JoinHandle<()>>, i32> {
    let round = move |writes| {
        if writes {
            lock.acquire_write();
            lock.release_write();
        } else {
            lock.acquire_read().expect("few readers");
            lock.release_read();
        }
    };
    let thread = |writes| start(9, move || (0..50).for_each(|_| round(writes)));
    [true, true, false, true].into_iter().map(thread).collect()
}

type CountedRw = QueuedRwLock<native::Native<native::Counted>>;

#[test]
fn the_child_goes_on_with_a_lock_that_it_holds_and_whose_waiters_it_has_forgotten() {
    if skipped() {
        return;
    }
    let _turn = turn();
    let place: *mut CountedRw = Box::leak(Box::new(CountedRw::new()));
    // SAFETY: it is never freed, and the one reference that may change it is the child's.
    let lock: &'static CountedRw = unsafe { &*place };
    let asleep = || count(Event::PvWaitHead) + count(Event::PvWaitNode);
    let (halts, sleeps) = (count(Event::RwHeadHalt), asleep());
    lock.acquire_write();
    let crew = start_readers_and_writers(lock).expect("threads");
    // The first of the writers halts at the head, the next one waits for it, the reader is in the queue.
    let all_wait = || count(Event::RwHeadHalt) > halts && asleep() >= sleeps + 2;
    until("sleeping waiters", || format!("{:?} {:?}", lock.word(), lock.queue_word()), all_wait);
    assert_child_succeeds(|| {
        // SAFETY: the child has one thread, and `lock` is not used until this is over.
        unsafe { (*place).forget_waiters() };
        let crew = start_readers_and_writers(lock)?;
        eventually(1, || lock.queue_word().is_some_and(|queue| queue.locked != 0))?;
        lock.release_write();
        for thread in crew {
            eventually(2, || thread.is_finished())?;
        }
        ensure(3, lock.try_acquire_write())
    });
    lock.release_write();
    for thread in crew {
        thread.join().expect("no panic");
    }
}

#[test]
fn a_failing_child_is_noticed() {
    if skipped() {
        return;
    }
    let _turn = turn();
    let failed = catch_unwind(|| assert_child_succeeds(|| Err(7)));
    assert!(failed.is_err(), "its exit status says so");
}
