//! Least squares with priors, by damped Gauss-Newton steps. Knows nothing of machines.
use lab_kit::stats::solve;

/// How far a parameter is moved to see what it does, in widths of its prior.
const PROBE: f64 = 0.3;
/// Least and largest such move.
const PROBE_RANGE: (f64, f64) = (0.02, 0.2);
/// Farthest that one step goes in any parameter, in widths of its prior.
const LONGEST: f64 = 1.5;
const DAMPINGS: [f64; 4] = [0.01, 0.1, 1.0, 10.0];

/// A point, and what was found there.
pub(super) type Found<T> = (Vec<f64>, T);

/// The start, and where the cost is least, as far as `rounds` steps find it. The cost is squared errors in
/// units of `scale` and squared distances from the priors in units of their widths. `evaluate` finds what
/// `errors` are made of at several points; where it cannot at the start of a round, there is no result.
pub(super) fn descend<T: Clone>(
    start: Vec<f64>,
    priors: &[(f64, f64)],
    scale: f64,
    rounds: u32,
    evaluate: impl Fn(&[Vec<f64>]) -> Vec<Option<T>>,
    errors: impl Fn(&T) -> Vec<f64>,
) -> Option<(Found<T>, Found<T>)> {
    let cost = |(point, found): &Found<T>| {
        let misfit: f64 = errors(found).iter().map(|error| (error / scale).powi(2)).sum();
        let strain = |(value, (centre, width)): (&f64, &(f64, f64))| ((value - centre) / width).powi(2);
        misfit + point.iter().zip(priors).map(strain).sum::<f64>()
    };
    let found = evaluate(core::slice::from_ref(&start)).pop()??;
    let before = (start, found);
    let mut best = before.clone();
    for _ in 0..rounds {
        let (point, here) = (&best.0, errors(&best.1));
        // For each parameter how far it is moved to see what it does, and to which point.
        let probe = |(parameter, (_, width)): (usize, &(f64, f64))| {
            let by = (PROBE * width).clamp(PROBE_RANGE.0, PROBE_RANGE.1);
            let mut probe = point.clone();
            probe[parameter] += by;
            (by, probe)
        };
        let (moves, probes): (Vec<f64>, Vec<Vec<f64>>) = priors.iter().enumerate().map(probe).unzip();
        // By how much each error changes with each parameter.
        let slope = |(moved, by): (Option<T>, f64)| {
            Some(errors(&moved?).iter().zip(&here).map(|(after, before)| (after - before) / by).collect())
        };
        let slopes: Option<Vec<Vec<f64>>> = evaluate(&probes).into_iter().zip(moves).map(slope).collect();
        let slopes = slopes?;
        let dot = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
        let row = |one: &Vec<f64>| slopes.iter().map(|other| dot(one, other) / (scale * scale)).collect();
        // To where the linearised cost is least, but not too far.
        let step = |damping: f64| -> Vec<f64> {
            let mut matrix: Vec<Vec<f64>> = slopes.iter().map(row).collect();
            let mut right = Vec::new();
            for (row, (centre, width)) in priors.iter().enumerate() {
                let strain = (point[row] - centre) / (width * width);
                matrix[row][row] += (1.0 + damping) / (width * width);
                right.push(-dot(&slopes[row], &here) / (scale * scale) - strain);
            }
            let moves = solve(matrix, right);
            let widths = moves.iter().zip(priors).map(|(by, (_, width))| (by / width).abs());
            let farthest = widths.fold(0.0, f64::max);
            let shrink = if farthest > LONGEST { LONGEST / farthest } else { 1.0 };
            point.iter().zip(moves).map(|(value, by)| value + by * shrink).collect()
        };
        let tries = DAMPINGS.map(step);
        let found = evaluate(&tries).into_iter().zip(tries).filter_map(|(found, at)| Some((at, found?)));
        let next = found.min_by(|one, other| cost(one).total_cmp(&cost(other)))?;
        if cost(&next) >= cost(&best) {
            break;
        }
        best = next;
    }
    Some((before, best))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors of a curve `a * x + b * x^2` against one with known `a` and `b`, in logarithms.
    fn curve(points: &[Vec<f64>]) -> Vec<Option<Vec<f64>>> {
        let at = |a: f64, b: f64, x: f64| (a * x + b * x * x).ln();
        let errors = |point: &Vec<f64>| {
            let row = |x: f64| at(point[0].exp(), point[1].exp(), x) - at(2.0, 0.5, x);
            Some([0.1, 0.5, 1.0, 3.0, 10.0, 30.0].map(row).to_vec())
        };
        points.iter().map(errors).collect()
    }

    #[test]
    fn wide_priors_let_the_data_speak() {
        let priors = [(0.0, 2.0), (0.0, 2.0)];
        let start = vec![0.0, 0.0];
        let (before, (end, left)) =
            descend(start.clone(), &priors, 0.02, 10, curve, Vec::clone).expect("nothing fails");
        assert_eq!((Some(Some(before.1)), before.0), (curve(core::slice::from_ref(&start)).pop(), start));
        assert!((end[0].exp() - 2.0).abs() < 0.01 && (end[1].exp() - 0.5).abs() < 0.01, "{end:?}");
        assert!(left.iter().all(|error| error.abs() < 0.01), "{left:?}");
    }

    #[test]
    fn narrow_priors_hold_against_the_data() {
        let priors = [(0.0, 0.001), (0.0, 0.001)];
        let found = descend(vec![0.0, 0.0], &priors, 0.02, 10, curve, Vec::clone);
        let (_, (end, _)) = found.expect("nothing fails");
        assert!(end.iter().all(|value| value.abs() < 0.01), "{end:?}");
    }

    #[test]
    fn a_search_that_is_stopped_has_no_result() {
        let search = |stop: usize| {
            let evaluate = |points: &[Vec<f64>]| vec![(points.len() < stop).then(|| vec![1.0]); points.len()];
            descend(vec![0.0], &[(0.0, 1.0)], 0.02, 3, evaluate, Vec::clone)
        };
        assert!(search(1).is_none() && search(2).is_none(), "at once, and before the first step");
        assert!(search(9).is_some());
    }
}
