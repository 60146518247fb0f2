//! `cargo xtask try LOCK`: a lock's own tests in every world that runs on this machine without an emulator,
//! while one works on it.
//!
//! What it leaves out, `cargo xtask ci` has: other locks, broken ones, the guest, sanitizers, and schedules
//! and executions by the million.
use crate::locks;
use lab_kit::names::unknown;
use std::path::Path;
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::Instant;
use std::{env, io};

/// How many schedules are explored unless told otherwise.
pub(crate) const SCHEDULES: u64 = 10_000;
/// When the model checker gives up a program, in seconds.
const MODEL_SECONDS: &str = "4";
/// The tests in which each lock has a module of its own.
const CONFORMANCE: &[&str] = &["stanchion-sim", "stanchion-model", "stanchion"];

/// One step: what it is, what cargo is told, and whether it counts tests.
struct Step {
    name: String,
    words: Vec<String>,
    tests: bool,
}

/// Runs the steps; the first that fails ends it.
pub(crate) fn run(root: &Path, lock: &str, schedules: u64) -> io::Result<ExitCode> {
    let Some(modules) = locks::modules_of(lock) else {
        return Err(io::Error::other(unknown("lock", lock, locks::names())));
    };
    let started = Instant::now();
    let mut tests = 0;
    for step in steps(root, lock, modules.iter().map(String::as_str), schedules) {
        let begun = Instant::now();
        let output = cargo(root, &step.words)?;
        let passed = if step.tests { passed(&String::from_utf8_lossy(&output.stdout)) } else { 0 };
        tests += passed;
        let told = if step.tests { format!("{passed} tests") } else { String::new() };
        println!("{:<32} {:>6.1} s  {told}", step.name, begun.elapsed().as_secs_f64());
        if !output.status.success() {
            print!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            println!("try: {lock}: failed: cargo {}", step.words.join(" "));
            return Ok(ExitCode::FAILURE);
        }
    }
    println!("try: {lock}: {tests} tests in {:.0} s", started.elapsed().as_secs_f64());
    // Names that nothing matches pass, too.
    if tests == 0 {
        println!("try: {lock}: no test has its name");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn steps<'a>(root: &Path, lock: &str, modules: impl Iterator<Item = &'a str>, schedules: u64) -> Vec<Step> {
    let step = |name: &str, words: &[&str], tests: bool| Step {
        name: name.to_owned(),
        words: words.iter().map(|&word| word.to_owned()).collect(),
        tests,
    };
    let mut build = vec!["test", "--no-run", "--test", "conformance", "--test", "rw_conformance"];
    build.extend(["--example", "explore_one", "--bin", "stanchion-model"]);
    build.extend(CONFORMANCE.iter().flat_map(|package| ["-p", package]));
    let mut steps = vec![step("built", &build, false)];
    let filters: Vec<String> = modules.map(|module| format!("{module}::")).collect();
    let filters: Vec<&str> = filters.iter().map(String::as_str).collect();
    for package in ["stanchion-core", "stanchion-family"] {
        if root.join("crates").join(package.trim_start_matches("stanchion-")).is_dir() {
            let words = [&["test", "-p", package, "--lib", "--"], &filters[..]].concat();
            steps.push(step(&format!("{package}, unit tests"), &words, true));
        }
    }
    let seconds = ["--lock", lock, "--seconds", MODEL_SECONDS];
    let explore = ["run", "-p", "stanchion-sim", "--example", "explore_one", "--", lock];
    steps.push(step("sim, explored", &[&explore[..], &[&schedules.to_string(), "1"]].concat(), false));
    let model = ["run", "-p", "stanchion-model", "--"];
    steps.push(step("model, programs", &[&model[..], &seconds].concat(), false));
    let own = format!("{}::", lock.replace('-', "_"));
    for package in CONFORMANCE {
        let words = ["test", "-p", package, "--test", "*conformance", "--", &own];
        steps.push(step(&format!("{package}, conformance"), &words, true));
    }
    steps
}

fn cargo(root: &Path, words: &[String]) -> io::Result<Output> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    Command::new(cargo).args(words).current_dir(root).stdin(Stdio::null()).output()
}

/// How many tests passed, by the lines of the test harness.
fn passed(output: &str) -> u64 {
    let counts = output
        .lines()
        .filter_map(|line| line.strip_prefix("test result: ok. ")?.split(' ').next()?.parse::<u64>().ok());
    counts.sum()
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
        let steps = steps(&root, "pv-ticket", ["pv_ticket"].into_iter(), 10);
        let lines: Vec<String> = steps.iter().map(|step| step.words.join(" ")).collect();
        assert!(lines.iter().any(|line| line.ends_with("explore_one -- pv-ticket 10 1")), "{lines:?}");
        assert!(lines.iter().any(|line| line.contains("stanchion-model -- --lock pv-ticket")), "{lines:?}");
        let native = "test -p stanchion --test *conformance -- pv_ticket::";
        assert!(lines.iter().any(|line| line == native), "{lines:?}");
        assert!(run(&root, "pv-tickets", 1).is_err_and(|error| error.to_string().contains("pv-ticket")));
    }
}
