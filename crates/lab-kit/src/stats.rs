//! The statistics of all commands: measurements of one thing ([`Summary`]), how one is to another
//! ([`Ratio`]), and the systems that fits come to ([`solve`]).
use crate::units::short_percent;
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize};

/// The middle of the values, or zero if there are none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted[..] {
        [] => 0.0,
        _ if sorted.len() % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Jain's fairness index of the threads' shares: 1 when all are equal, 1/n when one thread had everything.
pub fn jain(shares: &[u64]) -> f64 {
    let sum: f64 = shares.iter().map(|&share| share as f64).sum();
    let squares: f64 = shares.iter().map(|&share| (share as f64) * (share as f64)).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (squares * shares.len() as f64) }
}

/// Solves a system with a symmetric, positive matrix by elimination.
#[expect(clippy::needless_range_loop, reason = "rows and columns of a matrix go by number")]
pub fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
    let count = right.len();
    for pivot in 0..count {
        for row in pivot + 1..count {
            let factor = matrix[row][pivot] / matrix[pivot][pivot];
            for column in pivot..count {
                matrix[row][column] -= factor * matrix[pivot][column];
            }
            right[row] -= factor * right[pivot];
        }
    }
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|column| matrix[row][column] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    right
}

/// Repeated measurements of one thing: by round, by run or by seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    #[serde(deserialize_with = "or_infinite")]
    pub median: f64,
    #[serde(deserialize_with = "or_infinite")]
    pub min: f64,
    #[serde(deserialize_with = "or_infinite")]
    pub max: f64,
    #[serde(deserialize_with = "or_infinite")]
    pub mad: f64,
    #[serde(deserialize_with = "or_infinite_each")]
    pub rounds: Vec<f64>,
}

fn or_infinite<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
}

/// Reads numbers; infinity is null in JSON.
pub fn or_infinite_each<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
    let numbers: Vec<Option<f64>> = Vec::deserialize(from)?;
    Ok(numbers.into_iter().map(|number| number.unwrap_or(f64::INFINITY)).collect())
}

/// A round this far from the median, relative to it, and this many deviations away is an outlier.
const OUTLIER_SHARE: f64 = 0.2;
const OUTLIER_DEVIATIONS: f64 = 3.0;
/// A median distance from the median, times this, estimates the standard deviation.
const MAD_TO_DEVIATION: f64 = 1.4826;
/// Measurements this many times as high as the lowest are of two kinds: a middle of them is nobody's.
const APART: f64 = 1.5;

impl Summary {
    pub fn of(rounds: Vec<f64>) -> Self {
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

    /// Half the range from the least to the most, relative to the median.
    pub fn spread(&self) -> f64 {
        if self.median > 0.0 { (self.max - self.min) / 2.0 / self.median } else { 0.0 }
    }

    /// The standard deviation, relative to the median, as the distances from it estimate it.
    pub fn noise(&self) -> f64 {
        self.mad * MAD_TO_DEVIATION / self.median.max(f64::MIN_POSITIVE)
    }

    /// Whether a round stands apart from the others.
    pub fn has_outlier(&self) -> bool {
        let limit = (OUTLIER_DEVIATIONS * MAD_TO_DEVIATION * self.mad).max(OUTLIER_SHARE * self.median);
        self.rounds.len() >= 3 && self.rounds.iter().any(|value| (value - self.median).abs() > limit)
    }

    /// The least and the most, if the measurements are of two kinds.
    pub fn two_kinds(&self, form: fn(f64) -> String) -> Option<String> {
        let are = self.rounds.len() > 1 && self.max >= APART * self.min;
        are.then(|| format!("{}..{}", form(self.min), form(self.max)))
    }

    /// The median with half the range; or the range alone, if the measurements are of two kinds.
    pub fn told(&self, form: fn(f64) -> String) -> String {
        match self.two_kinds(form) {
            Some(range) => range,
            None if self.rounds.len() < 2 => form(self.median),
            None => format!("{} ±{}", form(self.median), short_percent(self.spread())),
        }
    }
}

/// Two-sided 95 % quantiles of Student's distribution for 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same for ever more of them: the normal distribution's.
const NORMAL: f64 = 1.95996;

/// The quantile; beyond the table by the first two terms of its expansion, good to 0.001.
fn student(freedom: usize) -> f64 {
    match STUDENT.get(freedom.wrapping_sub(1)) {
        Some(&quantile) => quantile,
        None => NORMAL + (NORMAL.powi(3) + NORMAL) / (4.0 * freedom as f64),
    }
}

/// With fewer pairs nothing is decided: few that agree by chance have a narrow interval.
pub const PAIRS_ENOUGH: usize = 5;

/// How often one thing has what another has once, with the ends of its 95 % interval if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ratio {
    pub ratio: f64,
    pub interval: Option<(f64, f64)>,
    /// Rounds that have both; if they are no pairs, those of the side with fewer.
    pub pairs: usize,
}

