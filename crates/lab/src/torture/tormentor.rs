//! The tormentor: a thread that sends signals to the workers, and sees to it that their handlers have to
//! wait. And what moves workers between CPUs, as the kernel's `torture_shuffle` does.
//!
//! Signals come in storms with calm spells between. A calm is as necessary as a storm: a signal ends a futex
//! wait, after which the waiter looks again, so a lock that loses wake-ups would be cured by the very thing
//! that is meant to hurt it. For the same reason workers that are getting nowhere are spared, and everything
//! is hushed while nobody gets anywhere.
use super::arena::{Arena, Context};
use super::chance::{Rng, one_in, stream};
use super::handler;
use super::lock::Side;
use super::slot::{Activity, Slot};
use super::test_locks::{HANDLER_LEVELS, handler_lock};
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use rustix::thread::{CpuSet, Pid, sched_getaffinity, sched_setaffinity};
use std::time::Instant;

/// How long a storm and a calm last at most.
const STORM: Duration = Duration::from_millis(150);
const CALM: Duration = Duration::from_millis(250);
/// One strike in this many holds the handlers' locks first, so that handlers stack up.
const SIEGE_ONE_IN: u64 = 8;
/// How long a siege waits for the next handler to be stacked.
const SIEGE_LIMIT: Duration = Duration::from_millis(2);

pub(super) fn torment(arena: &'static Arena) {
    // Workers' streams are small numbers.
    let mut rng = stream(arena.orders.seed, u64::MAX);
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
    let siege = one_in(rng, SIEGE_ONE_IN);
    let mut pick = || &arena.slots[rng.usize(..arena.workers().len())];
    let mut victim = pick();
    // A siege is worth the most where the worker itself is already queued.
    for _ in arena.workers() {
        if !siege || victim.doing().at(0).0 == Activity::Waiting {
            break;
        }
        victim = pick();
    }
    if victim.spared.load(Relaxed) {
        return;
    }
    if siege {
        besiege(arena, victim, rng);
    } else {
        // A few at once: the later ones interrupt the handler of the first.
        for _ in 0..rng.u8(1..=3) {
            handler::signal(victim, rng);
        }
    }
}

/// Takes the handlers' locks up to some level, stacks a waiting handler on the victim for each and one more
/// on top, and lets go again in reverse order.
fn besiege(arena: &'static Arena, victim: &Slot, rng: &mut Rng) {
    let context = Context::of(arena, arena.workers().len());
    let deepest = rng.usize(1..=HANDLER_LEVELS);
    let places = (1..=deepest).map(|depth| arena.test_locks[handler_lock(depth)]);
    for place in places.clone() {
        context.does(Activity::Waiting, place.section.number());
        context.enter(place, Side::Writes, || place.lock.acquire(Side::Writes));
    }
    for depth in 1..=deepest + 1 {
        handler::signal(victim, rng);
        let start = Instant::now();
        while victim.doing().depth() < depth && start.elapsed() < SIEGE_LIMIT && !arena.stopping() {
            core::hint::spin_loop();
        }
    }
    for place in places.rev() {
        context.leave(place, Side::Writes);
    }
    context.does(Activity::Thinking, 0);
}

pub(crate) struct Shuffle(CpuSet);

impl Shuffle {
    pub(crate) fn probe() -> std::io::Result<Self> {
        let allowed = sched_getaffinity(None)?;
        // Binding to what is already allowed changes nothing, but needs the same permission.
        sched_setaffinity(None, &allowed)?;
        Ok(Self(allowed))
    }

    /// Binds a worker to one random CPU, or to all but one, or sets it free; whether it moved.
    pub(crate) fn one(&self, slot: &Slot, rng: &mut Rng) -> bool {
        let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| self.0.is_set(cpu)).collect();
        let chosen = cpus[rng.usize(..cpus.len())];
        let mut set = self.0;
        match rng.u8(..3) {
            0 => {
                set = CpuSet::new();
                set.set(chosen);
            }
            1 if cpus.len() > 1 => set.unset(chosen),
            _ => {}
        }
        // While `with` runs the thread cannot leave, so its number cannot have gone to a stranger.
        slot.thread.with(|tid| sched_setaffinity(Pid::from_raw(tid), &set).is_ok()).unwrap_or(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_moved_and_an_empty_slot_is_not() {
        let shuffle = Shuffle::probe().expect("this process may bind its own threads");
        let (slot, mut rng) = (Slot::default(), stream(1, 1));
        assert!(!shuffle.one(&slot, &mut rng), "nobody is there to move");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                slot.thread.set(rustix::thread::gettid().as_raw_nonzero().get());
                for _ in 0..20 {
                    assert!(shuffle.one(&slot, &mut rng));
                    let now = sched_getaffinity(None).unwrap();
                    assert!(now.count() >= 1 && now.count() <= shuffle.0.count());
                }
                slot.thread.set(0);
            });
        });
    }
}
