//! `--self-test`: libraries that are broken on purpose, and the tests that must catch each.
//!
//! The first comment of `conformance/broken/*.c` names them: `caught by: TEST TEST` and `passes: TEST TEST`.
//! The latter show that it was the fault that was caught, not a library that breaks everything.
use super::runner::{self, CODE, LIBRARY, Setting, Verdict};
use super::{Case, TIMEOUT, run_cases};
use crate::files::{ending_in, stem};
use crate::spread::spread;
use anyhow::{Context as _, Result, ensure};
use core::time::Duration;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

struct Broken {
    name: String,
    library: PathBuf,
    caught_by: Vec<String>,
    passes: Vec<String>,
}

/// How many libraries are tried at a time: most of the tests only wait for what does not come.
const AT_ONCE: usize = 4;
/// How often a test is run until it catches a fault. Some faults are races, which a busy machine makes rare.
const TRIES: u32 = 5;

pub(super) fn run(root: &Path, cases: &[Case], jobs: usize, timeout: Duration) -> Result<bool> {
    let (sources, out) = (root.join("conformance"), runner::directory(root, false).join("broken"));
    fs::create_dir_all(&out)?;
    let mut libraries = Vec::new();
    for source in ending_in(CODE, &sources.join("broken"))? {
        let name = stem(&source);
        let library = out.join(format!("{name}.so"));
        runner::build(&sources, &source, &library, LIBRARY, false)?;
        let promise = read(&fs::read_to_string(&source)?);
        let [caught_by, passes] = promise.with_context(|| source.display().to_string())?;
        libraries.push(Broken { name, library, caught_by, passes });
    }
    let found = spread(&[(); AT_ONCE], &libraries, |(), broken| {
        let (lines, wrong) = try_one(cases, broken, jobs, timeout).with_context(|| broken.name.clone())?;
        print!("{lines}");
        anyhow::Ok(wrong)
    })?;
    let mut wrong: usize = found.into_iter().sum();
    // The tests of which no library says that they catch it. One row of a table counts for all of them.
    let without_row = |test: &String| test.split('/').next().unwrap_or_default().to_owned();
    let named: BTreeSet<String> =
        libraries.iter().flat_map(|broken| &broken.caught_by).map(without_row).collect();
    let all: BTreeSet<String> = cases.iter().map(|case| without_row(&case.test)).collect();
    for test in all.difference(&named) {
        wrong += 1;
        println!("{:<16} NOT NAMED  {test}  no broken library is caught by it", "-");
    }
    println!("conform --self-test: {} broken libraries, {wrong} findings", libraries.len());
    Ok(wrong == 0 && !libraries.is_empty())
}

/// The lines about one library, and how many of its promises it does not keep.
fn try_one(cases: &[Case], broken: &Broken, jobs: usize, timeout: Duration) -> Result<(String, usize)> {
    let Broken { name, library, caught_by, passes } = broken;
    let run = |tests: &[String], preload: Option<&PathBuf>, repeat, timeout| {
        let known = |test: &String| {
            let case = cases.iter().find(|case| case.test == *test).cloned();
            case.with_context(|| format!("no test `{test}`"))
        };
        let cases = tests.iter().map(known).collect::<Result<Vec<Case>>>()?;
        let preload = preload.cloned();
        let setting = Setting { name: name.clone(), preload, timeout, repeat, ..Setting::default() };
        run_cases(&cases, &setting, jobs, |_, _| Ok(()))
    };
    let (mut lines, mut wrong) = (String::new(), 0);
    let mut tell = |kept: bool, word: &str, test: &str, Verdict { word: end, what }: &Verdict| {
        wrong += usize::from(!kept);
        let line = format!("{name:<16} {word:<10} {test}  {end} {what}");
        lines.push_str(line.trim_end());
        lines.push('\n');
    };
    // It must be the library that the test noticed, not a busy machine: libc is given the same time, and both
    // are given more of it if that is too short for libc. A test may give up by itself before it is ended.
    let both = |timeout| -> Result<_> {
        Ok((run(caught_by, Some(library), TRIES, timeout)?, run(caught_by, None, 1, timeout)?))
    };
    let (mut under_broken, mut under_libc) = both(timeout)?;
    if timeout < TIMEOUT && !under_libc.iter().all(Verdict::is_fine) {
        (under_broken, under_libc) = both(TIMEOUT)?;
    }
    for ((test, broken), libc) in caught_by.iter().zip(&under_broken).zip(&under_libc) {
        match (broken.is_fine(), libc.is_fine()) {
            _ if broken.word == "skip" && libc.word == "skip" => tell(true, "skips", test, broken),
            (true, _) => tell(false, "NOT CAUGHT", test, broken),
            // What libc skips only other libraries must do.
            (false, true) => tell(true, "caught", test, broken),
            (false, false) => tell(false, "LIBC'S TOO", test, libc),
        }
    }
    // What must pass may take as long as on any other day.
    let verdicts = run(passes, Some(library), 1, timeout.max(TIMEOUT))?;
    for (test, verdict) in passes.iter().zip(&verdicts) {
        let passed = verdict.is_ok();
        tell(passed, if passed { "passes" } else { "MUST PASS" }, test, verdict);
    }
    Ok((lines, wrong))
}

/// By which tests the library is caught, and which it passes, out of the first comment.
fn read(text: &str) -> Result<[Vec<String>; 2]> {
    let comment = text.split("*/").next().unwrap_or_default();
    let lines = || comment.lines().map(|line| line.trim_start_matches([' ', '*', '/']));
    let named = |key: &str| -> Vec<String> {
        let words = lines().filter_map(|line| line.strip_prefix(key)).flat_map(str::split_whitespace);
        words.map(str::to_owned).collect()
    };
    let promise = ["caught by:", "passes:"].map(named);
    let whole = promise.iter().all(|tests| !tests.is_empty());
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
        assert_eq!(read(text).expect("it promises"), [words(&["a.b", "a.c/d", "e.f"]), words(&["g.h"])]);
    }

    #[test]
    fn a_fault_that_nothing_catches_is_no_fault() {
        assert!(read("/* Broken: so. */").is_err());
        assert!(read("/* caught by: a.b */").is_err());
    }
}
