//! Reports made by hand, for the tests of tables and files.
use super::report::{Effort, Report, SCHEMA};
use super::timeline::Caption;
use lab_kit::provenance::Provenance;
use stanchion_cells::cell::{Cell, SceneInfo, Setting};
pub(super) use stanchion_cells::testing::{outcome, scene, score};
use stanchion_sim::{MS, Recording, Spec, machine, workload};

/// Six milliseconds of a real run on two CPUs, with slices so short that vCPUs take turns in it.
pub(super) fn recording(lock: &'static str, vcpus: usize) -> (Recording, Caption<'static>) {
    let slices = ["host.fair-share.slice=500us", "host.fair-share.granularity=10us"];
    let times = ["workload.critical=2us", "workload.think=4us"];
    let spec = Spec {
        machine: &machine::load_with("small-vm", &slices.map(str::to_owned)).expect("shipped").machine,
        workload: &workload::load_with("medium", &times).expect("shipped").workload,
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
    let (machine, workload) = ("small-vm", "medium");
    let ops_per_second = outcome.ops_per_second();
    let caption = Caption { context: "vCPU", lock, machine, workload, cpus: 2, seed: 1, ops_per_second };
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
        chosen: Vec::new(),
        recording: None,
    }
}
