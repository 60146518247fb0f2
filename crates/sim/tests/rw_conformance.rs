//! Every reader-writer lock passes the conformance bodies in both simulated worlds: the same bodies as in the native world.
#[path = "../../stanchion/tests/support/bodies.rs"]
#[expect(dead_code, reason = "of the bodies for the other locks, only what is common is used")]
mod bodies;
#[path = "../../stanchion/tests/support/rw_bodies.rs"]
mod rw_bodies;

use bodies::{Context, Load, World};
use core::cell::Cell;
use rw_bodies::{
    check_any_order, check_downgrade, check_exclusion, check_read_again, check_readers_together, check_tries,
    check_tries_exclude, check_upgrades,
};
use stanchion_core::qrw::Strict;
use stanchion_core::{CountRwLock, PerCpuRwLock, QSpinLock, QueuedRwLock};
use stanchion_sim::explore::{self, Stepped};
use stanchion_sim::{Sim, conduct, machine};

thread_local! {
    static SEED: Cell<u64> = const { Cell::new(0) };
    static MACHINE: Cell<&'static str> = const { Cell::new("") };
}

/// Contexts are coroutines that go one step at a time.
struct Stepping;

impl World for Stepping {
    fn run(report: &dyn Fn() -> String, contexts: Vec<Context>) {
        if let Err(failure) = explore::conduct(SEED.get(), contexts) {
            panic!("seed {}: {}\n{}", SEED.get(), failure.what, report());
        }
    }

    fn until(what: &str, done: &mut dyn FnMut() -> bool) {
        explore::wait_until(what, done);
    }
}

/// Contexts are coroutines on a machine with a clock.
struct Timed;

impl World for Timed {
    fn run(report: &dyn Fn() -> String, contexts: Vec<Context>) {
        let machine = machine::load(MACHINE.get()).expect("a shipped machine").machine;
        if let Err(failure) = conduct::conduct(&machine, 1, contexts) {
            panic!("{}: {failure:?}\n{}", MACHINE.get(), report());
        }
    }

    fn until(_what: &str, done: &mut dyn FnMut() -> bool) {
        conduct::wait_until(done);
    }
}

const LOAD: Load = Load { contexts: 4, rounds: 40 };
/// Stepped schedules that each body goes through.
const SEEDS: u64 = 10;
/// With a CPU for each: posted stores and an asymmetric barrier, load-linked/store-conditional, and a full fence for readers.
const APART: [&str; 3] = ["epyc-2s", "power9-16x12x8", "xeon-e7-8895v3-4x18x2"];
/// With fewer CPUs than contexts, for waiters that halt.
const SHARED: &str = "small-vm";

fn check_stepped(body: fn(Load)) {
    for seed in 0..SEEDS {
        SEED.set(seed);
        body(LOAD);
    }
}

fn check_timed(shared: usize, body: fn(Load)) {
    for machine in APART {
        MACHINE.set(machine);
        body(LOAD);
    }
    MACHINE.set(SHARED);
    body(Load { contexts: shared, rounds: 40 });
}

macro_rules! conformance {
    ($($name:ident: $lock:ident, $shared:expr, [$($test:ident = $body:ident),*];)*) => {$(
        mod $name {
            use super::*;

            mod stepped {
                use super::*;
                $(
                    #[test]
                    fn $test() {
                        check_stepped($body::<Stepping, $lock<Stepped>>);
                    }
                )*
            }

            mod timed {
                use super::*;
                $(
                    #[test]
                    fn $test() {
                        check_timed($shared, $body::<Timed, $lock<Sim>>);
                    }
                )*
            }
        }
    )*};
}

type SpinningQrw<P> = QueuedRwLock<P, QSpinLock<P>, Strict>;
type FairPerCpu<P> = PerCpuRwLock<P>;
type SimplePerCpu<P> = PerCpuRwLock<P, CountRwLock<P>>;
type FairQrw<P> = QueuedRwLock<P>;

// Waiters that spin stop each other when they outnumber the CPUs, so there are two of them on two CPUs.
conformance! {
    rw_simple: CountRwLock, 2, [
        excludes = check_exclusion, excludes_with_tries = check_tries_exclude,
        readers_are_in_together = check_readers_together, tries_fail_while_held = check_tries,
        released_in_any_order = check_any_order, downgrades = check_downgrade
    ];
    qrw: FairQrw, 8, [
        excludes = check_exclusion, excludes_with_tries = check_tries_exclude,
        readers_are_in_together = check_readers_together, tries_fail_while_held = check_tries,
        reads_again_while_a_writer_waits = check_read_again, released_in_any_order = check_any_order,
        downgrades = check_downgrade, upgrades = check_upgrades
    ];
    qrw_spin: SpinningQrw, 2, [
        excludes = check_exclusion, excludes_with_tries = check_tries_exclude,
        readers_are_in_together = check_readers_together, tries_fail_while_held = check_tries,
        reads_again_while_a_writer_waits = check_read_again, released_in_any_order = check_any_order,
        downgrades = check_downgrade, upgrades = check_upgrades
    ];
    percpu_rw: FairPerCpu, 8, [
        excludes = check_exclusion, excludes_with_tries = check_tries_exclude,
        readers_are_in_together = check_readers_together, tries_fail_while_held = check_tries,
        reads_again_while_a_writer_waits = check_read_again, released_in_any_order = check_any_order,
        downgrades = check_downgrade
    ];
    percpu_rw_simple: SimplePerCpu, 2, [
        excludes = check_exclusion, excludes_with_tries = check_tries_exclude,
        readers_are_in_together = check_readers_together, tries_fail_while_held = check_tries,
        reads_again_while_a_writer_waits = check_read_again, released_in_any_order = check_any_order,
        downgrades = check_downgrade
    ];
}
