//! Least squares with priors, by damped Gauss-Newton steps. Knows nothing of machines.

/// How far a parameter is moved to see what it does, in widths of its prior.
const PROBE: f64 = 0.3;
/// Least and largest such move.
const PROBE_RANGE: (f64, f64) = (0.02, 0.2);
/// Farthest that one step goes in any parameter, in widths of its prior.
const LONGEST: f64 = 1.5;
/// Dampings that are tried in each round.
const DAMPINGS: [f64; 4] = [0.01, 0.1, 1.0, 10.0];

/// Where the cost is least, as far as `rounds` steps find it, and the errors there. The cost is squared
/// errors in units of `scale` and squared distances from the priors in units of their widths. `evaluate`
/// gives the errors at each of several points; `None` where it cannot, which at the start of a round ends the
/// search without a result.
pub(super) fn descend(
    start: &[f64],
    start_errors: &[f64],
    priors: &[(f64, f64)],
    scale: f64,
    rounds: u32,
    evaluate: impl Fn(&[Vec<f64>]) -> Vec<Option<Vec<f64>>>,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let cost = |point: &[f64], errors: &[f64]| {
        let misfit: f64 = errors.iter().map(|error| (error / scale).powi(2)).sum();
        let strain = |(value, (centre, width)): (&f64, &(f64, f64))| ((value - centre) / width).powi(2);
        misfit + point.iter().zip(priors).map(strain).sum::<f64>()
    };
    let (mut point, mut errors) = (start.to_vec(), start_errors.to_vec());
    let mut least = cost(&point, &errors);
    for _ in 0..rounds {
        let slopes = slopes(&point, &errors, priors, &evaluate)?;
        let tries = DAMPINGS.map(|damping| step(&point, &errors, &slopes, priors, scale, damping));
        let found = tries.iter().zip(evaluate(&tries));
        let found = found.filter_map(|(point, errors)| Some((cost(point, errors.as_ref()?), point, errors?)));
        let (found_cost, found_point, found_errors) = found.min_by(|one, other| one.0.total_cmp(&other.0))?;
        if found_cost >= least {
            break;
        }
        (least, point, errors) = (found_cost, found_point.clone(), found_errors);
    }
    Some((point, errors))
}

/// By how much each error changes with each parameter: `slopes[parameter][error]`.
fn slopes(
    point: &[f64],
    errors: &[f64],
    priors: &[(f64, f64)],
    evaluate: &impl Fn(&[Vec<f64>]) -> Vec<Option<Vec<f64>>>,
) -> Option<Vec<Vec<f64>>> {
    let distance = |(_, width): &(f64, f64)| (PROBE * width).clamp(PROBE_RANGE.0, PROBE_RANGE.1);
    let moves: Vec<f64> = priors.iter().map(distance).collect();
    let probe = |(parameter, by): (usize, &f64)| {
        let mut probe = point.to_vec();
        probe[parameter] += by;
        probe
    };
    let probes: Vec<Vec<f64>> = moves.iter().enumerate().map(probe).collect();
    let slope = |(moved, by): (Option<Vec<f64>>, &f64)| {
        Some(moved?.iter().zip(errors).map(|(after, before)| (after - before) / by).collect())
    };
    evaluate(&probes).into_iter().zip(&moves).map(slope).collect()
}

/// The point that a step leads to.
fn step(
    point: &[f64],
    errors: &[f64],
    slopes: &[Vec<f64>],
    priors: &[(f64, f64)],
    scale: f64,
    damping: f64,
) -> Vec<f64> {
    let count = point.len();
    let dot = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
    let mut matrix = vec![vec![0.0; count]; count];
    let mut right = vec![0.0; count];
    for row in 0..count {
        let (centre, width) = priors[row];
        for column in 0..count {
            matrix[row][column] = dot(&slopes[row], &slopes[column]) / (scale * scale);
        }
        matrix[row][row] += (1.0 + damping) / (width * width);
        right[row] = -dot(&slopes[row], errors) / (scale * scale) - (point[row] - centre) / (width * width);
    }
    let moves = solve(matrix, right);
    let farthest = moves.iter().zip(priors).map(|(by, (_, width))| (by / width).abs()).fold(0.0, f64::max);
    let shrink = if farthest > LONGEST { LONGEST / farthest } else { 1.0 };
    point.iter().zip(moves).map(|(value, by)| value + by * shrink).collect()
}

/// Solves a system with a symmetric, positive matrix by elimination.
#[expect(clippy::needless_range_loop, reason = "rows and columns of a matrix go by number")]
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Vec<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn systems_are_solved() {
        let found = solve(vec![vec![4.0, 1.0], vec![1.0, 3.0]], vec![1.0, 2.0]);
        assert!((found[0] - 1.0 / 11.0).abs() < 1e-12 && (found[1] - 7.0 / 11.0).abs() < 1e-12, "{found:?}");
    }

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
        let start = vec![1.0_f64.ln(), 1.0_f64.ln()];
        let errors = curve(core::slice::from_ref(&start)).pop().flatten().expect("it has errors");
        let priors = [(start[0], 2.0), (start[1], 2.0)];
        let (end, left) = descend(&start, &errors, &priors, 0.02, 10, curve).expect("nothing fails");
        assert!((end[0].exp() - 2.0).abs() < 0.01 && (end[1].exp() - 0.5).abs() < 0.01, "{end:?}");
        assert!(left.iter().all(|error| error.abs() < 0.01), "{left:?}");
    }

    #[test]
    fn narrow_priors_hold_against_the_data() {
        let start = vec![0.0, 0.0];
        let errors = curve(core::slice::from_ref(&start)).pop().flatten().expect("it has errors");
        let priors = [(0.0, 0.001), (0.0, 0.001)];
        let (end, _) = descend(&start, &errors, &priors, 0.02, 10, curve).expect("nothing fails");
        assert!(end.iter().all(|value| value.abs() < 0.01), "{end:?}");
    }

    #[test]
    fn a_search_that_is_stopped_has_no_result() {
        let stopped = descend(&[0.0], &[1.0], &[(0.0, 1.0)], 0.02, 3, |points| vec![None; points.len()]);
        assert!(stopped.is_none());
    }
}
