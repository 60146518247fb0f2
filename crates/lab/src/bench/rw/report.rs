//! The result of a run: that of the mutexes, and what it tells of each side.
use super::cell::RwOutcome;
use super::mix::Mix;
use crate::bench::cell::{CellOutcome, Pass, Waits};
use crate::bench::contender::Kind;
use crate::bench::report::{Cell, Latency, Report, State};
use crate::bench::stats::{Fairness, Summary, median};
use serde::{Deserialize, Serialize};

/// Lock and unlock by one thread, in nanoseconds, the bare loop included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RwUncontended {
    pub lock: String,
    pub read_ns: Summary,
    pub write_ns: Summary,
}

/// What one side got.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Side {
    /// Acquisitions per second; none if nobody is on this side.
    pub throughput: Option<Summary>,
    pub latency: Option<Latency>,
    /// Among the threads of this side, if they do nothing else.
    pub fairness: Option<Fairness>,
}

/// One lock, one profile, one mix, one number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RwCell {
    /// Both sides together. Fairness is that of threads that all do the same.
    #[serde(flatten)]
    pub both: Cell,
    #[serde(flatten)]
    pub mix: Mix,
    pub reads: Side,
    pub writes: Side,
}

pub(crate) type RwReport = Report<RwCell, RwUncontended>;

impl AsRef<Cell> for RwCell {
    fn as_ref(&self) -> &Cell {
        &self.both
    }
}

impl RwCell {
    /// Puts the rounds of a cell together.
    pub(crate) fn of(
        lock: &str,
        (profile, mix, threads): (&str, Mix, usize),
        state: State,
        rounds: &[(Pass, RwOutcome)],
    ) -> Self {
        let cells: Vec<(Pass, CellOutcome)> =
            rounds.iter().map(|(pass, outcome)| (*pass, outcome.cell.clone())).collect();
        let mut both = Cell::of(lock, profile, threads, state, &cells);
        let dedicated = matches!(mix, Mix::Dedicated { .. });
        if dedicated {
            both.fairness = None;
        }
        let (anybody_reads, anybody_writes) = mix.sides();
        let readers = mix.column(threads);
        let threads_of = |range: core::ops::Range<usize>| dedicated.then_some(range);
        let reads =
            Side::of(rounds, RwOutcome::reads, |outcome| outcome.read_waits.as_ref(), threads_of(0..readers));
        let writes = Side::of(
            rounds,
            |outcome| outcome.writes.clone(),
            |outcome| outcome.write_waits.as_ref(),
            threads_of(readers..threads),
        );
        Self {
            both,
            mix,
            reads: if anybody_reads { reads } else { Side::default() },
            writes: if anybody_writes { writes } else { Side::default() },
        }
    }

    /// Both sides by name.
    pub(crate) fn sides(&self) -> [(&'static str, &Side); 2] {
        [("reads", &self.reads), ("writes", &self.writes)]
    }
}

impl Side {
    /// Puts the rounds of one side together; `among` are the threads that do nothing else.
    fn of(
        rounds: &[(Pass, RwOutcome)],
        counts: fn(&RwOutcome) -> Vec<u64>,
        waits: fn(&RwOutcome) -> Option<&Waits>,
        among: Option<core::ops::Range<usize>>,
    ) -> Self {
        let of_pass = |pass| rounds.iter().filter(move |(of, _)| *of == pass).map(|(_, outcome)| outcome);
        let rates: Vec<f64> =
            of_pass(Pass::Throughput).map(|outcome| outcome.rate(&counts(outcome))).collect();
        let fairness = |range: core::ops::Range<usize>| {
            let of_round = |outcome| Fairness::of(counts(outcome).get(range.clone()).unwrap_or_default());
            let rounds: Vec<Fairness> = of_pass(Pass::Throughput).map(of_round).collect();
            let middle = |pick: fn(&Fairness) -> f64| median(&rounds.iter().map(pick).collect::<Vec<_>>());
            (!rounds.is_empty()).then(|| Fairness {
                min_over_max: middle(|fairness| fairness.min_over_max),
                jain: middle(|fairness| fairness.jain),
            })
        };
        Self {
            throughput: (!rates.is_empty()).then(|| Summary::of(rates)),
            latency: of_pass(Pass::Latency)
                .any(|outcome| waits(outcome).is_some())
                .then(|| Latency::of(of_pass(Pass::Latency).filter_map(waits))),
            fairness: among.and_then(fairness),
        }
    }

