//! What came of a comparison: every run, and what they say together.
use super::Setting;
use super::metric::{Figures, Metric};
use crate::run::program::Program;
use lab_kit::provenance::Provenance;
use lab_kit::stats::{PAIRS_ENOUGH, Ratio, Summary};
use lab_kit::units::percent;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

/// Raised whenever a field changes its meaning or goes away; new fields do not raise it.
const SCHEMA: u32 = 2;
/// The deviation of the runs, relative to their median, from which on they are called noisy.
const NOISY: f64 = 0.05;

/// A run that counts, or would if it were no warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    pub round: usize,
    pub warmup: bool,
    #[serde(flatten)]
    pub figures: Figures,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub round: usize,
    pub warmup: bool,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    pub lock: String,
    pub runs: Vec<Run>,
    pub failures: Vec<Failure>,
    /// Not run any more, because it took too long again and again.
    pub given_up: bool,
    /// What is compared, over the runs that count.
    pub summary: Option<Summary>,
    /// To the first lock, which has none.
    pub ratio: Option<Ratio>,
    /// `better`, `worse`, or `unclear`: the interval has 1 in it, or rests on too few pairs.
    pub verdict: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub schema: u32,
    /// False while the comparison goes on, and for ever if it was interrupted.
    pub complete: bool,
    pub provenance: Provenance,
    /// The file, and the program as it was typed.
    pub file: String,
    pub program: Vec<String>,
    pub library: Option<String>,
    /// More words for the library.
    pub words: Vec<String>,
    pub setting: Setting,
    /// The kernel counts what the process had before it became the program, which is as much as we have.
    pub rss_floor_kib: u64,
    pub locks: Vec<Row>,
    pub warnings: Vec<String>,
}

impl Row {
    pub(crate) fn counted(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| !run.warmup)
    }
}

impl Report {
    /// What is known before the first run; the words are for the library.
    pub(crate) fn new(
        setting: Setting,
        program: &Program,
        library: Option<&Path>,
        words: &[OsString],
        warning: Option<String>,
    ) -> Self {
        let lossy =
            |words: &[OsString]| words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Self {
            schema: SCHEMA,
            complete: false,
            provenance: Provenance::collect(setting.seed),
            file: program.path.display().to_string(),
            program: lossy(&program.words),
            library: library.map(|path| path.display().to_string()),
            words: lossy(words),
            locks: setting.locks.iter().map(|lock| Row { lock: lock.clone(), ..Row::default() }).collect(),
            rss_floor_kib: 0,
            warnings: warning.into_iter().collect(),
            setting,
        }
    }

    /// Whether anything went wrong that must not pass silently.
    pub(crate) fn failed(&self) -> bool {
        self.locks.iter().any(|row| !row.failures.is_empty())
    }

    /// Works out anew what the runs say together. The first `before` warnings are older than that, and stay.
    pub(crate) fn refresh(&mut self, before: usize) {
        let metric = &self.setting.metric;
        let figures = |row: &Row| -> BTreeMap<usize, f64> {
            row.counted().map(|run| (run.round, metric.of(&run.figures))).collect()
        };
        let first = self.locks.first().map(figures).unwrap_or_default();
        for (index, row) in self.locks.iter_mut().enumerate() {
            let own = figures(row);
            let pair = |(round, value): (&usize, &f64)| Some((*value, *first.get(round)?));
            let pairs: Vec<(f64, f64)> = own.iter().filter_map(pair).collect();
            row.summary = (!own.is_empty()).then(|| Summary::of(own.into_values().collect()));
            row.ratio = if index == 0 { None } else { Ratio::of_pairs(&pairs) };
            row.verdict = row.ratio.map(|ratio| {
                let told = match ratio.is_clear() {
                    false => "unclear",
                    true if (ratio.ratio > 1.0) == metric.higher_is_better() => "better",
                    true => "worse",
                };
                told.to_owned()
            });
        }
        self.warnings.truncate(before);
        let doubts = self.doubts();
        self.warnings.extend(doubts);
    }

    fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for row in &self.locks {
            let Row { lock, failures, .. } = row;
            if let Some(last) = failures.last() {
                let (failed, reason) = (failures.len(), &last.reason);
                let of = failed + row.runs.len();
                let up = if row.given_up { "; not run any more" } else { "" };
                doubts.push(format!("{lock}: {failed} of {of} runs failed and do not count: {reason}{up}"));
            }
            let Some(summary) = &row.summary else { continue };
            if summary.noise() > NOISY {
                let noise = percent(summary.noise());
                doubts.push(format!(
                    "{lock}: noisy, runs deviate from their median by {noise}; more --rounds, or a quieter machine"
                ));
            }
            let floor = self.rss_floor_kib;
            if self.setting.metric == Metric::Rss && summary.median <= floor as f64 {
                doubts.push(format!(
                    "{lock}: at most {floor} KiB, which is what this command has before it becomes the program; it takes less"
                ));
            }
        }
        let fewest = self.locks.iter().map(|row| row.counted().count()).min().unwrap_or(0);
        if fewest < PAIRS_ENOUGH {
            doubts.push(format!("too few runs: {fewest} of a lock; under {PAIRS_ENOUGH} decide nothing"));
        }
        doubts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compare::tests::{figures, report};

    fn run(round: usize, wall_s: f64) -> Run {
        Run { round, warmup: false, figures: figures(wall_s) }
    }

    #[test]
    fn only_rounds_in_which_both_went_well_are_paired() {
        let mut report = report(&["a", "b"]);
        report.locks[0].runs = vec![run(0, 1.0), run(1, 2.0), run(2, 4.0)];
        report.locks[1].runs = vec![run(1, 1.0), run(2, 2.0), run(3, 100.0)];
        report.refresh(0);
        let ratio = report.locks[1].ratio.expect("two pairs");
        assert_eq!((ratio.ratio, ratio.pairs), (0.5, 2));
        assert_eq!(report.locks[1].verdict.as_deref(), Some("unclear"), "of two pairs");
        assert_eq!(report.locks[1].summary.as_ref().map(|summary| summary.median), Some(2.0));
        assert_eq!(report.locks[0].ratio, None);
    }

    #[test]
    fn warmups_do_not_count() {
        let mut report = report(&["a", "b"]);
        report.locks[0].runs = vec![Run { warmup: true, ..run(0, 9.0) }];
        report.refresh(0);
        assert_eq!(report.locks[0].summary, None);
    }

    #[test]
    fn doubts_name_their_lock() {
        let mut report = report(&["calm", "wild"]);
        report.locks[0].runs = (0..5).map(|round| run(round, 1.0)).collect();
        report.locks[1].runs = (0..5).map(|round| run(round, 1.0 + round as f64)).collect();
        report.warnings = vec!["before".into()];
        report.refresh(1);
        assert_eq!(report.warnings.len(), 2, "{:?}", report.warnings);
        assert!(report.warnings[0] == "before" && report.warnings[1].starts_with("wild: noisy"));
        assert!(!report.warnings.iter().any(|warning| warning.contains("KiB")));
        report.setting.metric = Metric::Rss;
        for (floor, doubted) in [(999, 0), (1000, 2)] {
            report.rss_floor_kib = floor;
            report.refresh(0);
            assert_eq!(report.warnings.iter().filter(|warning| warning.contains("KiB")).count(), doubted);
        }
        report.setting.metric = Metric::Wall;
        report.locks[1].failures.push(Failure { round: 5, warmup: false, reason: "exit code 3".into() });
        report.locks[1].runs.pop();
        report.refresh(0);
        assert!(report.warnings[0].contains("wild: 1 of 5 runs failed and do not count: exit code 3"));
        assert!(
            report.warnings.last().is_some_and(|last| last.contains("too few runs: 4")) && report.failed()
        );
    }
}
