//! The result of a run: what every exporter writes and the terminal prints.
use super::cell::{Calibration, CellOutcome, Pass, Profile, Waits};
use super::contender::Kind;
use super::rw::{Memory, Mix};
use super::stats::{Fairness, Summary, median};
use super::warnings::Warning;
use crate::provenance::Provenance;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Raised whenever a field changes its meaning or goes away; new fields do not raise it.
pub(crate) const SCHEMA: u32 = 1;

/// A lock as the report knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LockInfo {
    pub name: String,
    pub kind: Kind,
    pub about: String,
    pub bytes: usize,
    /// Whether it has a form that counts lock events.
    pub counts_events: bool,
    /// What it needs beside itself; told of reader-writer locks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
}

/// What was asked for, resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setting {
    /// The CPUs the run was allowed to use.
    pub cpus: Vec<usize>,
    pub threads: Vec<usize>,
    pub profiles: Vec<Profile>,
    /// Who reads and who writes; empty for mutexes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mixes: Vec<Mix>,
    pub rounds: usize,
    pub time_ms: u64,
    pub latency_rounds: usize,
    pub latency_time_ms: u64,
    /// Zero: no round with lock events.
    pub events_time_ms: u64,
    pub uncontended_rounds: usize,
    pub uncontended_time_ms: u64,
    pub drain_ms: u64,
    pub seed: u64,
}

impl Setting {
    /// Length of a round.
    pub(crate) fn time_of(&self, pass: Pass) -> u64 {
        match pass {
            Pass::Throughput => self.time_ms,
            Pass::Latency => self.latency_time_ms,
            Pass::Events => self.events_time_ms,
            Pass::Uncontended | Pass::AfterContention => self.uncontended_time_ms,
        }
    }
}

/// What the harness itself costs: the loop of a profile with no lock in it, one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Overhead {
    pub profile: String,
    /// Critical section and mean think time as asked for.
    pub asked_ns: f64,
    /// One iteration of a throughput pass.
    pub throughput_ns: f64,
    /// One iteration of a latency pass.
    pub latency_ns: f64,
}

/// Acquire and release by one thread, in nanoseconds, the bare loop included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Uncontended {
    pub lock: String,
    pub ns: Summary,
    /// The same after two threads contended for the lock; none in reports from before this was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_ns: Option<Summary>,
}

/// What became of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(crate) enum State {
    /// Every round ended soundly.
    Measured,
    /// Threads were still queued at the end of the drain; the figures are those of the window.
    Stalled,
    /// Not run, because the lock stalled with fewer threads.
    Skipped { stalled_at: usize },
    /// Mutual exclusion was violated.
    Broken { acquisitions: u64, counter: u64 },
    /// A reader was in together with a writer.
    Torn { of_reads: u64, torn: u64 },
    /// The worker died.
    Failed { reason: String },
}

/// How long acquisitions waited, in nanoseconds, over all latency rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Latency {
    pub samples: u64,
    pub p50_ns: u64,
    pub p99_ns: u64,
    pub p999_ns: u64,
    /// The longest wait, ended or still going on when its round stopped.
    pub worst_ns: u64,
    /// The longest wait that was cut off by the end of its round.
    pub unfinished_ns: u64,
    /// The 99.9th percentile of each round.
    pub p999_rounds_ns: Vec<u64>,
}

/// One lock event of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventCount {
    pub name: String,
    pub count: u64,
    pub per_acquisition: f64,
}

/// One lock, one profile, one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub lock: String,
    pub profile: String,
    pub threads: usize,
    #[serde(flatten)]
    pub state: State,
    /// Acquisitions per second.
    pub throughput: Option<Summary>,
    pub fairness: Option<Fairness>,
    /// CPU seconds of all threads per million acquisitions; none if there were no acquisitions.
    pub cpu_s_per_million: Option<f64>,
    pub voluntary_switches_per_s: Option<f64>,
    pub involuntary_switches_per_s: Option<f64>,
    pub latency: Option<Latency>,
    pub events: Vec<EventCount>,
}

/// The whole of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report<C = Cell, U = Uncontended> {
    pub schema: u32,
    /// False while the run goes on, and for ever if it was interrupted.
    pub complete: bool,
    pub provenance: Provenance,
    pub setting: Setting,
    pub calibration: Calibration,
    pub locks: Vec<LockInfo>,
    pub overhead: Vec<Overhead>,
    pub uncontended: Vec<U>,
    pub cells: Vec<C>,
    pub warnings: Vec<Warning>,
    pub summary: Vec<String>,
}

