//! The benchmark of the default lock's rules: that of mutexes, told as ratios to the lock with all of them.
use super::args::Args;
use super::report::{Cell, Report, State};
use super::run::{Study, run_study};
use super::table::notes;
use crate::ablate::{Sample, tables};
use std::process::ExitCode;

/// Measures the locks of `args`, the first of which is what others are compared with.
pub(crate) fn run(args: &Args, markdown: bool) -> ExitCode {
    let study = Study {
        stem: "ablate",
        whole: false,
        tables: if markdown { |report| told(report, true) } else { |report| told(report, false) },
    };
    run_study(args, None, study)
}

fn told(report: &Report, markdown: bool) -> String {
    let text = tables(&report.cells.iter().map(sample).collect::<Vec<_>>(), markdown);
    text + &notes(report.cells.iter(), report.setting.drain_ms)
}

fn sample(cell: &Cell) -> Sample {
    let sound = cell.state == State::Measured;
    Sample {
        lock: cell.lock.clone(),
        load: cell.profile.clone(),
        threads: cell.threads,
        rates: if sound { cell.rates().to_vec() } else { Vec::new() },
        worst_ns: cell.latency.as_ref().filter(|_| sound).map(|latency| latency.worst_ns as f64),
        cpu: cell.cpu_s_per_million.filter(|_| sound),
    }
}
