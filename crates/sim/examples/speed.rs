//! How fast the simulator is, and how its cost grows: `cargo run --release -p stanchion-sim --example speed`.
//!
//! Each row is one run on one host CPU. *Memory events* are accesses of contexts and looks of waiters at a
//! line that changed; *a section* is one acquisition with its release. The figures in
//! docs/runs/2026-11-20-sim-against-bench come from here.
use std::time::Instant;

use stanchion_sim::{MS, Spec, machine, run, workload};

/// Machine, lock, contexts, virtual milliseconds.
const ROWS: &[(&str, &str, usize, u64)] = &[
    ("xeon-e7-8895v3-4x18x2", "qspin", 1, 100),
    ("xeon-e7-8895v3-4x18x2", "qspin", 2, 100),
    ("xeon-e7-8895v3-4x18x2", "qspin", 16, 100),
    ("xeon-e7-8895v3-4x18x2", "qspin", 144, 100),
    ("xeon-e7-8895v3-4x18x2", "ticket", 144, 100),
    ("xeon-e7-8895v3-4x18x2", "byte", 144, 100),
    ("xeon-e7-8895v3-4x18x2", "pv-qspin", 144, 100),
    ("small-vm", "pv-qspin", 32, 1000),
    ("small-vm", "ticket", 32, 1000),
    ("haswell-ex-4x8", "pv-qspin", 60, 100),
    ("power9-16x12x8", "qspin", 1536, 10),
    ("power9-16x12x8", "ticket", 1536, 10),
    ("power9-16x12x8", "byte", 1536, 10),
    ("power9-16x12x8", "pv-qspin", 1536, 10),
];

fn main() {
    println!(
        "{:24} {:9} {:>8} {:>8} {:>8} {:>10} {:>9} {:>10} {:>8}",
        "machine", "lock", "contexts", "virtual", "host", "mem events", "Mevents/s", "a section", "resident"
    );
    for &(machine, lock, contexts, millis) in ROWS {
        let shipped = machine::load(machine).expect("a shipped machine");
        let workload = workload::load("short").expect("a shipped workload");
        let spec = Spec {
            machine: &shipped.machine,
            workload: &workload.workload,
            lock,
            tunings: &[],
            contexts,
            seed: 1,
            time: millis * MS,
            warm_up: MS,
            record: None,
            most_events: u64::MAX,
        };
        let start = Instant::now();
        let outcome = run(&spec, &|| false).expect("every lock works");
        let host = start.elapsed().as_secs_f64();
        let events = outcome.effort.memory_events as f64;
        let sections: u64 = outcome.acquisitions.iter().sum();
        println!(
            "{machine:24} {lock:9} {contexts:8} {millis:5} ms {host:6.2} s {:8.1} M {:9.1} {:10.1} {:5} MiB",
            events / 1e6,
            events / 1e6 / host,
            events / sections.max(1) as f64,
            resident_mib()
        );
    }
}

/// The most memory that this process has had resident, so far.
fn resident_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib =
        line.and_then(|line| line.trim().strip_suffix(" kB")).and_then(|kib| kib.trim().parse::<u64>().ok());
    kib.unwrap_or(0) / 1024
}
