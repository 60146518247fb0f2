//! Outcomes made by hand, for tests of statistics, tables and files.
use crate::cell::SceneInfo;
use crate::scenes::{self, Scene, Typed};
use hdrhistogram::Histogram;
use stanchion_core::Event;
use stanchion_family::events::{self, FamilyEvents as _};
use stanchion_sim::{Cause, Handovers, MS, Outcome};

/// Two CPUs with a loop.
pub fn scene() -> SceneInfo {
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
pub fn score(outcome: &Outcome) -> f64 {
    outcome.ops_per_second() / 1e6
}

/// A scene that the simulator itself knows.
pub fn real_scene() -> Scene {
    let typed = Typed {
        machines: "small-vm",
        workloads: "medium",
        counts: Some(("vcpus", "2")),
        overcommit: None,
        sets: &[],
        files: &[],
    };
    scenes::resolve(&typed).expect("shipped").remove(0)
}

/// A millisecond of two vCPUs that did `ops` together, half of their time spinning, with one wait.
pub fn outcome(ops: u64, wait_ns: u64) -> Outcome {
    let mut waits = Histogram::new_with_bounds(1, 100_000_000_000, 2).expect("valid bounds");
    waits.record(wait_ns).expect("within the bounds");
    let mut causes = [0; Cause::ALL.len()];
    causes[Cause::Computing as usize] = MS / 2;
    causes[Cause::Spinning as usize] = MS / 2;
    let mut lock_events = vec![0; events::ALL.len()];
    lock_events[Event::LockPending.index()] = ops;
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
        tallies: Vec::new(),
        recording: None,
    }
}
