//! The benchmark of the default lock's rules as a [`Study`]: that of mutexes, told as ratios to the lock with
//! all of them.
use super::args::Args;
use super::cell::CellSpec;
use super::config::Config;
use super::export::FORMATS;
use super::list;
use super::mutexes::Mutexes;
use super::plan::{self, Group, Topic};
use super::report::{Cell, Report, State, Uncontended};
use super::run::run_study;
use super::study::{Study, Tallies};
use super::warnings::Warning;
use crate::ablate::{Sample, tables};
use crate::export::Formats;
use std::process::ExitCode;

/// See the [module](self). Whether tables are in Markdown is known when it is compiled, as a study has
/// nowhere to keep it.
struct Ablation<const MARKDOWN: bool>;

/// Measures the locks of `args`, the first of which is what others are compared with.
pub(crate) fn run<const MARKDOWN: bool>(args: &Args) -> ExitCode {
    run_study::<Ablation<MARKDOWN>>(
        args,
        list::list,
        |cpus| Config::resolve(args, cpus),
        &Formats { stem: "ablate", ..FORMATS },
        |config, calibration| {
            let mut groups = plan::groups(&config.setting, &config.locks, calibration, false);
            groups.retain(|group| matches!(group.topic, Topic::Cells { .. }));
            groups
        },
    )
}

impl<const MARKDOWN: bool> Study for Ablation<MARKDOWN> {
    type Spec = CellSpec;
    type Topic = Topic;
    type Cell = Cell;
    type Uncontended = Uncontended;

    fn key(topic: &Topic, spec: &CellSpec) -> String {
        Mutexes::key(topic, spec)
    }

    fn told(topic: &Topic) -> String {
        Mutexes::told(topic)
    }

    fn record(report: &mut Report, group: &Group, tallies: Tallies<Self>) {
        Mutexes::record(report, group, tallies);
    }

    fn planned(report: &Report) -> usize {
        Mutexes::planned(report)
    }

    fn sentences(_: &Report) -> Vec<String> {
        Vec::new()
    }

    fn doubts(report: &Report) -> Vec<Warning> {
        Mutexes::doubts(report)
    }

    fn tables(report: &Report, _: bool) -> String {
        let text = tables(&report.cells.iter().map(sample).collect::<Vec<_>>(), MARKDOWN);
        text + &super::table::notes(report.cells.iter(), report.setting.drain_ms)
    }
}

fn sample(cell: &Cell) -> Sample {
    let sound = cell.state == State::Measured;
    Sample {
        lock: cell.lock.clone(),
        load: cell.profile.clone(),
        threads: cell.threads,
        rates: cell.throughput.as_ref().filter(|_| sound).map(|rate| rate.rounds.clone()).unwrap_or_default(),
        worst_ns: cell.latency.as_ref().filter(|_| sound).map(|latency| latency.worst_ns as f64),
        cpu: cell.cpu_s_per_million.filter(|_| sound),
    }
}
