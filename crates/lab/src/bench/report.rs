//! The result of a run: what every exporter writes and the terminal prints.
use super::cell::Calibration;
pub(crate) use super::cell::State;
use super::contender::{Kind, LockInfo, NO_LOCK};
use super::mix::{Load, Mix, Profile, named};
use lab_kit::provenance::Provenance;
use lab_kit::stats::{Ratio, Summary};
use lab_kit::units::plural;
use serde::{Deserialize, Serialize};
use stanchion_cells::scenes::once;
use std::collections::BTreeMap;

/// Raised whenever a field changes its meaning or goes away; new fields do not raise it.
pub(crate) const SCHEMA: u32 = 1;

/// What was asked for, resolved.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setting {
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
    pub events_time_ms: u64,
    pub uncontended_rounds: usize,
    pub uncontended_time_ms: u64,
    pub drain_ms: u64,
    pub seed: u64,
    #[serde(default)]
    pub quick: bool,
    #[serde(default)]
    pub sort: String,
}

impl Setting {
    /// Whether the locks are reader-writer locks.
    pub(crate) fn rw(&self) -> bool {
        !self.mixes.is_empty()
    }

    /// The loads: profiles in the order they were asked for, and mixes within.
    pub(crate) fn loads(&self) -> impl Iterator<Item = Load<'_>> {
        let mixes = self.mixes.iter().copied().map(Some).chain(self.mixes.is_empty().then_some(None));
        self.profiles.iter().flat_map(move |profile| mixes.clone().map(move |mix| Load { profile, mix }))
    }
}

/// What the harness itself costs: the loop of a profile with no lock in it, one thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Overhead {
    pub profile: String,
    /// Critical section and mean think time as asked for.
    pub asked_ns: f64,
    pub throughput_ns: f64,
    pub latency_ns: f64,
}

/// Acquire and release by one thread, in nanoseconds, the bare loop included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Uncontended {
    pub lock: String,
    /// By the names of [`COSTS`](super::plan::COSTS).
    #[serde(flatten)]
    pub costs: BTreeMap<String, Summary>,
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
    pub p999_rounds_ns: Vec<u64>,
    #[serde(default)]
    pub worst_rounds_ns: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fairness {
    /// Slowest thread over fastest: 1 is even, 0 is a thread that got nothing.
    pub min_over_max: f64,
    pub jain: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct EventCount {
    pub name: String,
    pub count: u64,
    pub per_acquisition: f64,
}

/// What readers, or writers, got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Side {
    /// Acquisitions per second.
    pub throughput: Option<Summary>,
    pub latency: Option<Latency>,
    /// Among the threads of this side, if they do nothing else.
    pub fairness: Option<Fairness>,
}

/// One lock, one profile, one mix, one number of threads. The figures are those of readers and writers
/// together; fairness is that of threads that all do the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cell {
    pub lock: String,
    pub profile: String,
    pub threads: usize,
    #[serde(flatten)]
    pub state: State,
    /// Who reads and who writes; none if the lock is a mutex.
    #[serde(flatten)]
    pub mix: Option<Mix>,
    /// None if nobody reads, or nobody writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Side>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Side>,
    /// Acquisitions per second.
    pub throughput: Option<Summary>,
    pub fairness: Option<Fairness>,
    /// CPU seconds of all threads per million acquisitions; none if there were no acquisitions.
    pub cpu_s_per_million: Option<f64>,
    /// The same of each round, if there were acquisitions in all.
    #[serde(default, deserialize_with = "lab_kit::stats::or_infinite_each")]
    pub cpu_rounds: Vec<f64>,
    pub voluntary_switches_per_s: Option<f64>,
    pub involuntary_switches_per_s: Option<f64>,
    pub latency: Option<Latency>,
    pub events: Vec<EventCount>,
}

/// What can make the numbers worth less than they look.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "warning", rename_all = "kebab-case")]
pub(crate) enum Warning {
    DebugBuild,
    OneCpu,
    CpuQuota { cpus: usize, quota: usize },
    BusyBefore { share: f64, runnable: usize },
    BusyDuring { share: f64 },
    Stolen { share: f64 },
    Governor { governor: String },
    UnstableClock,
    Outliers { cells: usize, of: usize, example: String },
    FewSamples { cells: usize, example: String, samples: u64 },
    CutOff { cells: usize, example: String },
    NoCpuLimit { reason: String },
    Failed { what: String, reason: String },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub schema: u32,
    /// False while the run goes on, and for ever if it was interrupted.
    pub complete: bool,
    pub provenance: Provenance,
    pub setting: Setting,
    pub calibration: Calibration,
    pub locks: Vec<LockInfo>,
    pub overhead: Vec<Overhead>,
    pub uncontended: Vec<Uncontended>,
    pub cells: Vec<Cell>,
    pub warnings: Vec<Warning>,
    pub summary: Vec<String>,
}

impl Report {
    /// Nothing is measured yet.
    pub(crate) fn new(setting: Setting, calibration: Calibration, locks: Vec<LockInfo>) -> Self {
        let provenance = Provenance::collect(setting.seed);
        Self { schema: SCHEMA, provenance, setting, calibration, locks, ..Self::default() }
    }

