//! A cell: one lock on one machine with one workload and so many vCPUs, and the figures over its seeds.
use crate::scenes::Scene;
use crate::stats::{Estimate, Ratio};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use stanchion_family::events::ALL;
use stanchion_sim::{Cause, Failure, NS, Outcome};

/// How a vCPU passes the time that costs nobody a CPU.
const IDLE: [Cause; 3] = [Cause::Preempted, Cause::Halted, Cause::Sleeping];

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The first is what others are compared with.
    pub locks: Vec<String>,
    /// Of the runs of each cell.
    pub seeds: Vec<u64>,
    /// Virtual time that is measured.
    pub time_ns: u64,
    /// Virtual time that passes before.
    pub warm_up_ns: u64,
    /// Events after which a run is cut short.
    pub limit: u64,
    /// Fields replaced, as typed.
    pub sets: Vec<String>,
}

/// A machine with a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SceneInfo {
    /// Name of the machine.
    pub machine: String,
    /// What the machine is.
    pub machine_about: String,
    /// Its hardware threads.
    pub cpus: usize,
    /// Its sockets.
    pub sockets: usize,
    /// Name of the workload.
    pub workload: String,
    /// What the workload is.
    pub workload_about: String,
    /// What results are counted in.
    pub unit: String,
    /// Whether the result is the time that a job takes.
    pub lower_is_better: bool,
    /// The counts of vCPUs that are simulated.
    pub vcpus: Vec<usize>,
}

impl SceneInfo {
    /// What there is to know of a scene.
    pub fn of(scene: &Scene) -> Self {
        let (machine, workload) = (&scene.machine, &scene.workload);
        Self {
            machine: machine.name.clone(),
            machine_about: machine.about.clone(),
            cpus: machine.topology.cpu_count(),
            sockets: usize::from(machine.topology.sockets),
            workload: workload.name.clone(),
            workload_about: workload.about.clone(),
            unit: workload.unit.clone(),
            lower_is_better: workload.job.is_some(),
            vcpus: scene.counts.clone(),
        }
    }
}

/// How a cell came out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum State {
    /// Every run went on to its end.
    Measured,
    /// So many runs were cut short by the limit on events; the figures are those of what was simulated.
    Cut {
        /// How many.
        runs: usize,
    },
    /// The lock broke, or hung, with this seed.
    Broken {
        /// The first such seed.
        seed: u64,
        /// What was said.
        message: String,
    },
    /// The run could not be made.
    Failed {
        /// The first such seed.
        seed: u64,
        /// What was said.
        message: String,
    },
}

/// Acquire latency over all seeds, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    /// How many waits there were.
    pub samples: u64,
    /// Their mean.
    pub mean_ns: f64,
    /// The median.
    pub p50_ns: u64,
    /// Nine of ten are not longer.
    pub p90_ns: u64,
    /// 99 of a hundred are not longer.
    pub p99_ns: u64,
    /// 999 of a thousand are not longer.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// From where to where the lock went, as shares of all acquisitions that followed another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ways {
    /// To the context that had it before.
    pub same: f64,
    /// Within a socket.
    pub local: f64,
    /// To another socket.
    pub remote: f64,
}

/// A name with a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The figure.
    pub value: f64,
}

/// The figures of a cell, over all seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// The result in the workload's own unit; none if nothing was done in a run, where a job would take for
    /// ever.
    pub score: Option<Estimate>,
    /// Units of work a second of virtual time.
    pub throughput: Estimate,
    /// The score relative to that of the first lock with as many vCPUs, more always being better.
    pub speed_up: Option<Ratio>,
    /// The slowest vCPU's work over the fastest one's.
    pub fairness: Estimate,
    /// How long acquisitions took.
    pub latency: Waits,
    /// The longest wait, in nanoseconds.
    #[serde(default)]
    pub longest_ns: Estimate,
    /// For each acquisition the time that vCPUs had a CPU and did something, in nanoseconds; no values if
    /// there were no acquisitions with a seed.
    #[serde(default)]
    pub cpu_ns: Estimate,
    /// Shares of the vCPUs' time by cause.
    pub causes: Vec<Named>,
    /// From where to where locks went.
    pub handovers: Ways,
    /// For each acquisition.
    pub kicks: f64,
    /// Halts that began.
    pub halts: f64,
    /// Lock events for each acquisition; those that never came are left out.
    pub events: Vec<Named>,
    /// Acquisitions of all seeds.
    pub acquisitions: u64,
    /// Memory events that were simulated.
    pub memory_events: u64,
    /// Events of the engine.
    pub engine_events: u64,
    /// Of everything that happened, by seed: equal hashes, equal runs.
    pub hashes: Vec<String>,
}

