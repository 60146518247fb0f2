//! `cargo xtask aarch64`: everything that is shipped, built for aarch64 Linux, and its tests under emulation.
//!
//! An emulator on x86-64 orders memory as that does: what runs here says nothing of orderings, which the
//! model checker vouches for.
use crate::foreign::{self, Foreign};
use crate::process::ourselves;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{fs, io};

const TRIPLE: &str = "aarch64-unknown-linux-gnu";
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
pub(crate) fn missing() -> io::Result<ExitCode> {
    let missing = foreign()?.missing();
    for what in &missing {
        println!("{what}");
    }
    Ok(if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds and runs.
pub(crate) fn run(root: &Path) -> io::Result<ExitCode> {
    let foreign = foreign()?;
    let missing = foreign.missing();
    if !missing.is_empty() {
        return Err(io::Error::other(format!("there is no {}", missing.join(", no "))));
    }
    let cargo = |words: &[&str], packages: &[&str]| {
        let mut cargo = Command::new("cargo");
        cargo.args(words).args(["--target", TRIPLE]).current_dir(root).env("STANCHION_TEST_LIMIT", LIMIT);
        cargo.args(packages.iter().flat_map(|package| ["-p", package]));
        foreign.for_cargo(&mut cargo);
        cargo
    };
    let mut posix = ourselves(root);
    posix.args(["conform", "--target", TRIPLE, "--preload", "libc", "--preload", "ours", "--timeout", "120"]);
    // The emulator has no robust mutexes, executes no program, and forks badly where there are threads: libc
    // fails there, too.
    posix.args(["--where-first-passes"]);
    // The simulator's own tests take the emulator hours.
    let core = cargo(&["test"], &["stanchion-core"]);
    let mut library = cargo(&["test", "--no-fail-fast", "--lib"], &["stanchion"]);
    library.args(tests(&root.join("crates/stanchion/tests"))?.iter().flat_map(|test| ["--test", test]));
    // Three tests count CPU time, of which emulated code takes six times as much.
    library.args(["--", "--skip", "sleeps_while_a_writer_is_in", "--skip", "given_up_is_asleep"]);
    let steps = [cargo(&["build"], BUILT), core, library, posix];
    let mut all = true;
    for mut step in steps {
        all &= step.status()?.success();
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The test programs of a crate that are to run in the emulator and need no features.
fn tests(directory: &Path) -> io::Result<Vec<String>> {
    let mut names: Vec<String> = fs::read_dir(directory)?
        .filter_map(|file| file.ok()?.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| !NOT_EMULATED.contains(&name.as_str()) && name != "features")
        .collect();
    names.sort();
    Ok(names)
}

fn foreign() -> io::Result<&'static Foreign> {
    foreign::named(TRIPLE).map_err(io::Error::other)
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
