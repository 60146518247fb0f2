//! aarch64 Linux, which this machine emulates. `cargo xtask aarch64` builds all that is shipped for it, and
//! runs its tests. The emulator on x86-64 orders memory as that does: what runs here says nothing of
//! orderings, which the model checker vouches for.
use crate::files::{ending_in, stem};
use crate::process::shell;
use anyhow::Result;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use xshell::cmd;

/// As rustc calls it, with `--target`.
pub(crate) const TRIPLE: &str = "aarch64-unknown-linux-gnu";
const CC: &str = "aarch64-linux-gnu-gcc";
const CXX: &str = "aarch64-linux-gnu-g++";
/// Runs a program that stands behind it, with the libraries that are installed beside this machine's own.
const EMULATOR: [&str; 3] = ["qemu-aarch64", "-L", "/"];
/// Tests of the library that mean nothing in an emulator of programs: it loses threads in a child, has no
/// room for thousands of threads, and no restartable sequences, which say where a thread runs.
const NOT_EMULATED: &[&str] =
    &["fork", "fork_blocked", "fork_chain", "fork_sleepers", "many", "plugin", "preempted"];
/// What the tests take for a hang, in seconds: emulated code is ten times as slow.
const LIMIT: &str = "600";

/// The machine of this name, for a command line.
pub(crate) fn named(triple: &str) -> Result<&'static str, String> {
    let known = (triple == TRIPLE).then_some(TRIPLE);
    known.ok_or_else(|| format!("no emulated machine of that name is known; there is {TRIPLE}"))
}

pub(crate) fn compiler(cpp: bool) -> &'static str {
    if cpp { CXX } else { CC }
}

/// A command that runs `program`, which is for this machine, with a library preloaded.
pub(crate) fn command(program: &Path, preload: Option<&Path>) -> Command {
    let mut command = Command::new(EMULATOR[0]);
    command.args(&EMULATOR[1..]);
    if let Some(library) = preload {
        // Only the program is to see it: the emulator itself could not load it.
        let mut variable = OsString::from("LD_PRELOAD=");
        variable.push(library);
        command.arg("-E").arg(variable);
    }
    command.arg(program);
    command
}

/// Variables that have cargo link for it, and run its programs by the emulator.
pub(crate) fn for_cargo() -> [(String, String); 2] {
    let prefix = format!("CARGO_TARGET_{}", TRIPLE.to_uppercase().replace('-', "_"));
    [(format!("{prefix}_LINKER"), CC.to_owned()), (format!("{prefix}_RUNNER"), EMULATOR.join(" "))]
}

pub(crate) fn run(root: &Path) -> Result<bool> {
    let sh = shell(root)?;
    sh.set_var("STANCHION_TEST_LIMIT", LIMIT);
    for (variable, value) in for_cargo() {
        sh.set_var(variable, value);
    }
    // What is shipped, and what its tests need.
    let built = ["-core", "", "-capi", "-preload", "-suite", "-sim", "-lab"];
    let built = built.map(|package| format!("-pstanchion{package}"));
    let tests = tests(&root.join("crates/stanchion/tests"))?;
    let tests = tests.iter().flat_map(|test| ["--test", test]);
    // Three tests count CPU time, of which emulated code takes six times as much.
    let skips = "--skip sleeps_while_a_writer_is_in --skip given_up_is_asleep".split(' ');
    // The emulator has no robust mutexes, executes no program, forks badly with threads: libc fails, too, or
    // hangs to the limit. Eight tests run at a time, as those that hang take no CPU.
    let posix = "--preload libc --preload ours --timeout 120 --jobs 8 --where-first-passes".split(' ');
    let mut passed = true;
    for step in [
        cmd!(sh, "cargo build --target {TRIPLE} {built...}"),
        // The simulator's own tests take the emulator hours.
        cmd!(sh, "cargo test --target {TRIPLE} -p stanchion-core"),
        cmd!(sh, "cargo test --target {TRIPLE} --no-fail-fast --lib -p stanchion {tests...} -- {skips...}"),
        cmd!(sh, "/proc/self/exe --root {root} conform --target {TRIPLE} {posix...}"),
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
mod tests {
    use super::*;

    #[test]
    fn what_an_emulator_cannot_run_is_named_as_it_is_called() {
        let directory = crate::workspace::root().join("crates/stanchion/tests");
        let emulated = tests(&directory).expect("a directory");
        assert!(emulated.iter().any(|name| name == "conformance"));
        assert!(NOT_EMULATED.iter().all(|name| directory.join(format!("{name}.rs")).exists()));
    }

    #[test]
    fn only_the_program_sees_what_is_preloaded() {
        let command = command(Path::new("p"), Some(Path::new("/l.so")));
        let words: Vec<_> = command.get_args().collect();
        assert_eq!(words, ["-L", "/", "-E", "LD_PRELOAD=/l.so", "p"]);
        assert_eq!(command.get_envs().count(), 0);
        assert_eq!(named("aarch64-unknown-linux-gnu"), Ok(TRIPLE));
        assert!(named("pdp11").expect_err("unknown").contains("aarch64"));
    }
}