impl Report {
    pub(crate) fn cell(&self, lock: &str, profile: &str, threads: usize) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.lock == lock && cell.profile == profile && cell.threads == threads)
    }

    /// The sound cells of one profile and thread count.
    pub(crate) fn sound(&self, profile: &str, threads: usize) -> impl Iterator<Item = &Cell> {
        self.cells.iter().filter(move |cell| {
            cell.profile == profile && cell.threads == threads && cell.state == State::Measured
        })
    }

    /// The peer with the most acquisitions per second in one profile at one thread count.
    pub(crate) fn best_peer(&self, profile: &str, threads: usize) -> Option<&Cell> {
        self.sound(profile, threads)
            .filter(|cell| self.kind(&cell.lock) == Some(Kind::Peer))
            .max_by(|a, b| a.rate().total_cmp(&b.rate()))
    }
}

impl<C: AsRef<Cell>, U> Report<C, U> {
    pub(crate) fn kind(&self, lock: &str) -> Option<Kind> {
        self.locks.iter().find(|info| info.name == lock).map(|info| info.kind)
    }

    /// The names of the profiles in the order they were asked for.
    pub(crate) fn profiles(&self) -> impl Iterator<Item = &Profile> {
        self.setting.profiles.iter()
    }

    /// Whether anything went wrong that must not pass silently.
    pub(crate) fn failed(&self) -> bool {
        let bad =
            |state: &State| matches!(state, State::Broken { .. } | State::Torn { .. } | State::Failed { .. });
        self.cells.iter().any(|cell| bad(&cell.as_ref().state))
            || self.warnings.iter().any(|warning| matches!(warning, Warning::Failed { .. }))
    }
}

impl AsRef<Cell> for Cell {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl Cell {
    /// Acquisitions per second, zero if there were none.
    pub(crate) fn rate(&self) -> f64 {
        self.throughput.as_ref().map_or(0.0, |throughput| throughput.median)
    }

