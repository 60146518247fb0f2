//! Condition variables: no wake-up is lost, none is taken by somebody who came later, and one may be
//! destroyed after it notified all.
#![cfg(feature = "std")]

#[path = "support/suppressions.rs"]
mod suppressions;

use core::panic::{AssertUnwindSafe, RefUnwindSafe, UnwindSafe};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use stanchion::condvar::{Ending, Relay, WaitQueue, Waiter};
use stanchion::deadline::{Clock, Deadline};
use stanchion::{Condvar, Mutex};
use std::thread;
use std::time::Instant;

/// A panic leaves no condition in a state that it should not be in, as those of std and parking_lot say.
const fn is_unwind_safe<T: UnwindSafe + RefUnwindSafe>() {}
const _: () = is_unwind_safe::<Condvar>();

/// Far beyond what a wait takes here.
const LONG: Duration = Duration::from_mins(1);

#[test]
fn a_ring_of_threads_passes_a_turn_on() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 200;
    let turn = Mutex::new(0);
    let changed: [Condvar; THREADS] = [const { Condvar::new() }; THREADS];
    thread::scope(|scope| {
        for me in 0..THREADS {
            let (turn, changed) = (&turn, &changed);
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    let mut guard = turn.lock();
                    changed[me].wait_while(&mut guard, |turn| *turn % THREADS != me);
                    *guard += 1;
                    changed[(me + 1) % THREADS].notify_one();
                }
            });
        }
    });
    assert_eq!(*turn.lock(), THREADS * ROUNDS);
}

#[test]
fn each_notification_wakes_one_and_all_wakes_all() {
    let state = Mutex::new((0, 0)); // those that wait, those that were woken
    let (changed, back) = (Condvar::new(), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut guard = state.lock();
                guard.0 += 1;
                changed.wait(&mut guard);
                guard.1 += 1;
                back.notify_one();
            });
        }
        let mut guard = state.lock();
        while guard.0 < 6 {
            lock_api::MutexGuard::unlocked(&mut guard, thread::yield_now);
        }
        assert!(changed.notify_one());
        back.wait_while(&mut guard, |(_, woken)| *woken < 1);
        // There are no spurious wake-ups: the others sleep on.
        assert!(back.wait_for(&mut guard, Duration::from_millis(20)).timed_out());
        assert_eq!(guard.1, 1);
        assert_eq!(changed.notify_all(), 5);
        back.wait_while(&mut guard, |(_, woken)| *woken < 6);
        assert!(!changed.notify_one(), "nobody is left");
    });
}

#[test]
fn a_deadline_ends_a_wait_on_either_clock_and_not_before_it() {
    let queue = WaitQueue::new();
    let ends = |deadline: &Deadline| {
        let waiter = Waiter::new();
        // SAFETY: the waiter is new, and stays until `sleep` has returned.
        unsafe { queue.list(&waiter, core::ptr::null()) };
        queue.sleep(&waiter, Some(deadline), || false)
    };
    for clock in [Clock::Monotonic, Clock::Realtime] {
        assert_eq!(ends(&Deadline::at(clock, -1, 0).expect("a time")), Ending::TimedOut);
    }
    let soon = Deadline::after(Duration::from_millis(30));
    assert_eq!(ends(&soon), Ending::TimedOut);
    assert!(soon.has_passed());

    let (mutex, never) = (Mutex::new(()), Condvar::new());
    let soon = Instant::now() + Duration::from_millis(30);
    assert!(never.wait_until(&mut mutex.lock(), soon).timed_out());
    assert!(Instant::now() >= soon);
    assert!(!mutex.is_locked());
}

/// A wait with another mutex is refused before it releases that.
#[test]
fn a_second_mutex_is_refused_while_somebody_waits_with_the_first() {
    let (first, second, changed) = (Mutex::new(false), Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut guard = first.lock();
            *guard = true;
            changed.wait(&mut guard);
        });
        while !*first.lock() {
            thread::yield_now();
        }
        let refused = std::panic::catch_unwind(AssertUnwindSafe(|| changed.wait(&mut second.lock())));
        assert!(refused.is_err() && !second.is_locked(), "the panic released it");
        assert_eq!(changed.notify_all(), 1);
    });
    assert!(changed.wait_for(&mut second.lock(), Duration::ZERO).timed_out(), "nobody waits any more");
}

