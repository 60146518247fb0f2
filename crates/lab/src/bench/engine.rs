//! Runs the plan and keeps the report up to date. Knows no machine, no file, and not what is measured.
use super::cell::{CellOutcome, CellSpec, Pass, State};
use super::contender::LockInfo;
use super::executor::CellError;
use super::mix::{Load, Profile, named};
use super::plan::{COSTS, Group, Topic};
use super::report::{Cell, Overhead, Report, Uncontended, Warning};
use super::rounds::of_pass;
use lab_kit::stats::{Summary, median};
use std::collections::{BTreeMap, HashMap};

/// Runs a cell. Tests put a mock here in place of a machine.
type Execute<'a> = &'a mut dyn FnMut(&CellSpec) -> Result<CellOutcome, CellError>;

pub(crate) trait Observer {
    /// A cell is about to run, or to be left out. Says whether the run goes on.
    fn step(&mut self, spec: &CellSpec) -> bool;
    fn group_done(&mut self, group: &Group, report: &mut Report);
}

/// What has come of a group, by [`Group::key`].
type Tallies = HashMap<String, Tally>;

#[derive(Default)]
struct Tally {
    state: State,
    rounds: Vec<(Pass, CellOutcome)>,
}

/// Runs groups in order: all, or those before the user asks to stop, and the report is not complete.
pub(crate) fn run(execute: Execute, observer: &mut dyn Observer, groups: &[Group], report: &mut Report) {
    for (index, group) in groups.iter().enumerate() {
        let mut tallies = Tallies::new();
        let whole = group.cells.iter().all(|spec| {
            let go_on = observer.step(spec);
            go_on && run_cell(execute, spec, tallies.entry(group.key(spec)).or_default(), report)
        });
        // Nothing is known of a cell if the run was stopped before its first round.
        tallies.retain(|_, tally| !tally.rounds.is_empty() || tally.state != State::Measured);
        if !whole && tallies.is_empty() {
            break;
        }
        record(report, group, tallies);
        report.complete = whole && index + 1 == groups.len();
        observer.group_done(group, report);
        if !whole {
            break;
        }
    }
}

/// Runs a cell, unless nothing more can be learned of it. Says whether the run goes on.
fn run_cell(execute: Execute, spec: &CellSpec, tally: &mut Tally, report: &Report) -> bool {
    // A lock that stalled is left out of larger cells of that load.
    let load = Load { profile: &spec.profile, mix: spec.mix };
    let stalled =
        |cell: &&Cell| cell.lock == spec.lock && cell.threads < spec.threads && cell.state == State::Stalled;
    if let Some(smaller) = report.section(load).find(stalled) {
        tally.state = State::Skipped { stalled_at: smaller.threads };
    }
    // Once a cell has gone wrong, repeating it tells nothing and a stall costs its drain again.
    if tally.state != State::Measured {
        return true;
    }
    match execute(spec) {
        Ok(outcome) => {
            tally.state = outcome.state.clone();
            tally.rounds.push((spec.pass, outcome));
        }
        Err(CellError::Interrupted) => return false,
        // The worker could not even report: nothing is known but that it did not get through.
        Err(CellError::Hung) => tally.state = State::Stalled,
        Err(CellError::Died(reason)) => tally.state = State::Failed { reason },
    }
    true
}

fn record(report: &mut Report, group: &Group, mut tallies: Tallies) {
    let outside = match group.topic {
        Topic::Cells => {
            let cell = |lock: &LockInfo| {
                let (tally, spec) = (tallies.remove(&lock.name)?, group.cells.first()?);
                let load = (spec.profile.name.as_str(), spec.mix, spec.threads);
                Some(Cell::of(&lock.name, load, tally.state, &tally.rounds))
            };
            report.cells.extend(report.locks.iter().filter_map(cell));
            return;
        }
        Topic::Uncontended => {
            report.uncontended =
                report.names_and_none().into_iter().filter_map(|lock| uncontended(lock, &tallies)).collect();
            "the uncontended cost"
        }
        Topic::Overhead => {
            report.overhead = overheads(report, &tallies);
            "the overhead"
        }
    };
    // What failed outside of the matrix, where no cell says it.
    for (of, tally) in tallies {
        if let State::Failed { reason } = tally.state {
            report.warnings.push(Warning::Failed { what: format!("{outside} of {of}"), reason });
        }
    }
}

/// Nanoseconds of an operation in each round of a pass.
fn rounds_ns(tally: &Tally, pass: Pass) -> Vec<f64> {
    of_pass(&tally.rounds, pass).map(|outcome| 1e9 / outcome.per_second(outcome.total())).collect()
}

fn uncontended(lock: &str, tallies: &Tallies) -> Option<Uncontended> {
    let cost = |(name, _, mix, pass): (&str, &str, _, _)| {
        let rounds = rounds_ns(tallies.get(&named(lock, mix))?, pass);
        (!rounds.is_empty()).then(|| (name.to_owned(), Summary::of(rounds)))
    };
    let costs: BTreeMap<_, _> = COSTS.into_iter().filter_map(cost).collect();
    (!costs.is_empty()).then(|| Uncontended { lock: lock.to_owned(), costs })
}

fn overheads(report: &Report, tallies: &Tallies) -> Vec<Overhead> {
    let of_profile = |profile: &Profile| {
        let tally = tallies.get(&profile.name)?;
        Some(Overhead {
            profile: profile.name.clone(),
            asked_ns: (profile.critical_ns + profile.think_ns) as f64,
            throughput_ns: median(&rounds_ns(tally, Pass::Throughput)),
            latency_ns: median(&rounds_ns(tally, Pass::Latency)),
        })
    };
    report.setting.profiles.iter().filter_map(of_profile).collect()
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
