//! How well the simulation did: errors of rates, and whether it names the winner.
//!
//! A winner is the lock with the most acquisitions a second at one profile and thread count. A simulated
//! winner whose native rounds overlap with those of the native winner counts as *as good*: the benchmark
//! itself does not tell them apart. The shares are given both ways.
use lab_kit::column::Column;
use lab_kit::export::columns::objects;
use lab_kit::interrupt;
use lab_kit::provenance::Provenance;
use lab_kit::stats::{self, Ratio, Summary};
use serde::{Serialize, Serializer};
use stanchion_cells::scenes::once;

/// One lock of one cell: from a benchmark, then simulated.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Row {
    pub(super) profile: String,
    pub(super) threads: usize,
    pub(super) lock: String,
    pub(super) critical_ns: u64,
    pub(super) think_ns: u64,
    /// CPUs whose time all threads have together.
    pub(super) cpu_limit: Option<f64>,
    /// Acquisitions a second, by round.
    pub(super) native: Summary,
    /// Not every thread got the lock at the end: the rates are those of the window.
    pub(super) stalled: bool,
    /// The same of the simulated runs.
    pub(super) simulated: Summary,
    /// Of the medians, relative: 0.1 is ten per cent too much.
    pub(super) error: Option<f64>,
    /// Simulated to native, by geometric means.
    pub(super) ratio: Option<Ratio>,
}

/// The columns of rows, in files.
pub(super) fn columns() -> [Column<Row>; 14] {
    [
        Column::new("profile", |row: &Row| row.profile.clone()),
        Column::new("threads", |row: &Row| row.threads),
        Column::new("lock", |row: &Row| row.lock.clone()),
        Column::new("native", |row: &Row| row.native.median),
        Column::new("native_min", |row: &Row| row.native.min),
        Column::new("native_max", |row: &Row| row.native.max),
        Column::new("stalled", |row: &Row| row.stalled),
        Column::new("simulated", |row: &Row| row.simulated.median),
        Column::new("simulated_min", |row: &Row| row.simulated.min),
        Column::new("simulated_max", |row: &Row| row.simulated.max),
        Column::new("error", |row: &Row| row.error),
        Column::new("ratio", |row: &Row| row.ratio?.middle()),
        Column::new("ratio_low", |row: &Row| Some(row.ratio?.bounds()?.0)),
        Column::new("ratio_high", |row: &Row| Some(row.ratio?.bounds()?.1)),
    ]
}

fn told<S: Serializer>(rows: &[Row], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(objects(&columns(), rows))
}

impl Row {
    /// The profile without its CPU limit, which stands behind an `@`.
    pub(super) fn unlimited(&self) -> &str {
        self.profile.split('@').next().unwrap_or_default()
    }

    /// The same with the rates of its simulated runs.
    pub(super) fn with(self, rates: Vec<f64>) -> Self {
        let ratio = Ratio::of_unpaired(&[(&rates, &self.native.rounds)]);
        let simulated = Summary::of(rates);
        let error = (self.native.median > 0.0).then(|| simulated.median / self.native.median - 1.0);
        Self { simulated, error, ratio, ..self }
    }
}

/// Whether the simulation knows who wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Match {
    Right,
    /// Another one, which the benchmark cannot tell from its winner.
    AsGood,
    Wrong,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Contest {
    pub(super) profile: String,
    pub(super) threads: usize,
    pub(super) native: String,
    pub(super) simulated: String,
    pub(super) verdict: Match,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Comparison {
    pub(super) schema: u32,
    pub(super) complete: bool,
    pub(super) provenance: Provenance,
    pub(super) machine: String,
    pub(super) native: String,
    #[serde(serialize_with = "told")]
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
    pub(super) fn of(machine: String, native: String, cells: Vec<Result<Row, String>>) -> Self {
        let failures = cells.iter().filter_map(|cell| cell.clone().err()).collect();
        let rows: Vec<Row> = cells.into_iter().flatten().collect();
        let contests = contests(&rows);
        let share = |may: fn(Match) -> bool| {
            let count = contests.iter().filter(|contest| may(contest.verdict)).count();
            count as f64 / contests.len().max(1) as f64
        };
        let median = |lock: Option<&str>| {
            let sizes: Vec<f64> = errors(&rows, lock).iter().map(|error| error.abs()).collect();
            (!sizes.is_empty()).then(|| stats::median(&sizes))
        };
        let of_lock = |lock: &str| Some((lock.to_owned(), median(Some(lock))?));
        let by_lock =
            once(rows.iter().map(|row| row.lock.as_str())).into_iter().filter_map(of_lock).collect();
        Self {
            schema: 2,
            complete: !interrupt::requested(),
            provenance: Provenance::collect(0),
            machine,
            native,
            same_winner: share(|verdict| verdict == Match::Right),
            right_winner: share(|verdict| verdict != Match::Wrong),
            median_error: median(None),
            by_lock,
            contests,
            failures,
            rows,
        }
    }
}

/// The errors of the cells of a lock, or of all.
pub(super) fn errors(rows: &[Row], lock: Option<&str>) -> Vec<f64> {
    let counts = |row: &&Row| lock.is_none_or(|lock| row.lock == lock);
    rows.iter().filter(counts).filter_map(|row| row.error).collect()
}

/// One contest for each profile and thread count that at least two locks take part in.
fn contests(rows: &[Row]) -> Vec<Contest> {
    let contest = |row: &Row| {
        let same = |other: &&Row| other.profile == row.profile && other.threads == row.threads;
        let all: Vec<&Row> = rows.iter().filter(same).collect();
        // Once for all of them, at the first.
        if all.len() < 2 || !core::ptr::eq(all[0], row) {
            return None;
        }
        let best = |rate: fn(&Row) -> f64| all.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)));
        let (native, simulated) = (best(|row| row.native.median)?, best(|row| row.simulated.median)?);
        let verdict = match simulated.native.max >= native.native.min {
            _ if native.lock == simulated.lock => Match::Right,
            true => Match::AsGood,
            false => Match::Wrong,
        };
        let (native, simulated) = (native.lock.clone(), simulated.lock.clone());
        Some(Contest { profile: row.profile.clone(), threads: row.threads, native, simulated, verdict })
    };
    rows.iter().filter_map(contest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(lock: &str, threads: usize, native: [f64; 3], simulated: f64) -> Row {
        let row = Row {
            profile: "p".into(),
            threads,
            lock: lock.into(),
            native: Summary::of(native.to_vec()),
            ..Row::default()
        };
        row.with(vec![simulated])
    }

    fn comparison(cells: Vec<Result<Row, String>>) -> Comparison {
        Comparison::of("m".into(), "n".into(), cells)
    }

    #[test]
    fn winners_are_right_as_good_or_wrong() {
        let comparison = comparison(vec![
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
        let comparison = comparison(vec![Ok(row("a", 1, [1.0, 1.0, 1.0], 1.0)), Err("b: hung".into())]);
        assert!(comparison.contests.is_empty());
        assert_eq!((comparison.rows.len(), comparison.failures.len()), (1, 1));
    }
}
