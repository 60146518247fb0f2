//! What came of the exploration of one lock, and what that means for the exit code.
use serde::Serialize;
use stanchion_family::events::ALL;
use stanchion_sim::explore::{Finding, Options, Subject, Tally};

/// An exploration of so many schedules that draw their faults reaches every row that can be reached.
const ENOUGH_FOR_ROWS: u64 = 20_000;

/// A failure, as it is written down.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Failed {
    /// The seed of the schedule.
    pub(super) seed: u64,
    /// How many schedules it took, in the order of seeds.
    pub(super) after: u64,
    pub(super) kind: &'static str,
    pub(super) what: String,
}

/// Everything known about one lock.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Outcome {
    pub(super) lock: &'static str,
    pub(super) schedules: u64,
    pub(super) steps: u64,
    pub(super) seconds: f64,
    pub(super) worst_overtaking: u32,
    /// The bound that the lock states.
    pub(super) bound: String,
    pub(super) rows_reached: Vec<&'static str>,
    pub(super) rows_missed: Vec<&'static str>,
    /// Rows that were said to be out of reach and were reached.
    pub(super) rows_surprising: Vec<&'static str>,
    /// Whether a missed row is a failure: there were schedules enough.
    pub(super) rows_count: bool,
    /// Events that were counted.
    pub(super) events: Vec<(&'static str, u64)>,
    pub(super) failed: Option<Failed>,
    /// What brings the smallest schedule up again that fails likewise, and that schedule.
    pub(super) finding: Option<(String, Vec<String>)>,
    /// Whether it failed as a broken lock is to fail.
    pub(super) as_stated: Option<bool>,
}

impl Outcome {
    pub(super) fn new(
        subject: &Subject,
        options: &Options,
        first_seed: u64,
        tally: &Tally,
        seconds: f64,
        finding: Option<&Finding>,
    ) -> Self {
        let rows = tally.rows(subject);
        let pick = |wanted: fn(bool, bool) -> bool| {
            let picked = rows
                .iter()
                .filter(|(name, reached)| wanted(*reached, subject.stated.unreachable.contains(name)));
            picked.map(|&(name, _)| name).collect()
        };
        let failed = tally.failure.as_ref().map(|(seed, failure)| Failed {
            seed: *seed,
            after: seed - first_seed + 1,
            kind: failure.kind.name(),
            what: failure.what.clone(),
        });
        let as_stated = subject.broken.as_ref().map(|broken| {
            failed.as_ref().is_some_and(|failed| {
                broken.kinds.iter().any(|kind| kind.name() == failed.kind) && failed.after <= broken.within
            })
        });
        Self {
            lock: subject.name(),
            schedules: tally.schedules,
            steps: tally.steps,
            seconds,
            worst_overtaking: tally.worst_overtaking,
            bound: subject.overtaking.to_string(),
            rows_reached: pick(|reached, _| reached),
            rows_missed: pick(|reached, unreachable| !reached && !unreachable),
            rows_surprising: pick(|reached, unreachable| reached && unreachable),
            rows_count: tally.schedules >= ENOUGH_FOR_ROWS
                && options.faults.is_none()
                && options.contexts > 2
                && options.rounds > 1,
            events: (ALL.iter().map(|&event| (event.name(), tally.count(event))))
                .filter(|&(_, count)| count > 0)
                .collect(),
            failed,
            finding: finding.map(|finding| {
                (finding.replay.clone(), finding.interleaving.lines().map(str::to_owned).collect())
            }),
            as_stated,
        }
    }

    /// How many rows there are to be reached.
    pub(super) fn rows(&self) -> usize {
        self.rows_reached.len() + self.rows_missed.len()
    }

    /// Whether the lock passes.
    pub(super) fn passed(&self) -> bool {
        let rows_fine = !self.rows_count || self.rows_missed.is_empty();
        self.failed.is_none() && rows_fine && self.rows_surprising.is_empty()
    }

    /// Whether the lock was caught; one that is broken on purpose: as stated.
    pub(super) fn caught(&self) -> bool {
        self.failed.is_some() && self.as_stated != Some(false)
    }

    /// Whether it is as is to be expected.
    pub(super) fn good(&self, expect_failure: bool) -> bool {
        if expect_failure { self.caught() } else { self.passed() }
    }

    /// A word or two.
    pub(super) fn verdict(&self) -> String {
        match &self.failed {
            Some(failed) => format!("FAILED: {} at schedule {}", failed.kind, failed.after),
            None if self.passed() => "passed".to_owned(),
            None => "FAILED: rows".to_owned(),
        }
    }
}