/// The rounds of one thing and of another, with one load.
pub type Sides<'a> = (&'a [f64], &'a [f64]);

/// The end of an interval above this is as good as none.
const MOST_TOLD: f64 = 100.0;

/// The mean, and the variance of it; none if one of the values is no number, or there are none.
fn mean_of(values: &[f64]) -> Option<(f64, f64)> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    mean.is_finite().then(|| (mean, squares / (count - 1.0) / count))
}

impl Ratio {
    /// Of the rounds of one thing and of another, for each load: a round visits both soon after each other,
    /// or starts both from the same seed. The mean over loads is geometric, and so is that over rounds. The
    /// interval is that over rounds, by Student's distribution of the logarithms.
    pub fn of(loads: &[Sides]) -> Option<Self> {
        let pairs = loads.iter().map(|(own, other)| own.len().min(other.len())).min()?;
        let of_round = |round: usize| {
            let sum: f64 = loads.iter().map(|(own, other)| (own[round] / other[round]).ln()).sum();
            sum / loads.len() as f64
        };
        let (log, variance) = mean_of(&(0..pairs).map(of_round).collect::<Vec<_>>())?;
        Some(Self::known(log, variance, pairs - 1, pairs))
    }

    /// By its logarithm, of which the variance is known with so many degrees of freedom.
    fn known(log: f64, variance: f64, freedom: usize, pairs: usize) -> Self {
        let half = student(freedom) * variance.sqrt();
        let interval = (pairs > 1).then(|| ((log - half).exp(), (log + half).exp()));
        Self { ratio: log.exp(), interval, pairs }
    }

    /// Of pairs, each of one round.
    pub fn of_pairs(pairs: &[(f64, f64)]) -> Option<Self> {
        let (own, other): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        Self::of(&[(&own, &other)])
    }

    /// Of rounds of one thing and of another that have nothing to do with each other, for each load: Welch's
    /// interval, for the logarithms. What a round does to all loads is one thing and not many, so the mean
    /// over loads comes first.
    pub fn of_unpaired(loads: &[Sides]) -> Option<Self> {
        let side = |of: fn(&Sides) -> Vec<f64>| {
            let sides: Vec<Vec<f64>> = loads.iter().map(of).collect();
            let rounds = sides.iter().map(Vec::len).min()?;
            let log =
                |round: usize| sides.iter().map(|side| side[round].ln()).sum::<f64>() / sides.len() as f64;
            let (mean, variance) = mean_of(&(0..rounds).map(log).collect::<Vec<_>>())?;
            Some((mean, variance, rounds))
        };
        let (own, other) = (side(|load| load.0.to_vec())?, side(|load| load.1.to_vec())?);
        let variance = own.1 + other.1;
        let parts = [own, other].map(|(_, variance, rounds)| variance.powi(2) / (rounds as f64 - 1.0));
        let freedom = (variance.powi(2) / parts.iter().sum::<f64>()).max(1.0) as usize;
        Some(Self::known(own.0 - other.0, variance, freedom, own.2.min(other.2)))
    }

    /// Whether there are pairs enough, and the interval knows on which side of 1 the ratio lies.
    pub fn is_clear(&self) -> bool {
        self.pairs >= PAIRS_ENOUGH && self.interval.is_some_and(|(low, high)| low > 1.0 || high < 1.0)
    }

    /// Whether the interval has `value` in it, or there is none.
    pub fn may_be(&self, value: f64) -> bool {
        self.interval.is_none_or(|(low, high)| low <= value && value <= high)
    }

    /// The ends of the interval; the ratio itself if there is none.
    pub fn ends(&self) -> (f64, f64) {
        self.interval.unwrap_or((self.ratio, self.ratio))
    }

