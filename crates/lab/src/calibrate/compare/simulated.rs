//! The simulated side: the loop of `bench/worker.rs` as a workload, on the machine, for each native cell.
//!
//! The native loop acquires, loads a counter that the lock protects, works for the critical time, stores the
//! counter, releases, and works for a time that is even between half and one and a half of the think time.
//! That is the free form with one line of data, a section that does not vary and a think time that varies by
//! 50 %.
use super::native::{Cell, Native};
use crate::calibrate::args::Args;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use lab_kit::stats::Summary;
use lab_kit::units::parse_time;
use stanchion_sim::machine::Machine;
use stanchion_sim::workload::{self, Workload};
use stanchion_sim::{Failure, MS, Spec, Time};
use std::sync::Mutex;

/// How long and how often cells are simulated.
pub(super) struct Plan {
    time: Time,
    seeds: u64,
}

/// What came of one simulated cell: a rate of each seed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Simulated {
    /// Acquisitions a second: median, least and most of the seeds.
    Rate { median: f64, least: f64, most: f64 },
    /// Why there is none.
    Failed(String),
}

/// A cell, both ways.
#[derive(Clone, Debug)]
pub(super) struct Pair {
    pub(super) native: Cell,
    pub(super) simulated: Simulated,
}

/// Less overcommit needs less time: nobody waits for a turn.
const WITHOUT_WAITING: Time = 10;
const DEFAULT_TIME: Time = 1_000 * MS;
const DEFAULT_SEEDS: u64 = 3;
const MOST_SEEDS: u64 = 100;
/// Until the first turns are over: with 16 threads on a CPU that takes 64 ms.
const WARM_UP: Time = 100 * MS;

impl Plan {
    /// From what was typed.
    pub(super) fn resolve(args: &Args) -> Result<Self, String> {
        let time = match &args.sim_time {
            Some(text) => {
                parse_time(text).map_err(|error| format!("--sim-time: {error}"))?.as_nanos() as Time * 1000
            }
            None => DEFAULT_TIME,
        };
        let seeds = args.seeds.unwrap_or(DEFAULT_SEEDS);
        if time < MS {
            return Err("--sim-time: the least is 1 ms".to_owned());
        }
        if seeds == 0 || seeds > MOST_SEEDS {
            return Err(format!("--seeds: {seeds} is not a number from 1 to {MOST_SEEDS}"));
        }
        Ok(Self { time, seeds })
    }
}

/// The loop of the benchmark with the times of a cell.
fn workload(cell: &Cell) -> Result<Workload, String> {
    let sets =
        [format!("workload.critical={}ns", cell.critical_ns), format!("workload.think={}ns", cell.think_ns)];
    // `short` is the free form with the variation and the data of the benchmark's loop.
    Ok(workload::load_with("short", &sets)?.workload)
}

fn simulate(plan: &Plan, machine: &Machine, cell: &Cell) -> Simulated {
    let workload = match workload(cell) {
        Ok(workload) => workload,
        Err(why) => return Simulated::Failed(why),
    };
    let waits = cell.threads > machine.topology.cpu_count();
    let mut rates = Vec::new();
    for seed in 1..=plan.seeds {
        let spec = Spec {
            machine,
            workload: &workload,
            lock: &cell.lock,
            tunings: &[],
            contexts: cell.threads,
            seed,
            time: if waits { plan.time } else { (plan.time / WITHOUT_WAITING).max(MS) },
            warm_up: if waits { WARM_UP } else { WARM_UP / WITHOUT_WAITING },
            record: None,
            most_events: u64::MAX,
        };
        match stanchion_sim::run(&spec, &interrupt::requested) {
            Ok(outcome) if outcome.cut_short => return Simulated::Failed("interrupted".to_owned()),
            Ok(outcome) => rates.push(outcome.ops_per_second()),
            Err(Failure::Refused(why) | Failure::Broken(why)) => return Simulated::Failed(why),
        }
    }
    let rates = Summary::of(rates);
    Simulated::Rate { median: rates.median, least: rates.min, most: rates.max }
}

/// Simulates every native cell, several at once.
pub(super) fn all(plan: &Plan, machine: &Machine, native: &Native, quiet: bool) -> Vec<Pair> {
    let progress = Progress::new(native.cells.len() as u64, quiet);
    let next = AtomicUsize::new(0);
    let pairs: Vec<Mutex<Option<Pair>>> = native.cells.iter().map(|_| Mutex::new(None)).collect();
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(cell) = native.cells.get(next.fetch_add(1, Relaxed)) {
                    if interrupt::requested() {
                        return;
                    }
                    let index = native.cells.iter().position(|other| core::ptr::eq(other, cell)).unwrap_or(0);
                    let pair = Pair { native: cell.clone(), simulated: simulate(plan, machine, cell) };
                    *pairs[index].lock().expect("no worker panics while it holds this") = Some(pair);
                    progress.step();
                }
            });
        }
    });
    progress.finish();
    pairs.into_iter().filter_map(|pair| pair.into_inner().expect("no worker panicked")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(threads: usize) -> Cell {
        Cell {
            lock: "byte".into(),
            profile: "own".into(),
            critical_ns: 70,
            think_ns: 300,
            threads,
            rate: 1.0,
            least: 1.0,
            most: 1.0,
            stalled: false,
        }
    }

    #[test]
    fn a_cell_is_simulated_the_same_way_every_time() {
        let machine = stanchion_sim::machine::load("small-vm").expect("shipped").machine;
        let plan = Plan { time: 2 * MS, seeds: 2 };
        let first = simulate(&plan, &machine, &cell(3));
        assert!(matches!(first, Simulated::Rate { median, .. } if median > 0.0), "{first:?}");
        assert_eq!(first, simulate(&plan, &machine, &cell(3)));
    }

    #[test]
    fn what_the_simulator_refuses_is_told() {
        let machine = stanchion_sim::machine::load("small-vm").expect("shipped").machine;
        let plan = Plan { time: MS, seeds: 1 };
        assert!(matches!(simulate(&plan, &machine, &cell(0)), Simulated::Failed(_)));
    }

    #[test]
    fn absurd_plans_are_refused() {
        let refused = |args: Args| Plan::resolve(&args).err().is_some_and(|error| error.starts_with("--"));
        assert!(refused(Args { seeds: Some(0), ..Args::default() }));
        assert!(refused(Args { sim_time: Some("0".into()), ..Args::default() }));
        assert!(refused(Args { sim_time: Some("5 parsecs".into()), ..Args::default() }));
    }
}
