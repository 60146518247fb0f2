//! What was predicted beside what was measured, and what that comes to.
use core::fmt::Write as _;
use lab_kit::stats::{Ratio, median};
use lab_kit::units::{percent, three_figures};
use serde::{Deserialize, Serialize};

/// Advice is right if its lock is within so much of the best.
const RIGHT: f64 = 0.95;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) program: String,
    pub(super) threads: usize,
    pub(super) limit: Option<f64>,
    pub(super) lock: String,
    /// Of the program's own kind, a second: the median of its rounds.
    pub(super) measured: f64,
    /// Each round, and libc's at the recorded load in the same round.
    pub(super) rounds: Vec<(f64, f64)>,
    /// As multiples of libc's at the recorded load, both.
    pub(super) ratio: Ratio,
    pub(super) predicted: f64,
    /// What the law says, without the lock.
    pub(super) law: Option<f64>,
    /// Whether the law was fitted to what was measured here, so that it says nothing.
    pub(super) is_fitted: bool,
    /// Whether `stanchion advise` said to take this lock here.
    pub(super) advised: bool,
}

impl Cell {
    fn error(&self) -> f64 {
        (self.predicted / self.ratio.ratio - 1.0).abs()
    }

    fn error_of_law(&self) -> Option<f64> {
        Some((self.law? / self.ratio.ratio - 1.0).abs())
    }

    /// Of each cell, its ratio by every second round; 0 if there is none.
    fn by_half(cells: &[Self], half: usize) -> Vec<f64> {
        let of = |cell: &Self| {
            let rounds: Vec<(f64, f64)> = cell.rounds.iter().skip(half).step_by(2).copied().collect();
            Ratio::of_pairs(&rounds).map_or(0.0, |ratio| ratio.ratio)
        };
        cells.iter().map(of).collect()
    }

    /// Whether rounds tell for sure that this is more than 5 % better than `other` with the same load.
    fn is_surely_better(&self, other: &Self) -> bool {
        let rates = |cell: &Self| cell.rounds.iter().map(|(own, _)| *own).collect::<Vec<f64>>();
        let ratio = Ratio::of(&[(&rates(self), &rates(other))]);
        ratio.is_some_and(|ratio| ratio.is_clear() && ratio.ends().0 * RIGHT > 1.0)
    }
}

/// Makes the predictions of a program multiples of that for the load that was recorded, which is the first.
pub(super) fn normalise(cells: &mut [Cell]) {
    let one = cells[0].predicted;
    for cell in cells {
        cell.predicted /= one;
    }
}

pub(super) fn markdown(cells: &[Cell]) -> String {
    let mut out = String::from(
        "| program | threads | lock | measured /s | ratio | predicted | error | law's error |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for cell in cells {
        let Cell { program, threads, lock, ratio, predicted, .. } = cell;
        let limit = cell.limit.map(|limit| format!(", limit of {limit} CPUs")).unwrap_or_default();
        let advised = if cell.advised { " (advised)" } else { "" };
        let (measured, error) = (three_figures(cell.measured), percent(cell.error()));
        let law = cell.error_of_law().map(percent).unwrap_or_default();
        let _ = writeln!(
            out,
            "| {program} | {threads}{limit} | {lock}{advised} | {measured} | {ratio} | {predicted:.2} | {error} | {law} |"
        );
    }
    let judged = Judged::of(cells);
    let Judged { right, surely_wrong, right_by_half, right_of_rounds, loads, below_law, programs, .. } =
        &judged;
    let _ = write!(
        out,
        "\nThe advised lock is the best or within 5 % of it in {right} of {loads} loads, and in {surely_wrong} rounds tell for sure that it is not. "
    );
    if cells.iter().all(|cell| cell.rounds.len() > 1) {
        let _ = write!(
            out,
            "By half of the rounds it is in {right_by_half}, and the lock that the other half would choose in {right_of_rounds}. "
        );
    }
    let _ = writeln!(
        out,
        "The median error is {}. Where the law was not fitted, it is below the law's in {below_law} of {programs} programs.",
        percent(judged.error)
    );
    out
}

/// Whether the lock at this place is as good as the best.
fn is_right(rates: &[f64], at: usize) -> bool {
    rates[at] >= RIGHT * rates.iter().copied().fold(0.0, f64::max)
}

/// What the predictions come to. The load that was recorded, under libc's locks, is the first of each
/// program, and no prediction.
#[derive(Debug, PartialEq)]
struct Judged {
    /// Loads in which the advised lock is as good as the best.
    right: usize,
    /// In which another one is better, and not by chance.
    surely_wrong: usize,
    /// Loads in which it is as good as the best by one half of the rounds, as the mean of both halves.
    right_by_half: f64,
    /// The same of the lock that the other half of the rounds would choose: how much is chance.
    right_of_rounds: f64,
    loads: usize,
    /// The median.
    error: f64,
    /// Programs in which the error is below the law's, where that was not fitted.
    below_law: usize,
    programs: usize,
}

