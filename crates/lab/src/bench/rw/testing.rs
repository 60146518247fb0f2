//! A mock machine and small settings for the tests of this benchmark; what is not of reader-writer locks is
//! the mutexes'.
use super::cell::{RwOutcome, RwSpec};
use super::contender::Memory;
use super::mix::Mix;
use super::plan::Group;
use super::report::RwReport;
use super::study::RwLocks;
use crate::bench::cell::{CellOutcome, Pass, Waits};
use crate::bench::engine::Observer;
use crate::bench::executor::{CellError, Executor};
use crate::bench::report::{LockInfo, SCHEMA, Setting};
use crate::bench::testing;
use crate::provenance::Provenance;

pub(crate) use crate::bench::testing::calibration;

pub(crate) const HALF: Mix = Mix::Drawn { reads_percent: 50.0 };

pub(crate) fn setting() -> Setting {
    Setting { mixes: vec![Mix::Drawn { reads_percent: 99.0 }, HALF], events_time_ms: 0, ..testing::setting() }
}

pub(crate) fn lock(name: &str) -> LockInfo {
    LockInfo { memory: Some(Memory { per_thread: 64, ..Memory::NONE }), ..testing::lock(name) }
}

/// A report with nothing measured yet.
pub(crate) fn report(locks: &[&str]) -> RwReport {
    RwReport {
        schema: SCHEMA,
        complete: false,
        provenance: Provenance::collect(42),
        setting: setting(),
        calibration: calibration(),
        locks: locks.iter().map(|name| lock(name)).collect(),
        overhead: Vec::new(),
        uncontended: Vec::new(),
        cells: Vec::new(),
        warnings: Vec::new(),
        summary: Vec::new(),
    }
}

/// A millisecond in which each thread did so many reads and writes.
pub(crate) fn outcome(pass: Pass, reads: &[u64], writes: &[u64]) -> RwOutcome {
    let waits = |counts: &[u64], ns| {
        let count = counts.iter().sum::<u64>();
        let buckets = if count > 0 { vec![(ns, count)] } else { Vec::new() };
        (pass == Pass::Latency).then_some(Waits { buckets, worst_ns: 2 * ns, unfinished_ns: 0 })
    };
    RwOutcome {
        cell: CellOutcome {
            elapsed_ns: 1_000_000,
            cpu_ns: 1_000_000,
            acquisitions: reads.iter().zip(writes).map(|(reads, writes)| reads + writes).collect(),
            waits: waits(&[reads, writes].concat(), 100),
            ..CellOutcome::nothing()
        },
        writes: writes.to_vec(),
        read_waits: waits(reads, 100),
        write_waits: waits(writes, 1000),
    }
}

/// What a cell measured in which each thread did so many reads and writes.
pub(crate) fn outcome_of(spec: &RwSpec, reads: u64, writes: u64) -> RwOutcome {
    let each = |count| vec![count; spec.cell.threads];
    outcome(spec.cell.pass, &each(reads), &each(writes))
}

/// Answers with a function.
pub(crate) struct Machine<F>(pub F);

impl<F: FnMut(&RwSpec) -> RwOutcome> Executor<RwSpec> for Machine<F> {
    fn run(&mut self, spec: &RwSpec) -> Result<RwOutcome, CellError> {
        Ok((self.0)(spec))
    }
}

/// Watches without interest.
pub(crate) struct Quiet;

impl Observer<RwLocks> for Quiet {
    fn step(&mut self, _spec: &RwSpec) {}

    fn group_done(&mut self, _group: &Group, _report: &mut RwReport) {}

    fn stop_requested(&self) -> bool {
        false
    }
}

/// A complete report of two locks, of which `a` is twice as fast as `peer`.
pub(crate) fn full() -> RwReport {
    let mut report = report(&["a", "peer"]);
    let groups = super::plan::groups(&report.setting, &report.locks, calibration(), false);
    let mut machine = Machine(|spec: &RwSpec| {
        let times = if spec.cell.lock == "a" { 2 } else { 1 };
        outcome_of(spec, 900 * times, 100 * times)
    });
    crate::bench::engine::Engine::<RwLocks>::new(&mut machine, &mut Quiet).run(&groups, &mut report);
    report
}