    /// Acquisitions per second, if anybody is on this side.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.throughput.as_ref().map(|throughput| throughput.median)
    }
}

impl RwReport {
    /// The cells of one profile and mix.
    pub(crate) fn section(&self, profile: &str, mix: Mix) -> impl Iterator<Item = &RwCell> {
        self.cells.iter().filter(move |cell| cell.both.profile == profile && cell.mix == mix)
    }

    /// The cell of a lock in one column of a section.
    pub(crate) fn at(&self, lock: &str, profile: &str, mix: Mix, column: usize) -> Option<&RwCell> {
        let threads = mix.threads(column);
        self.section(profile, mix).find(|cell| cell.both.lock == lock && cell.both.threads == threads)
    }

    /// The sound cells in one column of a section.
    pub(crate) fn column(&self, profile: &str, mix: Mix, column: usize) -> Vec<&RwCell> {
        let threads = mix.threads(column);
        let sound = |cell: &&RwCell| cell.both.threads == threads && cell.both.state == State::Measured;
        self.section(profile, mix).filter(sound).collect()
    }

    /// The sound cell of a kind of lock with most acquisitions per second in one column of a section.
    pub(crate) fn fastest(&self, kind: Kind, profile: &str, mix: Mix, column: usize) -> Option<&RwCell> {
        let column = self.column(profile, mix, column).into_iter();
        let of_kind = column.filter(|cell| self.kind(&cell.both.lock) == Some(kind));
        of_kind.max_by(|a, b| a.both.rate().total_cmp(&b.both.rate()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rw::testing::{HALF, outcome};

    fn rounds(pass: Pass, reads: &[u64], writes: &[u64]) -> Vec<(Pass, RwOutcome)> {
        vec![(pass, outcome(pass, reads, writes))]
    }

    #[test]
    fn each_side_has_its_own_rate_and_both_together_theirs() {
        let cell =
            RwCell::of("l", ("p", HALF, 2), State::Measured, &rounds(Pass::Throughput, &[3, 5], &[1, 1]));
        // Within a millisecond.
        assert_eq!((cell.reads.rate(), cell.writes.rate()), (Some(8_000.0), Some(2_000.0)));
        assert!((cell.both.rate() - 10_000.0).abs() < 1e-6);
        assert!((cell.both.fairness.expect("threads do the same").min_over_max - 4.0 / 6.0).abs() < 1e-9);
        assert_eq!(cell.reads.fairness, None);
    }

    #[test]
    fn threads_that_do_one_thing_only_are_compared_among_themselves() {
        let mix = Mix::Dedicated { writers: 1 };
        let cell = RwCell::of(
            "l",
            ("p", mix, 3),
            State::Measured,
            &rounds(Pass::Throughput, &[8, 4, 0], &[0, 0, 1]),
        );
        assert_eq!(cell.both.fairness, None);
        let fairness = |side: &Side| side.fairness.expect("measured").min_over_max;
        assert!((fairness(&cell.reads) - 0.5).abs() < 1e-9 && (fairness(&cell.writes) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn a_side_that_nobody_takes_has_no_figures() {
        let mix = Mix::Drawn { reads_percent: 100.0 };
        let cell = RwCell::of("l", ("p", mix, 1), State::Measured, &rounds(Pass::Latency, &[9], &[0]));
        assert_eq!(cell.writes, Side::default());
        assert_eq!(cell.reads.latency.map(|latency| latency.p50_ns), Some(100));
    }

    #[test]
    fn a_cell_survives_json() {
        let cell = RwCell::of(
            "l",
            ("p", HALF, 1),
            State::Torn { of_reads: 9, torn: 1 },
            &rounds(Pass::Latency, &[9], &[2]),
        );
        let text = serde_json::to_string(&cell).expect("plain data");
        assert_eq!(serde_json::from_str::<RwCell>(&text).expect("parses"), cell);
        assert!(
            text.contains("\"mix\":\"drawn\",\"reads_percent\":50.0") && text.contains("\"state\":\"torn\"")
        );
    }
}
