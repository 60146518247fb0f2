//! Contexts of your own on a simulated machine: for tests that are written once and run in every world.
use crate::arena::Arena;
use crate::domain::SimDomain;
use crate::engine::{self, End, Engine, Limits};
use crate::machine::{Machine, SchedulerKind};
use crate::platform::furnish;
use crate::run::Failure;
use crate::time::{MS, NS, Time};
use stanchion_core::Tunable;

/// Virtual time after which contexts count as hung.
const LONGEST: Time = 60_000 * MS;

/// Runs contexts to their end; locks of theirs are made for [`crate::Sim`] and may lie anywhere. A panic in
/// one of them is a [`Failure::Broken`], and so is a deadlock, or a minute of virtual time.
pub fn run_contexts(
    machine: &Machine,
    seed: u64,
    contexts: Vec<Box<dyn FnOnce() + Send>>,
) -> Result<(), Failure> {
    run_contexts_tuned(machine, seed, &[], contexts)
}

/// As [`run_contexts`], with tunables set.
pub(crate) fn run_contexts_tuned(
    machine: &Machine,
    seed: u64,
    tunings: &[(Tunable, u32)],
    contexts: Vec<Box<dyn FnOnce() + Send>>,
) -> Result<(), Failure> {
    let count = contexts.len();
    let cpus = machine.topology.cpu_count();
    if machine.host.scheduler == SchedulerKind::Pinned && count > cpus {
        return Err(Failure::Refused(format!("{count} contexts do not fit on {cpus} CPUs")));
    }
    let cpus: Vec<usize> = if machine.host.scheduler == SchedulerKind::Pinned {
        (0..count).collect()
    } else {
        (0..cpus).collect()
    };
    let arena = Arena::new(SimDomain::bytes(count, 1));
    let _furnished = furnish(SimDomain::new(&arena, count, 1), tunings.iter().copied());
    let engine = Engine::new(machine, &arena, count, &cpus, seed, 0, None);
    let bodies = contexts.into_iter().map(|body| body as Box<dyn FnOnce()>).collect();
    let limits = Limits { until: LONGEST, events: u64::MAX, stop: &|| false };
    let finished = engine::run(engine, bodies, &limits).map_err(Failure::Broken)?;
    match finished.end {
        End::AllEnded => Ok(()),
        end => Err(Failure::Broken(format!("{end:?} at {} ns: {}", finished.now / NS, finished.state))),
    }
}

/// Waits until `done`, looking every 100 ns while other contexts go on. For contexts of [`run_contexts`].
pub fn wait_until(done: &mut dyn FnMut() -> bool) {
    while !done() {
        engine::pause(100 * NS);
    }
}
