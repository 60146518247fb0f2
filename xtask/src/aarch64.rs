//! `cargo xtask aarch64`: everything that is shipped, built for aarch64 Linux, and its tests under emulation.
//!
//! An emulator on x86-64 orders memory as that does: what runs here says nothing of orderings, which the
//! model checker vouches for.
use crate::foreign::AARCH64;
use crate::process::ourselves;
use anyhow::{Result, ensure};
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

/// What is shipped, and what its tests need.
const BUILT: &[&str] = &[
    "stanchion-core",
    "stanchion",
    "stanchion-capi",
    "stanchion-preload",
    "stanchion-suite",
    "stanchion-sim",
    "stanchion-lab",
];
/// Tests of the library that mean nothing in an emulator of programs: it loses threads in a child, has no
/// room for thousands of threads, and no restartable sequences, which say where a thread runs.
const NOT_EMULATED: &[&str] = &["fork", "fork_chain", "fork_sleepers", "many", "plugin", "preempted"];
/// What the tests take for a hang, in seconds: emulated code is ten times as slow.
const LIMIT: &str = "600";

/// Prints what is missing, one a line.
pub(crate) fn missing() -> ExitCode {
    let missing = AARCH64.missing();
    for what in &missing {
        println!("{what}");
    }
    if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

pub(crate) fn run(root: &Path) -> Result<ExitCode> {
    let missing = AARCH64.missing();
    ensure!(missing.is_empty(), "there is no {}", missing.join(", no "));
    let tests = tests(&root.join("crates/stanchion/tests"))?.join(" --test ");
    let mut steps: Vec<Command> = [
        format!("build -p {}", BUILT.join(" -p ")),
        // The simulator's own tests take the emulator hours.
        "test -p stanchion-core".to_owned(),
        // Three tests count CPU time, of which emulated code takes six times as much.
        format!("test --no-fail-fast --lib -p stanchion --test {tests} -- --skip sleeps_while_a_writer_is_in --skip given_up_is_asleep"),
    ]
    .map(|words| {
        let (first, rest) = words.split_once(' ').unwrap_or((&words, ""));
        let mut cargo = Command::new("cargo");
        cargo.args([first, "--target", AARCH64.triple]).args(rest.split(' ')).current_dir(root);
        cargo.env("STANCHION_TEST_LIMIT", LIMIT).envs(AARCH64.for_cargo());
        cargo
    })
    .into();
    let mut posix = ourselves(root);
    posix.args(["conform", "--target", AARCH64.triple, "--preload", "libc", "--preload", "ours"]);
    // The emulator has no robust mutexes, executes no program, and forks badly where there are threads: libc
    // fails there, too.
    posix.args(["--timeout", "120", "--where-first-passes"]);
    steps.push(posix);
    let mut all = true;
    for mut step in steps {
        all &= step.status()?.success();
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The test programs of a crate that are to run in the emulator and need no features.
fn tests(directory: &Path) -> Result<Vec<String>> {
    let mut names: Vec<String> = fs::read_dir(directory)?
        .filter_map(|file| file.ok()?.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| !NOT_EMULATED.contains(&name.as_str()) && name != "features")
        .collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn what_an_emulator_cannot_run_is_named_as_it_is_called() {
        let directory = crate::workspace::root().join("crates/stanchion/tests");
        let emulated = tests(&directory).expect("a directory");
        assert!(emulated.iter().any(|name| name == "conformance"));
        assert!(NOT_EMULATED.iter().all(|name| directory.join(format!("{name}.rs")).exists()));
    }
}
