//! Every lock under thousands of seeded schedules: mutual exclusion, no lost wake-up, the word's transition table (and
//! that each row is reached), and the stated bound on overtaking. The detectors are shown to work on broken locks.
mod turns;

use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::pv_qspin::WaitPolicy;
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, ByteLock, Platform, PvQSpinLock, QSpinLock, RawLock, TicketLock};
use turns::{Options, Seen, Turns, run};

const SCHEDULES: u64 = 300;
const ROUNDS: u32 = 4;

/// As `Hybrid`, with bounds small enough to be reached in a few steps. `STINT` is in microseconds of ten steps.
struct Small<const STINT: u32, const LOOK_AHEAD: usize = 0>;
impl<const STINT: u32, const LOOK_AHEAD: usize> WaitPolicy for Small<STINT, LOOK_AHEAD> {
    const NAME: &'static str = "small";
    const STEALS: bool = true;
    const NEWCOMER_SPIN: u32 = 2;
    const QUEUED_SPIN: u32 = 2;
    const HEAD_PATIENCE: u32 = 2;
    const HEAD_SPIN: u32 = 4;
    const FIRST_PAUSE: u32 = 1;
    const LONGEST_PAUSE: u32 = 1;
    const SHORTEST_STINT_MICROS: u32 = STINT;
    const LONGEST_STINT_MICROS: u32 = STINT;
    const STINT_TIMES_WAIT_MICROS: u32 = 1;
    const LONGEST_EXTENSION: u32 = if LOOK_AHEAD == 0 { 0 } else { 20 };
    const LOOK_AHEAD: usize = LOOK_AHEAD;
    const LET_OUT_TRIES: u32 = 1;
    const CLOCK_INTERVAL_MICROS: u32 = 1;
    const LEAST_CREDIT: u32 = 1;
    const MOST_CREDIT: u32 = 2;
}

/// Every second schedule has spurious wake-ups.
fn options(seed: u64) -> Options {
    Options { spurious: seed.is_multiple_of(2), ..Options::default() }
}

fn explore<L: RawLock<Platform = Turns>>() -> Seen {
    let mut total = Seen { rows: Vec::new(), worst_overtaking: 0, steps: 0 };
    for seed in 1..=SCHEDULES {
        let seen = run::<L>(seed, ROUNDS, options(seed)).unwrap_or_else(|what| panic!("{}: {what}", L::NAME));
        total.worst_overtaking = total.worst_overtaking.max(seen.worst_overtaking);
        total.steps += seen.steps;
        total.rows.extend(seen.rows);
    }
    total.rows.sort_unstable();
    total.rows.dedup();
    let mut all: Vec<_> = L::TRANSITIONS.0.iter().map(|row| row.name).collect();
    all.sort_unstable();
    assert_eq!(total.rows, all, "{}: every row of the transition table is reached", L::NAME);
    total
}

#[test]
fn byte_holds() {
    assert!(explore::<ByteLock<Turns>>().steps > 0);
}

#[test]
fn ticket_holds() {
    assert!(explore::<TicketLock<Turns>>().steps > 0);
}

#[test]
fn a_waiter_of_qspin_is_overtaken_at_most_once_by_each_other_context() {
    let seen = explore::<QSpinLock<Turns>>();
    assert_eq!(seen.worst_overtaking, 1, "the stated bound, and it is reached");
}

#[test]
fn a_waiter_of_kick_at_unlock_is_overtaken_at_most_once_by_each_other_context() {
    let mut worst = 0;
    for seed in 1..=SCHEDULES {
        let seen = run::<PvQSpinLock<Turns, QuickToHalt>>(seed, ROUNDS, options(seed))
            .unwrap_or_else(|w| panic!("{w}"));
        worst = worst.max(seen.worst_overtaking);
    }
    assert!(worst <= 1, "overtaken {worst} times");
}

/// `KickAtUnlock` with short spins.
struct QuickToHalt;
impl WaitPolicy for QuickToHalt {
    const NAME: &'static str = "kick-at-unlock, quick to halt";
    const STEALS: bool = false;
    const NEWCOMER_SPIN: u32 = 0;
    const QUEUED_SPIN: u32 = 2;
    const HEAD_PATIENCE: u32 = 0;
    const HEAD_SPIN: u32 = 3;
    const FIRST_PAUSE: u32 = 1;
    const LONGEST_PAUSE: u32 = 1;
    const SHORTEST_STINT_MICROS: u32 = 0;
    const LONGEST_STINT_MICROS: u32 = 0;
    const STINT_TIMES_WAIT_MICROS: u32 = 0;
    const LONGEST_EXTENSION: u32 = 0;
    const LOOK_AHEAD: usize = 0;
    const LET_OUT_TRIES: u32 = 0;
    const CLOCK_INTERVAL_MICROS: u32 = 1;
    const LEAST_CREDIT: u32 = 1;
    const MOST_CREDIT: u32 = 1;
}

#[test]
fn the_hybrid_lets_nobody_overtake_again_once_its_stint_is_over() {
    // Without a stint, only the acquisition that was under way when the waiter queued can overtake it, and a try.
    let seen = explore::<PvQSpinLock<Turns, Small<0>>>();
    assert!(seen.worst_overtaking <= 2, "overtaken {} times", seen.worst_overtaking);
}

