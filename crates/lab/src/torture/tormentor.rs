//! The tormentor: a thread that sends signals to the workers, and sees to it that their handlers have to
//! wait.
//!
//! Signals come in storms with calm spells between. A calm is as necessary as a storm: a signal ends a futex
//! wait, after which the waiter looks again, so a lock that loses wake-ups would be cured by the very thing
//! that is meant to hurt it. For the same reason workers that are getting nowhere are spared, and everything
//! is hushed while nobody gets anywhere.
#![expect(unsafe_code, reason = "sending a signal to a thread is unsafe to call")]
use super::arena::{AnyRing, Arena};
use super::handler;
use super::rng::Rng;
use super::slot::{Activity, HANDLER_LEVELS, Slot};
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
pub(crate) fn torment(ring: &dyn AnyRing) {
    let arena = ring.arena();
    let mut rng = Rng::new(arena.orders.seed, STREAM);
    while !arena.stopping() {
        let spell = Duration::from_micros(rng.below(STORM.as_micros() as u64));
        let start = Instant::now();
        while start.elapsed() < spell && !arena.stopping() {
            if !arena.switches.hush.load(Relaxed) {
                strike(ring, &mut rng);
            }
            std::thread::sleep(Duration::from_micros(rng.between(20, 400)));
        }
        std::thread::sleep(Duration::from_micros(rng.below(CALM.as_micros() as u64)));
    }
    arena.tormentor.does(Activity::Vacant, 0);
    arena.tormentor.left.store(true, Relaxed);
}

fn strike(ring: &dyn AnyRing, rng: &mut Rng) {
    let arena = ring.arena();
    let siege = rng.one_in(SIEGE_ONE_IN);
    let mut victim = pick(arena, rng);
    // A siege is worth the most where the worker itself is already queued.
    for _ in 0..arena.slots.len() {
        if !siege || victim.doing().at(0).0 == Activity::Waiting {
            break;
        }
        victim = pick(arena, rng);
    }
    if victim.spared.load(Relaxed) {
        return;
    }
    if siege {
        besiege(ring, victim, 1, rng.between(1, HANDLER_LEVELS as u64) as usize, rng);
    } else {
        // A few at once: the later ones interrupt the handler of the first.
        for _ in 0..rng.between(1, 3) {
            signal(victim, rng);
        }
    }
}

fn pick<'a>(arena: &'a Arena, rng: &mut Rng) -> &'a Slot {
    &arena.slots[rng.below(arena.slots.len() as u64) as usize]
}

fn signal(victim: &Slot, rng: &mut Rng) {
    let signal = handler::signals()[rng.below(2) as usize];
    // SAFETY: inside `with` the thread exists and waits for us before it leaves.
    victim.thread().with(|pthread, _| unsafe { handler::send(pthread, signal) });
}

/// Takes the handlers' locks of levels `level..=deepest`, stacks a waiting handler on the victim for each and
/// one more on top, and lets go again in reverse order.
fn besiege(ring: &dyn AnyRing, victim: &Slot, level: usize, deepest: usize, rng: &mut Rng) {
    if level <= deepest {
        ring.besiege(level, &mut || besiege(ring, victim, level + 1, deepest, rng));
        return;
    }
    for depth in 1..=deepest + 1 {
        signal(victim, rng);
        let start = Instant::now();
        while victim.doing().depth() < depth && start.elapsed() < SIEGE_LIMIT && !ring.arena().stopping() {
            core::hint::spin_loop();
        }
    }
}
