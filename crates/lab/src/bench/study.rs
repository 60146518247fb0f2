//! What a benchmark is to the machinery that all of them share: engine, executor, progress and driver.
use super::cell::{CellOutcome, CellSpec, Pass};
use super::plan::Group;
use super::report::{Cell, Report, State};
use super::warnings::Warning;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;

/// One cell, to be run once in a process of its own.
pub(crate) trait Spec: Clone + Serialize + DeserializeOwned {
    /// What comes back.
    type Outcome: Outcome + Serialize + DeserializeOwned;

    /// The hidden subcommand that runs it.
    const WORKER: &'static str;

    /// What the cells of all benchmarks have.
    fn cell(&self) -> &CellSpec;

    /// What the threads do, in words. A lock that stalls is left out where more threads do the same.
    fn load(&self) -> String;

    /// Runs it in this process, which is a worker that ends afterwards.
    fn run(&self) -> Result<Self::Outcome, String>;
}

/// What came of a cell.
pub(crate) trait Outcome {
    /// What the outcomes of all benchmarks have.
    fn cell(&self) -> &CellOutcome;
}

/// A benchmark.
pub(crate) trait Study: Sized {
    /// Its cells as they are run.
    type Spec: Spec;
    /// What a group of them is about.
    type Topic;
    /// A cell in its report.
    type Cell: AsRef<Cell>;
    /// What it costs one thread, in its report.
    type Uncontended;

    /// What the rounds of a cell have in common within a group.
    fn key(topic: &Self::Topic, spec: &Self::Spec) -> String;

    /// A topic in words, for progress.
    fn told(topic: &Self::Topic) -> String;

    /// Puts what a group measured into the report.
    fn record(report: &mut ReportOf<Self>, group: &GroupOf<Self>, tallies: Tallies<Self>);

    /// How many cells the report will have.
    fn planned(report: &ReportOf<Self>) -> usize;

    /// The result in words.
    fn sentences(report: &ReportOf<Self>) -> Vec<String>;

    /// What the figures themselves give reason to doubt.
    fn doubts(report: &ReportOf<Self>) -> Vec<Warning>;

    /// The result as tables for a terminal.
    fn tables(report: &ReportOf<Self>, bold: bool) -> String;
}

/// The report of a benchmark.
pub(crate) type ReportOf<S> = Report<<S as Study>::Cell, <S as Study>::Uncontended>;
/// A group of its cells.
pub(crate) type GroupOf<S> = Group<<S as Study>::Spec, <S as Study>::Topic>;
/// What has come of a group, by [`Study::key`].
pub(crate) type Tallies<S> = HashMap<String, Tally<<<S as Study>::Spec as Spec>::Outcome>>;

/// What has come of one cell in the present group.
pub(crate) struct Tally<O> {
    pub state: State,
    pub rounds: Vec<(Pass, O)>,
}

impl<O> Default for Tally<O> {
    fn default() -> Self {
        Self { state: State::Measured, rounds: Vec::new() }
    }
}

impl<O> Tally<O> {
    /// Whether anything is known of it; nothing is if the run was stopped before its first round.
    pub(crate) fn tells(&self) -> bool {
        !self.rounds.is_empty() || self.state != State::Measured
    }
}
