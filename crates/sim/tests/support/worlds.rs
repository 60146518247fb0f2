//! The simulated worlds, as the suite sees them.
use core::cell::Cell;
use core::sync::atomic::AtomicU32;
use stanchion_sim::explore::{self, Stepped};
use stanchion_sim::{Sim, contexts, machine};
use stanchion_suite::{Body, Case, Context, Load, Sort, Waiting, World};

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
    static MACHINE: Cell<&'static str> = const { Cell::new("") };
}

pub(crate) const LOAD: Load = Load::new(4, 40);

/// Contexts are coroutines that go one step at a time.
pub(crate) struct Stepping;

impl Stepping {
    /// The schedule of what runs from now on.
    pub(crate) fn seed(seed: u64) {
        SEED.set(seed);
    }
}

impl World for Stepping {
    type Platform = Stepped;
    type Flag = AtomicU32;
    type Witness = ();

    fn run(report: &dyn Fn() -> String, contexts: Vec<Context>) {
        if let Err(failure) = explore::run_contexts(SEED.get(), contexts) {
            panic!("seed {}: {}\n{}", SEED.get(), failure.what, report());
        }
    }

    fn until(what: &str, done: &mut dyn FnMut() -> bool) {
        explore::wait_until(what, done);
    }

    fn run_case(case: &Case, check: fn(Load)) {
        let seeds = match (case.sort, case.body) {
            (Sort::Mutex, Body::Excludes | Body::ExcludesWithTries) => 20,
            (_, Body::FreeAfterRelease) => 1,
            (_, Body::ManyAtOnce) => 3,
            (Sort::Mutex, Body::TriesFailWhileHeld) => 5,
            _ => 10,
        };
        for seed in 0..seeds {
            Self::seed(seed);
            check(LOAD);
        }
    }
}

/// Contexts are coroutines on a machine with a clock.
pub(crate) struct Timed;

impl Timed {
    /// What runs from now on runs there.
    pub(crate) fn machine(name: &'static str) {
        MACHINE.set(name);
    }
}

/// With a CPU for each: posted stores and an asymmetric barrier, load-linked/store-conditional, and a full
/// fence for readers.
const APART: [&str; 3] = ["epyc-2s", "power9-16x12x8", "xeon-e7-8895v3-4x18x2"];
/// With fewer CPUs than contexts.
pub(crate) const SHARED: &str = "small-vm";

impl World for Timed {
    type Platform = Sim;
    type Flag = AtomicU32;
    type Witness = ();

    fn run(report: &dyn Fn() -> String, contexts: Vec<Context>) {
        let machine = machine::load(MACHINE.get()).expect("a shipped machine").machine;
        if let Err(failure) = contexts::run_contexts(&machine, 1, contexts) {
            panic!("{}: {failure:?}\n{}", MACHINE.get(), report());
        }
    }

    fn until(_what: &str, done: &mut dyn FnMut() -> bool) {
        contexts::wait_until(done);
    }

    fn run_case(case: &Case, check: fn(Load)) {
        // Waiters that spin stop each other when they outnumber the CPUs, so there are two of them on two
        // CPUs.
        let shared = match case.waiting {
            Waiting::Spins => Load::new(2, 40),
            Waiting::GivesWay | Waiting::Halts => Load::new(8, 40),
        };
        if case.body != Body::FreeAfterRelease {
            let apart = if case.sort == Sort::Mutex { &APART[..2] } else { &APART[..] };
            for machine in apart {
                Self::machine(machine);
                check(LOAD);
            }
        }
        if case.body != Body::ManyAtOnce {
            Self::machine(SHARED);
            check(shared);
        }
    }
}
