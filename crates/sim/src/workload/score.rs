//! What a run achieved, in the units in which the workload's results are published.
use super::Workload;
use crate::run::Outcome;

/// A result in the workload's own unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// How much.
    pub value: f64,
    /// Of what.
    pub unit: String,
    /// Whether less is better: it is a time.
    pub lower_is_better: bool,
}

impl Workload {
    /// The result of a run of this workload: units of work in `per`, or the time that the job takes at the
    /// rate of the run. What the behaviour leaves out of the simulation is added.
    pub fn score(&self, outcome: &Outcome) -> Score {
        let per_second = self.behaviour.prepare().corrected(outcome.ops_per_second(), outcome.ops.len());
        self.score_of_rate(per_second)
    }

    /// The same for a rate, in units of work a second.
    pub fn score_of_rate(&self, per_second: f64) -> Score {
        let value = match self.job {
            Some(job) => job as f64 / per_second,
            None => per_second * self.per as f64 / 1e12,
        };
        Score { value, unit: self.unit.clone(), lower_is_better: self.job.is_some() }
    }
}