/// The worst overtaking of `L` in runs that are long against the bound.
fn worst_in_long_runs<L: RawLock<Platform = Turns>>() -> u32 {
    let options = Options { starves_one: true, ..Options::default() };
    let worst = |seed| run::<L>(seed, 60, options).unwrap_or_else(|what| panic!("{what}")).worst_overtaking;
    (1..=60).map(worst).max().expect("some runs")
}

#[test]
fn stealing_is_bounded_by_the_stint() {
    // Ten steps of a stint allow fewer than ten acquisitions; then the credit between two looks at the clock, the
    // acquisition under way, and tries (every third round has one).
    let bound = 10 + Small::<1>::MOST_CREDIT + 2;
    let worst = worst_in_long_runs::<PvQSpinLock<Turns, Small<1>>>();
    assert!(worst <= bound, "overtaken {worst} times");
    // With a stint that lasts as long as the run there is no such bound, and this test would see it.
    let without = worst_in_long_runs::<PvQSpinLock<Turns, Small<10_000>>>();
    assert!(without > bound, "overtaken only {without} times without a bound");
}

#[test]
fn waiters_can_be_let_out_of_the_queue() {
    for seed in 1..=2 * SCHEDULES {
        let run = run::<PvQSpinLock<Turns, Small<1, 3>>>(seed, 4 * ROUNDS, options(seed));
        assert!(run.is_ok(), "{}", run.unwrap_err());
    }
    assert!(turns::let_out() >= 100, "it happened in {} cases only", turns::let_out());
}

fn must_survive_interrupts<L: RawLock<Platform = Turns>>(schedules: u64, rounds: u32) {
    for seed in 1..=schedules {
        let options = Options { interrupts: true, ..options(seed) };
        let run = run::<L>(seed, rounds, options);
        assert!(run.is_ok(), "{}: {}", L::NAME, run.unwrap_err());
    }
}

#[test]
fn handlers_may_queue_for_another_lock_in_the_midst_of_queueing() {
    must_survive_interrupts::<QSpinLock<Turns>>(SCHEDULES, ROUNDS);
    must_survive_interrupts::<PvQSpinLock<Turns, QuickToHalt>>(SCHEDULES, ROUNDS);
    // Seed 94 had a holder take a context's other node, head of the other lock's queue at an equal spot, for its head.
    must_survive_interrupts::<PvQSpinLock<Turns, Small<1, 3>>>(100, 4 * ROUNDS);
}

#[test]
fn a_seed_replays_the_same_run() {
    let steps = |seed| run::<PvQSpinLock<Turns, Small<1>>>(seed, ROUNDS, options(2)).map(|seen| seen.steps);
    assert_eq!(steps(7), steps(7));
    assert_ne!(steps(7), steps(8));
}

/// Test-and-set torn into a load and a store.
struct TornByte<P: Platform>(P::U8);
impl<P: Platform> RawLock for TornByte<P> {
    type Platform = P;
    const NAME: &'static str = "torn byte";
    const TRANSITIONS: Table = <ByteLock<P> as RawLock>::TRANSITIONS;
    fn new() -> Self {
        Self(P::U8::new(0))
    }
    fn acquire(&self) {
        self.0.wait_until(Acquire, |locked| locked == 0);
        self.0.store(1, Relaxed);
    }
    fn try_acquire(&self) -> bool {
        false
    }
    fn release(&self) {
        self.0.store(0, Release);
    }
    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.load(Relaxed) }
    }
}

#[test]
fn a_lock_without_exclusion_is_caught() {
    let caught = (1..=20).find_map(|seed| run::<TornByte<Turns>>(seed, ROUNDS, Options::default()).err());
    assert!(caught.is_some_and(|what| what.contains("was inside")), "within 20 schedules");
}

/// A sleeper that is kicked only if the releaser looks before it releases: the lost wake-up.
struct LooksTooEarly<P: Platform> {
    locked: P::U8,
    sleeper: P::U16,
}
impl<P: Platform> RawLock for LooksTooEarly<P> {
    type Platform = P;
    const NAME: &'static str = "looks too early";
    const TRANSITIONS: Table = <ByteLock<P> as RawLock>::TRANSITIONS;
    fn new() -> Self {
        Self { locked: P::U8::new(0), sleeper: P::U16::new(0) }
    }
    fn acquire(&self) {
        while !self.try_acquire() {
            let me = P::this_cpu().expect("numbered").index() + 1;
            self.sleeper.store(me, Relaxed);
            P::halt_while(&self.sleeper, me);
        }
    }
    fn try_acquire(&self) -> bool {
        self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }
    fn release(&self) {
        let sleeper = self.sleeper.swap(0, Relaxed);
        self.locked.store(0, Release);
        if let Some(index) = sleeper.checked_sub(1) {
            P::kick(stanchion_core::CpuId::new(index).expect("a context's number"));
        }
    }
    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.locked.load(Relaxed) }
    }
}

#[test]
fn a_lost_wake_up_is_caught() {
    let caught =
        (1..=20).find_map(|seed| run::<LooksTooEarly<Turns>>(seed, ROUNDS, Options::default()).err());
    assert!(caught.is_some_and(|what| what.contains("nobody can run")), "within 20 schedules");
}
