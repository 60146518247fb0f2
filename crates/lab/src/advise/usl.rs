//! The universal scalability law (Gunther): throughput at *n* threads is λn / (1 + σ(n − 1) + κn(n − 1)),
//! with σ for what is serial and κ for what everybody has to agree on. Fitted to measured loads, it is what a
//! prediction has to beat. It knows neither locks nor machines.
use serde::Serialize;

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
            "not three loads or more with what was reached: write for example 1=1000,2=1900,4=3300".to_owned()
        })
    }

    /// The law through measured points (threads, throughput), of which there must be three; more are fitted
    /// by least squares. Coefficients below 0 mean nothing, and are left out.
    pub(super) fn fit(points: &[(f64, f64)]) -> Option<Self> {
        let sound = |&(n, x): &(f64, f64)| n >= 1.0 && x > 0.0 && x.is_finite();
        if points.len() < 3 || !points.iter().all(sound) {
            return None;
        }
        // n / X = a + b (n − 1) + c n (n − 1): linear in its coefficients.
        let mut rows = [[0.0; 4]; 3];
        for &(n, x) in points {
            let columns = [1.0, n - 1.0, n * (n - 1.0), n / x];
            for (row, term) in rows.iter_mut().zip(columns) {
                row.iter_mut().zip(columns).for_each(|(cell, other)| *cell += term * other / (n / x).powi(2));
            }
        }
        [&[][..], &[2], &[1], &[1, 2]].into_iter().find_map(|left_out| {
            let mut rows = rows;
            for &term in left_out {
                for row in &mut rows {
                    row[term] = 0.0;
                }
                rows[term] = [0.0; 4];
                rows[term][term] = 1.0;
            }
            let [a, b, c] = solve(rows)?;
            (a > 0.0 && b >= 0.0 && c >= 0.0).then(|| Self { lambda: 1.0 / a, sigma: b / a, kappa: c / a })
        })
    }

    pub(super) fn at(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }
}

/// Gauss's elimination, with the right-hand side in the last column.
fn solve(mut rows: [[f64; 4]; 3]) -> Option<[f64; 3]> {
    for column in 0..3 {
        let best = (column..3).max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))?;
        rows.swap(column, best);
        let pivot = rows[column];
        if pivot[column].abs() < 1e-12 {
            return None;
        }
        for (_, row) in rows.iter_mut().enumerate().filter(|(index, _)| *index != column) {
            let factor = row[column] / pivot[column];
            row.iter_mut().zip(pivot).for_each(|(cell, above)| *cell -= factor * above);
        }
    }
    Some([0, 1, 2].map(|index| rows[index][3] / rows[index][index]))
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
        assert_eq!(Law::fit(&[(1.0, 10.0), (2.0, 0.0), (4.0, 1.0)]), None);
    }
}
