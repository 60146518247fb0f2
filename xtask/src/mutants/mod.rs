//! `cargo xtask mutants`: breaks the real locks in known ways, one at a time, and sees whether the detectors notice.
//!
//! A test shows that a lock works; the shelf shows that the test would tell if it did not. A mutant that survives a detector that
//! it names fails the run, and so does one that is noticed in another way than it says: then one of the two is not understood.
//!
//! [`shelf`] reads what is on the shelf, [`scratch`] builds and runs in a copy of the workspace, [`table`] prints docs/mutants.md.
mod scratch;
mod shelf;
pub(crate) mod table;

use crate::names::nearest;
use core::fmt;
use scratch::{Ended, Scratch};
pub(crate) use shelf::Detector;
use shelf::{Check, Mutant};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{io, thread};

/// More copies than that are more in each other's way than of use: each is built with all CPUs.
const JOBS: usize = 2;

/// What is asked for; all that there is, unless told otherwise.
pub(crate) struct Request {
    /// Only these mutants.
    pub(crate) only: Vec<String>,
    /// Only with this detector.
    pub(crate) detector: Option<Detector>,
    /// How many at a time.
    pub(crate) jobs: Option<usize>,
}

/// Prints names, locks, detectors.
pub(crate) fn list(root: &Path) -> io::Result<ExitCode> {
    for mutant in shelf::read(root)? {
        println!("{:<36} {:<44} {}", mutant.name, mutant.locks.join(","), mutant.breaks);
    }
    Ok(ExitCode::SUCCESS)
}

/// Runs mutants and prints what became of them.
pub(crate) fn run(root: &Path, request: &Request) -> io::Result<ExitCode> {
    let started = Instant::now();
    let mutants = select(shelf::read(root)?, &request.only)?;
    let wanted = |check: &Check| request.detector.is_none_or(|detector| check.detector == detector);
    let tasks: VecDeque<(Mutant, Vec<Check>)> = mutants
        .into_iter()
        .map(|mutant| (mutant.checks().into_iter().filter(wanted).collect(), mutant))
        .map(|(checks, mutant)| (mutant, checks))
        .collect();
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let jobs = request.jobs.unwrap_or(JOBS).clamp(1, tasks.len().max(1));
    let copies = (0..jobs)
        .map(|index| Scratch::new(root, index, cpus.div_ceil(jobs)))
        .collect::<io::Result<Vec<_>>>()?;

    println!("{:<36} {:<26} {:<8} {:>7}  what became of it", "mutant", "lock", "detector", "seconds");
    // First the locks as they are: a detector that fails them tells nothing.
    let baseline = baseline(tasks.iter().flat_map(|(_, checks)| checks)).into();
    let mut rows = work(&copies, baseline, |copy, check| {
        Ok(vec![judge(copy, "(none)", &check, |ended| match ended {
            Ended::Clean => Verdict::Sound,
            Ended::Noticed(kind, what) => Verdict::Failed(format!("{kind} {what}")),
            Ended::Crashed(what) => Verdict::Failed(what),
        })?])
    })?;
    if rows.iter().all(Row::is_fine) {
        rows.extend(work(&copies, tasks, |copy, (mutant, checks)| run_mutant(copy, &mutant, &checks))?);
    } else {
        println!("no mutant was tried: a detector fails on the locks as they are");
    }
    println!("{} in {:.0} s", sum_up(&rows), started.elapsed().as_secs_f64());
    Ok(if rows.iter().all(Row::is_fine) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn select(mutants: Vec<Mutant>, only: &[String]) -> io::Result<Vec<Mutant>> {
    for name in only {
        if !mutants.iter().any(|mutant| mutant.name == *name) {
            let near = nearest(name, mutants.iter().map(|mutant| mutant.name.as_str())).join(", ");
            return Err(io::Error::other(format!("no mutant `{name}`; the nearest are {near}")));
        }
    }
    Ok(mutants.into_iter().filter(|mutant| only.is_empty() || only.contains(&mutant.name)).collect())
}

/// What the locks must pass as they are: every check of a mutant, the longest where there are several.
fn baseline<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Vec<Check> {
    let mut longest: BTreeMap<(Detector, String, String), Check> = BTreeMap::new();
    for check in checks {
        let known = longest
            .entry((check.detector, check.lock.clone(), check.shape.clone()))
            .or_insert_with(|| check.clone());
        known.schedules = known.schedules.max(check.schedules);
    }
    longest.into_values().collect()
}

/// Spreads tasks over the copies; prints rows as they come.
fn work<T: Send>(
    copies: &[Scratch],
    tasks: VecDeque<T>,
    perform: impl Fn(&Scratch, T) -> io::Result<Vec<Row>> + Sync,
) -> io::Result<Vec<Row>> {
    let tasks = Mutex::new(tasks);
    let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let of_one = |copy: &Scratch| {
        let mut rows = Vec::new();
        while let Some(task) = next() {
            for row in perform(copy, task)? {
                println!("{row}");
                rows.push(row);
            }
        }
        Ok(rows)
    };
    thread::scope(|scope| {
        let workers: Vec<_> = copies.iter().map(|copy| scope.spawn(|| of_one(copy))).collect();
        let mut rows = Vec::new();
        for worker in workers {
            let done: io::Result<Vec<Row>> =
                worker.join().unwrap_or_else(|_| Err(io::Error::other("a worker panicked")));
            rows.extend(done?);
        }
        Ok(rows)
    })
}

fn run_mutant(copy: &Scratch, mutant: &Mutant, checks: &[Check]) -> io::Result<Vec<Row>> {
    let sound = copy.read(&mutant.file)?;
    let broken = mutant.apply(&sound).map_err(io::Error::other)?;
    copy.write(&mutant.file, &broken)?;
    let judged = checks
        .iter()
        .map(|check| {
            judge(copy, &mutant.name, check, |ended| match ended {
                Ended::Clean => Verdict::Survived,
                Ended::Noticed(kind, what) if check.sees.contains(&kind) => {
                    Verdict::Killed(format!("{kind} {what}"))
                }
                Ended::Noticed(kind, what) => Verdict::Failed(format!("unexpected: {kind} {what}")),
                Ended::Crashed(what) => Verdict::Failed(what),
            })
        })
        .collect();
    copy.write(&mutant.file, &sound)?;
    judged
}

/// Builds a detector, runs it, and says what that means.
fn judge(
    copy: &Scratch,
    mutant: &str,
    check: &Check,
    meaning: impl FnOnce(Ended) -> Verdict,
) -> io::Result<Row> {
    let start = Instant::now();
    let verdict = match copy.build(check.detector)? {
        Ok(()) => meaning(copy.run(check)?),
        Err(said) => Verdict::Failed(format!("it does not build:\n{said}")),
    };
    let (lock, detector) = (check.lock.clone(), check.detector);
    Ok(Row { mutant: mutant.to_owned(), lock, detector, verdict, seconds: start.elapsed().as_secs_f64() })
}

/// What became of one check.
#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    /// The lock as it is passed.
    Sound,
    /// The mutant was noticed; how.
    Killed(String),
    /// It was not.
    Survived,
    /// Something else is wrong.
    Failed(String),
}

struct Row {
    mutant: String,
    lock: String,
    detector: Detector,
    verdict: Verdict,
    seconds: f64,
}

impl Row {
    fn is_fine(&self) -> bool {
        matches!(self.verdict, Verdict::Sound | Verdict::Killed(_))
    }
}

impl fmt::Display for Row {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mutant, lock, detector, verdict, seconds } = self;
        write!(out, "{mutant:<36} {lock:<26} {detector:<8} {seconds:>7.1}  ")?;
        match verdict {
            Verdict::Sound => out.write_str("sound"),
            Verdict::Killed(how) => write!(out, "killed: {how}"),
            Verdict::Survived => out.write_str("SURVIVED"),
            Verdict::Failed(what) => write!(out, "FAILED: {what}"),
        }
    }
}

