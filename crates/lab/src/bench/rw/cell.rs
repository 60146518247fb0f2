//! One cell to run, and what came of it: those of the mutexes, and what each side adds.
use super::contenders;
use super::mix::Mix;
use crate::bench::cell::{CellOutcome, CellSpec, Waits};
use crate::bench::study::{Outcome, Spec};
use serde::{Deserialize, Serialize};

/// One cell, to be run once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RwSpec {
    pub cell: CellSpec,
    pub mix: Mix,
}

/// What one run of a cell measured. The acquisitions in `cell` are those of both sides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RwOutcome {
    pub cell: CellOutcome,
    /// Write locks of each thread within the window.
    pub writes: Vec<u64>,
    pub read_waits: Option<Waits>,
    pub write_waits: Option<Waits>,
}

impl Spec for RwSpec {
    type Outcome = RwOutcome;
    const WORKER: &'static str = "bench-rw-worker";

    fn cell(&self) -> &CellSpec {
        &self.cell
    }

    fn load(&self) -> String {
        format!("{}, {}", self.cell.profile.name, self.mix.name())
    }

    fn run(&self) -> Result<RwOutcome, String> {
        let lock = &self.cell.lock;
        contenders::by_name(lock).ok_or_else(|| format!("unknown lock '{lock}'"))?.entry.run(self)
    }
}

impl Outcome for RwOutcome {
    fn cell(&self) -> &CellOutcome {
        &self.cell
    }
}

impl RwOutcome {
    /// Read locks of each thread.
    pub(crate) fn reads(&self) -> Vec<u64> {
        let both = self.cell.acquisitions.iter().zip(&self.writes);
        both.map(|(all, writes)| all.saturating_sub(*writes)).collect()
    }

    /// So many of one side as a rate per second.
    pub(crate) fn rate(&self, counts: &[u64]) -> f64 {
        counts.iter().sum::<u64>() as f64 * 1e9 / self.cell.elapsed_ns.max(1) as f64
    }
}
