//! `stanchion bench --cpu-limit` on the real machine, whether it permits cgroups or not.
use crate::common::{command, interrupt, json, text};
use core::time::Duration;
use std::process::{Command, Stdio};
use std::time::Instant;

const SAID: &str = "no cell runs under a CPU limit";

/// Cgroups that the run with this number has made and not removed.
fn left_by(run: u32) -> String {
    let name = format!("stanchion-bench-{run}");
    let found = Command::new("find").args(["/sys/fs/cgroup", "-name", &name]).output().expect("find runs");
    text(&found.stdout)
}

#[test]
fn a_limit_is_kept_or_the_reason_is_said_and_the_other_cells_run() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("result.json");
    let child = command(&[
        "bench",
        "--lock",
        "none",
        "--peers",
        "std",
        "--threads",
        "4",
        "--profile",
        "long",
        "--rounds",
        "1",
    ])
    .args(["--time", "500ms", "--latency-rounds", "0", "--seed", "7", "--cpu-limit", "0.25", "--json"])
    .arg(&file)
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .expect("the program starts");
    let run = child.id();
    let output = child.wait_with_output().expect("the program ends");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert_eq!(left_by(run), "");
    let report = json(&file);
    let of = |profile: &str| {
        report["cells"].as_array().expect("a list").iter().find(|cell| cell["profile"] == profile)
    };
    assert_eq!(of("long").expect("without a limit")["state"], "measured");
    match of("long@0.25") {
        None => assert!(error.contains(SAID), "{error}"),
        Some(cell) => {
            assert!(!error.contains(SAID) && cell["state"] == "measured", "{cell}");
            let rate = cell["throughput"]["median"].as_f64().expect("a rate");
            let used = rate / 1e6 * cell["cpu_s_per_million"].as_f64().expect("a cost");
            // A window of five periods has the quotas of six of them in it, at most.
            assert!(used < 0.4, "{used} CPUs");
        }
    }
}

/// Whether a process would not die of an interrupt.
fn catches_interrupts(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & 1 << (libc::SIGINT - 1) != 0)
}

#[test]
fn an_interrupt_leaves_no_cgroup_behind() {
    let mut child = command(&[
        "bench",
        "--quiet",
        "--lock",
        "none",
        "--peers",
        "std",
        "--threads",
        "2",
        "--profile",
        "empty",
    ])
    .args(["--time", "200ms", "--rounds", "500", "--cpu-limit", "0.5"])
    .stdout(Stdio::null())
    .stderr(Stdio::piped())
    .spawn()
    .expect("the program starts");
    let run = child.id();
    // The group is made before anything is measured. Where it is not permitted there is nothing to see, and
    // nothing to leave behind.
    let began = Instant::now();
    let mut may_come = || {
        child.try_wait().is_ok_and(|ended| ended.is_none())
            && (began.elapsed() < Duration::from_secs(5) || !catches_interrupts(run))
    };
    while left_by(run).is_empty() && may_come() && began.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(20));
    }
    interrupt(&child);
    let output = child.wait_with_output().expect("the program ends");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert_eq!(left_by(run), "");
}
