//! Where the outcomes of a group of cells go in the report.
use super::cell::{Pass, Profile};
use super::engine::{Tallies, Tally};
use super::mix::named;
use super::plan::{COSTS, Group, NO_LOCK, Topic};
use super::report::{Cell, Overhead, Report, State, Uncontended};
use super::warnings::Warning;
use lab_kit::stats::{Summary, median};
use std::collections::BTreeMap;

/// Puts what a group measured into the report.
pub(crate) fn record(report: &mut Report, group: &Group, mut tallies: Tallies) {
    match &group.topic {
        Topic::Cells { profile, mix, threads } => {
            for lock in &report.locks {
                if let Some(tally) = tallies.remove(&lock.name).filter(Tally::tells) {
                    let load = (profile.as_str(), *mix, *threads);
                    report.cells.push(Cell::of(&lock.name, load, tally.state, &tally.rounds));
                }
            }
        }
        Topic::Uncontended => {
            warn_of_failures(&mut report.warnings, "the uncontended cost", &tallies);
            let locks = report.locks.iter().map(|lock| lock.name.as_str()).filter(|name| *name != NO_LOCK);
            report.uncontended =
                locks.chain([NO_LOCK]).filter_map(|lock| uncontended(lock, &tallies)).collect();
        }
        Topic::Overhead => {
            warn_of_failures(&mut report.warnings, "the overhead", &tallies);
            report.overhead = overheads(report, &tallies);
        }
    }
}

/// Warns of what failed outside of the matrix, where no cell could say it.
fn warn_of_failures(warnings: &mut Vec<Warning>, what: &str, tallies: &Tallies) {
    for (of, tally) in tallies {
        if let State::Failed { reason } = &tally.state {
            warnings.push(Warning::Failed { what: format!("{what} of {of}"), reason: reason.clone() });
        }
    }
}

/// Nanoseconds of an operation in each round of a pass.
fn rounds_ns(tally: &Tally, pass: Pass) -> Vec<f64> {
    tally.rounds.iter().filter(|(of, _)| *of == pass).map(|(_, outcome)| 1e9 / outcome.rate()).collect()
}

fn uncontended(lock: &str, tallies: &Tallies) -> Option<Uncontended> {
    let cost = |(name, _, mix, pass): (&str, &str, _, _)| {
        let rounds = rounds_ns(tallies.get(&named(lock, mix))?, pass);
        (!rounds.is_empty()).then(|| (name.to_owned(), Summary::of(rounds)))
    };
    let costs: BTreeMap<_, _> = COSTS.into_iter().filter_map(cost).collect();
    (!costs.is_empty()).then(|| Uncontended { lock: lock.to_owned(), costs })
}

/// The loops without a lock.
fn overheads(report: &Report, tallies: &Tallies) -> Vec<Overhead> {
    let of_profile = |profile: &Profile| {
        let tally = tallies.get(&profile.name)?;
        Some(Overhead {
            profile: profile.name.clone(),
            asked_ns: (profile.critical_ns + profile.think_ns) as f64,
            throughput_ns: median(&rounds_ns(tally, Pass::Throughput)),
            latency_ns: median(&rounds_ns(tally, Pass::Latency)),
        })
    };
    report.setting.profiles.iter().filter_map(of_profile).collect()
}