impl Judged {
    fn of(cells: &[Cell]) -> Self {
        let load = |cell: &Cell| (cell.program.clone(), cell.threads, cell.limit.map(f64::to_bits));
        let loads: Vec<&[Cell]> = cells.chunk_by(|a, b| load(a) == load(b)).collect();
        let right = loads.iter().filter(|cells| {
            let rates: Vec<f64> = cells.iter().map(|cell| cell.ratio.ratio).collect();
            cells.iter().position(|cell| cell.advised).is_some_and(|advised| is_right(&rates, advised))
        });
        let halves = || loads.iter().flat_map(|cells| [0, 1].map(|half| (cells, half)));
        let share = |count: usize| count as f64 / 2.0;
        let by_half = halves().filter(|&(cells, half)| {
            let advised = cells.iter().position(|cell| cell.advised);
            advised.is_some_and(|advised| is_right(&Cell::by_half(cells, half), advised))
        });
        let of_rounds = halves().filter(|&(cells, half)| {
            let other = Cell::by_half(cells, 1 - half);
            let chosen = other.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
            chosen.is_some_and(|(chosen, _)| is_right(&Cell::by_half(cells, half), chosen))
        });
        let surely_wrong = loads.iter().filter(|cells| {
            let advised = cells.iter().find(|cell| cell.advised);
            advised.is_none_or(|advised| cells.iter().any(|cell| cell.is_surely_better(advised)))
        });
        let programs: Vec<&[Cell]> = cells.chunk_by(|a, b| a.program == b.program).collect();
        let below_law = programs.iter().filter(|cells| {
            let both = cells.iter().filter(|cell| !cell.is_fitted);
            let both = both.filter_map(|cell| Some((cell.error(), cell.error_of_law()?)));
            let (ours, laws): (Vec<f64>, Vec<f64>) = both.unzip();
            median(&ours) < median(&laws)
        });
        let errors: Vec<f64> = programs.iter().flat_map(|cells| &cells[1..]).map(Cell::error).collect();
        Self {
            right: right.count(),
            surely_wrong: surely_wrong.count(),
            right_by_half: share(by_half.count()),
            right_of_rounds: share(of_rounds.count()),
            loads: loads.len(),
            error: median(&errors),
            below_law: below_law.count(),
            programs: programs.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::measure::LIBC;
    use super::*;

    /// The law says what libc's locks do, and half as much again of others.
    fn cell(threads: usize, lock: &str, ratio: f64, predicted: f64, advised: bool) -> Cell {
        let is_fitted = lock == LIBC;
        Cell {
            program: "p".to_owned(),
            threads,
            limit: None,
            lock: lock.to_owned(),
            measured: 7.0,
            rounds: vec![(ratio, 1.0); 5],
            ratio: Ratio { ratio, interval: Some((ratio, ratio)), range: None, mixed: false, pairs: 5 },
            predicted,
            law: Some(if is_fitted { ratio } else { ratio * 1.5 }),
            is_fitted,
            advised,
        }
    }

    #[test]
    fn predictions_are_multiples_of_what_was_recorded() {
        let mut cells = [cell(2, "libc", 1.0, 50.0, true), cell(8, "libc", 1.0, 25.0, true)];
        normalise(&mut cells);
        assert!(cells[0].error() < 1e-9 && (cells[1].predicted - 0.5).abs() < 1e-9, "{cells:?}");
    }

    #[test]
    fn advice_is_judged_by_what_was_measured() {
        let cells = [
            cell(2, "libc", 1.0, 1.0, false),
            cell(2, "x", 0.97, 1.1, true),
            cell(8, "libc", 1.0, 1.2, true),
            cell(8, "x", 2.0, 1.0, false),
            cell(32, "libc", 1.0, 1.3, true),
        ];
        let judged = Judged::of(&cells);
        assert_eq!((judged.right, judged.loads), (2, 3), "at 8 threads libc's was advised, and x is better");
        assert_eq!(judged.surely_wrong, 1, "five rounds of five say so");
        assert!((judged.error - 0.25).abs() < 1e-9, "{judged:?}");
        let below_law = (judged.below_law, judged.programs);
        assert_eq!(below_law, (1, 1), "32 % to 50 %: that it is exact where it was fitted does not count");
    }

    #[test]
    fn rounds_judge_each_other_by_halves() {
        let rounds = |cell: &mut Cell, own: [f64; 4]| cell.rounds = own.map(|own| (own, 1.0)).to_vec();
        let mut cells = [cell(8, "libc", 1.0, 1.0, true), cell(8, "x", 1.0, 1.0, false)];
        rounds(&mut cells[1], [2.0; 4]);
        let halves = |cells: &[Cell]| {
            let judged = Judged::of(cells);
            (judged.right_by_half, judged.right_of_rounds)
        };
        assert_eq!(halves(&cells), (0.0, 1.0), "each half chooses x, and the other one agrees");
        rounds(&mut cells[1], [2.0, 0.5, 2.0, 0.5]);
        assert_eq!(halves(&cells), (0.5, 0.0), "what one half chooses, the other one refutes");
    }

    #[test]
    fn rounds_that_disagree_decide_nothing() {
        let mut cells = [cell(8, "libc", 1.0, 1.0, true), cell(8, "x", 1.1, 1.0, false)];
        cells[1].rounds = vec![(2.0, 1.0), (0.7, 1.0), (1.4, 1.0), (0.6, 1.0), (1.5, 1.0)];
        let judged = Judged::of(&cells);
        assert_eq!((judged.right, judged.surely_wrong), (0, 0), "better by chance");
        cells[0].advised = false;
        assert_eq!(Judged::of(&cells).surely_wrong, 1, "no advice is wrong advice");
    }
}
