//! What crosses the pipe between the benchmark and a worker: one cell to run, and what came of it.
use super::mix::{Mix, Profile, named};
use lab_kit::units::plural;
use serde::{Deserialize, Serialize};

/// What one run of a cell measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Pass {
    /// Acquisitions per second; no clock is read in the loop.
    Throughput,
    Latency,
    /// Lock events, with the counting form of the lock.
    Events,
    /// One thread, nothing but acquire and release.
    Uncontended,
    /// The same of a lock for which two threads contended before.
    AfterContention,
}

/// How time is spent and read, measured once at the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Calibration {
    pub ns_per_step: f64,
    /// Ticks of the clock of latency passes per nanosecond.
    pub ticks_per_ns: f64,
    pub clock_read_ns: f64,
    /// Nanoseconds by which that clock advances at a time: no wait is known more exactly.
    pub clock_step_ns: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellSpec {
    pub lock: String,
    pub threads: usize,
    pub profile: Profile,
    /// Who reads and who writes; none if the lock is a mutex.
    pub mix: Option<Mix>,
    pub pass: Pass,
    pub round: usize,
    pub time_ms: u64,
    /// How long threads may take to finish after the stop flag is up.
    pub drain_ms: u64,
    pub seed: u64,
    pub calibration: Calibration,
}

impl CellSpec {
    pub(crate) fn load(&self) -> String {
        format!("{}, {}", named(&self.profile.name, self.mix), plural(self.threads, "thread"))
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub(crate) enum State {
    /// All threads of every round finished, and what the lock protects is as they left it.
    #[default]
    Measured,
    /// Threads were still queued at the end of the drain; the figures are those of the window.
    Stalled,
    /// Not run, because the lock stalled with fewer threads.
    Skipped { stalled_at: usize },
    /// The protected counter is not the sum of the acquisitions: two threads held the lock at once.
    Broken { acquisitions: u64, counter: u64 },
    /// So many of the reads saw the work of a writer half done.
    Torn { of_reads: u64, torn: u64 },
    /// The worker died.
    Failed { reason: String },
}

impl State {
    /// What stands in place of a figure, if it is not sound.
    pub(crate) fn word(&self) -> Option<&'static str> {
        match self {
            Self::Measured => None,
            Self::Stalled | Self::Skipped { .. } => Some("stalled"),
            Self::Broken { .. } | Self::Torn { .. } => Some("BROKEN"),
            Self::Failed { .. } => Some("failed"),
        }
    }

    /// Whether it must not pass silently. That a lock stalls is a result.
    pub(crate) fn is_wrong(&self) -> bool {
        matches!(self, Self::Broken { .. } | Self::Torn { .. } | Self::Failed { .. })
    }
}

/// Index of a side in pairs of what both have. Of a mutex all is writes.
pub(crate) const READ: usize = 0;
pub(crate) const WRITE: usize = 1;

/// What readers, or writers, did in a cell. Waits are those of a latency pass; other passes have none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Accesses {
    pub counts: Vec<u64>,
    /// Waits as `(nanoseconds, how many)`, the filled buckets of a histogram.
    pub waits: Vec<(u64, u64)>,
    /// The longest wait, ended or still going on when the cell stopped.
    pub worst_ns: u64,
    /// The longest wait that was still going on.
    pub unfinished_ns: u64,
}

/// What one run of a cell measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct CellOutcome {
    pub state: State,
    pub elapsed_ns: u64,
    /// CPU time of all threads within the window.
    pub cpu_ns: u64,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
    /// By [`READ`] and [`WRITE`].
    pub sides: [Accesses; 2],
    /// Lock events by name, for the window and what surrounds it.
    pub events: Vec<(String, u64)>,
}

impl CellOutcome {
    pub(crate) fn total(&self) -> u64 {
        self.sides.iter().flat_map(|side| &side.counts).sum()
    }

    pub(crate) fn per_second(&self, count: u64) -> f64 {
        count as f64 * 1e9 / self.elapsed_ns.max(1) as f64
    }
}
