//! `cargo xtask witness`: is every ordering of the core needed, and would anybody notice if it were weaker?
//!
//! Each ordering that is not relaxed is made weaker by one step, at run time, and the model explores the
//! programs that get there until one fails, which docs/witnesses.toml records and docs/orderings.md shows.
pub(crate) mod record;

use crate::built;
use crate::orderings;
use crate::spread::spread;
use crate::workspace;
use anyhow::{Result, bail, ensure};
use clap::Args;
use core::time::Duration;
use lab_kit::names::unknown;
use record::{Record, UNNOTICED, UNREACHED, Weaker};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

#[derive(Args)]
pub(crate) struct Request {
    /// Run nothing; fail when the record does not cover the orderings as they are
    #[arg(long, conflicts_with_all = ["only", "again"])]
    check: bool,
    /// Only orderings with these tags, separated by commas; the rest of the record stays
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    only: Vec<String>,
    /// Only orderings that no check has noticed yet, or that are not recorded
    #[arg(long)]
    again: bool,
}

/// How many explorations run at a time.
const PARALLEL: usize = 2;
/// How long the model looks for the places that a program reaches, in seconds for each.
const SURVEY_SECONDS: &str = "4";
/// How long a single exploration may take, and all of one ordering.
const SECONDS: &str = "15";
/// By signals of others, SIGINT, SIGKILL and SIGTERM, a model ends that has noticed nothing.
const KILLED: [i32; 3] = [2, 9, 15];
const OF_ORDERING: Duration = Duration::from_mins(2);

/// A program, by lock and shape.
type Program = (String, String);

/// Tries the orderings that are asked for and writes the record, or only compares it.
pub(crate) fn run(root: &Path, request: &Request) -> Result<bool> {
    let plan = record::weakenings(&orderings::collect_all(&workspace::read(root)?));
    let mut keys = BTreeSet::new();
    if let Some(twin) = plan.iter().find(|weaker| !keys.insert(weaker.key())) {
        bail!("two operations are `{}`; give each a tag of its own", twin.key());
    }
    if let Some(id) = request.only.iter().find(|id| plan.iter().all(|weaker| weaker.id != **id)) {
        bail!("{}", unknown("tag", id, plan.iter().map(|weaker| &*weaker.id)));
    }
    let (record, arguments) = record::read(root)?;
    if !request.check {
        return weaken(root, request, &plan, record);
    }
    let findings = record::findings(&plan, &record, &arguments);
    for finding in &findings {
        println!("{finding}");
    }
    sum_up(&plan, &record);
    Ok(findings.is_empty())
}

fn sum_up(plan: &[Weaker], record: &Record) {
    let results: Vec<&String> = plan.iter().filter_map(|weaker| record.get(&weaker.key())).collect();
    let noticed = results.iter().filter(|result| record::is_witness(result)).count();
    let unreached = results.iter().filter(|result| **result == UNREACHED).count();
    println!(
        "witness: {} weaker orderings, {noticed} noticed, {} not, {unreached} not reached, {} not recorded",
        plan.len(),
        results.len() - noticed - unreached,
        plan.len() - results.len(),
    );
}

fn weaken(root: &Path, request: &Request, plan: &[Weaker], mut record: Record) -> Result<bool> {
    record.retain(|entry, _| plan.iter().any(|weaker| weaker.key() == *entry));
    let is_wanted = |weaker: &&Weaker| {
        let has_witness = record.get(&weaker.key()).is_some_and(|result| record::is_witness(result));
        (request.only.is_empty() || request.only.contains(&weaker.id)) && !(request.again && has_witness)
    };
    let chosen: Vec<&Weaker> = plan.iter().filter(is_wanted).collect();
    let model = built::release(root, &["stanchion-model"], "stanchion-model", false)?;
    let reached = survey(&model)?;
    let write = |record: &Record| fs::write(root.join(record::WITNESSES), record::write(record, plan));
    write(&record)?;
    let record = Mutex::new(record);
    spread(&[(); PARALLEL], chosen, |(), weaker| {
        let result = match reached.get(&weaker.place) {
            None => UNREACHED.to_owned(),
            Some(programs) => attempt(&model, weaker, programs)?,
        };
        println!("{:<6} {:<40} {result}", weaker.id, weaker.what);
        let mut record = record.lock().unwrap_or_else(PoisonError::into_inner);
        record.insert(weaker.key(), result);
        Ok(write(&record)?)
    })?;
    sum_up(plan, &record.into_inner().unwrap_or_else(PoisonError::into_inner));
    orderings::run(root, false)
}

fn attempt(model: &Path, weaker: &Weaker, programs: &[Program]) -> Result<String> {
    let started = Instant::now();
    for (lock, shape) in programs {
        if started.elapsed() > OF_ORDERING {
            break;
        }
        let output = Command::new(model)
            .args(["--alone", "--lock", lock, "--shape", shape, "--seconds", SECONDS])
            .args(["--weaken", &weaker.argument])
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout);
        match output.status.code() {
            Some(0) => {}
            Some(1) => {
                let kind = text.split_once("FAILED ").and_then(|(_, rest)| rest.split_once(':'));
                return Ok(format!("{lock}/{shape}: {}", kind.map_or("failed", |(kind, _)| kind)));
            }
            Some(2) => bail!("{}", String::from_utf8_lossy(&output.stderr)),
            None if output.status.signal().is_some_and(|by| KILLED.contains(&by)) => {
                bail!("{lock}/{shape}: {}", output.status);
            }
            // The program under the model went out of bounds of the model itself.
            _ => return Ok(format!("{lock}/{shape}: crash")),
        }
    }
    Ok(UNNOTICED.to_owned())
}

/// Which programs reach which place: those that are explored in the fewest executions first.
fn survey(model: &Path) -> Result<BTreeMap<String, Vec<Program>>> {
    let output = Command::new(model).args(["--sites", "--seconds", SURVEY_SECONDS]).output()?;
    ensure!(output.status.success(), "the model fails without any change; mend that first");
    let mut cost: BTreeMap<Program, u64> = BTreeMap::new();
    let mut reached: BTreeMap<String, Vec<Program>> = BTreeMap::new();
    let program = |lock: &str, shape: &str| (lock.to_owned(), shape.to_owned());
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            ["site", lock, shape, place] => {
                reached.entry((*place).to_owned()).or_default().push(program(lock, shape));
            }
            [lock, shape, _, executions, ..] => {
                cost.insert(program(lock, shape), executions.parse().unwrap_or(u64::MAX));
            }
            _ => {}
        }
    }
    for programs in reached.values_mut() {
        programs.sort_by_key(|program| cost.get(program).copied().unwrap_or(u64::MAX));
    }
    Ok(reached)
}
