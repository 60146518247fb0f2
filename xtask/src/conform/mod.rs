//! `cargo xtask conform`: the POSIX tests of `conformance/` against libc, or any library that is preloaded;
//! `conformance/README.md` tells how to compare libraries with it.
//!
//! Each test is a process of its own, so that one that hangs or dies is one cell of the table.
mod broken;
mod report;
mod runner;

use crate::spread::spread;
use crate::{aarch64, built, files, process};
use anyhow::{Context as _, Result, bail, ensure};
use core::time::Duration;
use lab_kit::names::unknown;
use lab_kit::progress::Progress;
use lab_kit::units::within;
use regex::Regex;
use report::Results;
use runner::{Setting, Verdict};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::{fs, thread};

/// How long a test may take unless told otherwise. Most take milliseconds; the rest is for a loaded machine.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The same for the broken libraries, most of whose faults are things that never happen.
const TIMEOUT_BROKEN: Duration = Duration::from_secs(6);

#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Request {
    /// Preload this library (again for further columns; `libc` is none, `ours` is the interposer of this
    /// workspace, built first, and `ours:NAME` the same with that lock)
    #[arg(long, value_name = "LIB.so", default_value = "libc")]
    preload: Vec<PathBuf>,
    /// Set a variable for the tests
    #[arg(long, value_name = "K=V", value_parser = variable)]
    env: Vec<(String, String)>,
    /// Run each test by this command, such as `valgrind -q --error-exitcode=99`; a library goes into it, too
    #[arg(long, value_name = "COMMAND")]
    wrapper: Option<String>,
    /// Build for this machine and run there, in an emulator
    #[arg(long, value_name = "TRIPLE", value_parser = aarch64::named, conflicts_with_all = ["wrapper", "self_test"])]
    target: Option<&'static str>,
    /// Only tests whose names have this in them, or match it when it has a `*`; separated by commas
    #[arg(long, value_name = "PATTERN", value_delimiter = ',')]
    only: Vec<String>,
    /// Run only what passes with the first library with the others, and answer for those alone: where an
    /// emulator fails, too
    #[arg(long)]
    where_first_passes: bool,
    /// List the tests and run none
    #[arg(long)]
    list: bool,
    /// Print a row for every test, not only for the probes and for what is not right everywhere
    #[arg(long)]
    all: bool,
    /// Write every verdict to FILE, as far as they are known, while they come
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Run each test so many times; it passes when it passes each time
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u32,
    /// End a test after so long; it gives up waiting by itself after two thirds of that [default: 30, with
    /// --self-test 6]
    #[arg(long, value_name = "SECONDS", value_parser = within(1_u64, 86_400))]
    timeout: Option<u64>,
    /// Run so many tests at a time [default: as many as there are CPUs]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Run the libraries that are broken on purpose, and see whether the tests named for each notice
    #[arg(long, conflicts_with_all = ["preload", "env", "only", "list", "json", "repeat"])]
    self_test: bool,
}

#[derive(Clone)]
struct Case {
    program: PathBuf,
    test: String,
}

pub(crate) fn run(root: &Path, request: &Request) -> Result<bool> {
    process::catch_interrupts()?;
    let mut cases = runner::suite(root, request.target.is_some())?;
    let jobs = request.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1);
    let usual = if request.self_test { TIMEOUT_BROKEN } else { TIMEOUT };
    let timeout = request.timeout.map_or(usual, Duration::from_secs);
    if request.self_test {
        return broken::run(root, &cases, jobs, timeout);
    }
    select(&mut cases, &request.only)?;
    if request.list {
        for case in &cases {
            println!("{}", case.test);
        }
        return Ok(true);
    }
    let mut columns = columns(root, request, timeout, &cases[0].program)?;
    if request.where_first_passes {
        ensure!(columns.len() > 1, "--where-first-passes: give two libraries or more by --preload");
        let first = columns.remove(0);
        let verdicts = run_cases(&cases, &first, jobs, |_, _| Ok(()))?;
        let judged = cases.into_iter().zip(verdicts);
        // What it skips is left out as well: nobody knows whether it could.
        let (passed, others): (Vec<_>, Vec<_>) = judged.partition(|(_, verdict)| verdict.is_ok());
        for (case, _) in others {
            println!("{}: left out, {} does not pass it", case.test, first.name);
        }
        cases = passed.into_iter().map(|(case, _)| case).collect();
        ensure!(!cases.is_empty(), "{} passes none of the tests", first.name);
    }
    let created =
        |path: &PathBuf| fs::File::create(path).with_context(|| format!("--json {}", path.display()));
    let mut results = Results::new(&columns, &cases, request.json.as_ref().map(created).transpose()?);
    let progress = Progress::new((columns.len() * cases.len()) as u64, false);
    let ran = columns.iter().enumerate().try_for_each(|(at, column)| {
        progress.now(column.name.clone());
        let note = |row, verdict: &Verdict| {
            progress.step();
            Ok(results.note(at, row, verdict.clone())?)
        };
        run_cases(&cases, column, jobs, note).map(drop)
    });
    progress.finish();
    ran?;
    print!("{}", results.render(request.all));
    Ok(results.all_fine())
}

