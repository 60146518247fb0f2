//! Means over seeds, with the confidence that they deserve.
use serde::{Deserialize, Serialize};

/// Two-sided 95 % quantiles of Student's distribution for 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];
/// The same for ever more of them: the normal distribution's.
const NORMAL: f64 = 1.95996;

/// The quantile for so many degrees of freedom; beyond the table by the first two terms of its expansion,
/// good to 0.001.
fn student(freedom: usize) -> f64 {
    match STUDENT.get(freedom.wrapping_sub(1)) {
        Some(&quantile) => quantile,
        None => NORMAL + (NORMAL.powi(3) + NORMAL) / (4.0 * freedom as f64),
    }
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
        let mean = if count == 0 { 0.0 } else { values.iter().sum::<f64>() / count as f64 };
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let ci95 = (count > 1)
            .then(|| student(count - 1) * (squares / (count - 1) as f64).sqrt() / (count as f64).sqrt());
        Self {
            mean,
            ci95,
            min: values.iter().copied().reduce(f64::min).unwrap_or(0.0),
            max: values.iter().copied().reduce(f64::max).unwrap_or(0.0),
            values,
        }
    }

    /// The interval relative to the mean.
    pub fn relative(&self) -> Option<f64> {
        self.ci95.filter(|_| self.mean > 0.0).map(|ci| ci / self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_has_its_range_and_interval() {
        let mean = Estimate::of(vec![8.0, 10.0, 12.0]);
        assert_eq!((mean.mean, mean.min, mean.max), (10.0, 8.0, 12.0));
        // s = 2, so 4.303 * 2 / sqrt 3.
        assert!((mean.ci95.expect("three values") - 4.9687).abs() < 1e-3);
        assert!((mean.relative().expect("positive") - 0.49687).abs() < 1e-4);
    }

    #[test]
    fn one_value_has_no_interval_and_none_have_no_mean() {
        assert_eq!(Estimate::of(vec![5.0]).ci95, None);
        assert_eq!(Estimate::of(vec![]), Estimate { values: vec![], ..Estimate::default() });
        assert_eq!(Estimate::of(vec![0.0, 0.0]).relative(), None);
    }

    #[test]
    fn quantiles_fall_towards_the_normal_one_without_a_step() {
        let quantiles: Vec<f64> = (1..200).map(student).collect();
        assert!(quantiles.windows(2).all(|pair| pair[0] > pair[1]));
        assert!((student(60) - 2.000).abs() < 2e-3 && (student(120) - 1.980).abs() < 2e-3);
    }
}
