//! One program under several locks, again and again in turn: what is run when ([`Setting`]), and what came of
//! it ([`Comparison`]). How one is run is the commands' own.
use crate::stats::{PAIRS_ENOUGH, Ratio, Summary};
use crate::units::percent;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;

/// A lock that took too long this often is not run any more: each further run would take longest of all.
const MOST_TIMEOUTS: usize = 2;
/// The deviation of the runs, relative to their median, from which on they are called noisy.
const NOISY: f64 = 0.05;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Each round begins one lock further, so that each has each place equally often.
    Rotated,
    /// By chance, from the seed.
    Shuffled,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "lowercase")]
pub enum Metric {
    Wall,
    Cpu,
    Rss,
    /// What it got done in a second.
    Rate,
    /// The number in the group of a regular expression, of the last line that matches.
    Output {
        pattern: String,
        higher_is_better: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    pub wall_s: f64,
    pub cpu_s: f64,
    pub max_rss_kib: u64,
    /// The number picked from the output.
    pub picked: Option<f64>,
}

impl Metric {
    pub fn higher_is_better(&self) -> bool {
        matches!(self, Self::Rate | Self::Output { higher_is_better: true, .. })
    }

    pub fn of(&self, figures: &Figures) -> f64 {
        match self {
            Self::Wall => figures.wall_s,
            Self::Cpu => figures.cpu_s,
            Self::Rss => figures.max_rss_kib as f64,
            Self::Rate | Self::Output { .. } => figures.picked.unwrap_or(0.0),
        }
    }

    pub fn told(&self) -> String {
        let what = match self {
            Self::Wall => "wall time, s",
            Self::Cpu => "CPU time of the program and its children, s",
            Self::Rss => "most resident memory, KiB",
            Self::Rate => "work done, 1/s",
            Self::Output { pattern, .. } => &format!("'{pattern}'"),
        };
        format!("{what}; {} is better", if self.higher_is_better() { "higher" } else { "lower" })
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    /// The others are set in relation to the first.
    pub locks: Vec<String>,
    pub metric: Metric,
    pub runs: usize,
    pub warmup: usize,
    pub timeout_s: f64,
    pub order: Order,
    pub seed: u64,
    pub check_output: bool,
    pub show_output: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// Its place in the list of locks.
    pub lock: usize,
    pub round: usize,
    pub warmup: bool,
}

impl Setting {
    /// Rotated, without warm-up, and with as much time as programs get unless told otherwise.
    pub fn new(locks: Vec<String>, metric: Metric, runs: usize) -> Self {
        let (warmup, timeout_s, order, seed) = (0, 600.0, Order::Rotated, 0);
        Self { locks, metric, runs, warmup, timeout_s, order, seed, check_output: false, show_output: false }
    }

    /// All runs, warm-up first, a round of all locks at a time.
    pub fn trials(&self) -> Vec<Trial> {
        let mut random = fastrand::Rng::with_seed(self.seed);
        let warmups = (0..self.warmup).map(|round| (true, round));
        let rounds = warmups.chain((0..self.runs).map(|round| (false, round)));
        let mut trials = Vec::new();
        for (warmup, round) in rounds {
            let mut locks: Vec<usize> = (0..self.locks.len()).collect();
            match self.order {
                Order::Rotated => locks.rotate_left(round % self.locks.len().max(1)),
                Order::Shuffled => random.shuffle(&mut locks),
            }
            trials.extend(locks.into_iter().map(|lock| Trial { lock, round, warmup }));
        }
        trials
    }
}

/// Why a run does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialError {
    /// It could not be started, ended badly, or printed the wrong thing.
    Failed(String),
    TimedOut,
    Interrupted,
}

impl From<io::Error> for TrialError {
    fn from(error: io::Error) -> Self {
        Self::Failed(format!("what it printed cannot be read: {error}"))
    }
}

/// A run that counts, or would if it were no warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    pub round: usize,
    pub warmup: bool,
    #[serde(flatten)]
    pub figures: Figures,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub round: usize,
    pub warmup: bool,
    pub reason: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    pub lock: String,
    pub runs: Vec<Run>,
    pub failures: Vec<Failure>,
    #[serde(skip)]
    overdue: usize,
    /// Not run any more, because it took too long again and again.
    pub given_up: bool,
    /// What is compared, over the runs that count.
    pub summary: Option<Summary>,
    /// To the first lock, which has none.
    pub ratio: Option<Ratio>,
    /// `better`, `worse`, or `unclear`: the interval has 1 in it, or rests on too few pairs.
    pub verdict: Option<String>,
    /// Those of `wall` and `cpu` time and of memory (`rss`), whatever is compared.
    #[serde(default)]
    pub ratios: BTreeMap<String, Ratio>,
}

