//! `cargo xtask aarch64`: everything that is shipped, built for aarch64 Linux, and its tests under emulation.
//!
//! An emulator on x86-64 orders memory as that does: what runs here says nothing of orderings, which the
//! model checker vouches for.
use crate::foreign::{self, Foreign};
use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, io};

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
/// Whose tests run. The simulator's take the emulator hours.
const TESTED: &[&str] = &["stanchion-core", "stanchion"];
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
        println!("aarch64: skipped, there is no {}", missing.join(", no "));
        return Ok(ExitCode::SUCCESS);
    }
    let cargo = |words: &[&str], packages: &[&str]| {
        let mut cargo = Command::new("cargo");
        cargo.args(words).args(["--target", TRIPLE]).current_dir(root).env("STANCHION_TEST_LIMIT", LIMIT);
        cargo.args(packages.iter().flat_map(|package| ["-p", package]));
        foreign.for_cargo(&mut cargo);
        cargo
    };
    let mut posix = Command::new(env::current_exe()?);
    posix.args(["conform", "--target", TRIPLE, "--preload", "libc", "--preload", "ours", "--timeout", "120"]);
    // The emulator has no robust mutexes, executes no program, and forks badly where there are threads: libc
    // fails there, too.
    posix.args(["--where-first-passes"]).current_dir(root);
    let steps = [cargo(&["build"], BUILT), cargo(&["test", "--no-fail-fast"], TESTED), posix];
    let mut all = true;
    for mut step in steps {
        all &= step.status()?.success();
    }
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn foreign() -> io::Result<&'static Foreign> {
    foreign::named(TRIPLE).map_err(io::Error::other)
}
