//! How one lock does in relation to another, and how sure that is.
use crate::bench::stats::median;
use fastrand::Rng;
use serde::{Deserialize, Serialize};

/// Resamples of the bootstrap: enough that the ends of the interval do not move in the digits that are shown.
const RESAMPLES: usize = 4000;
/// How much of the resamples' medians lies below the interval, and as much above.
const TAIL: f64 = 0.025;

/// With fewer pairs an interval says more than they can: five lie on one side by chance in 6 % of cases, four
/// in 13 %.
pub(crate) const PAIRS_ENOUGH: usize = 5;

/// The median of the ratios of runs of the same round, with a 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ratio {
    pub median: f64,
    pub low: f64,
    pub high: f64,
    /// Rounds in which both runs went well.
    pub pairs: usize,
}

/// What a ratio lets one say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    Better,
    Worse,
    /// The interval has 1 in it, or rests on too few pairs.
    Unclear,
}

impl Ratio {
    /// Of figures in pairs, each of one round: the lock's, and that of the first lock. None without a pair
    /// that can be divided.
    pub(crate) fn of(pairs: &[(f64, f64)], seed: u64) -> Option<Self> {
        let ratios: Vec<f64> =
            pairs.iter().filter(|(_, first)| *first > 0.0).map(|(own, first)| own / first).collect();
        if ratios.is_empty() {
            return None;
        }
        let mut random = Rng::with_seed(seed);
        let mut medians: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let resample: Vec<f64> =
                    ratios.iter().map(|_| ratios[random.usize(..ratios.len())]).collect();
                median(&resample)
            })
            .collect();
        medians.sort_by(f64::total_cmp);
        let at = |share: f64| medians[((RESAMPLES - 1) as f64 * share).round() as usize];
        Some(Self { median: median(&ratios), low: at(TAIL), high: at(1.0 - TAIL), pairs: ratios.len() })
    }

    pub(crate) fn verdict(&self, higher_is_better: bool) -> Verdict {
        if self.pairs < PAIRS_ENOUGH || (self.low <= 1.0 && self.high >= 1.0) {
            Verdict::Unclear
        } else if (self.low > 1.0) == higher_is_better {
            Verdict::Better
        } else {
            Verdict::Worse
        }
    }
}

impl Verdict {
    pub(crate) fn told(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Unclear => "unclear",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_within_rounds() {
        // The machine becomes ten times slower, the ratio stays: medians of each lock alone would not show
        // it.
        let pairs = [(2.0, 1.0), (4.0, 2.0), (20.0, 10.0), (40.0, 20.0), (8.0, 4.0)];
        let ratio = Ratio::of(&pairs, 1).expect("pairs");
        assert_eq!((ratio.median, ratio.low, ratio.high, ratio.pairs), (2.0, 2.0, 2.0, 5));
        assert_eq!(ratio.verdict(false), Verdict::Worse);
        assert_eq!(ratio.verdict(true), Verdict::Better);
        let four = Ratio::of(&pairs[..4], 1).expect("pairs");
        assert_eq!((four.median, four.verdict(true)), (2.0, Verdict::Unclear), "too few");
    }

    #[test]
    fn the_interval_is_as_wide_as_the_doubt() {
        let wide =
            Ratio::of(&[(0.5, 1.0), (1.5, 1.0), (0.75, 1.0), (1.25, 1.0), (1.0, 1.0)], 1).expect("pairs");
        assert_eq!((wide.median, wide.low, wide.high), (1.0, 0.5, 1.5), "five runs: all that was seen");
        assert_eq!(wide.verdict(true), Verdict::Unclear);
        let many: Vec<(f64, f64)> = (0..101).map(|i| (0.5 + f64::from(i) / 100.0, 1.0)).collect();
        let ratio = Ratio::of(&many, 1).expect("pairs");
        assert!(ratio.low > 0.6 && ratio.low < 1.0 && ratio.high > 1.0 && ratio.high < 1.4, "{ratio:?}");
    }

    #[test]
    fn the_interval_covers_the_truth_about_as_often_as_it_says() {
        let mut random = Rng::with_seed(7);
        let covered = (0..300).filter(|&seed| {
            let pairs: Vec<(f64, f64)> = (0..15).map(|_| (1.0 + random.f64() + random.f64(), 1.0)).collect();
            Ratio::of(&pairs, seed).is_some_and(|ratio| ratio.low <= 2.0 && 2.0 <= ratio.high)
        });
        // 95 % of 300 is 285; a binomial with that mean is hardly ever below 270.
        assert!((270..=300).contains(&covered.count()));
    }

    #[test]
    fn nothing_to_divide_by_is_no_ratio() {
        assert_eq!(Ratio::of(&[], 1), None);
        assert_eq!(Ratio::of(&[(1.0, 0.0)], 1), None);
    }
}
