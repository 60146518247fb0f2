//! A waiter that has asked newcomers to leave the lock to it, and loses its CPU then: for how long the lock
//! is free though somebody that runs wants it.
use crate::contexts::run_contexts_tuned;
use crate::engine;
use crate::machine::{Fair, FairShare, Machine, SchedulerKind};
use crate::platform::Sim;
use crate::testing::shared;
use crate::time::{MS, US};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use stanchion_core::{Machine as _, RawLock, StanchionLock, Tunable};
use stanchion_family::PvQSpinLock;
use stanchion_family::catalogue::{self, SecondByte};
use std::sync::Arc;

/// How long a scene lasts, in nanoseconds.
const SCENE: u64 = 500_000_000;
/// So long the second CPU is taken away, each time, and so long it is not: a visitor that came more often
/// would have to wait until the CPU is left to it.
const VISIT: u64 = 300_000;
const BETWEEN: u32 = 2_613_000;
/// Between two looks of the visitor at the lock.
const LOOK: u32 = 2_000;
/// How long a user of the lock has it not.
const THINKS: u32 = 500;

/// Two CPUs that do not share their contexts. Who wakes goes first.
fn machine() -> Machine {
    let mut machine = shared(2);
    machine.host.scheduler = SchedulerKind::FairShare(FairShare {
        kind: Fair::Eevdf,
        slice: 3 * MS,
        granularity: 0,
        wake_preemption: Some(0),
        turn_noise: 20 * US,
        balance: 0,
        idle_pull: false,
        pull_cost: 0,
        wake_to_idle: false,
        quota: None,
    });
    machine
}

/// What the contexts of a scene share.
struct Scene<L> {
    lock: L,
    /// How long each user has it.
    holds: u32,
    /// What the lock's second byte tells.
    tells: SecondByte,
    /// How many contexts began on each CPU.
    began: [AtomicU32; 2],
    /// Whether the user of the first CPU wants the lock: [`WANTS`], [`WANTS_FREE`] or neither.
    wants: AtomicU32,
    /// Somebody releases the lock, and wakes whom it has to: that one cannot do so while it has no CPU.
    releases: AtomicU32,
    /// How often a visitor has put a context aside that had asked for the lock.
    asked: AtomicU32,
    /// The longest time for which the lock was free after the user of the first CPU had come for it.
    idle: AtomicU64,
}

/// It has come for the lock.
const WANTS: u32 = 1;
/// It found the lock free when it came.
const WANTS_FREE: u32 = 2;

impl<L: RawLock<Platform = Sim>> Scene<L> {
    fn new(tells: SecondByte, holds: u32) -> Self {
        let (began, wants, releases, asked, idle) = Default::default();
        Self { lock: L::new(), holds, tells, began, wants, releases, asked, idle }
    }

    /// The life of a context, by where it begins: on each CPU a user of the lock, on the second one a
    /// visitor, too.
    fn live(&self) {
        let cpu = engine::with(|engine, who| engine.cpu_of(who)).flatten().expect("it runs");
        match (cpu, self.began[cpu].fetch_add(1, Relaxed)) {
            (_, 0) => self.uses(cpu == 0),
            (1, _) => self.visits(),
            _ => {}
        }
    }

    fn is_free(&self) -> bool {
        self.lock.word().locked == 0
    }

    /// Whether a waiter asks others to leave the lock to it.
    fn is_asked_for(&self) -> bool {
        let says = self.lock.word().pending;
        match self.tells {
            SecondByte::AsksNewcomers { bit, .. } => says & bit != 0,
            SecondByte::Asks(flag) => says == flag,
            SecondByte::Other | SecondByte::Pends => false,
        }
    }

    fn uses(&self, undisturbed: bool) {
        while Sim::now() < SCENE {
            if undisturbed {
                let free = self.is_free() && self.releases.load(Relaxed) == 0;
                self.wants.store(if free { WANTS_FREE } else { WANTS }, Relaxed);
            }
            self.lock.acquire();
            // Who waits on, waits for us.
            self.wants.store(if undisturbed || self.wants.load(Relaxed) == 0 { 0 } else { WANTS }, Relaxed);
            Sim::relax(self.holds);
            self.releases.store(1, Relaxed);
            self.lock.release();
            self.releases.store(0, Relaxed);
            Sim::relax(THINKS);
        }
    }

    /// Comes again and again, and looks at the lock while it has the CPU.
    fn visits(&self) {
        while Sim::now() < SCENE {
            Sim::doze(BETWEEN);
            let until = Sim::now() + VISIT;
            if self.is_asked_for() && self.wants.load(Relaxed) + self.releases.load(Relaxed) == 0 {
                self.asked.fetch_add(1, Relaxed);
            }
            let mut since = None;
            while Sim::now() < until {
                let idles = self.is_free() && self.wants.load(Relaxed) == WANTS_FREE;
                since = if idles { since.or(Some(Sim::now())) } else { None };
                self.idle.fetch_max(since.map_or(0, |since| Sim::now() - since), Relaxed);
                Sim::relax(LOOK);
            }
        }
    }
}

/// For how many nanoseconds the lock was free though somebody that ran wanted it, and how often a waiter that
/// had asked for it lost its CPU. Spins are long, and stay so: an heir asks for as long as it spins.
fn idle<L: RawLock<Platform = Sim>>(name: &str, holds: u32) -> (u64, u32) {
    let scenes = (1..=3).map(|seed| {
        let scene = Arc::new(Scene::<L>::new(catalogue::mutex(name).stated.second_byte, holds));
        let contexts = (0..4).map(|_| {
            let scene = Arc::clone(&scene);
            Box::new(move || scene.live()) as Box<dyn FnOnce() + Send>
        });
        run_contexts_tuned(
            &machine(),
            seed,
            &[(Tunable::Adapt, 0), (Tunable::SpinNanos, 20_000)],
            contexts.collect(),
        )
        .expect("the scene comes to its end");
        (scene.idle.load(Relaxed), scene.asked.load(Relaxed))
    });
    scenes.fold((0, 0), |(idle, asked), (longer, more)| (idle.max(longer), asked + more))
}

#[test]
fn a_lock_left_to_a_waiter_that_lost_its_cpu_is_taken_by_who_runs() {
    // Sections are longer than spins: the heir comes again and again, forbids barging, and sleeps.
    let (idle, asked) = idle::<StanchionLock<Sim>>("stanchion", 100_000);
    assert!(
        idle < VISIT / 20,
        "the lock is free for {idle} ns, and wanted; {asked} visits found it asked for"
    );
    assert!(asked > 20, "a waiter that forbids barging loses its CPU: {asked} times");
    // Sections are longer than newcomers try, and shorter than heads poll.
    let (idle, asked) = self::idle::<PvQSpinLock<Sim>>("pv-qspin", 50_000);
    assert!(asked > 20, "a waiter that forbids barging loses its CPU: {asked} times");
    assert!(idle > VISIT / 2, "this lock stays free for as long as its head has no CPU: {idle} ns");
}