    /// The loads that have cells, each of which is a section.
    pub(crate) fn loads(&self) -> Vec<Load<'_>> {
        self.setting.loads().filter(|&load| self.section(load).next().is_some()).collect()
    }

    pub(crate) fn section<'a>(&'a self, load: Load<'a>) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |cell| cell.profile == load.profile.name && cell.mix == load.mix)
    }

    /// The cell of a lock in one column of a section.
    pub(crate) fn at<'a>(&'a self, lock: &str, load: Load<'a>, column: usize) -> Option<&'a Cell> {
        let threads = load.threads(column);
        self.section(load).find(|cell| cell.lock == lock && cell.threads == threads)
    }

    /// The sound cells in one column of a section.
    pub(crate) fn column<'a>(&'a self, load: Load<'a>, column: usize) -> Vec<&'a Cell> {
        let threads = load.threads(column);
        let sound = |cell: &&Cell| cell.threads == threads && cell.state == State::Measured;
        self.section(load).filter(sound).collect()
    }

    /// The fastest sound cell of a peer in the column of a sound cell, and this one's throughput beside it.
    pub(crate) fn best_peer<'a>(&'a self, cell: &Cell) -> Option<(&'a Cell, Ratio)> {
        let load = self.load(cell).filter(|_| cell.state == State::Measured)?;
        let peers = self.column(load, load.column(cell.threads)).into_iter();
        let peers = peers.filter(|cell| self.kind(&cell.lock) == Some(Kind::Peer));
        let peer = peers.max_by(|a, b| a.rate().total_cmp(&b.rate()))?;
        Some((peer, Ratio::of(&[(cell.rates(), peer.rates())])?))
    }

    pub(crate) fn names_and_none(&self) -> Vec<&str> {
        once(self.locks.iter().map(|lock| lock.name.as_str()).chain([NO_LOCK]))
    }

    pub(crate) fn load(&self, cell: &Cell) -> Option<Load<'_>> {
        self.setting.loads().find(|load| load.profile.name == cell.profile && load.mix == cell.mix)
    }

    pub(crate) fn info(&self, lock: &str) -> Option<&LockInfo> {
        self.locks.iter().find(|info| info.name == lock)
    }

    pub(crate) fn kind(&self, lock: &str) -> Option<Kind> {
        self.info(lock).map(|info| info.kind)
    }

    /// What it costs one thread, by one of the names of [`COSTS`](super::plan::COSTS).
    pub(crate) fn cost(&self, lock: &str, name: &str) -> Option<&Summary> {
        self.uncontended.iter().find(|row| row.lock == lock)?.costs.get(name)
    }

    /// The middle of it, infinite where it was not measured.
    pub(crate) fn median_cost(&self, lock: &str, name: &str) -> f64 {
        self.cost(lock, name).map_or(f64::INFINITY, |cost| cost.median)
    }

    /// The lock, of those of some kinds, that costs one thread the least.
    pub(crate) fn cheapest(&self, name: &str, kinds: impl Fn(Kind) -> bool) -> Option<&LockInfo> {
        let cost = |info: &LockInfo| self.median_cost(&info.name, name);
        self.locks.iter().filter(|info| kinds(info.kind)).min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// Whether anything went wrong that must not pass silently.
    pub(crate) fn failed(&self) -> bool {
        let failure = |warning: &Warning| matches!(warning, Warning::Failed { .. });
        self.cells.iter().any(|cell| cell.state.is_wrong()) || self.warnings.iter().any(failure)
    }
}

impl Cell {
    pub(crate) fn name(&self) -> String {
        let (threads, load) = (plural(self.threads, "thread"), named(&self.profile, self.mix));
        format!("{} with {threads}, {load}", self.lock)
    }

    /// Acquisitions per second, zero if there were none.
    pub(crate) fn rate(&self) -> f64 {
        self.throughput.as_ref().map_or(0.0, |throughput| throughput.median)
    }

    pub(crate) fn rates(&self) -> &[f64] {
        self.throughput.as_ref().map_or(&[], |throughput| &throughput.rounds)
    }

    /// Both sides by name, of those that anybody is on.
    pub(crate) fn sides(&self) -> impl Iterator<Item = (&'static str, &Side)> {
        [("reads", &self.reads), ("writes", &self.writes)]
            .into_iter()
            .filter_map(|(name, side)| Some((name, side.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contender::Memory;
    use crate::bench::tests::full;
    use serde_json::{Value, json};

    #[test]
    fn reports_of_earlier_versions_are_read() {
        let mut report = full();
        let mut old = serde_json::to_value(&report).expect("it is JSON");
        let mut delete = |within: &str, fields: &[&str]| {
            let within = old.pointer_mut(within).and_then(Value::as_object_mut).expect("an object");
            assert!(fields.iter().all(|&field| within.remove(field).is_some()), "{within:?}");
        };
        delete("/locks/0", &["memory", "chosen"]);
        delete("/setting", &["quick", "sort"]);
        delete("/cells/0", &["cpu_rounds"]);
        delete("/cells/0/latency", &["worst_rounds_ns"]);
        old["cells"][0]["throughput"]["max"] = Value::Null;
        old["cells"][1]["cpu_rounds"] = json!([null]);
        (report.locks[0].memory, report.locks[0].chosen) = (Memory::default(), false);
        (report.setting.quick, report.setting.sort) = (false, String::new());
        report.cells[0].cpu_rounds.clear();
        report.cells[0].latency.as_mut().expect("measured").worst_rounds_ns.clear();
        report.cells[0].throughput.as_mut().expect("measured").max = f64::INFINITY;
        report.cells[1].cpu_rounds = vec![f64::INFINITY];
        assert_eq!(serde_json::from_value::<Report>(old).expect("well formed"), report);
    }
}
