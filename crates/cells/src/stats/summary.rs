//! Measurements of one thing: their middle, their mean, how far they lie apart.
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

/// The ends of the exact 95 % interval of the median, by the binomial distribution; fewer than six have none.
pub fn median_interval(values: &[f64]) -> Option<(f64, f64)> {
    let (mut sorted, count) = (values.to_vec(), values.len());
    sorted.sort_by(f64::total_cmp);
    // How likely it is that `outside` values, and that no more, are on one side of it. As a logarithm: of a
    // thousand values it is nothing.
    let (mut likely, mut sum, mut outside) = (0.5_f64.ln() * count as f64, 0.0, 0);
    while sum + likely.exp() <= 0.025 {
        sum += likely.exp();
        likely += ((count - outside) as f64 / (outside + 1) as f64).ln();
        outside += 1;
    }
    Some((*sorted.get(outside.checked_sub(1)?)?, *sorted.get(count - outside)?))
}

/// The median of errors without their signs, as a percentage with its interval.
pub fn median_error(errors: &[f64], digits: usize) -> String {
    let sizes: Vec<f64> = errors.iter().map(|error| error.abs() * 100.0).collect();
    let interval = match median_interval(&sizes) {
        Some((low, high)) => format!("{low:.digits$}–{high:.digits$}"),
        None if sizes.len() == 1 => "one value".to_owned(),
        None => "too few for an interval".to_owned(),
    };
    format!("{:.digits$} % ({interval})", median(&sizes))
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
    /// The middle.
    #[serde(deserialize_with = "or_infinite")]
    pub median: f64,
    /// The least.
    #[serde(deserialize_with = "or_infinite")]
    pub min: f64,
    /// The most.
    #[serde(deserialize_with = "or_infinite")]
    pub max: f64,
    /// The median distance from the median.
    #[serde(deserialize_with = "or_infinite")]
    pub mad: f64,
    /// In their order.
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

/// The least and the most of the values, or zeros if there are none.
pub(super) fn ends_of(values: &[f64]) -> (f64, f64) {
    let end = |of: fn(f64, f64) -> f64| values.iter().copied().reduce(of).unwrap_or(0.0);
    (end(f64::min), end(f64::max))
}

/// Whether what lies between these ends is of two kinds.
pub fn are_two_kinds(min: f64, max: f64) -> bool {
    max > min && max >= APART * min
}

pub(super) fn is_of_two_kinds(values: &[f64]) -> bool {
    let (min, max) = ends_of(values);
    are_two_kinds(min, max)
}

/// A share as a percentage in the least room.
pub fn short_percent(share: f64) -> String {
    let value = share * 100.0;
    let digits = usize::from(value < 9.95);
    format!("{value:.digits$}%")
}

impl Summary {
    /// Of these values.
    pub fn of(rounds: Vec<f64>) -> Self {
        let middle = median(&rounds);
        let distances: Vec<f64> = rounds.iter().map(|value| (value - middle).abs()).collect();
        let (min, max) = ends_of(&rounds);
        Self { median: middle, min, max, mad: median(&distances), rounds }
    }

    /// Half the range from the least to the most, relative to the median.
    pub fn spread(&self) -> f64 {
        let differ = self.median > 0.0 && self.max > self.min;
        if differ { (self.max - self.min) / 2.0 / self.median } else { 0.0 }
    }

    /// The standard deviation, as the distances from the median estimate it, relative to the median size.
    pub fn noise(&self) -> f64 {
        let sizes: Vec<f64> = self.rounds.iter().map(|value| value.abs()).collect();
        self.mad * MAD_TO_DEVIATION / median(&sizes).max(f64::MIN_POSITIVE)
    }

    /// Whether a round stands apart from the others.
    pub fn has_outlier(&self) -> bool {
        let limit = (OUTLIER_DEVIATIONS * MAD_TO_DEVIATION * self.mad).max(OUTLIER_SHARE * self.median);
        self.rounds.len() >= 3 && self.rounds.iter().any(|value| (value - self.median).abs() > limit)
    }

    /// The least and the most.
    pub fn range(&self, form: impl Fn(f64) -> String) -> String {
        format!("{}..{}", form(self.min), form(self.max))
    }

    /// Whether the measurements are of two kinds.
    pub fn is_of_two_kinds(&self) -> bool {
        are_two_kinds(self.min, self.max)
    }

    /// The least and the most, if they are.
    pub fn two_kinds(&self, form: impl Fn(f64) -> String) -> Option<String> {
        self.is_of_two_kinds().then(|| self.range(form))
    }

    /// The median; or the range, if the measurements are of two kinds.
    pub fn middle(&self, form: impl Fn(f64) -> String) -> String {
        self.two_kinds(&form).unwrap_or_else(|| form(self.median))
    }

    /// The median with half the range; or the range alone, if the measurements are of two kinds.
    pub fn told(&self, form: impl Fn(f64) -> String) -> String {
        match self.two_kinds(&form) {
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
pub(super) fn student(freedom: usize) -> f64 {
    match STUDENT.get(freedom.wrapping_sub(1)) {
        Some(&quantile) => quantile,
        None => NORMAL + (NORMAL.powi(3) + NORMAL) / (4.0 * freedom as f64),
    }
}

/// The mean of the values, and their variance.
pub(super) fn mean_of(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0))
}

/// One quantity over the seeds of a cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the 95 % confidence interval; unknown if there is one seed.
    pub ci95: Option<f64>,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// By seed.
    pub values: Vec<f64>,
}

impl Estimate {
    /// Of these values, one for each seed.
    pub fn of(values: Vec<f64>) -> Self {
        let count = values.len();
        let (mean, variance) = if count == 0 { (0.0, 0.0) } else { mean_of(&values) };
        let ci95 = (count > 1).then(|| student(count - 1) * variance.sqrt() / (count as f64).sqrt());
        let (min, max) = ends_of(&values);
        Self { mean, ci95, min, max, values }
    }

    /// The least and the most, if the values are of two kinds.
    pub fn two_kinds(&self, form: fn(f64) -> String) -> Option<String> {
        are_two_kinds(self.min, self.max).then(|| format!("{}..{}", form(self.min), form(self.max)))
    }

    /// The mean; or the range, if the values are of two kinds.
    pub fn middle(&self, form: fn(f64) -> String) -> String {
        self.two_kinds(form).unwrap_or_else(|| form(self.mean))
    }

    /// The ends of its interval; or of the range, if the values are of two kinds.
    pub fn bounds(&self) -> Option<(f64, f64)> {
        let interval = || self.ci95.map(|half| (self.mean - half, self.mean + half));
        if are_two_kinds(self.min, self.max) { Some((self.min, self.max)) } else { interval() }
    }

    /// The interval relative to the mean.
    pub fn relative(&self) -> Option<f64> {
        self.ci95.filter(|_| self.mean > 0.0).map(|ci| ci / self.mean)
    }
}
