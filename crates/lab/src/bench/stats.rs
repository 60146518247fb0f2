//! The few statistics of a report.
use crate::sim::Estimate;
use core::fmt;
use serde::{Deserialize, Serialize};

/// The middle of the values, or zero if there are none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        length if length % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Repeated measurements of one thing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub median: f64,
    pub min: f64,
    pub max: f64,
    /// Median of the distances from the median.
    pub mad: f64,
    /// The measurements in the order they were made.
    pub rounds: Vec<f64>,
}

/// A round this far from the median, relative to it, is an outlier even where the others agree closely …
const OUTLIER_SHARE: f64 = 0.2;
/// … if it is also this many deviations away (a MAD times 1.4826 estimates the standard deviation).
const OUTLIER_DEVIATIONS: f64 = 3.0;

impl Summary {
    pub(crate) fn of(rounds: Vec<f64>) -> Self {
        let middle = median(&rounds);
        let distances: Vec<f64> = rounds.iter().map(|value| (value - middle).abs()).collect();
        Self {
            median: middle,
            min: rounds.iter().copied().reduce(f64::min).unwrap_or(0.0),
            max: rounds.iter().copied().reduce(f64::max).unwrap_or(0.0),
            mad: median(&distances),
            rounds,
        }
    }

    /// Half the range from slowest to fastest round, relative to the median.
    pub(crate) fn spread(&self) -> f64 {
        if self.median > 0.0 { (self.max - self.min) / 2.0 / self.median } else { 0.0 }
    }

    /// Whether a round stands apart from the others.
    pub(crate) fn has_outlier(&self) -> bool {
        let limit = (OUTLIER_DEVIATIONS * 1.4826 * self.mad).max(OUTLIER_SHARE * self.median);
        self.rounds.len() >= 3 && self.rounds.iter().any(|value| (value - self.median).abs() > limit)
    }
}

/// How evenly acquisitions were shared among threads.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fairness {
    /// Slowest thread over fastest: 1 is even, 0 is a thread that got nothing.
    pub min_over_max: f64,
    /// Jain's index: 1 is even, 1/n is one thread that got everything.
    pub jain: f64,
}

impl Fairness {
    pub(crate) fn of(acquisitions: &[u64]) -> Self {
        let max = acquisitions.iter().copied().max().unwrap_or(0);
        if max == 0 {
            // Nobody got anything, which is bad but not uneven.
            return Self { min_over_max: 1.0, jain: 1.0 };
        }
        let min = acquisitions.iter().copied().min().unwrap_or(0);
        let sum: f64 = acquisitions.iter().map(|&count| count as f64).sum();
        let squares: f64 = acquisitions.iter().map(|&count| (count as f64).powi(2)).sum();
        Self {
            min_over_max: min as f64 / max as f64,
            jain: sum * sum / (acquisitions.len() as f64 * squares),
        }
    }
}

/// How often one lock does what another does once, with the ends of the 95 % interval, if there are rounds
/// enough to know them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ratio {
    pub ratio: f64,
    pub interval: Option<(f64, f64)>,
}

/// The end of an interval above this is as good as none.
const MOST_TOLD: f64 = 100.0;

impl Ratio {
    /// Of the rounds of one lock and of another, for each load: a round visits both soon after each other.
    /// The mean over loads is geometric. The interval is that over rounds, by Student's distribution of the
    /// logarithms.
    pub(crate) fn of(loads: &[(&[f64], &[f64])]) -> Option<Self> {
        let rounds = loads.iter().map(|(own, other)| own.len().min(other.len())).min()?;
        let of_round = |round: usize| {
            let sum: f64 = loads.iter().map(|(own, other)| (own[round] / other[round]).ln()).sum();
            sum.is_finite().then_some(sum / loads.len() as f64)
        };
        let logs = Estimate::of((0..rounds).map(of_round).collect::<Option<Vec<_>>>()?);
        let interval = logs.ci95.map(|ci| ((logs.mean - ci).exp(), (logs.mean + ci).exp()));
        (rounds > 0).then_some(Self { ratio: logs.mean.exp(), interval })
    }

    /// Whether the interval knows on which side of 1 the ratio lies.
    pub(crate) fn is_clear(&self) -> bool {
        self.interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }

    /// In words, if it has an interval: a ratio without one is not told.
    pub(crate) fn told(&self) -> Option<String> {
        self.interval.map(|_| self.to_string())
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Enough digits for what is small.
        let digits = if self.ratio < 0.1 { 3 } else { 2 };
        write!(f, "{:.digits$}", self.ratio)?;
        match self.interval {
            // Two rounds that differ know nothing.
            Some((low, high)) if high >= MOST_TOLD => write!(f, " ({low:.digits$}–over {MOST_TOLD})"),
            Some((low, high)) => write!(f, " ({low:.digits$}–{high:.digits$})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact in binary")]
mod tests {
    use super::*;

    #[test]
    fn medians_of_odd_even_and_no_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[]), 0.0);
    }

    #[test]
    fn a_summary_keeps_range_deviation_and_order() {
        let summary = Summary::of(vec![10.0, 8.0, 12.0, 10.0, 11.0]);
        assert_eq!((summary.median, summary.min, summary.max, summary.mad), (10.0, 8.0, 12.0, 1.0));
        assert_eq!(summary.rounds[1], 8.0);
        assert_eq!(summary.spread(), 0.2);
    }

    #[test]
    fn one_far_round_is_an_outlier_and_small_noise_is_not() {
        assert!(Summary::of(vec![10.0, 10.1, 9.9, 10.0, 5.0]).has_outlier());
        assert!(!Summary::of(vec![10.0, 10.1, 9.9, 10.0, 9.0]).has_outlier());
        assert!(!Summary::of(vec![10.0, 5.0]).has_outlier());
    }

    #[test]
    fn a_ratio_is_paired_within_rounds_and_told_with_its_interval_only() {
        // The machine becomes ten times slower in between, the ratio stays.
        let ratio = Ratio::of(&[(&[2.0, 20.0, 4.0], &[1.0, 10.0, 2.0])]).expect("rounds");
        assert!((ratio.ratio - 2.0).abs() < 1e-9 && ratio.is_clear(), "{ratio:?}");
        assert_eq!(ratio.told().as_deref(), Some("2.00 (2.00–2.00)"));
        let unclear = Ratio::of(&[(&[1.0, 2.0], &[1.0, 1.0])]).expect("rounds");
        assert!(!unclear.is_clear() && unclear.to_string().ends_with("–over 100)"), "{unclear}");
        let single = Ratio::of(&[(&[3.0], &[1.0])]).expect("a round");
        assert!(single.told().is_none() && !single.is_clear());
        assert_eq!(Ratio::of(&[(&[1.0], &[0.0])]), None);
        assert_eq!(Ratio::of(&[(&[], &[])]), None);
        assert_eq!(Ratio::of(&[]), None);
    }

    #[test]
    fn fairness_at_its_ends() {
        assert_eq!(Fairness::of(&[5, 5, 5, 5]), Fairness { min_over_max: 1.0, jain: 1.0 });
        assert_eq!(Fairness::of(&[8, 0, 0, 0]), Fairness { min_over_max: 0.0, jain: 0.25 });
        assert_eq!(Fairness::of(&[0, 0]).jain, 1.0);
        assert_eq!(Fairness::of(&[1, 3]).jain, 0.8);
    }
}