impl Row {
    pub fn counted(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| !run.warmup)
    }

    /// Of the rounds in which both went well, what is to be compared: own, and the other's.
    pub fn pairs(&self, other: &Self, metric: &Metric) -> Vec<(f64, f64)> {
        let beside: BTreeMap<usize, &Run> = other.counted().map(|run| (run.round, run)).collect();
        let pair = |run: &Run| Some((metric.of(&run.figures), metric.of(&beside.get(&run.round)?.figures)));
        self.counted().filter_map(pair).collect()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// False while the comparison goes on, and for ever if it was interrupted.
    pub complete: bool,
    pub setting: Setting,
    /// What whoever starts the program has, if the memory is what the kernel counts: that has this, too.
    pub rss_floor_kib: u64,
    pub locks: Vec<Row>,
    pub warnings: Vec<String>,
}

impl Comparison {
    pub fn new(setting: Setting, warnings: Vec<String>) -> Self {
        let row = |lock: &String| Row { lock: lock.clone(), ..Row::default() };
        let locks = setting.locks.iter().map(row).collect();
        Self { complete: false, setting, rss_floor_kib: 0, locks, warnings }
    }

    /// Takes up what came of a trial.
    pub fn take(&mut self, trial: Trial, came: Result<Figures, TrialError>) {
        let Trial { lock, round, warmup } = trial;
        let row = &mut self.locks[lock];
        let reason = match came {
            Ok(figures) => return row.runs.push(Run { round, warmup, figures }),
            Err(TrialError::Interrupted) => return,
            Err(TrialError::Failed(reason)) => reason,
            Err(TrialError::TimedOut) => {
                row.overdue += 1;
                row.given_up = row.overdue >= MOST_TIMEOUTS;
                format!("not over after its limit of {}s", self.setting.timeout_s)
            }
        };
        row.failures.push(Failure { round, warmup, reason });
    }

    /// Whether anything went wrong that must not pass silently.
    pub fn failed(&self) -> bool {
        self.locks.iter().any(|row| !row.failures.is_empty())
    }

