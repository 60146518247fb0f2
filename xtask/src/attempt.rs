//! `cargo xtask try LOCK`: a lock's own tests in every world that runs on this machine without an emulator,
//! while one works on it.
//!
//! What it leaves out, `cargo xtask ci` has: other locks, broken ones, the guest, sanitizers, and schedules
//! and executions by the million.
use crate::locks;
use anyhow::{Context as _, Result};
use lab_kit::names::unknown;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// How many schedules are explored unless told otherwise.
pub(crate) const SCHEDULES: u64 = 10_000;
const MODEL_SECONDS: &str = "4";
/// The tests in which each lock has a module of its own.
const CONFORMANCE: [&str; 3] = ["stanchion-sim", "stanchion-model", "stanchion"];

/// Runs the steps; the first that fails ends it.
pub(crate) fn run(root: &Path, lock: &str, schedules: u64) -> Result<bool> {
    let modules = locks::modules_of(lock).with_context(|| unknown("lock", lock, locks::names()))?;
    let started = Instant::now();
    let mut tests = 0;
    for (name, words) in steps(lock, &modules, schedules) {
        let begun = Instant::now();
        let mut cargo = Command::new("cargo");
        let output = cargo.args(words.split(' ')).current_dir(root).stdin(Stdio::null()).output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let passed = passed(&printed);
        tests += passed;
        let told = if passed > 0 { format!("{passed} tests") } else { String::new() };
        println!("{name:<32} {:>6.1} s  {told}", begun.elapsed().as_secs_f64());
        if !output.status.success() {
            print!("{printed}{}", String::from_utf8_lossy(&output.stderr));
            println!("try: {lock}: failed: cargo {words}");
            return Ok(false);
        }
    }
    println!("try: {lock}: {tests} tests in {:.0} s", started.elapsed().as_secs_f64());
    // Names that nothing matches pass, too.
    if tests == 0 {
        println!("try: {lock}: no test has its name");
    }
    Ok(tests > 0)
}

/// What each step is, and what cargo is told.
fn steps(lock: &str, modules: &BTreeSet<String>, schedules: u64) -> Vec<(String, String)> {
    let own = lock.replace('-', "_");
    let filters = modules.iter().map(|module| format!("{module}::")).collect::<Vec<_>>().join(" ");
    let unit =
        |package: &str| (format!("{package}, unit tests"), format!("test -p {package} --lib -- {filters}"));
    let conformance = |package: &str| {
        (format!("{package}, conformance"), format!("test -p {package} --test *conformance -- {own}::"))
    };
    let tests = "--test conformance --test rw_conformance --example explore_one --bin stanchion-model";
    let built = format!("test --no-run {tests} -p {}", CONFORMANCE.join(" -p "));
    let explored = format!("run -p stanchion-sim --example explore_one -- {lock} {schedules} 1");
    let model = format!("run -p stanchion-model -- --lock {lock} --seconds {MODEL_SECONDS}");
    let mut steps = vec![("built".to_owned(), built)];
    steps.extend(["stanchion-core", "stanchion-family"].map(unit));
    steps.extend([("sim, explored".to_owned(), explored), ("model, programs".to_owned(), model)]);
    steps.extend(CONFORMANCE.map(conformance));
    steps
}

/// How many tests passed, by the lines of the test harness.
fn passed(output: &str) -> u64 {
    let count = |line: &str| line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<u64>().ok();
    output.lines().filter_map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_added_up() {
        let output = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored\n\ntest result: ok. 40 passed; 0 failed\n";
        assert_eq!(passed(output), 42);
        assert_eq!(passed("test result: FAILED. 2 passed; 1 failed"), 0);
    }

    #[test]
    fn every_world_is_tried() {
        let root = crate::workspace::root();
        let steps = steps("pv-ticket", &["pv_ticket".to_owned()].into(), 10);
        let lines: Vec<&str> = steps.iter().map(|(_, words)| words.as_str()).collect();
        assert!(lines.iter().any(|line| line.ends_with("explore_one -- pv-ticket 10 1")), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("stanchion-model -- --lock pv-ticket")), "{lines:?}");
        let native = "test -p stanchion --test *conformance -- pv_ticket::";
        assert!(lines.contains(&native), "{lines:?}");
        assert!(run(&root, "pv-tickets", 1).is_err_and(|error| error.to_string().contains("pv-ticket")));
    }
}
