//! Runs the plan through an executor and keeps the report up to date. Knows no machine and no file.
use super::cell::{CellOutcome, CellSpec, Ending, Pass};
use super::executor::{CellError, Executor};
use super::plan::{Group, Topic};
use super::report::{Cell, Overhead, Report, State, Uncontended};
use super::stats::{Summary, median};
use super::warnings::Warning;
use std::collections::HashMap;

/// Watches a run from outside.
pub(crate) trait Observer {
    /// A cell is about to run, or to be left out.
    fn step(&mut self, spec: &CellSpec);
    /// A group is finished and its results are in the report.
    fn group_done(&mut self, group: &Group, report: &mut Report);
    /// Whether the user asked to stop.
    fn stop_requested(&self) -> bool;
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Complete,
    Interrupted,
}

/// What has come of one lock in the present group.
struct Tally {
    state: State,
    rounds: Vec<(Pass, CellOutcome)>,
}

impl Default for Tally {
    fn default() -> Self {
        Self { state: State::Measured, rounds: Vec::new() }
    }
}

/// Runs groups in order; a lock that stalled is left out of larger cells of that profile.
pub(crate) struct Engine<'a> {
    pub executor: &'a mut dyn Executor,
    pub observer: &'a mut dyn Observer,
    /// The thread count at which a lock stalled, by lock and profile.
    stalled: HashMap<(String, String), usize>,
}

impl<'a> Engine<'a> {
    pub(crate) fn new(executor: &'a mut dyn Executor, observer: &'a mut dyn Observer) -> Self {
        Self { executor, observer, stalled: HashMap::new() }
    }

    /// Runs all groups, or those before the user asks to stop.
    pub(crate) fn run(&mut self, groups: &[Group], report: &mut Report) -> Ended {
        for group in groups {
            let (tallies, ended) = self.run_group(group);
            Self::record(group, tallies, report);
            report.complete =
                ended == Ended::Complete && core::ptr::eq(group, &raw const groups[groups.len() - 1]);
            self.observer.group_done(group, report);
            if ended == Ended::Interrupted {
                return ended;
            }
        }
        Ended::Complete
    }

    fn run_group(&mut self, group: &Group) -> (HashMap<String, Tally>, Ended) {
        let mut tallies: HashMap<String, Tally> = HashMap::new();
        for spec in &group.cells {
            if self.observer.stop_requested() {
                return (tallies, Ended::Interrupted);
            }
            self.observer.step(spec);
            let tally = tallies.entry(tally_key(group, spec)).or_default();
            if let Some(&stalled_at) = self.stalled.get(&(spec.lock.clone(), spec.profile.name.clone()))
                && spec.threads > stalled_at
            {
                tally.state = State::Skipped { stalled_at };
            }
            // Once a cell has gone wrong, repeating it tells nothing and a stall costs its drain again.
            if tally.state != State::Measured {
                continue;
            }
            match self.executor.run(spec) {
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
                self.stalled.insert((spec.lock.clone(), spec.profile.name.clone()), spec.threads);
            }
        }
        (tallies, Ended::Complete)
    }

    /// Puts what a group measured into the report.
    fn record(group: &Group, mut tallies: HashMap<String, Tally>, report: &mut Report) {
        if !matches!(group.topic, Topic::Cells { .. }) {
            // These have no cell that could say it.
            for (of, tally) in &tallies {
                if let State::Failed { reason } = &tally.state {
                    let what = match group.topic {
                        Topic::Overhead => format!("the overhead of {of}"),
                        _ => format!("the uncontended cost of {of}"),
                    };
                    report.warnings.push(Warning::Failed { what, reason: reason.clone() });
                }
            }
        }
        match &group.topic {
            Topic::Cells { profile, threads } => {
                for lock in &report.locks {
                    let Some(tally) = tallies.remove(&lock.name) else { continue };
                    // Nothing was measured of this one before the run was stopped.
                    if tally.rounds.is_empty() && tally.state == State::Measured {
                        continue;
                    }
                    report.cells.push(Cell::of(&lock.name, profile, *threads, tally.state, &tally.rounds));
                }
            }
            Topic::Uncontended => {
                let mut names: Vec<String> = report.locks.iter().map(|lock| lock.name.clone()).collect();
                names.push(super::plan::NO_LOCK.to_owned());
                for lock in names {
                    if let Some(tally) = tallies.remove(&lock).filter(|tally| !tally.rounds.is_empty()) {
                        let ns = tally.rounds.iter().map(|(_, outcome)| 1e9 / outcome.rate()).collect();
                        report.uncontended.push(Uncontended { lock, ns: Summary::of(ns) });
                    }
                }
            }
            Topic::Overhead => {
                for profile in &report.setting.profiles {
                    let Some(tally) = tallies.remove(&profile.name) else { continue };
                    let iteration = |pass| {
                        let of_pass = tally.rounds.iter().filter(|(of, _)| *of == pass);
                        median(&of_pass.map(|(_, outcome)| 1e9 / outcome.rate()).collect::<Vec<_>>())
                    };
                    report.overhead.push(Overhead {
                        profile: profile.name.clone(),
                        asked_ns: (profile.critical_ns + profile.think_ns) as f64,
                        throughput_ns: iteration(Pass::Throughput),
                        latency_ns: iteration(Pass::Latency),
                    });
                }
            }
        }
    }
}

/// Overhead cells differ by profile, all others by lock.
fn tally_key(group: &Group, spec: &CellSpec) -> String {
    match group.topic {
        Topic::Overhead => spec.profile.name.clone(),
        _ => spec.lock.clone(),
    }
}

fn state_after(ending: Ending) -> State {
    match ending {
        Ending::Sound => State::Measured,
        Ending::Stalled { .. } => State::Stalled,
        Ending::Broken { acquisitions, counter } => State::Broken { acquisitions, counter },
    }
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