    /// Works out anew what the runs say together. The first `before` warnings are older than that, and stay.
    pub fn refresh(&mut self, before: usize) {
        let metric = &self.setting.metric;
        let Some((first, others)) = self.locks.split_first_mut() else { return };
        for row in others.iter_mut() {
            let ratio = |metric: &Metric| Ratio::of_pairs(&row.pairs(first, metric));
            let all = [("wall", Metric::Wall), ("cpu", Metric::Cpu), ("rss", Metric::Rss)];
            let of_all = all.iter().filter_map(|(name, metric)| Some(((*name).to_owned(), ratio(metric)?)));
            (row.ratio, row.ratios) = (ratio(metric), of_all.collect());
            row.verdict = row.ratio.map(|ratio| {
                let told = match ratio.is_clear() {
                    false => "unclear",
                    true if (ratio.ratio > 1.0) == metric.higher_is_better() => "better",
                    true => "worse",
                };
                told.to_owned()
            });
        }
        for row in &mut self.locks {
            let values: Vec<f64> = row.counted().map(|run| metric.of(&run.figures)).collect();
            row.summary = (!values.is_empty()).then(|| Summary::of(values));
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
                    "{lock}: at most {floor} KiB, as much as whoever starts it has, which the kernel counts, too; it takes less"
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

    fn setting(locks: &[&str]) -> Setting {
        let locks = locks.iter().map(|&lock| lock.to_owned()).collect();
        Setting { seed: 42, ..Setting::new(locks, Metric::Wall, 5) }
    }

    fn comparison(locks: &[&str]) -> Comparison {
        Comparison::new(setting(locks), Vec::new())
    }

    /// The locks of each round.
    fn rounds(setting: &Setting) -> Vec<Vec<usize>> {
        let locks: Vec<usize> = setting.trials().iter().map(|trial| trial.lock).collect();
        locks.chunks(setting.locks.len()).map(<[usize]>::to_vec).collect()
    }

    #[test]
    fn rounds_are_interleaved_and_rotated() {
        let setting = Setting { warmup: 1, runs: 3, ..setting(&["a", "b", "c"]) };
        assert_eq!(rounds(&setting), [[0, 1, 2], [0, 1, 2], [1, 2, 0], [2, 0, 1]]);
        let warmups = setting.trials().iter().filter(|trial| trial.warmup).count();
        assert_eq!(warmups, 3);
    }

    #[test]
    fn a_seed_shuffles_and_the_same_seed_shuffles_the_same() {
        let by = |seed| Setting { order: Order::Shuffled, seed, runs: 20, ..setting(&["a", "b", "c", "d"]) };
        let shuffled = rounds(&by(1));
        assert_eq!(shuffled, rounds(&by(1)));
        assert_ne!(shuffled, rounds(&by(2)));
        for round in shuffled {
            let mut sorted = round;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
        }
    }

    fn run(round: usize, wall_s: f64) -> Run {
        let figures = Figures { wall_s, cpu_s: wall_s * 2.0, max_rss_kib: 1000, picked: None };
        Run { round, warmup: false, figures }
    }

    #[test]
    fn only_rounds_in_which_both_went_well_are_paired() {
        let mut report = comparison(&["a", "b"]);
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
        let mut report = comparison(&["a", "b"]);
        report.locks[0].runs = vec![Run { warmup: true, ..run(0, 9.0) }];
        report.refresh(0);
        assert_eq!(report.locks[0].summary, None);
    }

    #[test]
    fn doubts_name_their_lock() {
        let mut report = comparison(&["calm", "wild"]);
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

    #[test]
    fn time_and_memory_have_ratios_with_intervals_whatever_is_compared() {
        let mut report = comparison(&["a", "b"]);
        report.setting.metric = Metric::Rate;
        for (lock, more) in [(0, 1.0), (1, 1.25)] {
            report.locks[lock].runs = [1.0, 2.0].map(|wall_s| run(wall_s as usize, wall_s * more)).into();
            for run in &mut report.locks[lock].runs {
                run.figures.picked = Some(1.0 / run.figures.wall_s);
                run.figures.max_rss_kib = (1000.0 * more * more) as u64 + run.round as u64;
            }
        }
        report.refresh(0);
        let row = &report.locks[1];
        assert!(
            row.ratio.is_some_and(|ratio| (ratio.ratio - 0.8).abs() < 1e-9 && ratio.pairs == 2),
            "{row:?}"
        );
        assert_eq!(row.ratios.keys().map(String::as_str).collect::<Vec<_>>(), ["cpu", "rss", "wall"]);
        assert_eq!(row.ratios["wall"].told().as_deref(), Some("1.25 (1.25–1.25)"));
        let (low, high) = row.ratios["rss"].interval.expect("two pairs");
        assert!(low < 1.5616 && 1.5616 < high && high < 1.57, "{row:?}");
        assert!(report.locks[0].ratios.is_empty());
    }
}