    /// Puts the rounds of a cell together.
    pub(crate) fn of(
        lock: &str,
        profile: &str,
        threads: usize,
        state: State,
        rounds: &[(Pass, CellOutcome)],
    ) -> Self {
        let of_pass = |pass| rounds.iter().filter(move |(of, _)| *of == pass).map(|(_, outcome)| outcome);
        let throughput: Vec<&CellOutcome> = of_pass(Pass::Throughput).collect();
        let waits: Vec<&CellOutcome> = of_pass(Pass::Latency).collect();
        let middle = |value: &dyn Fn(&CellOutcome) -> Option<f64>| {
            let values: Vec<f64> = throughput.iter().filter_map(|outcome| value(outcome)).collect();
            (!values.is_empty()).then(|| median(&values))
        };
        let per_second = |count: u64, of: &CellOutcome| count as f64 * 1e9 / of.elapsed_ns.max(1) as f64;
        let fairness =
            |pick: fn(Fairness) -> f64| middle(&|outcome| Some(pick(Fairness::of(&outcome.acquisitions))));
        Self {
            lock: lock.to_owned(),
            profile: profile.to_owned(),
            threads,
            state,
            throughput: (!throughput.is_empty())
                .then(|| Summary::of(throughput.iter().map(|outcome| outcome.rate()).collect())),
            fairness: fairness(|fairness| fairness.min_over_max)
                .zip(fairness(|fairness| fairness.jain))
                .map(|(min_over_max, jain)| Fairness { min_over_max, jain }),
            // Nanoseconds per acquisition are milliseconds per million; a thousandth of that is seconds.
            cpu_s_per_million: middle(&|outcome| {
                (outcome.total() > 0).then(|| outcome.cpu_ns as f64 / outcome.total() as f64 / 1e3)
            }),
            voluntary_switches_per_s: middle(&|outcome| {
                Some(per_second(outcome.voluntary_switches, outcome))
            }),
            involuntary_switches_per_s: middle(&|outcome| {
                Some(per_second(outcome.involuntary_switches, outcome))
            }),
            latency: (!waits.is_empty())
                .then(|| Latency::of(waits.iter().filter_map(|outcome| outcome.waits.as_ref()))),
            events: of_pass(Pass::Events).flat_map(events).collect(),
        }
    }
}

fn events(outcome: &CellOutcome) -> Vec<EventCount> {
    let acquisitions = outcome.total().max(1) as f64;
    let count = |(name, count): &(String, u64)| EventCount {
        name: name.clone(),
        count: *count,
        per_acquisition: *count as f64 / acquisitions,
    };
    outcome.events.iter().filter(|(_, count)| *count > 0).map(count).collect()
}

impl Latency {
    /// All rounds as one distribution.
    pub(crate) fn of<'a>(rounds: impl Iterator<Item = &'a Waits>) -> Self {
        // Three digits: the workers' own rounding to one per cent is then the only one that shows.
        let empty = || Histogram::<u64>::new(3).expect("three digits are valid");
        let mut all = empty();
        let mut p999_rounds_ns = Vec::new();
        let (mut worst_ns, mut unfinished_ns) = (0, 0);
        for waits in rounds {
            let mut round = empty();
            for &(ns, count) in &waits.buckets {
                round.record_n(ns, count).expect("the histogram grows as needed");
            }
            p999_rounds_ns.push(round.value_at_quantile(0.999));
            all.add(&round).expect("the histogram grows as needed");
            worst_ns = worst_ns.max(waits.worst_ns);
            unfinished_ns = unfinished_ns.max(waits.unfinished_ns);
        }
        Self {
            samples: all.len(),
            p50_ns: all.value_at_quantile(0.5),
            p99_ns: all.value_at_quantile(0.99),
            p999_ns: all.value_at_quantile(0.999),
            worst_ns,
            unfinished_ns,
            p999_rounds_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cell::Ending;

    fn outcome(acquisitions: Vec<u64>, cpu_ns: u64, waits: Option<Waits>) -> CellOutcome {
        CellOutcome {
            ending: Ending::Sound,
            elapsed_ns: 1_000_000_000,
            acquisitions,
            cpu_ns,
            voluntary_switches: 3,
            involuntary_switches: 4,
            waits,
            events: vec![("pv_wait_head".into(), 50), ("never".into(), 0)],
        }
    }

    #[test]
    fn rounds_become_medians() {
        let rounds: Vec<_> = [(10, 2_000), (30, 3_000), (20, 8_000)]
            .map(|(count, cpu)| (Pass::Throughput, outcome(vec![count, count], cpu, None)))
            .into();
        let cell = Cell::of("l", "p", 2, State::Measured, &rounds);
        assert!((cell.rate() - 40.0).abs() < 1e-9);
        assert_eq!(cell.fairness, Some(Fairness { min_over_max: 1.0, jain: 1.0 }));
        // 100, 50 and 200 ns of CPU per acquisition.
        assert!((cell.cpu_s_per_million.expect("measured") - 0.1).abs() < 1e-9);
        assert_eq!(cell.voluntary_switches_per_s, Some(3.0));
        assert_eq!(cell.latency, None);
    }

    #[test]
    fn waits_of_all_rounds_are_one_distribution_and_the_unfinished_count_for_the_worst() {
        let waits =
            |ns, worst_ns, unfinished_ns| Some(Waits { buckets: vec![(ns, 500)], worst_ns, unfinished_ns });
        let rounds = vec![
            (Pass::Latency, outcome(vec![500], 0, waits(100, 100, 0))),
            (Pass::Latency, outcome(vec![500], 0, waits(900, 5_000, 5_000))),
        ];
        let latency = Cell::of("l", "p", 1, State::Measured, &rounds).latency.expect("measured");
        assert_eq!((latency.samples, latency.p50_ns, latency.p999_ns), (1000, 100, 900));
        assert_eq!((latency.worst_ns, latency.unfinished_ns), (5_000, 5_000));
        assert_eq!(latency.p999_rounds_ns, [100, 900]);
    }

    #[test]
    fn events_are_per_acquisition_and_those_that_never_came_are_left_out() {
        let cell = Cell::of("l", "p", 1, State::Measured, &[(Pass::Events, outcome(vec![100], 0, None))]);
        assert_eq!(cell.events.len(), 1);
        assert!((cell.events[0].per_acquisition - 0.5).abs() < 1e-9);
    }

    #[test]
    fn no_acquisitions_have_no_cost() {
        let cell = Cell::of("l", "p", 1, State::Stalled, &[(Pass::Throughput, outcome(vec![0], 9, None))]);
        assert_eq!(cell.cpu_s_per_million, None);
    }
}