/// Signals and deadlines that come at the same moment: whoever was notified says so, whoever was not does
/// not.
#[test]
fn notifications_are_neither_lost_nor_doubled_when_waits_time_out() {
    let (woken, sent) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let over = AtomicBool::new(false);
    let (mutex, changed) = (Mutex::new(()), Condvar::new());
    thread::scope(|scope| {
        let waiters: Vec<_> = (0..6)
            .map(|index| {
                let (woken, mutex, changed) = (&woken, &mutex, &changed);
                scope.spawn(move || {
                    for round in 0..400 {
                        let mut guard = mutex.lock();
                        let short = Duration::from_micros(20 * (index + round % 7));
                        if !changed.wait_for(&mut guard, short).timed_out() {
                            woken.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let count = usize::from(changed.notify_one()) + changed.notify_all();
                sent.fetch_add(count, Ordering::Relaxed);
                thread::yield_now();
            }
        });
        for waiter in waiters {
            waiter.join().expect("no panic");
        }
        over.store(true, Ordering::Relaxed);
    });
    assert_eq!(woken.load(Ordering::Relaxed), sent.load(Ordering::Relaxed));
    assert!(sent.load(Ordering::Relaxed) > 0, "some were notified");
}

/// The memory of the condition is reused at once after it notified all, while those who waited are still on
/// their way out.
#[test]
fn a_condition_may_be_destroyed_right_after_it_notified_all() {
    for _ in 0..200 {
        let mutex = Mutex::new(0);
        let condition = Box::into_raw(Box::new(WaitQueue::new()));
        let address = condition.addr();
        thread::scope(|scope| {
            let waiters = [(); 3].map(|()| {
                scope.spawn(|| {
                    let waiter = Waiter::new();
                    let mut guard = mutex.lock();
                    *guard += 1;
                    let queue = core::ptr::with_exposed_provenance::<WaitQueue>(address);
                    // SAFETY: the condition lives until those who wait were notified, and the waiter stays
                    // until `sleep` is over.
                    unsafe { (*queue).list(&waiter, core::ptr::null()) };
                    drop(guard);
                    // SAFETY: as above; after it was notified `sleep` touches the queue no more.
                    assert_eq!(unsafe { (*queue).sleep(&waiter, None, || false) }, Ending::Notified);
                })
            });
            condition.expose_provenance();
            while *mutex.lock() < 3 {
                thread::yield_now();
            }
            // SAFETY: it was made above, and is destroyed here only.
            unsafe {
                assert_eq!((*condition).notify(usize::MAX, |_| false), 3);
                assert!((*condition).is_quiet());
                condition.write_bytes(0xa5, 1);
                drop(Box::from_raw(condition.cast::<[u64; 2]>()));
            }
            // The thread sanitizer knows of joins, and not of what ends a scope.
            for waiter in waiters {
                waiter.join().expect("no panic");
            }
        });
    }
}

#[test]
fn a_relay_wakes_one_waiter_a_release() {
    struct Shared {
        lock: Mutex<()>,
        relay: Relay,
        queue: WaitQueue,
        listed: AtomicUsize,
        inside: AtomicUsize,
    }
    let shared = Shared {
        lock: Mutex::new(()),
        relay: Relay::new(),
        queue: WaitQueue::new(),
        listed: AtomicUsize::new(0),
        inside: AtomicUsize::new(0),
    };
    let shared = &shared;
    let release = |guard: lock_api::MutexGuard<'_, _, ()>| {
        // SAFETY: the mutex is held.
        let next = unsafe { shared.relay.next() };
        drop(guard);
        if let Some(next) = next {
            next.wake();
        }
    };
    thread::scope(|scope| {
        let waiters = [(); 5].map(|()| {
            scope.spawn(move || {
                let waiter = Waiter::new();
                let guard = shared.lock.lock();
                // SAFETY: the waiter stays until `sleep` is over.
                unsafe { shared.queue.list(&waiter, core::ptr::null()) };
                shared.listed.fetch_add(1, Ordering::Relaxed);
                release(guard);
                assert_eq!(
                    shared.queue.sleep(&waiter, Some(&Deadline::after(LONG)), || false),
                    Ending::Notified
                );
                let guard = shared.lock.lock();
                assert_eq!(shared.inside.fetch_add(1, Ordering::Relaxed), 0, "nobody else is inside");
                thread::yield_now();
                shared.inside.fetch_sub(1, Ordering::Relaxed);
                release(guard);
            })
        });
        while shared.listed.load(Ordering::Relaxed) < 5 {
            thread::yield_now();
        }
        let guard = shared.lock.lock();
        let take = |waiter: NonNull<Waiter>| {
            // SAFETY: the mutex is held, and `notify` gave us the waiter.
            unsafe { shared.relay.take(waiter) };
            true
        };
        assert_eq!(shared.queue.notify(usize::MAX, take), 5);
        // SAFETY: the mutex is held.
        assert!(!unsafe { shared.relay.is_empty() });
        release(guard);
        for waiter in waiters {
            waiter.join().expect("no panic");
        }
    });
    // SAFETY: no thread is left.
    assert!(unsafe { shared.relay.is_empty() });
}

#[test]
fn a_waiter_is_at_home_on_the_cpu_where_it_was_listed_and_then_where_it_was_told() {
    let moves_to = |cpu| {
        let mut only = CpuSet::new();
        only.set(cpu);
        sched_setaffinity(None, &only).expect("a CPU of ours");
    };
    // A thread of its own, as it is moved.
    thread::spawn(move || {
        let all = sched_getaffinity(None).expect("it is known");
        let mut cpus = (0..CpuSet::MAX_CPU).filter(|&cpu| all.is_set(cpu));
        let first = cpus.next().expect("one runs us");
        moves_to(first);
        let (queue, waiter) = (WaitQueue::new(), Waiter::new());
        // SAFETY: the waiter stays until `sleep` is over.
        unsafe { queue.list(&waiter, core::ptr::null()) };
        // SAFETY: only this thread lists and tells it.
        let is_at_home = || unsafe { waiter.is_at_home() };
        assert!(is_at_home());
        // Elsewhere it may take a system call to know, which is not made.
        let other = cpus.next().filter(|_| cfg!(target_arch = "x86_64"));
        if let Some(other) = other {
            moves_to(other);
            assert!(!is_at_home());
        }
        assert_eq!(queue.notify(1, |_| false), 1);
        assert!(is_at_home(), "it was told on this CPU");
        if other.is_some() {
            moves_to(first);
            assert!(!is_at_home());
        }
        assert_eq!(queue.sleep(&waiter, None, || false), Ending::Notified);
    })
    .join()
    .expect("no panic");
}

#[test]
fn a_poke_makes_a_waiter_look_around_and_takes_no_notification() {
    let queue = WaitQueue::new();
    let waiter = Waiter::new();
    waiter.poke(); // one that does not wait yet: it looks around as soon as it does
    let asked = AtomicUsize::new(0);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            // SAFETY: the waiter stays until `sleep` is over.
            unsafe { queue.list(&waiter, core::ptr::null()) };
            queue.sleep(&waiter, None, || asked.fetch_add(1, Ordering::Relaxed) == 1)
        });
        // The first answer is no: the waiter waits on. The second one is yes.
        while !sleeper.is_finished() {
            waiter.poke();
            thread::yield_now();
        }
        assert_eq!(sleeper.join().expect("no panic"), Ending::Interrupted);
    });
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    assert!(queue.is_quiet());
    assert_eq!(queue.notify(1, |_| false), 0, "it has left");
}

#[test]
fn a_poke_that_was_taken_is_over() {
    let queue = WaitQueue::new();
    let waiter = Waiter::new();
    waiter.poke();
    assert!(waiter.take_poke());
    assert!(!waiter.take_poke(), "once");
    // SAFETY: the waiter stays until `sleep` is over.
    unsafe { queue.list(&waiter, core::ptr::null()) };
    let soon = Deadline::after(Duration::from_millis(1));
    assert_eq!(queue.sleep(&waiter, Some(&soon), || panic!("it looked around")), Ending::TimedOut);
}
