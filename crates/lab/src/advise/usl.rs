//! The universal scalability law (Gunther): throughput at *n* threads is λn / (1 + σ(n − 1) + κn(n − 1)),
//! with σ for what is serial and κ for what all have to agree on. A prediction has to beat a fit of it.
use lab_kit::stats::solve;
use serde::Serialize;
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Law {
    /// Throughput of one thread.
    pub lambda: f64,
    pub sigma: f64,
    pub kappa: f64,
}

impl Law {
    /// From `1=1000,2=1900,4=3300`.
    pub(super) fn parse(list: &str) -> Result<Self, String> {
        let point = |word: &str| {
            let (threads, number) = word.split_once('=')?;
            Some((threads.trim().parse::<u32>().ok()?.into(), number.trim().parse().ok()?))
        };
        let points: Option<Vec<(f64, f64)>> = list.split(',').map(point).collect();
        points.and_then(|points| Self::fit(&points)).ok_or_else(|| {
            "not three loads or more that differ, with what was reached: write for example 1=1000,2=1900,4=3300".to_owned()
        })
    }

    /// The law through measured points (threads, throughput), of which there must be three different loads;
    /// more are fitted by least squares. Coefficients below 0 mean nothing, and are left out.
    pub(super) fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let sound = |&(n, x): &(f64, f64)| n >= 1.0 && x > 0.0 && x.is_finite();
        let loads: BTreeSet<u64> = points.iter().map(|&(n, _)| n.to_bits()).collect();
        if loads.len() < 3 || !points.iter().all(sound) {
            return None;
        }
        // n / X = a + b (n − 1) + c n (n − 1): linear in its coefficients.
        let term = |term: usize, n: f64| [1.0, n - 1.0, n * (n - 1.0)][term];
        // Errors count relative to n / X.
        let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
            points.iter().map(|&(n, x)| of(n, n / x) / (n / x).powi(2)).sum()
        };
        [&[0, 1, 2][..], &[0, 1], &[0, 2], &[0]].into_iter().find_map(|terms| {
            let row = |&one| terms.iter().map(|&other| sum(&|n, _| term(one, n) * term(other, n))).collect();
            let right = terms.iter().map(|&one| sum(&|n, per_x| term(one, n) * per_x)).collect();
            let mut coefficients = [0.0; 3];
            for (&term, value) in terms.iter().zip(solve(terms.iter().map(row).collect(), right)) {
                coefficients[term] = value;
            }
            let [a, b, c] = coefficients;
            (a > 0.0 && b >= 0.0 && c >= 0.0).then(|| Self { lambda: 1.0 / a, sigma: b / a, kappa: c / a })
        })
    }

    pub(super) fn at(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_law_is_found_again_from_its_own_points() {
        let law = Law { lambda: 1000.0, sigma: 0.05, kappa: 0.001 };
        let points = [1.0, 2.0, 4.0].map(|n| (n, law.at(n)));
        let found = Law::fit(&points).expect("three points");
        for n in [1.0, 8.0, 32.0] {
            assert!((found.at(n) / law.at(n) - 1.0).abs() < 1e-6, "{n}: {found:?}");
        }
    }

    #[test]
    fn what_scales_better_than_linearly_is_called_linear() {
        let found = Law::fit(&[(1.0, 10.0), (2.0, 21.0), (4.0, 44.0)]).expect("three points");
        assert!(found.sigma.abs() + found.kappa.abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn fewer_points_or_none_that_were_measured_are_no_law() {
        assert_eq!(Law::fit(&[(1.0, 10.0), (2.0, 20.0)]), None);
        assert_eq!(Law::fit(&[(1.0, 10.0), (2.0, 20.0), (2.0, 20.4)]), None, "two different loads");
        assert_eq!(Law::fit(&[(1.0, 10.0), (2.0, 0.0), (4.0, 1.0)]), None);
    }
}
