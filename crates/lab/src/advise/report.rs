//! What is known in the end, and what is advised.
use super::load::{Lock, Recording};
use super::predict::{Cell, TODAY};
use super::usl::Law;
use crate::run::DEFAULT;
use lab_kit::provenance::Provenance;
use lab_kit::stats::Ratio;
use serde::Serialize;
use stanchion_cells::scenes::once;
use std::path::PathBuf;

const SCHEMA: u32 = 1;
/// A gain below this is none: the simulator is no better than that.
const WORTH: f64 = 0.03;
/// Gains that differ by less are as good as each other, as `cargo xtask programs --advise` allows.
const SAME: f64 = 0.05;
/// Who waits for less of the time than this has nothing to gain from locks.
const IDLE: f64 = 0.005;
/// Who waits for this much of the time may gain as much as would matter.
pub(super) const WAITS: f64 = 0.05;
/// Seeds differ much if their mean is not known better than to this.
pub(super) const WIDE: f64 = 0.15;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub schema: u32,
    pub complete: bool,
    pub provenance: Provenance,
    pub recording: Recording,
    pub cells: Vec<Cell>,
    pub what_if: Vec<WhatIf>,
    pub law: Option<Law>,
    pub advice: Option<Advice>,
    /// The interposer that was named.
    #[serde(skip)]
    pub library: Option<PathBuf>,
    /// The locks that were named: for the page.
    #[serde(skip)]
    pub chosen: Vec<String>,
    /// What threads do in the case that decided, today and as advised: for the page.
    #[serde(skip)]
    pub timelines: Vec<String>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct WhatIf {
    pub what: &'static str,
    pub today: Cell,
    pub advised: Cell,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outlook {
    Helps,
    /// It may: threads wait, and no gain is sure.
    Open,
    None,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Advice {
    pub lock: String,
    /// The share of their time that threads wait for locks today, in the worst case.
    pub waiting: f64,
    pub outlook: Outlook,
    /// Throughput of today's locks if sleeping and waking cost nothing, over what it is: of an open case.
    pub free: Option<Ratio>,
    /// What to run with: the lock, or today's.
    pub take: String,
    /// The case in which it gains most: its place among the cells, and today's.
    pub at: usize,
    pub today: usize,
    pub gain: Ratio,
}

impl Report {
    /// Of the cells that the user waited for, if not all.
    pub(super) fn new(recording: Recording, cells: Vec<Option<Cell>>, law: Option<Law>, seed: u64) -> Self {
        let mut report = Self {
            schema: SCHEMA,
            complete: cells.iter().all(Option::is_some),
            provenance: Provenance::collect(seed),
            recording,
            cells: cells.into_iter().flatten().collect(),
            what_if: Vec::new(),
            law,
            advice: None,
            library: None,
            chosen: Vec::new(),
            timelines: Vec::new(),
        };
        report.advice = report.decide();
        report
    }

    /// Cells of places in which seeds of today's lock differ much, or of the advised one.
    pub(super) fn doubtful(&self) -> Vec<usize> {
        let Some(advice) = &self.advice else { return Vec::new() };
        let place = |cell: &Cell| (cell.machine.clone(), cell.workers);
        let is_doubtful = |at: &usize| {
            let here = place(&self.cells[*at]);
            self.cells.iter().filter(|cell| place(cell) == here).any(|cell| {
                let counts = cell.lock == TODAY || cell.lock == advice.lock;
                counts && cell.rate.relative() > Some(WIDE)
            })
        };
        (0..self.cells.len()).filter(is_doubtful).collect()
    }

    /// Puts cells in place of others that had fewer seeds.
    pub(super) fn replace(&mut self, places: &[usize], cells: Vec<Cell>) {
        for (&at, cell) in places.iter().zip(cells) {
            self.cells[at] = cell;
        }
        self.advice = self.decide();
    }

    /// Settles an open case by what today's locks do where sleeping and waking cost nothing. If that surely
    /// gains little, and so does the advised lock, threads wait for the work under locks.
    pub(super) fn settle(&mut self, free: Option<Ratio>) {
        let Some(advice) = &mut self.advice else { return };
        advice.free = free;
        let most_free = free.and_then(|free| free.bounds()).map(|(_, most)| most);
        let most_gained = advice.gain.range.map_or(advice.gain.ratio, |(_, most)| most);
        if most_free.is_some_and(|most| most.max(most_gained) < 1.0 + SAME) {
            advice.outlook = Outlook::None;
            TODAY.clone_into(&mut advice.take);
        }
    }

    /// Today's cell beside another one.
    pub(crate) fn today(&self, cell: &Cell) -> Option<usize> {
        let same = |other: &Cell| {
            other.lock == TODAY && (&other.machine, other.workers) == (&cell.machine, cell.workers)
        };
        self.cells.iter().position(|other| same(other) && other.failed.is_none())
    }

    /// Throughput of a cell over today's.
    pub(crate) fn gain(&self, cell: &Cell) -> Option<Ratio> {
        gain_over(cell, &self.cells[self.today(cell)?])
    }

    /// The lock whose gains, over all cases, are greatest in the geometric mean; and whether they are any.
    /// The default lock stands for those that are within [`SAME`], which the simulator cannot tell from it.
    fn decide(&self) -> Option<Advice> {
        let mean = |lock| {
            let of = || self.cells.iter().filter(|cell| cell.lock == lock);
            let is_sound = lock != TODAY && of().all(|cell| cell.failed.is_none());
            let gains: Vec<f64> = of().filter_map(|cell| Some(self.gain(cell)?.ratio.ln())).collect();
            let mean = gains.iter().sum::<f64>() / gains.len() as f64;
            (is_sound && !gains.is_empty()).then_some((mean, lock))
        };
        let locks = once(self.cells.iter().map(|cell| cell.lock.as_str()));
        let (mean, lock) = chosen(&locks.into_iter().filter_map(mean).collect::<Vec<_>>())?;
        let of_lock = self.cells.iter().enumerate().filter(|(_, cell)| cell.lock == lock);
        let gains = of_lock.filter_map(|(at, cell)| Some((at, self.today(cell)?, self.gain(cell)?)));
        let (at, today, gain) = gains.max_by(|a, b| sure(&a.2).total_cmp(&sure(&b.2)))?;
        let waiting = self.cells.iter().filter(|cell| cell.lock == TODAY).map(|cell| cell.waiting);
        let waiting = waiting.fold(0.0, f64::max);
        let outlook = judged(waiting, &gain);
        let take = if takes(outlook, lock, mean) { lock } else { TODAY }.to_owned();
        Some(Advice { lock: lock.to_owned(), waiting, outlook, free: None, take, at, today, gain })
    }

    /// The locks that decide: those that are waited for most today, where the advice gains most.
    pub(crate) fn deciding(&self) -> Vec<(&Lock, f64)> {
        let Some(advice) = &self.advice else { return Vec::new() };
        let hot = self.cells[advice.today].hot.iter().take(2).filter(|(_, share)| *share > 0.1);
        hot.filter_map(|&(lock, share)| Some((self.recording.locks.get(lock)?, share))).collect()
    }
}

/// Throughput of a cell over another one's, seed by seed. Seeds that begin where the recording is quiet, so
/// that nothing is taken under either, say nothing of locks.
pub(super) fn gain_over(cell: &Cell, other: &Cell) -> Option<Ratio> {
    let pairs = cell.rate.values.iter().copied().zip(other.rate.values.iter().copied());
    let pairs: Vec<(f64, f64)> = pairs.filter(|pair| *pair != (0.0, 0.0)).collect();
    if pairs.is_empty() { None } else { Ratio::of_pairs(&pairs) }
}

/// The lock to advise, and the logarithm of its gain, of those of all.
fn chosen<'a>(means: &[(f64, &'a str)]) -> Option<(f64, &'a str)> {
    let best = means.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let default = means.iter().find(|(mean, lock)| *lock == DEFAULT && mean + SAME.ln_1p() >= best.0);
    Some(*default.unwrap_or(best))
}

