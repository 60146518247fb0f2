//! The asymmetric fence as such: a release and a thread about to sleep never both overlook the other.
#![cfg(feature = "std")]

#[path = "support/suppressions.rs"]
mod suppressions;
#[path = "support/watch.rs"]
mod watch;

use core::hint::{black_box, spin_loop};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use core::time::Duration;
use stanchion::native::{Cell8, Native, facts};
use stanchion::stanchion_core::order::Relaxed;
use stanchion::stanchion_core::{Atomic, Machine};
use std::thread;
use std::time::Instant;
use watch::{Crew, until};

type Here = Native;

/// As many as it takes to see a missing barrier often, but no longer than is polite: two sides that meet all
/// the time are slow on a machine that is busy.
const MOST_ROUNDS: u32 = 50_000;
const LONGEST: Duration = Duration::from_millis(800);

/// A cell on a cache line of its own, so that one thread's line does not bring the other's along.
#[repr(align(128))]
struct Apart<T>(T);

/// One round: the light side releases `lock` and looks for `mark`; the heavy side leaves `mark` and looks at
/// `lock`.
struct Duel {
    lock: Apart<Cell8>,
    mark: Apart<Cell8>,
    /// How many sides have arrived, over all rounds.
    arrived: Apart<AtomicU32>,
    light_saw_mark: AtomicBool,
    /// This round is the last one.
    over: AtomicBool,
}

/// A few nanoseconds for each step, so that all offsets between the two sides come up.
fn delay(steps: u32) {
    for step in 0..steps {
        black_box(step);
    }
}

impl Duel {
    /// Waits until both sides are here; the two go on at nearly the same moment.
    fn meet(&self, meeting: u32) {
        self.arrived.0.fetch_add(1, Ordering::AcqRel);
        let mut polls = 0_u32;
        while self.arrived.0.load(Ordering::Acquire) < 2 * meeting {
            polls += 1;
            // The other side may need this CPU.
            if polls.is_multiple_of(1000) { thread::yield_now() } else { spin_loop() }
        }
    }

    fn light(&self) {
        for round in 0.. {
            // With the mark's line here and the lock's there, an unordered look would come long before the
            // store is seen.
            let _ = self.mark.0.load(Relaxed);
            self.meet(3 * round + 1);
            delay(round % 32);
            let mark = Here::store_then_load(&self.lock.0, 0, &self.mark.0);
            self.light_saw_mark.store(mark == 1, Ordering::Relaxed);
            self.meet(3 * round + 2);
            self.meet(3 * round + 3);
            if self.over.load(Ordering::Relaxed) {
                return;
            }
        }
    }

    /// Returns how many rounds there were, and in how many each side saw the other.
    fn heavy(&self) -> [u32; 3] {
        let began = Instant::now();
        let mut seen = [0; 3];
        for round in 0..MOST_ROUNDS {
            self.meet(3 * round + 1);
            delay(round / 32 % 32);
            self.mark.0.store(1, Relaxed);
            assert!(Here::heavy_barrier(), "the barrier can be had");
            let released = self.lock.0.load(Relaxed) == 0;
            self.meet(3 * round + 2);
            let by_light = self.light_saw_mark.load(Ordering::Relaxed);
            assert!(by_light || released, "round {round}: neither saw the other; a sleeper would sleep on");
            seen = [round + 1, seen[1] + u32::from(by_light), seen[2] + u32::from(released)];
            let over = round + 1 == MOST_ROUNDS || began.elapsed() > LONGEST;
            self.over.store(over, Ordering::Relaxed);
            self.lock.0.store(1, Relaxed);
            self.mark.0.store(0, Relaxed);
            self.meet(3 * round + 3);
            if over {
                break;
            }
        }
        seen
    }
}

#[test]
fn a_release_and_a_sleeper_never_overlook_each_other() {
    let duel: &'static Duel = Box::leak(Box::new(Duel {
        lock: Apart(Cell8::new(1)),
        mark: Apart(Cell8::new(0)),
        arrived: Apart(AtomicU32::new(0)),
        light_saw_mark: AtomicBool::new(false),
        over: AtomicBool::new(false),
    }));
    println!("asymmetric: {}", facts().asymmetric_release);
    let mut crew = Crew::new();
    crew.spawn(|| {
        duel.light();
        [0; 3]
    });
    crew.spawn(|| duel.heavy());
    let meetings = || duel.arrived.0.load(Ordering::Relaxed) / 2;
    until("both sides at work", String::new, || meetings() > 0);
    let [rounds, by_light, by_heavy] = crew.join(|| format!("{} meetings", meetings()))[1];
    assert!(rounds > 0 && by_light + by_heavy >= rounds, "in each round at least one saw the other");
    println!(
        "in {rounds} rounds the release saw the mark {by_light} times, the sleeper the release {by_heavy} times"
    );
}
