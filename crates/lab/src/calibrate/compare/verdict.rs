//! How well the simulation did: errors of rates, and whether it names the winner.
//!
//! A winner is the lock with the most acquisitions a second at one profile and thread count. Where the
//! benchmark's rounds of two locks overlap, the benchmark itself does not tell them apart; so a simulated
//! winner whose native rounds reach into those of the native winner counts as *as good*. The shares are given
//! both ways.
use super::native::Cell;
use lab_kit::stats::Summary;
use serde::Serialize;

/// One lock of one cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Row {
    pub(super) profile: String,
    pub(super) threads: usize,
    pub(super) lock: String,
    pub(super) native: f64,
    pub(super) native_min: f64,
    pub(super) native_max: f64,
    pub(super) stalled: bool,
    pub(super) simulated: f64,
    pub(super) simulated_min: f64,
    pub(super) simulated_max: f64,
    /// Relative: 0.1 is ten per cent too much.
    pub(super) error: Option<f64>,
}

impl Row {
    /// Of a native cell and the rates of its simulated runs.
    pub(super) fn of(native: &Cell, simulated: &Summary) -> Self {
        Self {
            profile: native.profile.clone(),
            threads: native.threads,
            lock: native.lock.clone(),
            native: native.rate,
            native_min: native.least,
            native_max: native.most,
            stalled: native.state == "stalled",
            simulated: simulated.median,
            simulated_min: simulated.min,
            simulated_max: simulated.max,
            error: (native.rate > 0.0).then(|| simulated.median / native.rate - 1.0),
        }
    }
}

/// Whether the simulation knows who wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Match {
    /// The same lock wins.
    Right,
    /// Another one, which the benchmark cannot tell from its winner.
    AsGood,
    /// Another one.
    Wrong,
}

/// One profile at one thread count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Contest {
    pub(super) profile: String,
    pub(super) threads: usize,
    pub(super) native: String,
    pub(super) simulated: String,
    pub(super) verdict: Match,
}

/// All of it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Comparison {
    pub(super) rows: Vec<Row>,
    pub(super) contests: Vec<Contest>,
    /// Shares of contests whose winner is the same, and the same or as good.
    pub(super) same_winner: f64,
    pub(super) right_winner: f64,
    /// Of the errors without their signs: over all cells, and by lock.
    pub(super) median_error: Option<f64>,
    pub(super) by_lock: Vec<(String, f64)>,
    pub(super) failures: Vec<String>,
}

impl Comparison {
    /// Of all cells, and of why some were not simulated.
    pub(super) fn of(cells: Vec<Result<Row, String>>) -> Self {
        let (rows, failures): (Vec<_>, Vec<_>) = cells.into_iter().partition(Result::is_ok);
        let rows: Vec<Row> = rows.into_iter().flatten().collect();
        let failures = failures.into_iter().filter_map(Result::err).collect();
        let contests = contests(&rows);
        let share = |may: fn(Match) -> bool| {
            let count = contests.iter().filter(|contest| may(contest.verdict)).count();
            count as f64 / contests.len().max(1) as f64
        };
        let mut by_lock: Vec<(String, f64)> = Vec::new();
        for row in &rows {
            let median = median(rows.iter().filter(|other| other.lock == row.lock));
            if let Some(median) = median.filter(|_| by_lock.iter().all(|(lock, _)| *lock != row.lock)) {
                by_lock.push((row.lock.clone(), median));
            }
        }
        Self {
            same_winner: share(|verdict| verdict == Match::Right),
            right_winner: share(|verdict| verdict != Match::Wrong),
            median_error: median(rows.iter()),
            by_lock,
            contests,
            failures,
            rows,
        }
    }
}

fn median<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<f64> {
    let errors: Vec<f64> = rows.filter_map(|row| row.error.map(f64::abs)).collect();
    crate::calibrate::sample::Figure::of(&errors).map(|figure| figure.median)
}

/// One contest for each profile and thread count that at least two locks take part in.
fn contests(rows: &[Row]) -> Vec<Contest> {
    let contest = |(index, row): (usize, &Row)| {
        let same = |other: &&Row| other.profile == row.profile && other.threads == row.threads;
        if rows[..index].iter().any(|other| same(&other))
            || !rows[index + 1..].iter().any(|other| same(&other))
        {
            return None;
        }
        let rates = |rate: fn(&Row) -> f64| move |a: &&Row, b: &&Row| rate(a).total_cmp(&rate(b));
        let native = rows.iter().filter(same).max_by(rates(|row| row.native))?;
        let simulated = rows.iter().filter(same).max_by(rates(|row| row.simulated))?;
        let verdict = match simulated.native_max >= native.native_min {
            _ if native.lock == simulated.lock => Match::Right,
            true => Match::AsGood,
            false => Match::Wrong,
        };
        let (native, simulated) = (native.lock.clone(), simulated.lock.clone());
        Some(Contest { profile: row.profile.clone(), threads: row.threads, native, simulated, verdict })
    };
    rows.iter().enumerate().filter_map(contest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(lock: &str, threads: usize, native: [f64; 3], simulated: f64) -> Row {
        let native = Cell {
            lock: lock.into(),
            profile: "p".into(),
            critical_ns: 0,
            think_ns: 0,
            threads,
            state: "measured".into(),
            rate: native[1],
            least: native[0],
            most: native[2],
        };
        Row::of(&native, &Summary::of(vec![simulated]))
    }

    #[test]
    fn winners_are_right_as_good_or_wrong() {
        let comparison = Comparison::of(vec![
            Ok(row("a", 1, [9.0, 10.0, 11.0], 12.0)),
            Ok(row("b", 1, [5.0, 6.0, 7.0], 6.0)),
            Ok(row("a", 2, [9.0, 10.0, 11.0], 8.0)),
            Ok(row("b", 2, [8.0, 9.0, 9.5], 9.0)),
            Ok(row("a", 4, [9.0, 10.0, 11.0], 8.0)),
            Ok(row("b", 4, [5.0, 6.0, 7.0], 9.0)),
        ]);
        let verdicts: Vec<Match> = comparison.contests.iter().map(|contest| contest.verdict).collect();
        assert_eq!(verdicts, [Match::Right, Match::AsGood, Match::Wrong]);
        assert!((comparison.same_winner - 1.0 / 3.0).abs() < 1e-9);
        assert!((comparison.right_winner - 2.0 / 3.0).abs() < 1e-9);
        // 0.2, 0, 0.2, 0, 0.2, 0.5
        assert!(comparison.median_error.is_some_and(|error| (error - 0.2).abs() < 1e-9));
    }

    #[test]
    fn a_lock_alone_is_no_contest_and_a_failure_is_told() {
        let comparison = Comparison::of(vec![Ok(row("a", 1, [1.0, 1.0, 1.0], 1.0)), Err("b: hung".into())]);
        assert!(comparison.contests.is_empty());
        assert_eq!((comparison.rows.len(), comparison.failures.len()), (1, 1));
    }
}
