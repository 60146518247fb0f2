//! Runs the recorded program in the simulator: every machine, number of workers, lock and seed.
use super::load::Recording;
use core::sync::atomic::{AtomicUsize, Ordering};
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use serde::Serialize;
use stanchion_cells::stats::Estimate;
use stanchion_sim::machine::Machine;
use stanchion_sim::replay::Tally;
use stanchion_sim::workload::Workload;
use stanchion_sim::{Failure, MS, NS, Outcome, Spec, Time, run};
use std::sync::{Arc, Mutex};

/// The lock that programs have today.
pub(super) const TODAY: &str = "libc";
/// How many acquisitions a run is to see.
const ENOUGH: f64 = 200_000.0;
/// The longest run, and the shortest for each thread of a CPU: some turns of each.
const LONGEST: f64 = 1000.0;
const SHORTEST: f64 = 20.0;
/// A run that does much more than expected ends early. Its rate counts all the same.
const MOST_EVENTS: u64 = 20_000_000;

#[derive(Clone)]
pub(super) struct Case {
    pub machine: Arc<Machine>,
    pub workload: Arc<Workload>,
    pub lock: String,
    pub workers: usize,
}

/// What came out, over all seeds.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Cell {
    pub machine: String,
    pub cpus: usize,
    pub workers: usize,
    pub lock: String,
    /// Acquisitions of the workers in a second.
    pub rate: Estimate,
    /// Waits for shared locks that 99 % and 99.9 % of all do not exceed, in nanoseconds.
    pub p99_ns: u64,
    pub p999_ns: u64,
    /// Share of the threads' time that they wait for locks.
    pub waiting: f64,
    /// The locks that are waited for most, by their numbers, each with its share of all waits.
    pub hot: Vec<(usize, f64)>,
    /// Why there is nothing above.
    pub failed: Option<String>,
}

/// A run, if the user waited for it.
type Run = Option<Result<Outcome, Failure>>;

/// The simulator's name of a lock that stands in a program: its mutex, and the reader-writer lock that comes
/// with it. That is of the kind that programs get from libc if they do not ask for another: its readers pass
/// writers that wait, and so do those of the interposer (`rwlock.rs` there).
fn simulated(lock: &str) -> String {
    if lock == TODAY { "libc-mutex+libc-rwlock".to_owned() } else { format!("{lock}+qrw-readers-first") }
}

/// How long a run is, for a program that acquires so often in a second with one thread.
fn length(recording: &Recording, case: &Case) -> Time {
    let cpus = case.machine.topology.cpu_count();
    let each = recording.rate / 1e3 / recording.at_once.max(1) as f64;
    let turns = case.workers.div_ceil(cpus) as f64;
    let wanted = ENOUGH / (each * case.workers.min(cpus) as f64).max(1e-6);
    (wanted.clamp((SHORTEST * turns).min(LONGEST), LONGEST) * MS as f64) as Time
}

/// How much of a run is drawn, for each thread of a CPU: about a turn of each.
const DRAWN: Time = 2 * MS;

/// What happens in a part of the first run of a case, for a picture: the whole run, as [`all`] has it, up to
/// the end of that part.
pub(super) fn watch(recording: &Recording, case: &Case, seed: u64) -> Option<Outcome> {
    let (lock, warm_up) = (simulated(&case.lock), length(recording, case) / 10);
    let turns = case.workers.div_ceil(case.machine.topology.cpu_count()) as Time;
    let time = turns * DRAWN;
    let record = Some((warm_up, warm_up + time));
    let spec = Spec { warm_up, record, ..spec(recording, case, &lock, seed, time) };
    run(&spec, &interrupt::requested).ok()
}

/// One run: the workers, and the threads that were recorded besides.
fn spec<'a>(recording: &Recording, case: &'a Case, lock: &'a str, seed: u64, time: Time) -> Spec<'a> {
    Spec {
        machine: &case.machine,
        workload: &case.workload,
        lock,
        tunings: &[],
        contexts: recording.others() + case.workers,
        seed,
        time,
        warm_up: time / 10,
        record: None,
        most_events: MOST_EVENTS,
    }
}

/// Simulates all cases. None for cases that the user did not wait for.
pub(super) fn all(recording: &Recording, cases: &[Case], seeds: &[u64], quiet: bool) -> Vec<Option<Cell>> {
    let results: Mutex<Vec<Vec<Run>>> = Mutex::new(cases.iter().map(|_| vec![None; seeds.len()]).collect());
    let progress = Progress::new((cases.len() * seeds.len()) as u64, quiet);
    progress.now("simulating");
    let next = AtomicUsize::new(0);
    let work = || {
        while !interrupt::requested() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let (Some(case), seed) = (cases.get(index / seeds.len()), index % seeds.len()) else { return };
            let (lock, time) = (simulated(&case.lock), length(recording, case));
            let outcome = run(&spec(recording, case, &lock, seeds[seed], time), &interrupt::requested);
            if let Ok(mut results) = results.lock() {
                results[index / seeds.len()][seed] = Some(outcome);
            }
            progress.step();
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    progress.finish();
    let results = results.into_inner().unwrap_or_default();
    cases.iter().zip(results).map(|(case, runs)| cell(case, recording.others(), runs)).collect()
}

fn cell(case: &Case, others: usize, runs: Vec<Run>) -> Option<Cell> {
    let runs: Vec<Result<Outcome, Failure>> = runs.into_iter().collect::<Option<_>>()?;
    let mut cell = Cell {
        machine: case.machine.name.clone(),
        cpus: case.machine.topology.cpu_count(),
        workers: case.workers,
        lock: case.lock.clone(),
        ..Cell::default()
    };
    let outcomes: Vec<Outcome> = match runs.into_iter().collect() {
        Ok(outcomes) => outcomes,
        Err(Failure::Refused(why) | Failure::Broken(why)) => {
            cell.failed = Some(why);
            return Some(cell);
        }
    };
    let rate = |outcome: &Outcome| {
        let done: u64 = outcome.ops[others..].iter().sum();
        done as f64 * 1e12 / outcome.time.max(1) as f64
    };
    cell.rate = Estimate::of(outcomes.iter().map(rate).collect());
    let mut locks: Vec<Tally> = Vec::new();
    let (mut all, mut time) = (Tally::default(), 0.0);
    for outcome in &outcomes {
        time += (outcome.time / NS) as f64 * outcome.ops.len() as f64;
        locks.resize_with(locks.len().max(outcome.tallies.len()), Tally::default);
        for (lock, tally) in locks.iter_mut().zip(&outcome.tallies) {
            lock.add(tally);
            all.add(tally);
        }
    }
    (cell.p99_ns, cell.p999_ns) = (all.quantile(0.99), all.quantile(0.999));
    cell.waiting = all.waited as f64 / time.max(1.0);
    let mut order: Vec<usize> = (0..locks.len()).filter(|&lock| locks[lock].waited > 0).collect();
    order.sort_by_key(|&lock| core::cmp::Reverse(locks[lock].waited));
    cell.hot =
        order.into_iter().take(3).map(|lock| (lock, locks[lock].waited as f64 / all.waited as f64)).collect();
    Some(cell)
}
