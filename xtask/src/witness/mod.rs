//! `cargo xtask witness`: is every ordering of the core needed, and would anybody notice if it were weaker?
//!
//! Each ordering that is not relaxed is made weaker by one step, at run time, and the model explores the
//! programs that get there until one fails. What failed is recorded in docs/witnesses.toml and printed in
//! docs/orderings.md.
pub(crate) mod plan;
pub(crate) mod record;

use crate::built;
use crate::orderings;
use crate::workspace;
use core::time::Duration;
use plan::Weaker;
use record::{Record, UNNOTICED, UNREACHED};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::time::Instant;
use std::{fs, io, thread};

/// Which orderings are tried.
pub(crate) struct Scope {
    /// Only these tags; all if empty.
    pub(crate) only: Vec<String>,
    /// Only what has no witness yet.
    pub(crate) again: bool,
    /// Only with these locks; with all if empty.
    pub(crate) locks: Vec<String>,
}

/// How many explorations run at a time.
const PARALLEL: usize = 2;
/// How long the model looks for the places that a program reaches, in seconds for each.
const SURVEY_SECONDS: &str = "4";

/// A program, by lock and shape.
type Program = (String, String);

/// `cargo xtask witness --check`.
pub(crate) fn check(root: &Path) -> io::Result<ExitCode> {
    let workspace = workspace::read(root)?;
    let plan = plan::weakenings(&orderings::collect_all(&workspace));
    let (record, arguments) = records(&workspace)?;
    let findings = record::findings(&plan, &record, &arguments);
    for finding in &findings {
        println!("{finding}");
    }
    sum_up(&plan, &record);
    Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn records(workspace: &workspace::Workspace) -> io::Result<(Record, Record)> {
    let read = |path: &str, text: &str| {
        record::read(text).map_err(|error| io::Error::other(format!("{path} does not parse: {error}")))
    };
    Ok((read(workspace::WITNESSES, &workspace.witnesses)?, read(workspace::ARGUMENTS, &workspace.arguments)?))
}

fn sum_up(plan: &[Weaker], record: &Record) {
    let results = plan.iter().filter_map(|weaker| record.get(&record::key(weaker)));
    let noticed = results.clone().filter(|result| record::is_witness(result)).count();
    let unreached = results.clone().filter(|result| *result == UNREACHED).count();
    println!(
        "witness: {} weaker orderings, {noticed} noticed, {} not, {unreached} not reached, {} not recorded",
        plan.len(),
        results.clone().count() - noticed - unreached,
        plan.len() - results.count(),
    );
}

/// `cargo xtask witness`: tries the orderings in scope and writes the record.
pub(crate) fn run(root: &Path, scope: &Scope, seconds: u64, budget: u64) -> io::Result<ExitCode> {
    let workspace = workspace::read(root)?;
    let plan = plan::weakenings(&orderings::collect_all(&workspace));
    let (mut record, _) = records(&workspace)?;
    record.retain(|entry, _| plan.iter().any(|weaker| record::key(weaker) == *entry));
    let chosen: Vec<&Weaker> = plan
        .iter()
        .filter(|weaker| scope.only.is_empty() || scope.only.contains(&weaker.id))
        .filter(|weaker| {
            !scope.again || record.get(&record::key(weaker)).is_none_or(|result| !record::is_witness(result))
        })
        .collect();
    let model = built::model(root)?;
    let reached = survey(&model, &scope.locks)?;
    let limits = Limits { seconds, budget: Duration::from_secs(budget) };
    let tried = Mutex::new((chosen.iter(), &mut record));
    thread::scope(|scope| {
        let workers: Vec<_> = (0..PARALLEL)
            .map(|_| scope.spawn(|| work(root, &plan, &tried, &model, &reached, &limits)))
            .collect();
        workers.into_iter().try_for_each(|worker| {
            worker.join().unwrap_or_else(|_| Err(io::Error::other("a worker of the witness panicked")))
        })
    })?;
    fs::write(root.join(workspace::WITNESSES), record::write(&record, &plan))?;
    sum_up(&plan, &record);
    orderings::run(root, false)
}

/// How long the model may look.
struct Limits {
    seconds: u64,
    budget: Duration,
}

/// What is left to try, and what has come of the rest.
type Shared<'a> = Mutex<(core::slice::Iter<'a, &'a Weaker>, &'a mut Record)>;

fn work(
    root: &Path,
    plan: &[Weaker],
    shared: &Shared<'_>,
    model: &Path,
    reached: &BTreeMap<String, Vec<Program>>,
    limits: &Limits,
) -> io::Result<()> {
    let lock = || shared.lock().map_err(|_| io::Error::other("another worker panicked"));
    loop {
        let Some(weaker) = lock()?.0.next() else { return Ok(()) };
        let result = match reached.get(weaker.place()) {
            None => UNREACHED.to_owned(),
            Some(programs) => attempt(model, weaker, programs, limits)?,
        };
        println!("{:<6} {:<40} {result}", weaker.id, weaker.what);
        let mut shared = lock()?;
        shared.1.insert(record::key(weaker), result);
        fs::write(root.join(workspace::WITNESSES), record::write(shared.1, plan))?;
    }
}

/// Explores one program after the other until one notices.
fn attempt(model: &Path, weaker: &Weaker, programs: &[Program], limits: &Limits) -> io::Result<String> {
    let started = Instant::now();
    for (lock, shape) in programs {
        if started.elapsed() > limits.budget {
            break;
        }
        let output = Command::new(model)
            .args(["--alone", "--lock", lock, "--shape", shape, "--seconds", &limits.seconds.to_string()])
            .args(["--weaken", &weaker.argument()])
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        match output.status.code() {
            Some(0) => {}
            Some(1) => {
                let kind = text.split_once("FAILED ").and_then(|(_, rest)| rest.split_once(':'));
                return Ok(format!("{lock}/{shape}: {}", kind.map_or("failed", |(kind, _)| kind)));
            }
            Some(2) => return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
            // The program under the model went out of bounds of the model itself.
            _ => return Ok(format!("{lock}/{shape}: crash")),
        }
    }
    Ok(UNNOTICED.to_owned())
}

/// Which programs reach which place: those that are explored in the fewest executions first.
fn survey(model: &Path, locks: &[String]) -> io::Result<BTreeMap<String, Vec<Program>>> {
    let mut command = Command::new(model);
    command.args(["--sites", "--seconds", SURVEY_SECONDS]);
    if !locks.is_empty() {
        command.args(["--lock", &locks.join(",")]);
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(io::Error::other("the model fails without any change; mend that first"));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut cost: BTreeMap<Program, u64> = BTreeMap::new();
    let mut reached: BTreeMap<String, Vec<Program>> = BTreeMap::new();
    for line in text.lines() {
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["site", lock, shape, place] => {
                reached
                    .entry((*place).to_owned())
                    .or_default()
                    .push(((*lock).to_owned(), (*shape).to_owned()));
            }
            [lock, shape, _, executions, ..] => {
                if let Ok(executions) = executions.parse() {
                    cost.insert(((*lock).to_owned(), (*shape).to_owned()), executions);
                }
            }
            _ => {}
        }
    }
    for programs in reached.values_mut() {
        programs.sort_by_key(|program| cost.get(program).copied().unwrap_or(u64::MAX));
    }
    Ok(reached)
}
