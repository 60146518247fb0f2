//! Runs the plan through an executor and keeps the report up to date. Knows no machine, no file, and not what
//! is measured.
use super::cell::Ending;
use super::executor::{CellError, Executor};
use super::report::State;
use super::study::{GroupOf, Outcome, ReportOf, Spec, Study, Tallies};
use std::collections::HashMap;

/// Watches a run from outside.
pub(crate) trait Observer<S: Study> {
    /// A cell is about to run, or to be left out.
    fn step(&mut self, spec: &S::Spec);
    /// A group is finished and its results are in the report.
    fn group_done(&mut self, group: &GroupOf<S>, report: &mut ReportOf<S>);
    /// Whether the user asked to stop.
    fn stop_requested(&self) -> bool;
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Complete,
    Interrupted,
}

/// Runs groups in order; a lock that stalled is left out of larger cells of that load.
pub(crate) struct Engine<'a, S: Study> {
    pub executor: &'a mut dyn Executor<S::Spec>,
    pub observer: &'a mut dyn Observer<S>,
    /// The thread count at which a lock stalled, by lock and load.
    stalled: HashMap<(String, String), usize>,
}

impl<'a, S: Study> Engine<'a, S> {
    pub(crate) fn new(executor: &'a mut dyn Executor<S::Spec>, observer: &'a mut dyn Observer<S>) -> Self {
        Self { executor, observer, stalled: HashMap::new() }
    }

    /// Runs all groups, or those before the user asks to stop.
    pub(crate) fn run(&mut self, groups: &[GroupOf<S>], report: &mut ReportOf<S>) -> Ended {
        for group in groups {
            let (tallies, ended) = self.run_group(group);
            S::record(report, group, tallies);
            report.complete =
                ended == Ended::Complete && core::ptr::eq(group, &raw const groups[groups.len() - 1]);
            self.observer.group_done(group, report);
            if ended == Ended::Interrupted {
                return ended;
            }
        }
        Ended::Complete
    }

    fn run_group(&mut self, group: &GroupOf<S>) -> (Tallies<S>, Ended) {
        let mut tallies = Tallies::<S>::new();
        for spec in &group.cells {
            if self.observer.stop_requested() {
                return (tallies, Ended::Interrupted);
            }
            self.observer.step(spec);
            let tally = tallies.entry(S::key(&group.topic, spec)).or_default();
            let stall = (spec.cell().lock.clone(), spec.load());
            if let Some(&stalled_at) = self.stalled.get(&stall)
                && spec.cell().threads > stalled_at
            {
                tally.state = State::Skipped { stalled_at };
            }
            // Once a cell has gone wrong, repeating it tells nothing and a stall costs its drain again.
            if tally.state != State::Measured {
                continue;
            }
            match self.executor.run(spec) {
                Ok(outcome) => {
                    tally.state = state_after(outcome.cell().ending);
                    tally.rounds.push((spec.cell().pass, outcome));
                }
                Err(CellError::Interrupted) => return (tallies, Ended::Interrupted),
                // The worker could not even report: nothing is known but that it did not get through.
                Err(CellError::Hung) => tally.state = State::Stalled,
                Err(CellError::Died(reason)) => tally.state = State::Failed { reason },
            }
            if tally.state == State::Stalled {
                self.stalled.insert(stall, spec.cell().threads);
            }
        }
        (tallies, Ended::Complete)
    }
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