/// One lock on one machine with one workload and so many vCPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Name of the machine.
    pub machine: String,
    /// Name of the workload.
    pub workload: String,
    /// The lock, with its settings.
    pub lock: String,
    /// How many vCPUs.
    pub vcpus: usize,
    /// vCPUs for each CPU.
    pub overcommit: f64,
    /// How it came out.
    #[serde(flatten)]
    pub state: State,
    /// Its figures, if there are any.
    pub figures: Option<Figures>,
}

impl Cell {
    /// Whether it is a cell of this scene.
    pub fn is_of(&self, scene: &SceneInfo) -> bool {
        self.machine == scene.machine && self.workload == scene.workload
    }

    /// The cell of runs that came out so, in the order of `seeds`. `score` makes a result of an outcome.
    pub fn of(
        scene: &SceneInfo,
        score: &dyn Fn(&Outcome) -> f64,
        lock: &str,
        vcpus: usize,
        seeds: &[u64],
        runs: &[Result<Outcome, Failure>],
    ) -> Self {
        let failure = seeds.iter().zip(runs).find_map(|(&seed, run)| match run {
            Err(Failure::Broken(message)) => Some(State::Broken { seed, message: message.clone() }),
            Err(Failure::Refused(message)) => Some(State::Failed { seed, message: message.clone() }),
            Ok(_) => None,
        });
        let outcomes: Vec<&Outcome> = runs.iter().filter_map(|run| run.as_ref().ok()).collect();
        let cut = outcomes.iter().filter(|outcome| outcome.cut_short).count();
        let sound = if cut > 0 { State::Cut { runs: cut } } else { State::Measured };
        Self {
            machine: scene.machine.clone(),
            workload: scene.workload.clone(),
            lock: lock.to_owned(),
            vcpus,
            overcommit: vcpus as f64 / scene.cpus.max(1) as f64,
            // Figures of the other seeds would make a broken lock look like a result.
            figures: (failure.is_none() && !outcomes.is_empty()).then(|| Figures::of(&outcomes, score)),
            state: failure.unwrap_or(sound),
        }
    }
}

impl Figures {
    fn of(outcomes: &[&Outcome], score: &dyn Fn(&Outcome) -> f64) -> Self {
        let scores: Vec<f64> = outcomes.iter().map(|outcome| score(outcome)).collect();
        let mean = |value: fn(&Outcome) -> f64| {
            Estimate::of(outcomes.iter().map(|outcome| value(outcome)).collect())
        };
        let sum =
            |value: &dyn Fn(&Outcome) -> u64| outcomes.iter().map(|outcome| value(outcome)).sum::<u64>();
        let acquisitions = sum(&|outcome| outcome.acquisitions.iter().sum());
        let per_acquisition = |count: u64| count as f64 / acquisitions.max(1) as f64;
        let cpu_ns = outcomes.iter().map(|outcome| {
            let busy = Cause::ALL.into_iter().filter(|cause| !IDLE.contains(cause));
            let busy: u64 = busy.map(|cause| outcome.spent_on(cause)).sum();
            let acquisitions: u64 = outcome.acquisitions.iter().sum();
            (acquisitions > 0).then(|| busy as f64 / NS as f64 / acquisitions as f64)
        });
        let spent = |cause: Cause| sum(&|outcome| outcome.spent_on(cause));
        let all: u64 = Cause::ALL.into_iter().map(spent).sum();
        let events = ALL.iter().map(|&event| {
            let count = sum(&|outcome| outcome.lock_events.get(event.index()).copied().unwrap_or(0));
            Named { name: event.name().to_owned(), value: per_acquisition(count) }
        });
        Self {
            score: scores.iter().all(|score| score.is_finite()).then(|| Estimate::of(scores)),
            throughput: mean(Outcome::ops_per_second),
            speed_up: None,
            fairness: mean(Outcome::fairness),
            latency: Waits::of(outcomes),
            longest_ns: mean(|outcome| outcome.waits.max() as f64),
            cpu_ns: Estimate::of(cpu_ns.collect::<Option<_>>().unwrap_or_default()),
            causes: Cause::ALL
                .into_iter()
                .map(|cause| Named { name: cause.name().to_owned(), value: share(spent(cause), all) })
                .collect(),
            handovers: Ways::of(outcomes),
            kicks: per_acquisition(sum(&|outcome| outcome.kicks)),
            halts: per_acquisition(sum(&|outcome| outcome.halts)),
            events: events.filter(|event| event.value > 0.0).collect(),
            acquisitions,
            memory_events: sum(&|outcome| outcome.effort.memory_events),
            engine_events: sum(&|outcome| outcome.effort.events),
            hashes: outcomes.iter().map(|outcome| format!("{:016x}", outcome.hash)).collect(),
        }
    }

