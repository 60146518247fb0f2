//! The benchmark of reader-writer locks as a [`Study`]: where the outcomes of its cells go.
use super::cell::RwSpec;
use super::mix::Mix;
use super::plan::{ALONE, Group, Topic};
use super::report::{RwCell, RwReport, RwUncontended};
use super::{summary, table};
use crate::bench::mutexes::{overheads, warn_of_failures};
use crate::bench::plan::NO_LOCK;
use crate::bench::report::State;
use crate::bench::stats::Summary;
use crate::bench::study::{Study, Tallies, Tally};
use crate::bench::warnings::{Doubtful, Warning, doubts, with_threads};

/// The benchmark of reader-writer locks.
pub(crate) struct RwLocks;

/// The row of a lock that reads, or writes, alone.
fn alone(lock: &str, mix: Mix) -> String {
    format!("{lock}, {}", mix.name())
}

impl Study for RwLocks {
    type Spec = RwSpec;
    type Topic = Topic;
    type Cell = RwCell;
    type Uncontended = RwUncontended;

    fn key(topic: &Topic, spec: &RwSpec) -> String {
        match topic {
            Topic::Overhead => spec.cell.profile.name.clone(),
            Topic::Uncontended => alone(&spec.cell.lock, spec.mix),
            Topic::Cells { .. } => spec.cell.lock.clone(),
        }
    }

    fn told(topic: &Topic) -> String {
        match topic {
            Topic::Overhead => "harness overhead".to_owned(),
            Topic::Uncontended => "uncontended".to_owned(),
            Topic::Cells { profile, mix, threads } => {
                let column = mix.column(*threads);
                let plural = if column == 1 { "" } else { "s" };
                let counted = mix.counted().trim_end_matches('s');
                format!("{profile}, {}, {column} {counted}{plural}", mix.name())
            }
        }
    }

    fn record(report: &mut RwReport, group: &Group, mut tallies: Tallies<Self>) {
        match &group.topic {
            Topic::Cells { profile, mix, threads } => {
                for lock in &report.locks {
                    if let Some(tally) = tallies.remove(&lock.name).filter(Tally::tells) {
                        let load = (profile.as_str(), *mix, *threads);
                        report.cells.push(RwCell::of(&lock.name, load, tally.state, &tally.rounds));
                    }
                }
            }
            Topic::Uncontended => {
                warn_of_failures::<Self>(&mut report.warnings, "the uncontended cost", &tallies);
                let names = report.locks.iter().map(|lock| lock.name.clone());
                let mut names: Vec<String> = names.filter(|name| name != NO_LOCK).collect();
                names.push(NO_LOCK.to_owned());
                for lock in names {
                    let mut side = |mix| {
                        let tally =
                            tallies.remove(&alone(&lock, mix)).filter(|tally| !tally.rounds.is_empty())?;
                        let rounds = tally.rounds.iter().map(|(_, outcome)| 1e9 / outcome.cell.rate());
                        Some(Summary::of(rounds.collect()))
                    };
                    if let [Some(read_ns), Some(write_ns)] = ALONE.map(&mut side) {
                        report.uncontended.push(RwUncontended { lock, read_ns, write_ns });
                    }
                }
            }
            Topic::Overhead => {
                warn_of_failures::<Self>(&mut report.warnings, "the overhead", &tallies);
                report.overhead = overheads::<Self>(report, tallies);
            }
        }
    }

    fn planned(report: &RwReport) -> usize {
        let setting = &report.setting;
        report.locks.len() * setting.threads.len() * setting.mixes.len() * setting.profiles.len()
    }

    fn sentences(report: &RwReport) -> Vec<String> {
        summary::sentences(report)
    }

