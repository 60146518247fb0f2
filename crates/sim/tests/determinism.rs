//! Equal inputs and seed give equal runs: over repeats, over threads of the host, and over build profiles.
//!
//! `hashes.txt` holds the trace hashes of committed seeds; a debug and a release build must both arrive at them (CI runs
//! this test in both profiles). A change of a lock, a machine file or the engine changes them, which is no fault:
//! `UPDATE_HASHES=1 cargo test -p stanchion-sim --test determinism` writes the new ones, to be committed with the change.
use core::fmt::Write;
use stanchion_sim::{MS, NS, Outcome, Spec, lock_names, machine, run, workload};
use std::path::Path;

/// Machine, workload, contexts: one of each kind of scheduler and protocol.
const CASES: &[(&str, &str, usize)] = &[
    ("xeon-e7-8895v3-4x18x2", "locktorture", 24),
    ("power9-16x12x8", "short", 48),
    ("epyc-2s", "short", 32),
    ("small-vm", "short", 6),
    ("xen-2cpu", "kernbench-j3", 4),
    ("haswell-ex-4x8", "build-haswell-ex", 48),
];

fn outcome(machine_name: &str, workload_name: &str, lock: &str, contexts: usize, seed: u64) -> Outcome {
    let machine = machine::load(machine_name).expect("a shipped machine").machine;
    let workload = workload::load(workload_name).expect("a shipped workload").workload;
    let spec = Spec {
        machine: &machine,
        workload: &workload,
        lock,
        contexts,
        seed,
        time: 2 * MS,
        warm_up: 100 * NS,
        record: None,
        most_events: 3_000_000,
    };
    run(&spec, &|| false)
        .unwrap_or_else(|failure| panic!("{machine_name} {workload_name} {lock}: {failure:?}"))
}

#[test]
fn committed_seeds_give_the_committed_hashes() {
    let mut lines = String::from("# machine workload contexts lock seed hash; see determinism.rs\n");
    for &(machine, workload, contexts) in CASES {
        for lock in lock_names() {
            for seed in [1, 20_261_120] {
                let hash = outcome(machine, workload, lock, contexts, seed).hash;
                writeln!(lines, "{machine} {workload} {contexts} {lock} {seed} {hash:016x}")
                    .expect("to memory");
            }
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hashes.txt");
    if std::env::var_os("UPDATE_HASHES").is_some() {
        std::fs::write(&path, &lines).expect("the source tree can be written");
    }
    let committed = std::fs::read_to_string(&path).expect("tests/hashes.txt is committed");
    let differing: Vec<_> = lines.lines().zip(committed.lines()).filter(|(now, then)| now != then).collect();
    assert!(differing.is_empty() && lines.lines().count() == committed.lines().count(), "{differing:#?}");
}

#[test]
fn a_hundred_repeats_are_one() {
    let first = outcome("small-vm", "short", "pv-qspin", 6, 7);
    for _ in 1..100 {
        let again = outcome("small-vm", "short", "pv-qspin", 6, 7);
        assert_eq!((again.hash, &again.ops, again.effort), (first.hash, &first.ops, first.effort));
    }
}

#[test]
fn threads_of_the_host_do_not_disturb_each_other() {
    let runs: Vec<u64> = std::thread::scope(|scope| {
        let run = || outcome("small-vm", "short", "pv-qspin", 6, 7).hash;
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(runs.iter().all(|&hash| hash == runs[0]), "{runs:x?}");
}

#[test]
fn seeds_differ() {
    let hash = |seed| outcome("small-vm", "short", "pv-qspin", 6, seed).hash;
    assert_ne!(hash(1), hash(2));
}
