//! One run: a machine, a workload, a lock and a seed give an outcome, the same on every host.
use crate::arena::{Arena, LINE_BYTES};
use crate::domain::SimDomain;
use crate::engine::{self, ByCause, Cause, Effort, End, Engine, Limits, Recording};
use crate::here::{Common, Handovers, Here};
use crate::locks::{self, AnyKind, Named};
use crate::machine::{Machine, SchedulerKind, Topology};
use crate::platform::{Sim, furnish};
use crate::random::Random;
use crate::replay::Tally;
use crate::rw_locks;
use crate::time::{MS, Time};
use crate::workload::{Placement, Takes, Workload};
use hdrhistogram::Histogram;
use stanchion_core::{CpuId, Tunable};
use std::rc::Rc;

/// What to run.
#[derive(Clone, Debug)]
pub struct Spec<'a> {
    /// On which machine.
    pub machine: &'a Machine,
    /// Doing what.
    pub workload: &'a Workload,
    /// With which lock, by name; or locks, with a `+` between their names. A name may set tunables, as in
    /// `stanchion:turns=0`.
    pub lock: &'a str,
    /// With which tunables set differently from their defaults.
    pub tunings: &'a [(Tunable, u32)],
    /// How many vCPUs or threads.
    pub contexts: usize,
    /// Decides everything that is left to chance.
    pub seed: u64,
    /// How long to measure, in virtual time.
    pub time: Time,
    /// How long to run before that.
    pub warm_up: Time,
    /// Which part to record for a trace, if any: from, to.
    pub record: Option<(Time, Time)>,
    /// Gives up after so many events.
    pub most_events: u64,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Time measured; less than asked for if the work was done before.
    pub time: Time,
    /// Whether the run was ended before its time, by a limit on events or by the caller.
    pub cut_short: bool,
    /// Units of work by context.
    pub ops: Vec<u64>,
    /// Acquisitions by context.
    pub acquisitions: Vec<u64>,
    /// Where each context's time went.
    pub causes: Vec<ByCause>,
    /// How long acquisitions took, in nanoseconds.
    pub waits: Histogram<u64>,
    /// From where to where locks went.
    pub handovers: Handovers,
    /// Kicks sent, halts begun.
    pub kicks: u64,
    /// Halts that began.
    pub halts: u64,
    /// Lock events, indexed by `stanchion_core::Event::index`.
    pub lock_events: Vec<u64>,
    /// Time that each physical CPU was busy.
    pub cpu_busy: Vec<Time>,
    /// Of everything that happened: equal hashes, equal runs.
    pub hash: u64,
    /// How much was simulated.
    pub effort: Effort,
    /// What happened at each lock, from the first one on; of recorded programs only.
    pub tallies: Vec<Tally>,
    /// What happened, if that was asked for.
    pub recording: Option<Recording>,
}

impl Outcome {
    /// Units of work in a second of virtual time.
    pub fn ops_per_second(&self) -> f64 {
        let total: u64 = self.ops.iter().sum();
        if self.time == 0 { 0.0 } else { total as f64 * 1e12 / self.time as f64 }
    }

    /// The slowest context's units over the fastest one's.
    pub fn fairness(&self) -> f64 {
        let (least, most) = (self.ops.iter().min().copied(), self.ops.iter().max().copied());
        if most.unwrap_or(0) == 0 { 0.0 } else { least.unwrap_or(0) as f64 / most.unwrap_or(1) as f64 }
    }

    /// Time of all contexts together that went to `cause`.
    pub fn spent_on(&self, cause: Cause) -> Time {
        self.causes.iter().map(|by_cause| by_cause[cause as usize]).sum()
    }
}

/// Why there is no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The run cannot be made; why.
    Refused(String),
    /// The lock is broken, or never came back; what was seen.
    Broken(String),
}

/// Names of the mutexes that can be simulated, in the order of tables.
pub fn lock_names() -> Vec<&'static str> {
    locks::all::<Sim>().iter().map(|kind| kind.name).collect()
}

/// Those of them that are policies or settings of another one, there to be compared with it.
pub fn variant_names() -> Vec<&'static str> {
    locks::all::<Sim>().iter().filter(|kind| kind.variant).map(|kind| kind.name).collect()
}