    /// Rare writes have few waits, so the sides are looked at one by one.
    fn doubts(report: &RwReport) -> Vec<Warning> {
        let mut doubtful = Vec::new();
        for cell in report.cells.iter().filter(|cell| cell.both.state == State::Measured) {
            let (profile, mix) = (&cell.both.profile, cell.mix.name());
            let name = |what: &str| format!("{what}{}, {profile}, {mix}", with_threads(&cell.both));
            doubtful.push(Doubtful { samples: None, ..Doubtful::of(name(""), &cell.both) });
            for (what, side) in cell.sides() {
                let samples = side.latency.as_ref().map(|latency| latency.samples);
                let name = name(&format!("{what} of "));
                doubtful.push(Doubtful { name, outlier: false, samples, unfinished_ns: 0 });
            }
        }
        doubts(report, &doubtful)
    }

    fn tables(report: &RwReport, bold: bool) -> String {
        table::render(report, bold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cell::Ending;
    use crate::bench::engine::{Ended, Engine};
    use crate::bench::rw::plan::groups;
    use crate::bench::rw::testing::{Machine, Quiet, calibration, outcome_of, report};

    #[test]
    fn a_sound_run_fills_every_cell() {
        let mut report = report(&["a", "peer"]);
        let groups = groups(&report.setting, &report.locks, calibration(), false);
        let mut machine = Machine(|spec: &RwSpec| outcome_of(spec, 9, 1));
        let ended = Engine::<RwLocks>::new(&mut machine, &mut Quiet).run(&groups, &mut report);
        assert_eq!(ended, Ended::Complete);
        assert!(report.complete && !report.failed());
        assert_eq!(report.cells.len(), RwLocks::planned(&report));
        assert_eq!(report.overhead.len(), report.setting.profiles.len());
        assert_eq!(report.uncontended.len(), 3, "two locks and the bare loop");
        assert!(
            report.cells.iter().all(|cell| cell.both.throughput.is_some() && cell.both.latency.is_some())
        );
    }

    #[test]
    fn a_lock_that_stalls_is_left_out_of_that_mix_only_and_a_torn_read_fails_the_run() {
        let mut report = report(&["a", "b"]);
        let groups = groups(&report.setting, &report.locks, calibration(), false);
        let (mix, other) = (report.setting.mixes[0], report.setting.mixes[1]);
        let mut machine = Machine(|spec: &RwSpec| {
            let mut outcome = outcome_of(spec, 9, 1);
            if spec.cell.lock == "a" && spec.mix == mix && spec.cell.threads == 2 {
                outcome.cell.ending = Ending::Stalled { finished: 1 };
            }
            if spec.cell.lock == "b" && spec.mix == other && spec.cell.threads == 4 {
                outcome.cell.ending = Ending::Torn { of_reads: 9, torn: 1 };
            }
            outcome
        });
        Engine::<RwLocks>::new(&mut machine, &mut Quiet).run(&groups, &mut report);
        let state =
            |lock, mix, threads| report.at(lock, "short", mix, threads).map(|cell| cell.both.state.clone());
        assert_eq!(state("a", mix, 2), Some(State::Stalled));
        assert_eq!(state("a", mix, 4), Some(State::Skipped { stalled_at: 2 }));
        assert_eq!(state("a", other, 4), Some(State::Measured));
        assert_eq!(state("b", other, 4), Some(State::Torn { of_reads: 9, torn: 1 }));
        assert!(report.failed());
    }

    #[test]
    fn few_waits_of_a_side_are_told() {
        let mut report = report(&["a"]);
        let groups = groups(&report.setting, &report.locks, calibration(), false);
        let mut machine = Machine(|spec: &RwSpec| outcome_of(spec, 20_000, 1));
        Engine::<RwLocks>::new(&mut machine, &mut Quiet).run(&groups, &mut report);
        let texts: Vec<String> = RwLocks::doubts(&report).iter().map(ToString::to_string).collect();
        assert!(
            texts.iter().any(|text| text.contains("writes of a with 1 thread, empty, 99 % reads")),
            "{texts:?}"
        );
    }
}
