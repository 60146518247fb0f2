//! The workloads on a machine of threads: every lock, and every fault that they are there to find.
mod support;

use core::time::Duration;
use serde_json::Value;
use stanchion_guest::{Verdict, busted_lock_names, lock_names};
use support::{Outcome, run, run_for};

fn number(record: &Value, field: &str) -> u64 {
    record[field].as_u64().unwrap_or_else(|| panic!("{field} of {record}"))
}

/// Went well, to the end.
fn well(line: &str, outcome: &Outcome) {
    assert_eq!(outcome.verdict, Some(Verdict::Ok), "{line}: {:#?}", outcome.records);
    assert!(!outcome.panicked && outcome.all("failure").count() == 0, "{line}");
    assert_eq!(outcome.only("end")["ok"], true);
    assert!(outcome.records.last().is_some_and(|record| record["record"] == "end"));
}

#[test]
fn booting_is_nothing_but_the_end() {
    let outcome = run(3, "workload=boot");
    well("boot", &outcome);
    assert_eq!(outcome.records.len(), 1);
}

#[test]
fn torture_passes_every_lock() {
    let outcome = run(3, "workload=torture seconds=60ms seed=3");
    well("torture", &outcome);
    let results: Vec<&Value> = outcome.all("result").collect();
    let names: Vec<&str> = results.iter().filter_map(|result| result["lock"].as_str()).collect();
    assert_eq!(names, lock_names().collect::<Vec<_>>());
    for result in results {
        assert!(result["correct"] == true && result["finished"] == true, "{result}");
        assert!(number(result, "operations") > number(result, "in_handlers"), "{result}");
    }
    let ticked: u64 = outcome.all("result").map(|result| number(result, "in_handlers")).sum();
    assert!(ticked > 0, "timer interrupts took locks");
    assert_eq!(outcome.all("vcpu").count(), 3 * names.len());
    let reads = outcome
        .all("stat")
        .filter(|stat| stat["line"].as_str().is_some_and(|line| line.starts_with("Reads")));
    assert!(reads.count() >= 5, "reader-writer locks have readers");
}

#[test]
fn handlers_nest_in_handlers() {
    // When a tick comes is the host's affair: on a busy one, a run may see none inside another, and its
    // progress may be told too late.
    let seen = (0..10).any(|seed| {
        let outcome = run(4, &format!("workload=torture lock=qspin seconds=2 tick=100us seed={seed}"));
        well("torture", &outcome);
        number(outcome.only("result"), "deepest") >= 2 && outcome.all("progress").count() >= 1
    });
    assert!(seen, "within ten runs");
}

/// Runs until something is found, which some faults need luck for. A run that is overdue, well after a guest
/// has found out itself that it is stuck, tells nothing.
fn found(line: &str) -> Outcome {
    let limit = Duration::from_secs(20);
    let outcomes = (0..20).filter_map(|seed| run_for(limit, 4, &format!("{line} seed={seed}")).ok());
    let mut failed = outcomes.filter(|outcome| outcome.verdict != Some(Verdict::Ok));
    failed.next().unwrap_or_else(|| panic!("{line}: survived"))
}

/// What failed, of a run that says so and came to its end.
fn failures(outcome: &Outcome) -> Vec<&str> {
    assert_eq!(outcome.verdict, Some(Verdict::Failed));
    assert_eq!(
        (&outcome.only("end")["ok"], &outcome.only("result")["correct"]),
        (&false.into(), &false.into())
    );
    outcome.all("failure").filter_map(|failure| failure["what"].as_str()).collect()
}

#[test]
fn who_excludes_nobody_is_found() {
    let tortured = found("workload=torture lock=busted-none seconds=100ms");
    assert!(failures(&tortured).contains(&"exclusion"));
    let counted = found("workload=counter lock=busted-none seconds=100ms outside=0 inside=2us");
    assert!(failures(&counted).contains(&"lost-update"));
}

