//! A mock machine and small settings for the tests of the engine, the exporters and the tables.
use super::cell::{Accesses, Calibration, CellOutcome, CellSpec, Pass};
use super::contender::{Kind, LockInfo, Memory};
use super::engine::{self, Observer};
use super::mix::{Mix, Profile};
use super::plan::{Group, groups};
use super::report::{Report, Setting};

pub(crate) fn calibration() -> Calibration {
    Calibration { ns_per_step: 1.0, ticks_per_ns: 2.0, clock_read_ns: 10.0, clock_step_ns: 1.0 }
}

pub(crate) fn lock(name: &str) -> LockInfo {
    let kind = if name.starts_with("peer") { Kind::Peer } else { Kind::Stanchion };
    LockInfo {
        name: name.into(),
        kind,
        about: format!("the lock {name}"),
        bytes: 4,
        counts_events: false,
        memory: Memory { per_thread: 64, ..Memory::NONE },
        chosen: true,
    }
}

pub(crate) fn setting() -> Setting {
    let profile = |name: &str, critical_ns, think_ns| Profile {
        name: name.into(),
        critical_ns,
        think_ns,
        ..Profile::default()
    };
    Setting {
        cpus: vec![0, 1],
        threads: vec![1, 2, 4],
        profiles: vec![profile("empty", 0, 0), profile("short", 50, 200)],
        rounds: 3,
        time_ms: 10,
        latency_rounds: 1,
        latency_time_ms: 10,
        events_time_ms: 5,
        uncontended_rounds: 3,
        uncontended_time_ms: 5,
        drain_ms: 100,
        seed: 42,
        ..Setting::default()
    }
}

/// A report with nothing measured yet.
pub(crate) fn report(locks: &[&str]) -> Report {
    Report::new(setting(), calibration(), locks.iter().map(|name| lock(name)).collect())
}

/// A cell that went well: every thread got `per_thread` acquisitions in a millisecond. Of ten operations on a
/// reader-writer lock one is a write.
pub(crate) fn outcome(spec: &CellSpec, per_thread: u64) -> CellOutcome {
    let accesses = |each: u64, buckets: &[(u64, u64)], worst_ns| Accesses {
        counts: vec![each; spec.threads],
        ..match spec.pass {
            Pass::Latency => Accesses { waits: buckets.to_vec(), worst_ns, ..Accesses::default() },
            _ => Accesses::default(),
        }
    };
    let writes = per_thread / 10;
    let all = |each| each * spec.threads as u64;
    let sides = match spec.mix {
        None => [Accesses::default(), accesses(per_thread, &[(100, 9_000), (10_000, 1_000)], 50_000)],
        Some(_) => [
            accesses(per_thread - writes, &[(100, all(per_thread - writes))], 200),
            accesses(writes, &[(1000, all(writes))], 2000),
        ],
    };
    CellOutcome {
        elapsed_ns: 1_000_000,
        cpu_ns: 2_000_000,
        voluntary_switches: 10,
        involuntary_switches: 20,
        sides,
        ..CellOutcome::default()
    }
}

/// A complete report of two locks, of which `a` is twice as fast as `peer`.
pub(crate) fn full() -> Report {
    run(report(&["a", "peer"]))
}

/// The same of reader-writer locks.
pub(crate) fn full_rw() -> Report {
    let mut report = report(&["a", "peer"]);
    report.setting.mixes = vec![Mix::Drawn { reads_percent: 99.0 }, Mix::Drawn { reads_percent: 50.0 }];
    run(report)
}

fn run(mut report: Report) -> Report {
    let groups = groups(&report, false);
    let answer = |spec: &CellSpec| Ok(outcome(spec, if spec.lock == "a" { 2_000 } else { 1_000 }));
    engine::run(&mut { answer }, &mut Nobody, &groups, &mut report);
    report
}

/// Sees nothing and never asks to stop.
struct Nobody;

impl Observer for Nobody {
    fn step(&mut self, _spec: &CellSpec) -> bool {
        true
    }

    fn group_done(&mut self, _group: &Group, _report: &mut Report) {}
}
