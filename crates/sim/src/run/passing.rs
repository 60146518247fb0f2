//! Who passes whom, and what waits that are given up leave behind.
use crate::contexts::run_contexts;
use crate::platform::Sim;
use crate::run::Spec;
use crate::run::tests::{outcome, spec};
use crate::testing::{loop_of, machine, shared};
use crate::time;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use stanchion_core::nodes::State;
use stanchion_core::numbers::NESTING_LEVELS;
use stanchion_core::qrw::{QueuedRwLock, ReadersFirst};
use stanchion_core::{CpuId, Domain, Machine, NodeId, RawLock, RawRwLock, StanchionLock};
use std::sync::{Arc, Mutex};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;

fn sleep_until(at: u64) {
    Sim::doze(u32::try_from(at.saturating_sub(Sim::now())).expect("soon"));
}

/// Keeps the CPU until `at`.
fn compute_until(at: u64) {
    while Sim::now() < at {
        Sim::relax(1_000);
    }
}

fn run(contexts: Vec<Box<dyn FnOnce() + Send>>) {
    run_contexts(&machine(1, 1, contexts.len() as u16), 1, contexts).expect("all get it");
}

/// How many nodes the first `contexts` contexts have left in queues.
fn left_behind(contexts: u16) -> usize {
    let is_left =
        |node: &NodeId| Sim::with_domain(|domain| domain.wait_node(*node).state()) == State::Abandoned;
    let nodes = |me| (0..NESTING_LEVELS).filter_map(move |level| NodeId::of(me, level));
    (0..contexts).filter_map(CpuId::new).flat_map(nodes).filter(is_left).count()
}

#[test]
fn who_halts_until_a_time_is_not_stuck() {
    let woke = Arc::new(AtomicBool::new(false));
    let wakes = Arc::clone(&woke);
    run(vec![Box::new(move || {
        sleep_until(25 * MS);
        wakes.store(true, Ordering::Relaxed);
    })]);
    assert!(woke.load(Ordering::Relaxed));
}

/// Fifteen contexts try again and again, with deadlines, while the lock is held: how many places were left at
/// most.
fn left_by_tries<const IN_ORDER: bool>() -> usize {
    const RELEASED: u64 = 2 * MS;
    let lock = Arc::new(StanchionLock::<Sim, IN_ORDER>::new());
    let most_left = Arc::new(AtomicUsize::new(0));
    let holds = Arc::clone(&lock);
    let mut contexts: Vec<Box<dyn FnOnce() + Send>> = vec![Box::new(move || {
        holds.acquire();
        sleep_until(RELEASED);
        holds.release();
    })];
    for _ in 0..15 {
        let (lock, most) = (Arc::clone(&lock), Arc::clone(&most_left));
        contexts.push(Box::new(move || {
            sleep_until(50 * US);
            while !lock.acquire_until(&(Sim::now() + 40 * US)) {
                most.fetch_max(left_behind(16), Ordering::Relaxed);
            }
            lock.release();
        }));
    }
    run(contexts);
    most_left.load(Ordering::Relaxed)
}

#[test]
fn who_tries_again_and_again_does_not_take_a_node_for_each_try() {
    assert_eq!(left_by_tries::<false>(), 15, "they take over each other's");
    assert!(left_by_tries::<true>() <= 32 + 15, "as many as may be left, and those that waited meanwhile");
}

/// A writer holds the lock for 10 ms at a time, and comes again at once: how often another one sees it come
/// before it is in.
fn passed_by_a_looping_writer<L: RawRwLock<Platform = Sim> + 'static>() -> u32 {
    let (lock, sections, done) =
        (Arc::new(L::new()), Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    let (loops, counts, ends) = (Arc::clone(&lock), Arc::clone(&sections), Arc::clone(&done));
    let looping = move || {
        while !ends.load(Ordering::Relaxed) && counts.load(Ordering::Relaxed) < 100 {
            loops.acquire_write();
            counts.fetch_add(1, Ordering::Relaxed);
            compute_until(Sim::now() + 10 * MS);
            loops.release_write();
        }
    };
    let waits = move || {
        sleep_until(5 * MS);
        lock.acquire_write();
        done.store(true, Ordering::Relaxed);
        lock.release_write();
    };
    run(vec![Box::new(looping), Box::new(waits)]);
    sections.load(Ordering::Relaxed)
}

#[test]
fn a_writer_that_is_kicked_in_vain_lets_nobody_pass() {
    assert!(passed_by_a_looping_writer::<QueuedRwLock<Sim>>() <= 6);
    assert!(passed_by_a_looping_writer::<ReadersFirst<Sim>>() <= 6);
}

/// The order in which three writers get the lock, of whom the second halts, and the third comes while it has
/// been kicked and does not run yet.
fn order_of_writers<L: RawRwLock<Platform = Sim> + 'static>() -> Vec<usize> {
    let (lock, order) = (Arc::new(L::new()), Arc::new(Mutex::new(Vec::new())));
    let context = |who: usize, comes: u64, leaves: u64| {
        let (lock, order) = (Arc::clone(&lock), Arc::clone(&order));
        Box::new(move || {
            compute_until(comes);
            lock.acquire_write();
            order.lock().expect("no panic").push(who);
            compute_until(leaves);
            lock.release_write();
        }) as Box<dyn FnOnce() + Send>
    };
    run(vec![context(0, US, MS), context(1, 200 * US, 0), context(2, MS + 5 * US, 0)]);
    order.lock().expect("no panic").clone()
}

#[test]
fn a_writer_passes_one_that_has_no_cpu() {
    assert_eq!(order_of_writers::<QueuedRwLock<Sim>>(), [0, 2, 1]);
    assert_eq!(order_of_writers::<ReadersFirst<Sim>>(), [0, 2, 1]);
}

#[test]
fn of_two_contexts_in_turns_each_gives_way() {
    // Two have CPUs, one of them holds the lock, and the other spins for it: nobody finds it free.
    let (machine, workload) = (shared(2), loop_of(2_000, 1_000));
    let spec = spec(&machine, &workload, "stanchion", 8);
    let run = outcome(&Spec { time: 200 * time::MS, ..spec });
    let seven_slices = 7 * 4 * MS;
    assert!(run.ops.iter().all(|&ops| ops > 1_000), "each has its share: {:?}", run.ops);
    let longest = run.waits.max();
    assert!(longest < seven_slices, "none waits for each of the others to be preempted: {longest} ns");
}