#[test]
fn who_looks_and_then_takes_is_found() {
    let tortured = found("workload=torture lock=busted-slow-set seconds=500ms");
    assert!(failures(&tortured).contains(&"exclusion"));
}

#[test]
fn readers_that_are_not_counted_are_found() {
    let tortured = found("workload=torture lock=busted-rw-count seconds=200ms");
    assert!(failures(&tortured).contains(&"exclusion"));
    let read = found("workload=rw lock=busted-rw-count readers-percent=50 inside=20us seconds=200ms");
    assert!(failures(&read).contains(&"exclusion"));
}

#[test]
fn a_lost_kick_is_found_and_who_waits_is_said() {
    let outcome = found("workload=torture lock=busted-lost-kick seconds=400ms stall=1s");
    assert_eq!(outcome.verdict, None, "a stuck machine is abandoned");
    let failure = outcome.only("failure");
    let detail = failure["detail"].as_str().expect("a text");
    assert!(failure["what"] == "stall" && detail.contains(" waits at "), "{detail}");
    assert_eq!(outcome.only("result")["finished"], false);
    assert_eq!(outcome.only("end")["ok"], false);
}

#[test]
fn every_fault_is_looked_for() {
    let looked_for = ["busted-none", "busted-slow-set", "busted-lost-kick", "busted-rw-count"];
    assert_eq!(busted_lock_names().collect::<Vec<_>>(), looked_for);
}

#[test]
fn a_build_does_its_job_under_every_lock() {
    for lock in lock_names() {
        let line = format!(
            "workload=build lock={lock} job=2000 burst=2us jobs=5 blocks-after=200us blocks-for=100us rate=1000"
        );
        let outcome = run(3, &line);
        well(&line, &outcome);
        let result = outcome.only("result");
        assert!(number(result, "operations") == 2000 && result["finished"] == true, "{result}");
    }
}

#[test]
fn a_build_with_fewer_jobs_than_vcpus_leaves_some_idle() {
    let outcome = run(3, "workload=build lock=byte job=1500 jobs=1 blocks-after=5ms");
    well("one job", &outcome);
    let idle: u64 = outcome.all("vcpu").map(|vcpu| number(vcpu, "idle_ns")).sum();
    let elapsed = number(outcome.only("result"), "elapsed_ns");
    assert!(idle > elapsed, "two of three vCPUs idle: {idle} in {elapsed}");
}

#[test]
fn a_build_is_given_up_at_its_limit() {
    let outcome = run(2, "workload=build lock=ticket job=1000000000 limit=200ms");
    well("limit", &outcome);
    let result = outcome.only("result");
    assert!(result["finished"] == false && number(result, "operations") < 1_000_000_000, "{result}");
}

#[test]
fn everybody_counts_and_readers_meet() {
    for lock in ["byte", "pv-qspin", "qrw", "percpu-rw"] {
        for workload in ["counter", "rw"] {
            let line = format!("workload={workload} lock={lock} seconds=50ms");
            let outcome = run(3, &line);
            well(&line, &outcome);
            let result = outcome.only("result");
            assert!(
                number(result, "operations") == number(result, "reads") + number(result, "writes"),
                "{result}"
            );
            assert!(
                number(result, "writes") > 0 && (number(result, "reads") > 0) == (workload == "rw"),
                "{result}"
            );
            let fairness = &result["fairness"];
            assert!(number(fairness, "max") >= number(fairness, "min"), "{result}");
        }
    }
}

#[test]
fn a_lock_that_is_none_is_a_failure() {
    let outcome = run(2, "workload=counter lock=tickets");
    assert_eq!(outcome.verdict, Some(Verdict::Failed));
    let failure = outcome.only("failure");
    let detail = failure["detail"].as_str().expect("a text");
    assert!(detail.starts_with("lock=tickets: no such lock; there are stanchion byte ticket "), "{detail}");
}
