//! `cargo xtask conform --self-test`: libraries that are broken on purpose, and the tests that must catch each.
//!
//! The first comment of `conformance/broken/*.c` names them: `caught by: TEST TEST` and `passes: TEST TEST`. The latter show that it
//! was the fault that was caught, not a library that breaks everything.
use super::build::{Program, stem};
use super::runner::{Setting, Verdict};
use super::{Case, Column, find, run_cases};
use core::time::Duration;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

/// What a broken library says of itself.
#[derive(Debug, PartialEq, Eq)]
struct Promise {
    caught_by: Vec<String>,
    passes: Vec<String>,
}

/// Runs each broken library under the tests that it names. 1 when a fault went unnoticed.
pub(super) fn run(
    root: &Path,
    programs: &[Program],
    libraries: &[(PathBuf, PathBuf)],
    jobs: usize,
    timeout: Duration,
) -> io::Result<ExitCode> {
    let (mut wrong, mut faults) = (0, 0);
    for (source, library) in libraries {
        let name = stem(source);
        let promise = read(&fs::read_to_string(source)?)
            .map_err(|error| io::Error::other(format!("{}: {error}", source.display())))?;
        let setting = Setting { preload: Some(library.clone()), env: Vec::new(), timeout };
        let column = Column { name: name.clone(), setting };
        let both: Vec<&String> = promise.caught_by.iter().chain(&promise.passes).collect();
        let cases = both
            .iter()
            .map(|test| {
                find(programs, test)
                    .ok_or_else(|| io::Error::other(format!("{}: no test `{test}`", source.display())))
            })
            .collect::<io::Result<Vec<Case>>>()?;
        let verdicts = run_cases(root, &cases, &column, 1, jobs, &|_, _| Ok(()))?;
        faults += 1;
        for (index, (test, verdict)) in both.iter().zip(&verdicts).enumerate() {
            let must_fail = index < promise.caught_by.len();
            let right = if must_fail { !verdict.is_fine() } else { *verdict == Verdict::Ok };
            let word = match (must_fail, right) {
                (true, true) => "caught",
                (true, false) => "NOT CAUGHT",
                (false, true) => "passes",
                (false, false) => "MUST PASS",
            };
            wrong += usize::from(!right);
            println!(
                "{}",
                format!("{name:<18} {word:<10} {test}  {} {}", verdict.word(), verdict.what()).trim_end()
            );
        }
    }
    println!("conform --self-test: {faults} broken libraries, {wrong} findings");
    Ok(if wrong == 0 && faults > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Reads the promise out of the first comment.
fn read(text: &str) -> Result<Promise, String> {
    let comment = text.split("*/").next().unwrap_or_default();
    let named = |key: &str| -> Vec<String> {
        let lines =
            comment.lines().filter_map(|line| line.trim_start_matches([' ', '*', '/']).strip_prefix(key));
        lines.flat_map(str::split_whitespace).map(str::to_owned).collect()
    };
    let promise = Promise { caught_by: named("caught by:"), passes: named("passes:") };
    if promise.caught_by.is_empty() || promise.passes.is_empty() {
        return Err("the first comment must have lines `caught by: TEST` and `passes: TEST`".to_owned());
    }
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
            read(text),
            Ok(Promise { caught_by: words(&["a.b", "a.c/d", "e.f"]), passes: words(&["g.h"]) })
        );
    }

    #[test]
    fn a_fault_that_nothing_catches_is_no_fault() {
        assert!(read("/* Broken: so. */").is_err());
        assert!(read("/* caught by: a.b */").is_err());
    }
}