    /// In words, if it has an interval: a ratio without one is not told.
    pub fn told(&self) -> Option<String> {
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
    fn unpaired_rounds_have_welchs_interval() {
        let [own, other] = [[1.0_f64, 2.0, 3.0], [0.0, 0.5, 1.0]].map(|logs| logs.map(f64::exp));
        // Means differ by 1.5; the variance of that is 1/3 + 0.25/3, with 2.94 degrees of freedom, taken as
        // 2.
        let ratio = Ratio::of_unpaired(&[(&own, &other)]).expect("a ratio");
        let half = 4.303 * (1.25_f64 / 3.0).sqrt();
        let (low, high) = ratio.interval.expect("an interval");
        assert!((ratio.ratio.ln() - 1.5).abs() < 1e-12 && ratio.pairs == 3, "{ratio:?}");
        assert!((low.ln() - 1.5 + half).abs() < 1e-12 && (high.ln() - 1.5 - half).abs() < 1e-12, "{ratio:?}");
        let twice = Ratio::of_unpaired(&[(&own, &other), (&own, &other)]).expect("a ratio");
        assert!((twice.ends().1 - high).abs() < 1e-9, "the same rounds again tell nothing new: {twice:?}");
        assert_eq!(Ratio::of_unpaired(&[(&own, &other[..1])]).expect("a ratio").interval, None);
        assert_eq!(Ratio::of_unpaired(&[(&own, &[0.0])]), None);
        assert_eq!(Ratio::of_unpaired(&[]), None);
        let same = Ratio::of_unpaired(&[(&[2.0, 2.0], &[2.0, 2.0])]).expect("a ratio");
        assert_eq!(same.interval, Some((1.0, 1.0)));
    }

    #[test]
    fn jain_s_index_knows_its_two_ends() {
        assert!((jain(&[7, 7, 7, 7]) - 1.0).abs() < 1e-12);
        assert!((jain(&[9, 0, 0, 0]) - 0.25).abs() < 1e-12);
        assert!((jain(&[]) - 1.0).abs() < 1e-12);
        assert!((jain(&[0, 0]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn systems_are_solved() {
        let found = solve(vec![vec![4.0, 1.0], vec![1.0, 3.0]], vec![1.0, 2.0]);
        assert!((found[0] - 1.0 / 11.0).abs() < 1e-12 && (found[1] - 7.0 / 11.0).abs() < 1e-12, "{found:?}");
    }

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
    fn what_is_of_two_kinds_has_no_middle() {
        let told = |values: &[f64]| Summary::of(values.to_vec()).told(|value| format!("{value:.1}"));
        assert_eq!(told(&[2.0, 3.0, 8.0]), "2.0..8.0");
        assert_eq!(told(&[2.0, 2.1, 2.2]), "2.1 ±4.8%");
        assert_eq!(told(&[2.0, 2.9]), "2.5 ±18%");
        assert_eq!(told(&[2.0]), "2.0");
    }

    #[test]
    fn a_ratio_is_paired_within_rounds_and_told_with_its_interval_only() {
        // The machine becomes ten times slower in between, the ratio stays.
        let ratio = Ratio::of(&[(&[2.0, 20.0, 4.0, 2.0, 6.0], &[1.0, 10.0, 2.0, 1.0, 3.0])]).expect("rounds");
        assert!((ratio.ratio - 2.0).abs() < 1e-9 && ratio.is_clear() && ratio.pairs == 5, "{ratio:?}");
        let four = Ratio::of_pairs(&[(2.0, 1.0); 4]).expect("pairs");
        assert!(!four.is_clear() && !four.may_be(1.0), "{four:?}");
        assert_eq!(ratio.told().as_deref(), Some("2.00 (2.00–2.00)"));
        let unclear = Ratio::of(&[(&[1.0, 2.0], &[1.0, 1.0])]).expect("rounds");
        assert!(!unclear.is_clear() && unclear.may_be(1.0), "{unclear:?}");
        assert!(unclear.to_string().ends_with("–over 100)"), "{unclear}");
        let single = Ratio::of(&[(&[3.0], &[1.0])]).expect("a round");
        assert!(single.told().is_none() && !single.is_clear());
        assert_eq!(Ratio::of(&[(&[1.0], &[0.0])]), None);
        assert_eq!(Ratio::of(&[(&[], &[])]), None);
        assert_eq!(Ratio::of(&[]), None);
    }

    #[test]
    fn quantiles_fall_towards_the_normal_one_without_a_step() {
        let quantiles: Vec<f64> = (1..200).map(student).collect();
        assert!(quantiles.windows(2).all(|pair| pair[0] > pair[1]));
        assert!((student(60) - 2.000).abs() < 2e-3 && (student(120) - 1.980).abs() < 2e-3);
    }

    #[test]
    fn the_interval_covers_the_truth_about_as_often_as_it_says() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut draw = || 1.0 + random.f64() + random.f64();
        let truth = ((0..1_000_000).map(|_| draw().ln()).sum::<f64>() / 1e6).exp();
        for rounds in [3, 5, 15] {
            let covered = (0..300).filter(|_| {
                let pairs: Vec<(f64, f64)> = (0..rounds).map(|_| (draw(), 1.0)).collect();
                Ratio::of_pairs(&pairs).is_some_and(|ratio| ratio.may_be(truth))
            });
            // 95 % of 300 is 285; a binomial with that mean is hardly ever below 270.
            let covered = covered.count();
            assert!((270..=300).contains(&covered), "{covered} of 300 with {rounds} rounds");
        }
    }
}