    /// The share of the vCPUs' time that went to any of `causes`.
    pub fn share_of(&self, causes: &[Cause]) -> f64 {
        let of = |cause: &Cause| self.causes.get(*cause as usize).map_or(0.0, |cause| cause.value);
        causes.iter().map(of).sum()
    }
}

impl Waits {
    fn of(outcomes: &[&Outcome]) -> Self {
        // Three digits: the runs' own rounding to one per cent is then the only one that shows.
        let mut all = Histogram::<u64>::new(3).expect("three digits are valid");
        for outcome in outcomes {
            all.add(&outcome.waits).expect("the histogram grows as needed");
        }
        Self {
            samples: all.len(),
            mean_ns: all.mean(),
            p50_ns: all.value_at_quantile(0.5),
            p90_ns: all.value_at_quantile(0.9),
            p99_ns: all.value_at_quantile(0.99),
            p999_ns: all.value_at_quantile(0.999),
            max_ns: all.max(),
        }
    }
}

impl Ways {
    fn of(outcomes: &[&Outcome]) -> Self {
        let sum = |value: fn(&Outcome) -> u64| outcomes.iter().map(|outcome| value(outcome)).sum::<u64>();
        let same = sum(|outcome| outcome.handovers.same);
        let local = sum(|outcome| outcome.handovers.local);
        let remote = sum(|outcome| outcome.handovers.remote);
        let all = same + local + remote;
        Self { same: share(same, all), local: share(local, all), remote: share(remote, all) }
    }
}

fn share(part: u64, all: u64) -> f64 {
    part as f64 / all.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn seeds_become_means_shares_and_one_distribution_of_waits() {
        let scene = testing::scene();
        let runs = [Ok(testing::outcome(1000, 100)), Ok(testing::outcome(3000, 900))];
        let cell = Cell::of(&scene, &testing::score, "byte", 4, &[7, 8], &runs);
        let figures = cell.figures.expect("sound");
        assert_eq!(cell.state, State::Measured);
        assert!((cell.overcommit - 2.0).abs() < 1e-12);
        assert!(
            (figures.throughput.mean - 2e6).abs() < 1e-3,
            "2000 in a millisecond: {:?}",
            figures.throughput
        );
        assert_eq!((figures.latency.samples, figures.latency.p50_ns, figures.latency.max_ns), (2, 100, 900));
        let shares: f64 = figures.causes.iter().map(|cause| cause.value).sum();
        assert!((shares - 1.0).abs() < 1e-12 && (figures.share_of(&[Cause::Spinning]) - 0.5).abs() < 1e-12);
        assert!((figures.handovers.local - 0.75).abs() < 1e-12, "{:?}", figures.handovers);
        assert_eq!(figures.events.len(), 1);
        assert_eq!(figures.hashes, ["00000000000003e8", "0000000000000bb8"]);
    }

    #[test]
    fn one_broken_seed_breaks_the_cell_and_leaves_no_figures() {
        let runs = [Ok(testing::outcome(1, 1)), Err(Failure::Broken("two at once".into()))];
        let cell = Cell::of(&testing::scene(), &testing::score, "byte", 4, &[7, 8], &runs);
        assert_eq!(cell.state, State::Broken { seed: 8, message: "two at once".into() });
        assert_eq!(cell.figures, None);
    }

    #[test]
    fn a_run_cut_short_is_marked() {
        let cut = Outcome { cut_short: true, ..testing::outcome(1, 1) };
        let cell = Cell::of(&testing::scene(), &testing::score, "byte", 4, &[7], &[Ok(cut)]);
        assert_eq!(cell.state, State::Cut { runs: 1 });
        assert!(cell.figures.is_some());
    }
}
