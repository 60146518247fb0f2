//! The conformance suite on a machine of threads, without a test harness. One run at a time: a program has
//! one crew.
mod support;

use serde_json::Value;
use stanchion_guest::{Verdict, lock_names};
use stanchion_suite::broken::{Detector, noticed_by};
use support::run;

#[test]
fn every_lock_passes_and_a_broken_one_fails() {
    let outcome = run(4, "workload=conform stall=60");
    assert_eq!(outcome.verdict, Some(Verdict::Ok), "{:#?}", outcome.records);
    let tests: Vec<&Value> = outcome.all("test").collect();
    assert!(tests.iter().all(|test| test["outcome"] == "ok"), "{tests:#?}");
    let of = |lock: &str| {
        let module = format!("{}::", lock.replace(|sign: char| !sign.is_ascii_alphanumeric(), "_"));
        tests
            .iter()
            .filter(|test| test["name"].as_str().is_some_and(|name| name.starts_with(&module)))
            .count()
    };
    for lock in lock_names() {
        assert!(of(lock) >= 6, "{lock} has {} tests", of(lock));
    }
    assert_eq!(outcome.only("result")["operations"], tests.len());

    let one = run(2, "workload=conform lock=pv-qspin-hash");
    assert_eq!(one.verdict, Some(Verdict::Ok));
    assert_eq!(one.all("test").count(), of("pv-qspin-hash"));

    for lock in noticed_by(Detector::Suite).map(|broken| broken.name).chain(["all"]) {
        let alone = run(1, &format!("workload=conform lock={lock}"));
        assert_eq!(alone.only("failure")["detail"], "workload=conform needs two vCPUs", "{lock} is known");
    }
    let none = run(2, "workload=conform lock=pv-qspin-4.16");
    assert_eq!(none.verdict, Some(Verdict::Failed));

    // A failed body panics. With threads, the run then ends as one that panicked; on bare metal the kernel
    // ends the machine.
    let broken = run(4, "workload=conform lock=busted-none stall=5");
    assert!(broken.panicked, "{:#?}", broken.records);
    assert_eq!(broken.all("test").count(), 0);
    assert_eq!(stanchion_guest::running_test(), Some("busted_none::excludes"));
}
