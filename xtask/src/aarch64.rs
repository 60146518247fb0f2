//! `cargo xtask aarch64`: everything that is shipped, built for aarch64 Linux, and its tests under emulation.
//!
//! An emulator on x86-64 orders memory as that does: what runs here says nothing of orderings, which the
//! model checker vouches for.
use crate::files::{ending_in, stem};
use crate::foreign::AARCH64;
use crate::process::shell;
use anyhow::{Result, ensure};
use std::path::Path;
use xshell::cmd;

/// Tests of the library that mean nothing in an emulator of programs: it loses threads in a child, has no
/// room for thousands of threads, and no restartable sequences, which say where a thread runs.
const NOT_EMULATED: &[&str] = &["fork", "fork_chain", "fork_sleepers", "many", "plugin", "preempted"];
/// What the tests take for a hang, in seconds: emulated code is ten times as slow.
const LIMIT: &str = "600";

/// Runs all of it; or, with `looks`, only prints what is missing, one a line.
pub(crate) fn run(root: &Path, looks: bool) -> Result<bool> {
    let missing = AARCH64.missing();
    if looks {
        for what in &missing {
            println!("{what}");
        }
        return Ok(missing.is_empty());
    }
    ensure!(missing.is_empty(), "there is no {}", missing.join(", no "));
    let sh = shell(root)?;
    sh.set_var("STANCHION_TEST_LIMIT", LIMIT);
    for (variable, value) in AARCH64.for_cargo() {
        sh.set_var(variable, value);
    }
    let triple = AARCH64.triple;
    // What is shipped, and what its tests need.
    let built = ["-core", "", "-capi", "-preload", "-suite", "-sim", "-lab"];
    let built = built.map(|package| format!("-pstanchion{package}"));
    let tests = tests(&root.join("crates/stanchion/tests"))?;
    let tests = tests.iter().flat_map(|test| ["--test", test]);
    // Three tests count CPU time, of which emulated code takes six times as much.
    let left_out = "--skip sleeps_while_a_writer_is_in --skip given_up_is_asleep".split(' ');
    // The emulator has no robust mutexes, executes no program, and forks badly where there are threads: libc
    // fails there, too.
    let posix = "--preload libc --preload ours --timeout 120 --where-first-passes".split(' ');
    let mut passed = true;
    for step in [
        cmd!(sh, "cargo build --target {triple} {built...}"),
        // The simulator's own tests take the emulator hours.
        cmd!(sh, "cargo test --target {triple} -p stanchion-core"),
        cmd!(
            sh,
            "cargo test --target {triple} --no-fail-fast --lib -p stanchion {tests...} -- {left_out...}"
        ),
        cmd!(sh, "/proc/self/exe --root {root} conform --target {triple} {posix...}"),
    ] {
        if let Err(error) = step.run() {
            println!("aarch64: {error}");
            passed = false;
        }
    }
    Ok(passed)
}

/// The test programs of a crate that are to run in the emulator and need no features.
fn tests(directory: &Path) -> Result<Vec<String>> {
    let mut names: Vec<String> = ending_in(&["rs"], directory)?.iter().map(|file| stem(file)).collect();
    names.retain(|name| !NOT_EMULATED.contains(&name.as_str()) && name != "features");
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
