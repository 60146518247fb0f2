//! `cargo xtask conform`: the POSIX tests of `conformance/` against libc, or against any library that is
//! preloaded.
//!
//! Each test is a process of its own, so that one that hangs or dies is one cell of the table.
//! `conformance/README.md` tells how to compare libraries with it.
mod broken;
mod build;
mod report;
mod runner;

use crate::built;
use crate::foreign::{self, Foreign};
use build::Program;
use core::time::Duration;
use lab_kit::names::unknown;
use lab_kit::progress::Progress;
use report::Results;
use runner::{Setting, Verdict};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::{fs, io, thread};

/// How long a test may take unless told otherwise. Most take milliseconds; the rest is for a loaded machine.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The same for the broken libraries, most of whose faults are things that never happen.
const TIMEOUT_BROKEN: Duration = Duration::from_secs(6);
/// What stands for no library.
const LIBC: &str = "libc";
/// What stands for the interposer, alone or before `:` and the name of a lock.
const OURS: &str = "ours";

/// What to run, as on the command line.
#[derive(clap::Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Request {
    /// Preload this library (again for further columns; `libc` is none, `ours` is the interposer of this
    /// workspace, built first, and `ours:NAME` the same with that lock) [default: libc]
    #[arg(long, value_name = "LIB.so")]
    preload: Vec<PathBuf>,
    /// Set a variable for the tests
    #[arg(long, value_name = "K=V")]
    env: Vec<String>,
    /// Run each test by this command, such as `valgrind -q --error-exitcode=99`; a library goes into it, too
    #[arg(long, value_name = "COMMAND")]
    wrapper: Option<String>,
    /// Build for this machine and run there, in an emulator
    #[arg(long, value_name = "TRIPLE", value_parser = foreign::named, conflicts_with_all = ["wrapper", "self_test"])]
    target: Option<&'static Foreign>,
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
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<u64>,
    /// Run so many tests at a time [default: as many as there are CPUs]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Run the libraries that are broken on purpose, and see whether the tests named for each notice
    #[arg(long, conflicts_with_all = ["preload", "env", "only", "list", "json", "repeat"])]
    self_test: bool,
}

/// A column of the table: a library, and how the tests run with it.
struct Column {
    name: String,
    setting: Setting,
}

/// One test of one program.
#[derive(Clone)]
struct Case {
    program: PathBuf,
    test: String,
}