/// Whether [`Spec::lock`] could be this: the name of a lock of either kind, or several with a `+` between
/// them, each with its settings.
pub fn names_locks(names: &str) -> bool {
    locks::by_names::<Sim>(names).is_ok()
}

/// Names of the reader-writer locks that can be simulated, in the order of tables.
pub fn rw_lock_names() -> Vec<&'static str> {
    rw_locks::all::<Sim>().iter().map(|kind| kind.name).collect()
}

/// Those of them that are there to be compared with another one.
pub fn rw_variant_names() -> Vec<&'static str> {
    rw_locks::all::<Sim>().iter().filter(|kind| kind.variant).map(|kind| kind.name).collect()
}

/// Without an acquisition for this long (and for an eighth of the run), a run counts as hung.
const HANG: Time = 2_000 * MS;

/// Runs it. `stop` is asked now and then whether to end early.
///
/// Cost: proportional to the events of the run, see `Outcome::effort`; memory of about a line's entry (160
/// bytes) for each line of the locks, nodes and data, and two pages of stack a context.
///
/// [`Spec::lock`] is the name of a lock, or several with a `+` between them: one for each class of the
/// workload's locks.
pub fn run(spec: &Spec, stop: &dyn Fn() -> bool) -> Result<Outcome, Failure> {
    run_kinds(&kinds(spec)?, spec, stop)
}

/// Whether [`run`] would refuse; why.
pub fn check(spec: &Spec) -> Result<(), Failure> {
    cpus(spec)?;
    kinds(spec).map(|_| ())
}

/// The locks of the workload's classes, if it can be run with them.
fn kinds(spec: &Spec) -> Result<Named, Failure> {
    let refused = |why: String| Err(Failure::Refused(why));
    let named = match locks::by_names::<Sim>(spec.lock) {
        Ok(named) => named,
        Err(name) => return refused(format!("there is no lock '{name}' in the simulator")),
    };
    let kinds = &named.kinds;
    let (name, lives) = (&spec.workload.name, spec.workload.behaviour.prepare());
    for kind in kinds {
        match (lives.takes(), kind) {
            (Takes::Mutexes, AnyKind::Rw(kind)) => {
                return refused(format!(
                    "nobody only reads in workload {name}: it takes mutexes, and {} is a reader-writer lock",
                    kind.name
                ));
            }
            (Takes::RwLocks, AnyKind::Mutex(kind)) => {
                return refused(format!(
                    "workload {name} takes reader-writer locks, and {} is a mutex",
                    kind.name
                ));
            }
            _ => {}
        }
    }
    if kinds.len() != 1 && kinds.len() != lives.classes() {
        return refused(format!(
            "'{}' names {} locks, and workload {name} has {} class{} of them",
            spec.lock,
            kinds.len(),
            lives.classes(),
            if lives.classes() == 1 { "" } else { "es" }
        ));
    }
    Ok(named)
}

/// As [`run`], with a mutex that need not be in the list.
#[cfg(test)]
pub(crate) fn run_kind(
    kind: &locks::LockKind,
    spec: &Spec,
    stop: &dyn Fn() -> bool,
) -> Result<Outcome, Failure> {
    let named = Named { kinds: vec![AnyKind::Mutex(*kind)], tunings: Vec::new() };
    run_kinds(&named, spec, stop)
}

