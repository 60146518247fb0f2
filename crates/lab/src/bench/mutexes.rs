//! The benchmark of mutexes as a [`Study`]: what its cells are, and where their outcomes go.
use super::cell::{CellOutcome, CellSpec, Pass};
use super::plan::{Group, NO_LOCK, Topic};
use super::report::{Cell, Overhead, Report, Uncontended};
use super::stats::{Summary, median};
use super::study::{Outcome, Spec, Study, Tallies, Tally};
use super::warnings::{self, Warning};
use super::{contenders, summary, table};
use crate::bench::report::State;

/// The benchmark of mutexes.
pub(crate) struct Mutexes;

impl Spec for CellSpec {
    type Outcome = CellOutcome;
    const WORKER: &'static str = "bench-worker";

    fn cell(&self) -> &CellSpec {
        self
    }

    fn load(&self) -> String {
        self.profile.name.clone()
    }

    fn run(&self) -> Result<CellOutcome, String> {
        let entry = contenders::by_name(&self.lock).ok_or_else(|| format!("unknown lock '{}'", self.lock))?;
        entry.run(self)
    }
}

impl Outcome for CellOutcome {
    fn cell(&self) -> &CellOutcome {
        self
    }
}

impl Study for Mutexes {
    type Spec = CellSpec;
    type Topic = Topic;
    type Cell = Cell;
    type Uncontended = Uncontended;

    /// Overhead cells differ by profile, all others by lock.
    fn key(topic: &Topic, spec: &CellSpec) -> String {
        match topic {
            Topic::Overhead => spec.profile.name.clone(),
            _ => spec.lock.clone(),
        }
    }

    fn told(topic: &Topic) -> String {
        match topic {
            Topic::Overhead => "harness overhead".to_owned(),
            Topic::Uncontended => "uncontended".to_owned(),
            Topic::Cells { profile, threads: 1 } => format!("{profile}, 1 thread"),
            Topic::Cells { profile, threads } => format!("{profile}, {threads} threads"),
        }
    }

    fn record(report: &mut Report, group: &Group, mut tallies: Tallies<Self>) {
        match &group.topic {
            Topic::Cells { profile, threads } => {
                for lock in &report.locks {
                    if let Some(tally) = tallies.remove(&lock.name).filter(Tally::tells) {
                        let rounds = &tally.rounds;
                        report.cells.push(Cell::of(&lock.name, profile, *threads, tally.state, rounds));
                    }
                }
            }
            Topic::Uncontended => {
                warn_of_failures::<Self>(&mut report.warnings, "the uncontended cost", &tallies);
                let mut names: Vec<String> = report.locks.iter().map(|lock| lock.name.clone()).collect();
                names.push(NO_LOCK.to_owned());
                for lock in names {
                    if let Some(tally) = tallies.remove(&lock).filter(|tally| !tally.rounds.is_empty()) {
                        let ns = |pass| {
                            let of_pass = tally.rounds.iter().filter(|(of, _)| *of == pass);
                            Summary::of(of_pass.map(|(_, outcome)| 1e9 / outcome.rate()).collect())
                        };
                        let after_ns = Some(ns(Pass::AfterContention)).filter(|ns| !ns.rounds.is_empty());
                        report.uncontended.push(Uncontended { lock, ns: ns(Pass::Uncontended), after_ns });
                    }
                }
            }
            Topic::Overhead => {
                warn_of_failures::<Self>(&mut report.warnings, "the overhead", &tallies);
                report.overhead = overheads::<Self>(report, tallies);
            }
        }
    }

    fn planned(report: &Report) -> usize {
        report.locks.len() * report.setting.threads.len() * report.setting.profiles.len()
    }

    fn sentences(report: &Report) -> Vec<String> {
        summary::sentences(report)
    }

    fn doubts(report: &Report) -> Vec<Warning> {
        warnings::about_cells(report)
    }

    fn tables(report: &Report, bold: bool) -> String {
        table::render(report, bold)
    }
}

/// Warns of what failed outside of the matrix, where no cell could say it.
pub(crate) fn warn_of_failures<S: Study>(warnings: &mut Vec<Warning>, what: &str, tallies: &Tallies<S>) {
    for (of, tally) in tallies {
        if let State::Failed { reason } = &tally.state {
            warnings.push(Warning::Failed { what: format!("{what} of {of}"), reason: reason.clone() });
        }
    }
}

/// The loops without a lock, from tallies by profile.
pub(crate) fn overheads<S: Study>(
    report: &Report<S::Cell, S::Uncontended>,
    mut tallies: Tallies<S>,
) -> Vec<Overhead> {
    let mut rows = Vec::new();
    for profile in &report.setting.profiles {
        let Some(tally) = tallies.remove(&profile.name) else { continue };
        let iteration = |pass: Pass| {
            let of_pass = tally.rounds.iter().filter(|(of, _)| *of == pass);
            median(&of_pass.map(|(_, outcome)| 1e9 / outcome.cell().rate()).collect::<Vec<_>>())
        };
        rows.push(Overhead {
            profile: profile.name.clone(),
            asked_ns: (profile.critical_ns + profile.think_ns) as f64,
            throughput_ns: iteration(Pass::Throughput),
            latency_ns: iteration(Pass::Latency),
        });
    }
    rows
}
