//! How evenly a lock was shared.
use serde::{Deserialize, Serialize};

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

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "the expected values are exact in binary")]
mod tests {
    use super::*;

    #[test]
    fn fairness_at_its_ends() {
        assert_eq!(Fairness::of(&[5, 5, 5, 5]), Fairness { min_over_max: 1.0, jain: 1.0 });
        assert_eq!(Fairness::of(&[8, 0, 0, 0]), Fairness { min_over_max: 0.0, jain: 0.25 });
        assert_eq!(Fairness::of(&[0, 0]).jain, 1.0);
        assert_eq!(Fairness::of(&[1, 3]).jain, 0.8);
    }
}
