//! `cargo xtask conform --self-test`: libraries that are broken on purpose, and the tests that must catch
//! each.
//!
//! The first comment of `conformance/broken/*.c` names them: `caught by: TEST TEST` and `passes: TEST TEST`.
//! The latter show that it was the fault that was caught, not a library that breaks everything.
use super::build::{self, Program, stem};
use super::runner::{Setting, Verdict};
use super::{Case, TIMEOUT, find, run_cases};
use crate::spread::spread;
use anyhow::{Context as _, Result, ensure};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use core::time::Duration;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// What a broken library says of itself.
#[derive(Debug, PartialEq, Eq)]
struct Promise {
    caught_by: Vec<String>,
    passes: Vec<String>,
}

/// How many libraries are tried at a time: most of the tests only wait for what does not come.
const AT_ONCE: usize = 4;
/// How often a test is run until it catches a fault. Some faults are races, which a busy machine makes rare.
const TRIES: u32 = 5;

/// Runs each broken library under the tests that it names. 1 when a fault went unnoticed.
pub(super) fn run(root: &Path, programs: &[Program], jobs: usize, timeout: Duration) -> Result<ExitCode> {
    let libraries = build::broken(root)?;
    let mut promises = Vec::new();
    for (source, _) in &libraries {
        promises.push(read(&fs::read_to_string(source)?).with_context(|| source.display().to_string())?);
    }
    let wrong = AtomicUsize::new(0);
    spread(&[(); AT_ONCE], libraries.iter().zip(&promises), |(), ((source, library), promise)| {
        let (lines, findings) = try_one(root, programs, &stem(source), promise, library, jobs, timeout)
            .with_context(|| source.display().to_string())?;
        print!("{lines}");
        wrong.fetch_add(findings, Relaxed);
        Ok(())
    })?;
    // The tests of which no library says that they catch it. One row of a table counts for all of them.
    let without_row = |test: &String| test.split('/').next().unwrap_or_default().to_owned();
    let named: BTreeSet<String> =
        promises.iter().flat_map(|promise| &promise.caught_by).map(without_row).collect();
    let all: BTreeSet<String> = programs.iter().flat_map(|program| &program.tests).map(without_row).collect();
    let mut wrong = wrong.into_inner();
    for test in all.difference(&named) {
        wrong += 1;
        println!("{:<16} NOT NAMED  {test}  no broken library is caught by it", "-");
    }
    println!("conform --self-test: {} broken libraries, {wrong} findings", libraries.len());
    Ok(if wrong == 0 && !libraries.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The lines about one library, and how many of its promises it does not keep.
fn try_one(
    root: &Path,
    programs: &[Program],
    name: &str,
    promise: &Promise,
    library: &Path,
    jobs: usize,
    timeout: Duration,
) -> Result<(String, usize)> {
    let run = |tests: &[String], preload: Option<&Path>, tries, timeout| {
        let known = |test: &String| find(programs, test).with_context(|| format!("no test `{test}`"));
        let cases = tests.iter().map(known).collect::<Result<Vec<Case>>>()?;
        let preload = preload.map(Path::to_owned);
        let setting = Setting { name: name.to_owned(), preload, timeout, ..Setting::default() };
        run_cases(root, &cases, &setting, tries, jobs, &|_, _| Ok(()))
    };
    let (mut lines, mut wrong) = (String::new(), 0);
    let mut tell = |kept: bool, word: &str, test: &str, verdict: &Verdict| {
        wrong += usize::from(!kept);
        let line = format!("{name:<16} {word:<10} {test}  {} {}", verdict.word(), verdict.what());
        lines.push_str(line.trim_end());
        lines.push('\n');
    };
    // It must be the library that the test noticed, not a busy machine: libc is given the same time, and both
    // are given more of it if that is too short for libc. A test may give up by itself before it is ended.
    let both = |timeout| -> Result<_> {
        let broken = run(&promise.caught_by, Some(library), TRIES, timeout)?;
        Ok((broken, run(&promise.caught_by, None, 1, timeout)?))
    };
    let (mut broken, mut libc) = both(timeout)?;
    if timeout < TIMEOUT && !libc.iter().all(|verdict| matches!(verdict, Verdict::Ok | Verdict::Skip(_))) {
        (broken, libc) = both(TIMEOUT)?;
    }
    for ((test, broken), libc) in promise.caught_by.iter().zip(&broken).zip(&libc) {
        match libc {
            _ if broken.is_fine() => tell(false, "NOT CAUGHT", test, broken),
            // What libc skips only other libraries must do.
            Verdict::Ok | Verdict::Skip(_) => tell(true, "caught", test, broken),
            _ => tell(false, "LIBC'S TOO", test, libc),
        }
    }
    // What must pass may take as long as on any other day.
    let passes = run(&promise.passes, Some(library), 1, timeout.max(TIMEOUT))?;
    for (test, verdict) in promise.passes.iter().zip(&passes) {
        let passed = *verdict == Verdict::Ok;
        tell(passed, if passed { "passes" } else { "MUST PASS" }, test, verdict);
    }
    Ok((lines, wrong))
}

/// Reads the promise out of the first comment.
fn read(text: &str) -> Result<Promise> {
    let comment = text.split("*/").next().unwrap_or_default();
    let named = |key: &str| -> Vec<String> {
        let lines =
            comment.lines().filter_map(|line| line.trim_start_matches([' ', '*', '/']).strip_prefix(key));
        lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
    };
    let promise = Promise { caught_by: named("caught by:"), passes: named("passes:") };
    let whole = !promise.caught_by.is_empty() && !promise.passes.is_empty();
    ensure!(whole, "the first comment must have lines `caught by: TEST` and `passes: TEST`");
    Ok(promise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_are_read() {
        let text = "/* Broken: so.\n * caught by: a.b a.c/d\n * caught by: e.f\n * passes: g.h\n */\n/* passes: x.y */";
        let words = |all: &[&str]| all.iter().map(|&word| word.to_owned()).collect::<Vec<String>>();
        assert_eq!(
            read(text).expect("it promises"),
            Promise { caught_by: words(&["a.b", "a.c/d", "e.f"]), passes: words(&["g.h"]) }
        );
    }

    #[test]
    fn a_fault_that_nothing_catches_is_no_fault() {
        assert!(read("/* Broken: so. */").is_err());
        assert!(read("/* caught by: a.b */").is_err());
    }
}