fn variable(pair: &str) -> Result<(String, String), &'static str> {
    let (name, value) =
        pair.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or("write it as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// The libraries of the command line, each with a name of its own, and seen to be loaded into `program`.
fn columns(root: &Path, request: &Request, timeout: Duration, program: &Path) -> Result<Vec<Setting>> {
    let words = request.wrapper.as_deref().unwrap_or_default();
    let emulated = request.target.is_some();
    let mut columns: Vec<Setting> = Vec::new();
    for library in &request.preload {
        let whole = library.display().to_string();
        let (mut name, mut env) = (files::stem(library), request.env.clone());
        let preload = match whole.split_once(':').unwrap_or((&whole, "")) {
            ("libc", "") => None,
            ("ours", lock) => {
                env.extend((!lock.is_empty()).then(|| ("STANCHION".to_owned(), format!("lock={lock}"))));
                name.clone_from(&whole);
                Some(preloadable(&built::interposer(root, emulated)?)?)
            }
            _ => Some(preloadable(library)?),
        };
        if columns.iter().any(|column| column.name == name) {
            name = whole;
        }
        let wrapper = words.split_whitespace().map(str::to_owned).collect();
        let column = Setting { name, preload, wrapper, emulated, env, timeout, repeat: request.repeat };
        // The loader goes on without a library that it can not load, and every test would then be libc's.
        let output = column.command(program).arg("--list").stdout(Stdio::null()).output()?;
        let complaints = String::from_utf8_lossy(&output.stderr);
        let idle = ["cannot be preloaded", "libc's own locks"];
        let is_idle = |line: &&str| idle.iter().any(|words| line.contains(words));
        if let Some(line) = complaints.lines().find(is_idle) {
            bail!("{} was not loaded: {line}", column.name);
        }
        columns.push(column);
    }
    Ok(columns)
}

/// The whole path of a library, which the dynamic loader must be able to read from a list.
fn preloadable(library: &Path) -> Result<PathBuf> {
    let named = format!("--preload {}", library.display());
    let path = fs::canonicalize(library).with_context(|| named.clone())?;
    let readable = !path.to_string_lossy().contains([' ', ':']);
    ensure!(
        readable,
        "{named}: LD_PRELOAD can not hold a path with a blank or a colon; copy the library elsewhere"
    );
    Ok(path)
}

/// Keeps the tests that a pattern of `only` names; all when there is none.
fn select(cases: &mut Vec<Case>, only: &[String]) -> Result<()> {
    let names = || cases.iter().map(|case| case.test.as_str());
    if let Some(pattern) = only.iter().find(|pattern| !names().any(|name| matches(pattern, name))) {
        bail!(unknown("test", pattern, names()));
    }
    cases.retain(|case| only.is_empty() || only.iter().any(|pattern| matches(pattern, &case.test)));
    // The probes first: they are what published tables show.
    cases.sort_by_key(|case| !case.test.starts_with(report::PROBE));
    Ok(())
}

/// Whether a name has the pattern in it, or matches all of it when there is a `*`, which stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let whole = format!("^{}$", regex::escape(pattern).replace(r"\*", ".*"));
    name.contains(pattern)
        || pattern.contains('*') && Regex::new(&whole).is_ok_and(|whole| whole.is_match(name))
}

/// Runs the tests, several at a time, and notes each verdict as it comes. They are returned in their order.
fn run_cases(
    cases: &[Case],
    column: &Setting,
    jobs: usize,
    note: impl FnMut(usize, &Verdict) -> Result<()> + Send,
) -> Result<Vec<Verdict>> {
    let note = Mutex::new(note);
    let mut verdicts = spread(&vec![(); jobs], cases.iter().enumerate(), |(), (row, case)| {
        // Nobody else may have the file, neither another worker nor another run of this command.
        let name = format!("output-{}-{:?}", std::process::id(), thread::current().id());
        let output = case.program.with_file_name(name);
        let verdict = runner::run(case, column, &output)?;
        fs::remove_file(output)?;
        note.lock().unwrap_or_else(PoisonError::into_inner)(row, &verdict)?;
        anyhow::Ok((row, verdict))
    })?;
    verdicts.sort_unstable_by_key(|(row, _)| *row);
    Ok(verdicts.into_iter().map(|(_, verdict)| verdict).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match() {
        assert!(matches("rwlock", "rwlock_timed.while_read_held/timedrdlock"));
        assert!(matches("mutex.*/recursive", "mutex.relock/recursive"));
        assert!(matches("*", "a.b"));
        assert!(matches("a*b*c", "a1b2c"));
        assert!(!matches("mutex.*/recursive", "mutex.relock/static-recursive"));
        assert!(!matches("a*b*c", "a1c2b"));
        assert!(!matches("mutex.*", "c11.mutex.x"));
    }
}
