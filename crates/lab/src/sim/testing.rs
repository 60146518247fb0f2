//! Outcomes and reports made by hand, for the tests of statistics, tables and files.
use super::report::{Cell, Effort, Report, SCHEMA, SceneInfo, Setting};
use super::scenes::{self, Scene, Typed};
use super::timeline::Caption;
use crate::provenance::Provenance;
use hdrhistogram::Histogram;
use stanchion_core::Event;
use stanchion_sim::{Cause, Handovers, MS, Outcome, Recording, Spec};

pub(super) fn scene() -> SceneInfo {
    SceneInfo {
        machine: "two".into(),
        machine_about: "two CPUs & <nothing> else".into(),
        cpus: 2,
        sockets: 1,
        workload: "medium".into(),
        workload_about: "a loop".into(),
        unit: "ops/us".into(),
        lower_is_better: false,
        vcpus: vec![1, 2, 4],
    }
}

/// Millions a second.
pub(super) fn score(outcome: &Outcome) -> f64 {
    outcome.ops_per_second() / 1e6
}

/// A scene that the simulator itself knows.
pub(super) fn real_scene() -> Scene {
    let typed =
        Typed { machines: "small-vm", workloads: "medium", vcpus: Some("2"), overcommit: None, sets: &[] };
    scenes::resolve(&typed).expect("shipped").remove(0)
}

/// A millisecond of two vCPUs that did `ops` together, half of their time spinning, with one wait.
pub(super) fn outcome(ops: u64, wait_ns: u64) -> Outcome {
    let mut waits = Histogram::new_with_bounds(1, 100_000_000_000, 2).expect("valid bounds");
    waits.record(wait_ns).expect("within the bounds");
    let mut causes = [0; Cause::ALL.len()];
    causes[Cause::Computing as usize] = MS / 2;
    causes[Cause::Spinning as usize] = MS / 2;
    let mut lock_events = vec![0; Event::ALL.len()];
    lock_events[Event::LockPending as usize] = ops;
    Outcome {
        time: MS,
        cut_short: false,
        ops: vec![ops / 2, ops - ops / 2],
        acquisitions: vec![ops / 2, ops - ops / 2],
        causes: vec![causes; 2],
        waits,
        handovers: Handovers { same: ops, local: 3 * ops, remote: 0 },
        kicks: ops / 10,
        halts: ops / 20,
        lock_events,
        cpu_busy: vec![MS; 2],
        hash: ops,
        effort: stanchion_sim::Effort { memory_events: 10 * ops, events: 5 * ops, switches: ops },
        recording: None,
    }
}

/// Six milliseconds of a real run on two CPUs, with slices so short that vCPUs take turns in it.
pub(super) fn recording(lock: &'static str, vcpus: usize) -> (Recording, Caption<'static>) {
    let sets = [
        "host.fair-share.slice=500us",
        "host.fair-share.granularity=10us",
        "workload.critical=2us",
        "workload.think=4us",
    ];
    let sets = sets.map(str::to_owned);
    let typed =
        Typed { machines: "small-vm", workloads: "medium", vcpus: Some("2"), overcommit: None, sets: &sets };
    let scene = scenes::resolve(&typed).expect("valid").remove(0);
    let spec = Spec {
        machine: &scene.machine,
        workload: &scene.workload,
        lock,
        tunings: &[],
        contexts: vcpus,
        seed: 1,
        time: 6 * MS,
        warm_up: MS,
        record: Some((MS, 7 * MS)),
        most_events: 10_000_000,
    };
    let outcome = stanchion_sim::run(&spec, &|| false).expect("a sound lock");
    let caption = Caption {
        lock,
        machine: "small-vm",
        workload: "medium",
        cpus: 2,
        seed: 1,
        ops_per_second: outcome.ops_per_second(),
    };
    (outcome.recording.expect("asked for"), caption)
}

/// Each lock twice as fast as the one before it.
pub(super) fn report(locks: &[&str], vcpus: &[usize]) -> Report {
    let seeds = vec![42, 43];
    let info = SceneInfo { vcpus: vcpus.to_vec(), ..scene() };
    let cell = |lock: &str, vcpus: usize, ops: u64| {
        let runs = [Ok(outcome(ops, 100)), Ok(outcome(ops + ops / 10, 10_000))];
        Cell::of(&info, &score, lock, vcpus, &seeds, &runs)
    };
    let mut cells = Vec::new();
    for (index, lock) in locks.iter().enumerate() {
        cells.extend(vcpus.iter().map(|&vcpus| cell(lock, vcpus, 1000 << index)));
    }
    Report {
        schema: SCHEMA,
        complete: true,
        provenance: Provenance::collect(42),
        effort: Effort { seconds: 2.0, jobs: 2, memory_events_per_second: 1e6 },
        setting: Setting {
            locks: locks.iter().map(|lock| (*lock).to_owned()).collect(),
            seeds,
            time_ns: 1_000_000,
            warm_up_ns: 0,
            limit: 1_000_000,
            sets: vec!["host.kick=2us".into()],
        },
        scenes: vec![info],
        cells,
    }
}