fn sum_up(rows: &[Row]) -> String {
    let count = |wanted: fn(&Verdict) -> bool| rows.iter().filter(|row| wanted(&row.verdict)).count();
    let mut names: Vec<&str> =
        rows.iter().map(|row| row.mutant.as_str()).filter(|name| *name != "(none)").collect();
    names.dedup();
    format!(
        "mutants: {}, checks: {} killed, {} survived, {} failed",
        names.len(),
        count(|verdict| matches!(verdict, Verdict::Killed(_))),
        count(|verdict| *verdict == Verdict::Survived),
        count(|verdict| matches!(verdict, Verdict::Failed(_))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(mutant: &str, verdict: Verdict) -> Row {
        Row { mutant: mutant.into(), lock: "byte".into(), detector: Detector::Explore, verdict, seconds: 1.0 }
    }

    #[test]
    fn a_survivor_is_counted_and_is_not_fine() {
        let rows = [
            row("(none)", Verdict::Sound),
            row("a", Verdict::Killed("stuck".into())),
            row("a", Verdict::Survived),
            row("b", Verdict::Failed("it does not build".into())),
        ];
        assert_eq!(sum_up(&rows), "mutants: 2, checks: 1 killed, 1 survived, 1 failed");
        assert_eq!(rows.each_ref().map(Row::is_fine), [true, true, false, false]);
    }

    #[test]
    fn tasks_reach_every_copy_and_come_back() {
        let rows = work(&[], VecDeque::from([1, 2]), |_, _: i32| Ok(Vec::new())).expect("no worker");
        assert!(rows.is_empty());
    }

    #[test]
    fn an_unknown_mutant_is_answered_with_near_ones() {
        let all = shelf::read(&crate::workspace::root()).unwrap_or_else(|error| panic!("{error}"));
        let name = all[0].name.clone();
        let wrong = [format!("{name}x")];
        assert!(select(all.clone(), &wrong).is_err_and(|error| error.to_string().contains(&name)));
        assert_eq!(select(all, &[name]).map_or(0, |chosen| chosen.len()), 1);
    }

    #[test]
    fn the_longest_check_of_a_lock_is_its_baseline() {
        let all = shelf::read(&crate::workspace::root()).unwrap_or_else(|error| panic!("{error}"));
        let checks: Vec<Check> = all.iter().flat_map(Mutant::checks).collect();
        let baseline = baseline(&checks);
        for check in &checks {
            let covers = |sound: &&Check| {
                (sound.detector, &sound.lock, &sound.shape) == (check.detector, &check.lock, &check.shape)
                    && sound.schedules >= check.schedules
            };
            assert_eq!(baseline.iter().filter(covers).count(), 1, "{check:?}");
        }
    }
}
