//! Runs the recorded program in the simulator: every machine, number of workers, lock and seed.
use super::load::Recording;
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use serde::Serialize;
use stanchion_cells::pool::spread;
use stanchion_cells::stats::Estimate;
use stanchion_sim::machine::Machine;
use stanchion_sim::replay::Tally;
use stanchion_sim::workload::Workload;
use stanchion_sim::{Failure, MS, NS, Outcome, Spec, Time, run};
use std::sync::Arc;

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
    /// Waiting for locks, that of the few threads that are no workers included, as a share of the workers'
    /// time.
    pub waiting: f64,
    /// The locks that are waited for most, by their numbers, each with its share of all waits.
    pub hot: Vec<(usize, f64)>,
    /// Why there is nothing above.
    pub failed: Option<String>,
}

pub(super) type Run = Result<Outcome, Failure>;

/// The simulator's name of a lock in a program: its mutex, and the reader-writer lock that comes with it.
/// Readers pass writers that wait, by libc's default and by the interposer's (`rwlock.rs` there).
fn simulated(lock: &str) -> String {
    if lock == TODAY { "libc-mutex+libc-rwlock".to_owned() } else { format!("{lock}+qrw-readers-first") }
}

/// How much of a run is drawn, for each thread of a CPU: about a turn of each.
const DRAWN: Time = 2 * MS;

/// One run: the workers, and the threads that were recorded besides. It is as long as it takes to see enough
/// acquisitions; if it is drawn, it ends with the part that the picture shows.
pub(super) fn simulate(recording: &Recording, case: &Case, seed: u64, is_drawn: bool) -> Run {
    let cpus = case.machine.topology.cpu_count();
    let each = recording.rate / 1e3 / recording.at_once.max(1) as f64;
    let turns = case.workers.div_ceil(cpus);
    let wanted = ENOUGH / (each * case.workers.min(cpus) as f64).max(1e-6);
    let length = (wanted.clamp((SHORTEST * turns as f64).min(LONGEST), LONGEST) * MS as f64) as Time;
    let warm_up = length / 10;
    // Under libc, who is notified is woken at once, and waits for the mutex then.
    let relaying = (case.lock != TODAY).then(|| case.workload.relaying());
    let time = if is_drawn { turns as Time * DRAWN } else { length };
    let spec = Spec {
        machine: &case.machine,
        workload: relaying.as_ref().unwrap_or(&case.workload),
        lock: &simulated(&case.lock),
        tunings: &[],
        contexts: recording.threads - recording.workers + case.workers,
        seed,
        time,
        warm_up,
        record: is_drawn.then_some((warm_up, warm_up + time)),
        most_events: MOST_EVENTS,
    };
    run(&spec, &interrupt::requested)
}

/// Simulates all cases. None for cases that the user did not wait for.
pub(super) fn all(recording: &Recording, cases: &[Case], seeds: &[u64], quiet: bool) -> Vec<Option<Cell>> {
    let of_case = |case| seeds.iter().map(move |&seed| (case, seed));
    let tasks: Vec<(&Case, u64)> = cases.iter().flat_map(of_case).collect();
    let progress = Progress::new(tasks.len() as u64, quiet);
    progress.now("simulating");
    let runs = spread(&tasks, &interrupt::requested, |&(case, seed)| {
        let run = simulate(recording, case, seed, false);
        progress.step();
        progress.seldom("simulating");
        let is_stopped = matches!(&run, Ok(outcome) if outcome.cut_short) && interrupt::requested();
        (!is_stopped).then_some(run)
    });
    progress.finish();
    let others = recording.threads - recording.workers;
    let mut runs = runs.into_iter().map(Option::flatten);
    cases.iter().map(|case| cell(case, others, runs.by_ref().take(seeds.len()).collect())).collect()
}

fn cell(case: &Case, others: usize, runs: Vec<Option<Run>>) -> Option<Cell> {
    let runs: Vec<Run> = runs.into_iter().collect::<Option<_>>()?;
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
    let (mut locks, mut all, mut time) = (Vec::<Tally>::new(), Tally::default(), 0.0);
    for outcome in &outcomes {
        time += (outcome.time / NS) as f64 * case.workers as f64;
        locks.resize_with(locks.len().max(outcome.tallies.len()), Tally::default);
        for (lock, tally) in locks.iter_mut().zip(&outcome.tallies) {
            lock.add(tally);
            all.add(tally);
        }
    }
    (cell.p99_ns, cell.p999_ns) = (all.quantile(0.99), all.quantile(0.999));
    cell.waiting = (all.waited as f64 / time.max(1.0)).min(1.0);
    let shares = locks.iter().map(|lock| lock.waited as f64 / all.waited as f64).enumerate();
    cell.hot = shares.filter(|(_, share)| *share > 0.0).collect();
    cell.hot.sort_by(|a, b| b.1.total_cmp(&a.1));
    cell.hot.truncate(3);
    Some(cell)
}