/// Runs the command.
pub(crate) fn run(root: &Path, request: &Request) -> io::Result<ExitCode> {
    let programs = build::suite(root, request.target)?;
    let jobs = request.jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from)).max(1);
    let usual = if request.self_test { TIMEOUT_BROKEN } else { TIMEOUT };
    let timeout = request.timeout.map_or(usual, |seconds| Duration::from_secs(seconds.max(1)));
    if request.self_test {
        return broken::run(root, &programs, &build::broken(root)?, jobs, timeout);
    }
    let mut cases = select(&programs, &request.only)?;
    if request.list {
        for case in &cases {
            println!("{}", case.test);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut columns = columns(root, request, timeout)?;
    for column in &columns {
        must_load(&programs[0].path, column)?;
    }
    if request.where_first_passes {
        if columns.len() < 2 {
            return Err(io::Error::other("--where-first-passes: give two libraries or more by --preload"));
        }
        let wrong = not_passed_by(root, &cases, &columns[0], request.repeat, jobs)?;
        for test in &wrong {
            println!("{}: left out, {} does not pass it", test, columns[0].name);
        }
        cases.retain(|case| !wrong.contains(&case.test));
        columns.remove(0);
    }
    let results = Mutex::new(Results::new(&columns, &cases));
    let progress = Progress::new((columns.len() * cases.len()) as u64, false);
    for (at, column) in columns.iter().enumerate() {
        progress.now(column.name.clone());
        let note = |index: usize, verdict: &Verdict| {
            progress.step();
            let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
            results.put(at, index, verdict.clone());
            request.json.as_ref().map_or(Ok(()), |file| results.write_now_and_then(file))
        };
        run_cases(root, &cases, column, request.repeat, jobs, &note)?;
    }
    progress.finish();
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(file) = &request.json {
        results.write(file)?;
    }
    print!("{}", results.render(request.all));
    Ok(if results.all_fine() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The tests that it does not pass. What it skips is left out as well: nobody knows whether it could.
fn not_passed_by(
    root: &Path,
    cases: &[Case],
    column: &Column,
    repeat: u32,
    jobs: usize,
) -> io::Result<Vec<String>> {
    let verdicts = run_cases(root, cases, column, repeat, jobs, &|_, _| Ok(()))?;
    let others = cases.iter().zip(verdicts).filter(|(_, verdict)| *verdict != Verdict::Ok);
    Ok(others.map(|(case, _)| case.test.clone()).collect())
}

/// The libraries of the command line, each with a name of its own.
fn columns(root: &Path, request: &Request, timeout: Duration) -> io::Result<Vec<Column>> {
    let mut env = Vec::new();
    for pair in &request.env {
        let (name, value) = pair
            .split_once('=')
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| io::Error::other(format!("--env {pair}: write it as NAME=VALUE")))?;
        env.push((name.to_owned(), value.to_owned()));
    }
    let words = request.wrapper.as_deref().unwrap_or_default();
    let wrapper: Vec<String> = words.split_whitespace().map(ToOwned::to_owned).collect();
    let libc = [PathBuf::from(LIBC)];
    let wanted = if request.preload.is_empty() { &libc[..] } else { &request.preload };
    let mut columns: Vec<Column> = Vec::new();
    for library in wanted {
        let (mut env, mut short) = (env.clone(), build::stem(library));
        let preload = match library.to_str().map(|name| name.split_once(':').unwrap_or((name, ""))) {
            Some((LIBC, "")) => None,
            Some((OURS, lock)) => {
                if !lock.is_empty() {
                    env.push(("STANCHION".to_owned(), format!("lock={lock}")));
                }
                short = library.display().to_string();
                Some(preloadable(&built::interposer(root, request.target)?)?)
            }
            _ => Some(preloadable(library)?),
        };
        let taken = columns.iter().any(|column| column.name == short);
        let name = if taken { library.display().to_string() } else { short };
        columns.push(Column {
            name,
            setting: Setting { preload, wrapper: wrapper.clone(), foreign: request.target, env, timeout },
        });
    }
    Ok(columns)
}

/// The whole path of a library, which the dynamic loader must be able to read from a list.
fn preloadable(library: &Path) -> io::Result<PathBuf> {
    let named = |why: &str| io::Error::other(format!("--preload {}: {why}", library.display()));
    let path = fs::canonicalize(library).map_err(|error| named(&error.to_string()))?;
    if path.to_string_lossy().contains([' ', ':']) {
        return Err(named(
            "LD_PRELOAD can not hold a path with a blank or a colon; copy the library elsewhere",
        ));
    }
    Ok(path)
}

/// The loader goes on without a library that it can not load, and every test would then be libc's.
fn must_load(program: &Path, column: &Column) -> io::Result<()> {
    let output =
        column.setting.command(program).arg("--list").stderr(std::process::Stdio::piped()).output()?;
    let output = String::from_utf8_lossy(&output.stderr);
    match output.lines().find(|line| line.contains("cannot be preloaded")) {
        None => Ok(()),
        Some(line) => Err(io::Error::other(format!("{} was not loaded: {line}", column.name))),
    }
}

/// The tests that a pattern of `only` names; all when there is none.
fn select(programs: &[Program], only: &[String]) -> io::Result<Vec<Case>> {
    let names = || programs.iter().flat_map(|program| program.tests.iter().map(String::as_str));
    for pattern in only {
        if !names().any(|name| matches(pattern, name)) {
            return Err(io::Error::other(unknown("test", pattern, names())));
        }
    }
    let wanted = |name: &str| only.is_empty() || only.iter().any(|pattern| matches(pattern, name));
    let mut cases = Vec::new();
    for program in programs {
        for test in program.tests.iter().filter(|name| wanted(name)) {
            cases.push(Case { program: program.path.clone(), test: test.clone() });
        }
    }
    // The probes first: they are what published tables show.
    cases.sort_by_key(|case| !case.test.starts_with(report::PROBE));
    Ok(cases)
}

/// The test of exactly this name.
fn find(programs: &[Program], test: &str) -> Option<Case> {
    let program = programs.iter().find(|program| program.tests.iter().any(|name| name == test))?;
    Some(Case { program: program.path.clone(), test: test.to_owned() })
}

/// Whether a name has the pattern in it, or matches all of it when there is a `*`, which stands for anything.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return name.contains(pattern) };
    let Some(mut name) = name.strip_prefix(first) else { return false };
    let pieces: Vec<&str> = rest.split('*').collect();
    let (last, middle) = pieces.split_last().map_or(("", &pieces[..]), |(last, middle)| (*last, middle));
    for piece in middle {
        let Some(at) = name.find(piece) else { return false };
        name = &name[at + piece.len()..];
    }
    name.ends_with(last)
}

/// Runs the tests, several at a time, and notes each verdict as it comes. The verdicts are in the order of
/// the tests.
fn run_cases(
    root: &Path,
    cases: &[Case],
    column: &Column,
    repeat: u32,
    jobs: usize,
    note: &(dyn Fn(usize, &Verdict) -> io::Result<()> + Sync),
) -> io::Result<Vec<Verdict>> {
    let output = build::directory(root, column.setting.foreign).join("output");
    fs::create_dir_all(&output)?;
    let queue = Mutex::new(cases.iter().enumerate());
    let verdicts = Mutex::new(vec![Verdict::Ok; cases.len()]);
    let work = || -> io::Result<()> {
        // Nobody else may have the file, neither another worker nor another run of this command.
        let output = output.join(format!("{}-{:?}", std::process::id(), thread::current().id()));
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((index, case)) = next else { break };
            let verdict = repeated(case, column, repeat, &output)?;
            note(index, &verdict)?;
            verdicts.lock().unwrap_or_else(PoisonError::into_inner)[index] = verdict;
        }
        fs::remove_file(output)
            .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err(io::Error::other("a worker panicked")))
        })
    })?;
    Ok(verdicts.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Runs one test until it fails, or so many times.
fn repeated(case: &Case, column: &Column, repeat: u32, output: &Path) -> io::Result<Verdict> {
    let mut verdict = Verdict::Ok;
    for round in 1..=repeat.max(1) {
        verdict = runner::run(&case.program, &case.test, &column.setting, output)?;
        let place = |what: &str| {
            if repeat > 1 { format!("in run {round} of {repeat}: {what}") } else { what.to_owned() }
        };
        verdict = match verdict {
            Verdict::Fail(what) => Verdict::Fail(place(&what)),
            Verdict::Hang(what) => Verdict::Hang(place(&what)),
            Verdict::Signal(number, what) => Verdict::Signal(number, place(&what)),
            fine => fine,
        };
        if verdict != Verdict::Ok {
            break;
        }
    }
    Ok(verdict)
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
