//! Equal inputs and seed give equal runs: over repeats, over threads of the host, and over build profiles.
//!
//! `hashes.txt` holds the trace hashes of committed seeds; a debug and a release build must both arrive at
//! them (CI runs this test in both profiles). A change of a lock, a machine file or the engine changes them,
//! which is no fault: `UPDATE_HASHES=1 cargo test -p stanchion-sim --test determinism` writes the new ones,
//! to be committed with the change.
use core::fmt::Write;
use stanchion_sim::{Cause, MS, NS, Outcome, Spec, Time, lock_names, machine, run, workload};
use std::path::Path;

/// A run of each kind of scheduler and protocol.
struct Case {
    machine: &'static str,
    /// Short slices and ticks, so that many of them fit into a short run.
    sets: &'static [&'static str],
    workload: &'static str,
    contexts: usize,
    time: Time,
}

/// Fair shares with slices of half a millisecond, and no tick to wait for.
const SHORT_SLICES: &[&str] =
    &["host.fair-share.slice=500us", "host.fair-share.granularity=none", "host.tick-period=300us"];

const CASES: &[Case] = &[
    Case { machine: "xeon-e7-8895v3-4x18x2", sets: &[], workload: "locktorture", contexts: 24, time: 2 * MS },
    Case { machine: "power9-16x12x8", sets: &[], workload: "short", contexts: 48, time: 2 * MS },
    Case { machine: "epyc-2s", sets: &[], workload: "short", contexts: 32, time: 2 * MS },
    Case { machine: "small-vm", sets: SHORT_SLICES, workload: "short", contexts: 6, time: 6 * MS },
    Case {
        machine: "small-vm",
        sets: SHORT_SLICES,
        workload: "leveldb-readrandom",
        contexts: 6,
        time: 6 * MS,
    },
    Case {
        machine: "small-vm",
        sets: &[
            "host.fair-share.slice=200us",
            "host.fair-share.granularity=none",
            "host.fair-share.quota.period=2ms",
            "host.fair-share.quota.budget=1ms",
        ],
        workload: "medium",
        contexts: 4,
        time: 40 * MS,
    },
    Case {
        machine: "xen-2cpu",
        sets: &["host.round-robin.slice=500us"],
        workload: "kernbench-j16",
        contexts: 4,
        time: 20 * MS,
    },
    Case {
        machine: "haswell-ex-4x8",
        sets: &[
            "host.fair-share.slice=500us",
            "host.fair-share.granularity=none",
            "host.pause-loop.window=2us",
            "host.pause-loop.gap=49ns",
            "host.pause-loop.exit=3us",
            "host.pause-loop.guard=20us",
        ],
        workload: "build-haswell-ex",
        contexts: 48,
        time: 4 * MS,
    },
];

/// The overcommitted case that the other tests repeat.
const OVERCOMMITTED: &Case = &CASES[3];

fn outcome(case: &Case, lock: &str, seed: u64) -> Outcome {
    let machine = machine::load_with(case.machine, case.sets).expect("a shipped machine").machine;
    let workload = workload::load(case.workload).expect("a shipped workload").workload;
    let spec = Spec {
        machine: &machine,
        workload: &workload,
        lock,
        tunings: &[],
        contexts: case.contexts,
        seed,
        time: case.time,
        warm_up: 100 * NS,
        record: None,
        most_events: 3_000_000,
    };
    run(&spec, &|| false).unwrap_or_else(|failure| panic!("{} {lock}: {failure:?}", case.machine))
}

#[test]
fn committed_seeds_give_the_committed_hashes() {
    let mut lines = String::from("# machine workload contexts lock seed hash; see determinism.rs\n");
    for case in CASES {
        let Case { machine, workload, contexts, .. } = case;
        for lock in lock_names() {
            for seed in [1, 20_261_120] {
                let hash = outcome(case, lock, seed).hash;
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

/// A hash proves nothing about what did not happen.
#[test]
fn the_runs_reach_what_is_hard_to_repeat() {
    let spent = |run: &Outcome, context: usize, cause: Cause| run.causes[context][cause as usize];
    for case in CASES.iter().filter(|case| case.contexts > 2 && !case.sets.is_empty()) {
        let run = outcome(case, "pv-qspin", 1);
        let all_ran = (0..case.contexts).all(|context| spent(&run, context, Cause::Computing) > 0);
        assert!(all_ran, "{} {}: somebody never had a CPU", case.machine, case.workload);
        assert!(run.spent_on(Cause::Preempted) > 0 && run.spent_on(Cause::Overhead) > 0, "{}", case.machine);
    }
    let run = outcome(OVERCOMMITTED, "pv-qspin", 1);
    assert!(run.halts > 0 && run.kicks > 0, "{} halts, {} kicks", run.halts, run.kicks);
}

#[test]
fn a_hundred_repeats_are_one() {
    let first = outcome(OVERCOMMITTED, "pv-qspin", 7);
    for _ in 1..100 {
        let again = outcome(OVERCOMMITTED, "pv-qspin", 7);
        assert_eq!((again.hash, &again.ops, again.effort), (first.hash, &first.ops, first.effort));
    }
}

#[test]
fn threads_of_the_host_do_not_disturb_each_other() {
    let runs: Vec<u64> = std::thread::scope(|scope| {
        let run = || outcome(OVERCOMMITTED, "pv-qspin", 7).hash;
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(runs.iter().all(|&hash| hash == runs[0]), "{runs:x?}");
}

#[test]
fn seeds_differ() {
    let hash = |seed| outcome(OVERCOMMITTED, "pv-qspin", seed).hash;
    assert_ne!(hash(1), hash(2));
}
