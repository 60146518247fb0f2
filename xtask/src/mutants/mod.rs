//! `cargo xtask mutants`: breaks the real locks in known ways, and sees whether the detectors notice.
//!
//! A test shows that a lock works; the shelf shows that the test would tell if it did not. A mutant that
//! survives a detector that it names fails the run, and so does one that is noticed in another way than it
//! says: then one of the two is not understood.
//!
//! What the verdict on a mutant [`depends`] on is a number, which the [`record`] keeps of each that was
//! killed: it need not be tried again until the number is another. What lands has tried all that have
//! changed.
mod code;
mod depends;
mod record;
mod scratch;
mod shelf;
mod table;

use crate::spread::spread;
use crate::{built, process, workspace};
use anyhow::{Error, Result};
use clap::Args;
use depends::Sources;
use lab_kit::names::chosen;
use scratch::{Ended, Scratch};
use shelf::{Check, Detector, Mutant};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use std::{fs, thread};

/// More copies than that are more in each other's way than of use: each is built with all CPUs.
const JOBS: usize = 2;

/// In the place of a mutant, for the locks as they are.
const NONE: &str = "(none)";

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub(crate) struct Request {
    /// Try only these, separated by commas
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
    /// Try all, whether or not they have changed
    #[arg(long, conflicts_with = "check")]
    all: bool,
    /// Only with this detector, explore or model
    #[arg(long, value_name = "NAME")]
    detector: Option<Detector>,
    /// List them and try none
    #[arg(long)]
    list: bool,
    /// Try so many at a time
    #[arg(long, value_name = "N", default_value_t = JOBS)]
    jobs: usize,
    /// Write docs/mutants.md and try none
    #[arg(long)]
    docs: bool,
    /// Try none; fail when one may have changed since it was killed, or with --docs when the page is not
    /// current
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(root: &Path, request: &Request) -> Result<bool> {
    let shelf = shelf::read(root)?;
    if request.docs {
        let page = table::render(&shelf);
        return Ok(workspace::generate(root, table::PATH, &page, request.check, "mutants --docs")?);
    }
    if request.list {
        for mutant in shelf {
            println!("{:<36} {:<44} {}", mutant.name, mutant.locks.join(","), mutant.breaks);
        }
        return Ok(true);
    }
    try_some(root, request, shelf)
}

/// Runs mutants, prints what became of them, and takes down which were killed.
fn try_some(root: &Path, request: &Request, shelf: Vec<Mutant>) -> Result<bool> {
    process::catch_interrupts()?;
    let started = Instant::now();
    let mut record = record::read(root)?;
    record.retain(|name, _| shelf.iter().any(|mutant| mutant.name == *name));
    let mutants = chosen("mutant", shelf, &request.only, |mutant| &mutant.name).map_err(Error::msg)?;
    if request.check {
        return Ok(check(&Sources::read(root)?, &record, &mutants));
    }
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let jobs = request.jobs.clamp(1, mutants.len().max(1));
    let place = built::target(root).join("mutants");
    let _ours = scratch::claim(&place)?;
    let copy = |index: usize| Scratch::new(root, &place.join(index.to_string()), cpus.div_ceil(jobs));
    let copies = (0..jobs).map(copy).collect::<Result<Vec<_>>>()?;

    // Of what is built, which may be older by now than what is at `root`.
    let sources = Sources::read(&copies[0].tree)?;
    let task = |mutant: Mutant| {
        let number = sources.of(&mutant);
        let mut checks = mutant.checks();
        checks.retain(|check| request.detector.is_none_or(|detector| check.detector == detector));
        Task { current: record.get(&mutant.name) == Some(&number), mutant, number, checks }
    };
    let mut tasks: Vec<Task> = mutants.into_iter().map(task).collect();
    println!("{}", choose(&mut tasks, request));
    if !tasks.is_empty() {
        println!("{:<36} {:<26} {:<8} {:>7}  what became of it", "mutant", "lock", "detector", "seconds");
    }
    // First the locks as they are: a detector that fails them tells nothing.
    let baseline = baseline(tasks.iter().flat_map(|task| &task.checks));
    let mut rows = spread(&copies, baseline, |copy, check| judge(copy, NONE, &check))?;
    if rows.iter().all(is_fine) {
        let record = Mutex::new(record);
        let tried = spread(&copies, tasks, |copy, task| {
            let rows = run_mutant(copy, &task)?;
            if request.detector.is_none() {
                let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
                record::note(&mut record, &task.mutant.name, &task.number, rows.iter().all(is_fine));
                record::write(&record, root)?;
            }
            Ok(rows)
        })?;
        rows.extend(tried.into_iter().flatten());
    } else {
        println!("no mutants were tried: a detector fails on the locks as they are");
    }
    let kept = request.detector.map_or(record::PATH, |_| "as it was");
    println!("{} in {:.0} s; record: {kept}", sum_up(&rows), started.elapsed().as_secs_f64());
    Ok(rows.iter().all(is_fine))
}

/// Whether all are what they were when they were killed; says which are not.
fn check(sources: &Sources, record: &record::Record, mutants: &[Mutant]) -> bool {
    let is_stale = |mutant: &&Mutant| record.get(&mutant.name) != Some(&sources.of(mutant));
    let stale: Vec<&Mutant> = mutants.iter().filter(is_stale).collect();
    for Mutant { name, .. } in &stale {
        println!("{name}: may have changed since it was killed; `cargo xtask mutants` tries it");
    }
    println!("mutants: {}; {} of them may have changed", mutants.len(), stale.len());
    stale.is_empty()
}

struct Task {
    mutant: Mutant,
    checks: Vec<Check>,
    /// What it depends on.
    number: String,
    /// Whether it has not changed since it was killed.
    current: bool,
}

/// Chooses among mutants, and says how: what was asked for, otherwise what may have changed.
fn choose(tasks: &mut Vec<Task>, request: &Request) -> String {
    let (all, current) = (tasks.len(), tasks.iter().filter(|task| task.current).count());
    let mut said = format!("mutants: {all}; {current} of them are what they were when they were killed");
    if !request.all && request.only.is_empty() {
        tasks.retain(|task| !task.current);
        said += ", and are not tried again (--all does)";
    }
    said
}

/// What the locks must pass as they are: every check of a mutant, the longest where there are several.
fn baseline<'a>(checks: impl IntoIterator<Item = &'a Check>) -> Vec<Check> {
    let mut longest: Vec<Check> = Vec::new();
    for check in checks {
        match longest.iter_mut().find(|known| known.is_like(check)) {
            Some(known) => known.schedules = known.schedules.max(check.schedules),
            None => longest.push(check.clone()),
        }
    }
    longest
}