fn run_kinds(named: &Named, spec: &Spec, stop: &dyn Fn() -> bool) -> Result<Outcome, Failure> {
    let cpus = cpus(spec)?;
    let kinds = &named.kinds;
    let lives: Rc<dyn crate::workload::Lives> = Rc::from(spec.workload.behaviour.prepare());
    let classes = lives.classes();
    let kind_of = |lock| {
        let class = lives.class_of(lock);
        (kinds[class % kinds.len()], class)
    };
    let made: Vec<_> = (0..lives.locks(spec.contexts)).map(kind_of).collect();
    let line_count = lives.lines(spec.contexts);
    let lock_lines: usize = made.iter().map(|(kind, _)| kind.lines()).sum();
    let bytes = SimDomain::bytes(spec.contexts, classes) + (lock_lines + line_count + 8) * LINE_BYTES;
    let arena = Arena::new(bytes);
    let common = Rc::new(Common::new(&arena, &made, line_count, spec.contexts));
    // The last counts: what the name of a lock says is said of it alone.
    let rows = kinds.iter().flat_map(|kind| kind.tunings().iter().copied());
    let tunings = rows.chain(spec.tunings.iter().copied()).chain(named.tunings.iter().copied());
    let furnished = furnish(SimDomain::new(&arena, spec.contexts, classes), tunings);
    let bodies = (0..spec.contexts)
        .map(|index| {
            let here = Here::new(index, spec.contexts, spec.warm_up, Rc::clone(&common));
            let lives = Rc::clone(&lives);
            Box::new(move || lives.live(&here)) as Box<dyn FnOnce()>
        })
        .collect();
    let engine =
        Engine::new(spec.machine, &arena, spec.contexts, &cpus, spec.seed, spec.warm_up, spec.record);
    let limits = Limits { until: spec.warm_up + spec.time, events: spec.most_events, stop };
    let finished = engine::run(engine, bodies, &limits).map_err(Failure::Broken)?;
    drop(furnished);
    let since = finished.now - common.last_op();
    if finished.end == End::Stuck {
        return Err(Failure::Broken(format!(
            "nobody can run any more (a lost wake-up or a deadlock) at {} ns; {}; {}",
            finished.now / 1000,
            common.words(),
            finished.state
        )));
    }
    let is_hung = since > HANG.max(spec.time / 8) && since > spec.warm_up;
    if finished.end == End::TimeUp && is_hung && !finished.all_sleep {
        return Err(Failure::Broken(format!(
            "no acquisition for {} ms; {}; {}",
            since / MS,
            common.words(),
            finished.state
        )));
    }
    let measured = finished.measured;
    Ok(Outcome {
        time: if finished.end == End::TimeUp { spec.time } else { measured },
        cut_short: matches!(finished.end, End::TooLong | End::Stopped),
        ops: common.ops(),
        acquisitions: common.acquisitions(),
        causes: finished.causes,
        waits: common.waits(),
        handovers: common.handovers(),
        kicks: finished.kicks,
        halts: finished.halts,
        lock_events: finished.lock_events,
        cpu_busy: finished.cpu_busy,
        hash: finished.hash,
        effort: finished.effort,
        tallies: lives.tallies(),
        recording: finished.recording,
    })
}

/// The hardware threads that the run may use, in the order in which they are handed out.
fn cpus(spec: &Spec) -> Result<Vec<usize>, Failure> {
    let topology = &spec.machine.topology;
    let refused = |message: String| Err(Failure::Refused(message));
    if spec.contexts == 0 || spec.contexts >= usize::from(CpuId::LIMIT) {
        return refused(format!("{} vCPUs cannot be run, only 1 to {}", spec.contexts, CpuId::LIMIT - 1));
    }
    if spec.machine.host.scheduler != SchedulerKind::Pinned {
        return Ok((0..topology.cpu_count()).collect());
    }
    if spec.contexts > topology.cpu_count() {
        return refused(format!(
            "{} vCPUs do not fit on the {} CPUs of {}, whose scheduler pins each to one of its own (--set host.scheduler=…)",
            spec.contexts,
            topology.cpu_count(),
            spec.machine.name
        ));
    }
    let mut order: Vec<usize> = (0..topology.cpu_count()).collect();
    arrange(&mut order, topology, spec.workload.placement, spec.seed);
    order.truncate(spec.contexts);
    Ok(order)
}

/// Sorts CPUs into the order in which a placement hands them out.
fn arrange(order: &mut [usize], topology: &Topology, placement: Placement, seed: u64) {
    let cores = topology.core_count();
    let socket_cores = cores / usize::from(topology.sockets);
    match placement {
        Placement::Spread => order.sort_by_key(|cpu| {
            let core = cpu % cores;
            (cpu / cores, core % socket_cores, core / socket_cores)
        }),
        Placement::Compact => order.sort_by_key(|cpu| {
            let core = cpu % cores;
            (core / socket_cores, cpu / cores, core % socket_cores)
        }),
        Placement::CoresFirst => order.sort_unstable(), // that is how they are numbered
        Placement::Random => Random::new(seed, u64::MAX - 3).shuffle(order),
    }
}

#[cfg(test)]
mod ahead;
#[cfg(test)]
mod company;
#[cfg(test)]
mod everything;
#[cfg(test)]
mod idle;
#[cfg(test)]
mod in_order;
#[cfg(test)]
mod passing;
#[cfg(test)]
mod rw_tests;
#[cfg(test)]
mod tests;
