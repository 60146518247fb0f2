//! Every shipped workload on every shipped machine, with fewer contexts than CPUs and with more.
use super::*;
use crate::machine;
use crate::workload;

/// The most contexts; a machine of 1536 CPUs shows nothing here that one of 64 does not.
const MOST: usize = 40;

fn assert_all_run(mutex: &str, rw_lock: &str, most_cpus: usize) {
    for (machine_name, _) in machine::library() {
        let machine = machine::load(machine_name).expect("a shipped machine").machine;
        let cpus = machine.topology.cpu_count();
        if cpus > most_cpus {
            continue;
        }
        let counts = if machine.host.scheduler == SchedulerKind::Pinned {
            vec![cpus.min(5)]
        } else {
            vec![(4 * cpus + 1).min(MOST)]
        };
        for (workload_name, _) in workload::library() {
            let workload = workload::load(workload_name).expect("a shipped workload").workload;
            let lock = if workload.takes() == Takes::Mutexes { mutex } else { rw_lock };
            for &contexts in &counts {
                let spec = Spec {
                    machine: &machine,
                    workload: &workload,
                    lock,
                    tunings: &[],
                    contexts,
                    seed: 1,
                    time: 20 * MS,
                    warm_up: MS / 10,
                    record: None,
                    most_events: 10_000,
                };
                let run = run(&spec, &|| false);
                assert!(
                    run.is_ok(),
                    "{lock}: {workload_name} with {contexts} on {machine_name}: {:?}",
                    run.err()
                );
            }
        }
    }
}

#[test]
fn every_workload_runs_on_every_small_machine_with_a_spinning_lock() {
    assert_all_run("byte", "rw-simple", 32);
}

#[test]
fn every_workload_runs_on_every_machine_with_a_halting_lock() {
    assert_all_run("pv-qspin", "percpu-rw", usize::MAX);
}

#[test]
fn whoever_wakes_a_sleeper_may_lose_its_cpu_to_it() {
    // The sleeper was given the waker's CPU in the midst of the waker's call, which went on without one.
    let machine = machine::load("small-vm").expect("a shipped machine").machine;
    let workload = workload::load("leveldb-readrandom").expect("a shipped workload").workload;
    for lock in ["byte", "pv-qspin"] {
        let spec = Spec {
            machine: &machine,
            workload: &workload,
            lock,
            tunings: &[],
            contexts: 8,
            seed: 1,
            time: 60 * MS,
            warm_up: MS / 10,
            record: None,
            most_events: u64::MAX,
        };
        assert!(run(&spec, &|| false).is_ok_and(|run| run.ops.iter().sum::<u64>() > 1000), "{lock}");
    }
}