/// Whether to take a lock whose gains have this mean, as a logarithm. An open case goes to the default lock
/// unless it comes out slower, as it is ahead of libc's in real programs that contend; to others, if they
/// come out faster.
fn takes(outlook: Outlook, lock: &str, mean: f64) -> bool {
    let least = if lock == DEFAULT { 1.0 - WORTH } else { 1.0 + WORTH };
    outlook == Outlook::Helps || outlook == Outlook::Open && mean > f64::ln(least)
}

/// Whether a lock with this gain helps. Where threads hardly wait none does, however much the gain differs
/// between seeds: no lock gives back more time than is spent on waiting. Where they wait, and neither gain
/// nor loss is sure, it is open: seeds agree better with each other than the simulator with a machine.
fn judged(waiting: f64, gain: &Ratio) -> Outlook {
    if waiting >= IDLE && sure(gain) > WORTH {
        Outlook::Helps
    } else if waiting >= WAITS && gain.ends().1 > 1.0 - WORTH {
        Outlook::Open
    } else {
        Outlook::None
    }
}

/// The gain that is sure: the lower end of what is told of it.
fn sure(gain: &Ratio) -> f64 {
    gain.ends().0 - 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(ratio: f64, half: f64) -> Ratio {
        Ratio { ratio, interval: Some((ratio - half, ratio + half)), range: None, mixed: false, pairs: 5 }
    }

    #[test]
    fn the_default_lock_stands_for_those_that_are_hardly_better() {
        let ln = f64::ln;
        let chosen = |means: &[_]| chosen(means).map(|(_, lock)| lock);
        assert_eq!(chosen(&[]), None);
        assert_eq!(chosen(&[(ln(1.54), "byte"), (ln(1.48), "stanchion")]), Some("stanchion"));
        assert_eq!(chosen(&[(ln(1.54), "byte"), (ln(1.44), "stanchion")]), Some("byte"));
        assert_eq!(chosen(&[(ln(0.8), "byte"), (ln(0.9), "cna")]), Some("cna"));
    }

    #[test]
    fn an_open_case_goes_to_the_default_lock_unless_it_comes_out_slower() {
        let takes = |outlook, lock, mean| takes(outlook, lock, f64::ln(mean));
        assert!(takes(Outlook::Open, "stanchion", 0.99) && !takes(Outlook::Open, "stanchion", 0.96));
        assert!(takes(Outlook::Open, "cna", 1.04) && !takes(Outlook::Open, "cna", 1.02));
        assert!(takes(Outlook::Helps, "cna", 0.9), "it helps in one case, and that is told");
        assert!(!takes(Outlook::None, "stanchion", 1.5));
    }

    fn cell(lock: &str, workers: usize, values: &[f64]) -> Cell {
        let rate = stanchion_cells::stats::Estimate::of(values.to_vec());
        Cell { lock: lock.to_owned(), workers, rate, waiting: 0.3, ..Cell::default() }
    }

    fn report(cells: Vec<Cell>) -> Report {
        Report::new(Recording::default(), cells.into_iter().map(Some).collect(), None, 1)
    }

    #[test]
    fn places_where_seeds_of_the_two_locks_differ_get_more_of_them() {
        let sure = [1.0, 1.01, 1.02, 1.01, 1.0];
        let unsure = [1.0, 2.0, 1.0, 2.0, 1.0];
        let places = |libc: &[f64], ours: &[f64], byte: &[f64]| {
            let cells = [
                ("libc", 2, libc),
                ("stanchion", 2, ours),
                ("byte", 2, byte),
                ("libc", 8, &sure),
                ("stanchion", 8, &sure),
            ];
            report(cells.map(|(lock, workers, values)| cell(lock, workers, values)).to_vec()).doubtful()
        };
        assert!(places(&sure, &sure, &sure).is_empty());
        assert_eq!(places(&unsure, &sure, &sure), [0, 1, 2]);
        assert_eq!(places(&sure, &unsure, &sure), [0, 1, 2]);
        let collapsed = [0.1, 0.3, 0.1, 0.3, 0.1];
        assert!(places(&sure, &sure, &collapsed).is_empty(), "the answer does not rest on it");
    }

    #[test]
    fn a_seed_that_begins_in_a_quiet_moment_says_nothing_of_locks_and_calls_for_more() {
        let of = |libc: &[f64], ours: &[f64]| report(vec![cell("libc", 2, libc), cell("stanchion", 2, ours)]);
        let quiet = of(&[2.0, 0.0, 2.0], &[3.0, 0.0, 3.0]);
        let gain = quiet.advice.as_ref().map(|advice| (advice.gain.ratio, advice.gain.pairs));
        assert!(gain.is_some_and(|(ratio, pairs)| (ratio - 1.5).abs() < 1e-9 && pairs == 2), "{gain:?}");
        assert_eq!(quiet.doubtful(), [0, 1]);
        assert!(of(&[0.0; 3], &[0.0; 3]).advice.is_none(), "nothing is known");
        assert!(of(&[2.0; 3], &[0.0, 3.0, 3.0]).advice.is_none(), "a lock under which all stands still");
    }

    #[test]
    fn an_open_case_is_settled_where_free_sleep_would_gain_nothing() {
        let free = |ratio, half| Some(gain(ratio, half));
        let settled = |free: Option<Ratio>| {
            let mut report = report(vec![cell("libc", 2, &[1.0; 5]), cell("stanchion", 2, &[1.0; 5])]);
            report.settle(free);
            let advice = report.advice.expect("two cells");
            (advice.outlook, advice.take)
        };
        let is = |outlook, take: &str| (outlook, take.to_owned());
        assert_eq!(settled(free(1.02, 0.01)), is(Outlook::None, TODAY));
        assert_eq!(settled(free(1.02, 0.06)), is(Outlook::Open, DEFAULT), "not sure");
        assert_eq!(settled(free(1.3, 0.1)), is(Outlook::Open, DEFAULT));
        let alone = free(1.0, 0.0).map(|free| Ratio { interval: None, ..free });
        assert_eq!(settled(alone), is(Outlook::Open, DEFAULT), "one seed");
        assert_eq!(settled(None), is(Outlook::Open, DEFAULT), "the user did not wait for it");
        let mut two_kinds = report(vec![cell("libc", 2, &[1.0; 5]), cell("stanchion", 2, &[1.0; 5])]);
        if let Some(advice) = &mut two_kinds.advice {
            advice.gain.range = Some((0.8, 1.3));
        }
        two_kinds.settle(free(1.02, 0.01));
        assert_eq!(two_kinds.advice.map(|advice| advice.outlook), Some(Outlook::Open), "it may be 1.3");
    }

    #[test]
    fn the_answer_says_why_no_lock_helps_and_its_last_line_names_the_library() {
        let mut report = report(vec![cell("libc", 2, &[1.0; 5]), cell("stanchion", 2, &[1.0; 5])]);
        report.settle(Some(gain(1.02, 0.01)));
        report.library = Some("/two words/lib.so".into());
        let text = crate::advise::answer::text(&report);
        assert!(text.starts_with("No lock will help: ") && text.contains("waking cost nothing"), "{text}");
        assert!(text.contains(" run --lock libc --library '/two words/lib.so' -- "), "{text}");
    }

    #[test]
    fn a_program_that_hardly_waits_is_told_that_no_lock_helps() {
        assert_eq!(judged(0.00002, &gain(1.0, 0.18)), Outlook::None);
        assert_eq!(judged(0.004, &gain(1.5, 0.1)), Outlook::None);
        assert_eq!(judged(0.02, &gain(1.0, 0.18)), Outlook::None, "at most 2 % can be gained");
        assert_eq!(judged(0.02, &gain(1.1, 0.01)), Outlook::Helps, "locks cost time, too");
        assert_eq!(judged(0.3, &gain(1.0, 0.18)), Outlook::Open);
        assert_eq!(judged(0.3, &gain(1.06, 0.07)), Outlook::Open);
        assert_eq!(judged(0.3, &gain(1.0, 0.02)), Outlook::Open);
        assert_eq!(judged(0.3, &gain(0.6, 0.1)), Outlook::None, "a loss");
        assert_eq!(judged(0.3, &gain(1.5, 0.1)), Outlook::Helps);
    }
}
