//! The tormentor: a thread that sends signals to the workers, and sees to it that their handlers have to
//! wait.
//!
//! Signals come in storms with calm spells between. A calm is as necessary as a storm: a signal ends a futex
//! wait, after which the waiter looks again, so a lock that loses wake-ups would be cured by the very thing
//! that is meant to hurt it. For the same reason workers that are getting nowhere are spared, and everything
//! is hushed while nobody gets anywhere.
use super::arena::Arena;
use super::context::Context;
use super::handler;
use super::lock::Side;
use super::rng::{Chance as _, Rng, stream};
use super::slot::{Activity, HANDLER_LEVELS, Slot, handler_lock};
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use std::time::Instant;

/// How long a storm and a calm last at most.
const STORM: Duration = Duration::from_millis(150);
const CALM: Duration = Duration::from_millis(250);
/// One strike in this many holds the handlers' locks first, so that handlers stack up.
const SIEGE_ONE_IN: u64 = 8;
/// How long a siege waits for the next handler to be stacked.
const SIEGE_LIMIT: Duration = Duration::from_millis(2);

/// The tormentor's stream of random numbers; workers' streams are small numbers.
const STREAM: u64 = u64::MAX;

/// The body of the tormentor's thread.
pub(super) fn torment(arena: &'static Arena) {
    let mut rng = stream(arena.orders.seed, STREAM);
    while !arena.stopping() {
        let spell = Duration::from_micros(rng.u64(..STORM.as_micros() as u64));
        let start = Instant::now();
        while start.elapsed() < spell && !arena.stopping() {
            if !arena.switches.hush.load(Relaxed) {
                strike(arena, &mut rng);
            }
            std::thread::sleep(Duration::from_micros(rng.u64(20..=400)));
        }
        std::thread::sleep(Duration::from_micros(rng.u64(..CALM.as_micros() as u64)));
    }
    Context::of(arena, arena.workers().len()).does(Activity::Vacant, 0);
}

fn strike(arena: &'static Arena, rng: &mut Rng) {
    let siege = rng.one_in(SIEGE_ONE_IN);
    let mut victim = pick(arena, rng);
    // A siege is worth the most where the worker itself is already queued.
    for _ in arena.workers() {
        if !siege || victim.doing().at(0).0 == Activity::Waiting {
            break;
        }
        victim = pick(arena, rng);
    }
    if victim.spared.load(Relaxed) {
        return;
    }
    if siege {
        besiege(arena, victim, rng);
    } else {
        // A few at once: the later ones interrupt the handler of the first.
        for _ in 0..rng.u8(1..=3) {
            signal(victim, rng);
        }
    }
}

fn pick<'a>(arena: &'a Arena, rng: &mut Rng) -> &'a Slot {
    &arena.slots[rng.usize(..arena.workers().len())]
}

fn signal(victim: &Slot, rng: &mut Rng) {
    let signal = handler::signals()[rng.usize(..2)];
    victim.thread.with(|tid| handler::send(tid, signal));
}

/// Takes the handlers' locks up to some level, stacks a waiting handler on the victim for each and one more
/// on top, and lets go again in reverse order.
fn besiege(arena: &'static Arena, victim: &Slot, rng: &mut Rng) {
    let context = Context::of(arena, arena.workers().len());
    let deepest = rng.usize(1..=HANDLER_LEVELS);
    for test_lock in (1..=deepest).map(handler_lock) {
        context.does(Activity::Waiting, test_lock);
        let place = arena.test_locks[test_lock];
        context.enter(place, test_lock, Side::Writes, |lock| lock.acquire(Side::Writes));
    }
    for depth in 1..=deepest + 1 {
        signal(victim, rng);
        let start = Instant::now();
        while victim.doing().depth() < depth && start.elapsed() < SIEGE_LIMIT && !arena.stopping() {
            core::hint::spin_loop();
        }
    }
    for test_lock in (1..=deepest).rev().map(handler_lock) {
        context.leave(arena.test_locks[test_lock], test_lock, Side::Writes);
    }
    context.does(Activity::Thinking, 0);
}
