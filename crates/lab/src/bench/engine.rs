//! Runs the plan through an executor and keeps the report up to date. Knows no machine, no file, and not what
//! is measured.
use super::cell::{CellOutcome, CellSpec, Ending, Pass};
use super::executor::{CellError, Executor};
use super::mix::named;
use super::plan::Group;
use super::record::record;
use super::report::{Report, State};
use std::collections::HashMap;

/// Watches a run from outside.
pub(crate) trait Observer {
    /// A cell is about to run, or to be left out.
    fn step(&mut self, spec: &CellSpec);
    /// A group is finished and its results are in the report.
    fn group_done(&mut self, group: &Group, report: &mut Report);
    fn stop_requested(&self) -> bool;
}

/// What has come of a group, by [`Topic::key`](super::plan::Topic::key).
pub(crate) type Tallies = HashMap<String, Tally>;

/// What has come of one cell in the present group.
#[derive(Default)]
pub(crate) struct Tally {
    pub state: State,
    pub rounds: Vec<(Pass, CellOutcome)>,
}

impl Tally {
    /// Whether anything is known of it; nothing is if the run was stopped before its first round.
    pub(crate) fn tells(&self) -> bool {
        !self.rounds.is_empty() || self.state != State::Measured
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Complete,
    Interrupted,
}

/// The thread count at which a lock stalled, by lock and load: it is left out of larger cells of that load.
type Stalled = HashMap<(String, String), usize>;

/// Runs groups in order: all, or those before the user asks to stop.
pub(crate) fn run(
    executor: &mut dyn Executor,
    observer: &mut dyn Observer,
    groups: &[Group],
    report: &mut Report,
) -> Ended {
    let mut stalled = Stalled::new();
    for (index, group) in groups.iter().enumerate() {
        let (tallies, ended) = run_group(executor, observer, &mut stalled, group);
        record(report, group, tallies);
        report.complete = ended == Ended::Complete && index + 1 == groups.len();
        observer.group_done(group, report);
        if ended == Ended::Interrupted {
            return ended;
        }
    }
    Ended::Complete
}

fn run_group(
    executor: &mut dyn Executor,
    observer: &mut dyn Observer,
    stalled: &mut Stalled,
    group: &Group,
) -> (Tallies, Ended) {
    let mut tallies = Tallies::new();
    for spec in &group.cells {
        if observer.stop_requested() {
            return (tallies, Ended::Interrupted);
        }
        observer.step(spec);
        let tally = tallies.entry(group.topic.key(spec)).or_default();
        let stall = (spec.lock.clone(), named(&spec.profile.name, spec.mix));
        if let Some(&stalled_at) = stalled.get(&stall).filter(|&&at| spec.threads > at) {
            tally.state = State::Skipped { stalled_at };
        }
        // Once a cell has gone wrong, repeating it tells nothing and a stall costs its drain again.
        if tally.state != State::Measured {
            continue;
        }
        match executor.run(spec) {
            Ok(outcome) => {
                tally.state = state_after(outcome.ending);
                tally.rounds.push((spec.pass, outcome));
            }
            Err(CellError::Interrupted) => return (tallies, Ended::Interrupted),
            // The worker could not even report: nothing is known but that it did not get through.
            Err(CellError::Hung) => tally.state = State::Stalled,
            Err(CellError::Died(reason)) => tally.state = State::Failed { reason },
        }
        if tally.state == State::Stalled {
            stalled.insert(stall, spec.threads);
        }
    }
    (tallies, Ended::Complete)
}

fn state_after(ending: Ending) -> State {
    match ending {
        Ending::Sound => State::Measured,
        Ending::Stalled { .. } => State::Stalled,
        Ending::Broken { acquisitions, counter } => State::Broken { acquisitions, counter },
        Ending::Torn { of_reads, torn } => State::Torn { of_reads, torn },
    }
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