fn run_mutant(copy: &Scratch, task: &Task) -> Result<Vec<Row>> {
    let Mutant { name, file, .. } = &task.mutant;
    let file = copy.tree.join(file);
    let sound = fs::read_to_string(&file)?;
    fs::write(&file, task.mutant.apply(&sound).map_err(Error::msg)?)?;
    let judged = task.checks.iter().map(|check| judge(copy, name, check)).collect();
    fs::write(&file, sound)?;
    judged
}

fn judge(copy: &Scratch, mutant: &str, check: &Check) -> Result<Row> {
    let start = Instant::now();
    let (verdict, told) = match copy.run(check)? {
        Ended::Clean if mutant == NONE => (Verdict::Sound, "sound".to_owned()),
        Ended::Clean => (Verdict::Survived, "SURVIVED".to_owned()),
        Ended::Noticed(kind, what) if mutant != NONE && check.sees.contains(&kind) => {
            (Verdict::Killed, format!("killed: {kind} {what}"))
        }
        Ended::Noticed(kind, what) => (Verdict::Failed, format!("FAILED: unexpected: {kind} {what}")),
        Ended::Crashed(what) => (Verdict::Failed, format!("FAILED: {what}")),
    };
    let (Check { lock, detector, .. }, seconds) = (check, start.elapsed().as_secs_f64());
    println!("{mutant:<36} {lock:<26} {detector:<8} {seconds:>7.1}  {told}");
    Ok((mutant.to_owned(), verdict))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Sound,
    Killed,
    Survived,
    /// Something else is wrong.
    Failed,
}

/// A mutant, and what became of it.
type Row = (String, Verdict);

fn is_fine((_, verdict): &Row) -> bool {
    matches!(verdict, Verdict::Sound | Verdict::Killed)
}

fn sum_up(rows: &[Row]) -> String {
    let count = |wanted: Verdict| rows.iter().filter(|(_, verdict)| *verdict == wanted).count();
    let mut names: Vec<&str> =
        rows.iter().map(|(mutant, _)| &**mutant).filter(|name| *name != NONE).collect();
    names.dedup();
    let [killed, survived, failed] = [Verdict::Killed, Verdict::Survived, Verdict::Failed].map(count);
    let mutants = names.len();
    format!("mutants: {mutants}, checks: {killed} killed, {survived} survived, {failed} failed")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(mutant: &str, verdict: Verdict) -> Row {
        (mutant.into(), verdict)
    }

    #[test]
    fn a_survivor_is_counted_and_is_not_fine() {
        let rows = [
            row(NONE, Verdict::Sound),
            row("a", Verdict::Killed),
            row("a", Verdict::Survived),
            row("b", Verdict::Failed),
        ];
        assert_eq!(sum_up(&rows), "mutants: 2, checks: 1 killed, 1 survived, 1 failed");
        assert_eq!(rows.each_ref().map(is_fine), [true, true, false, false]);
    }

    #[test]
    fn the_longest_check_of_a_lock_is_its_baseline() {
        let all = shelf::read(&workspace::root()).unwrap_or_else(|error| panic!("{error:#}"));
        let mut checks: Vec<Check> = all.iter().flat_map(Mutant::checks).collect();
        let with = |fault: &str| Check { fault: Some(fault.to_owned()), ..checks[0].clone() };
        assert!(!with("timed").is_like(&with("two-locks")) && !with("timed").is_like(&checks[0]));
        checks.push(with("timed"));
        let baseline = baseline(&checks);
        for check in &checks {
            let covers = |sound: &&Check| sound.is_like(check) && sound.schedules >= check.schedules;
            assert_eq!(baseline.iter().filter(covers).count(), 1, "{check:?}");
        }
    }
}
