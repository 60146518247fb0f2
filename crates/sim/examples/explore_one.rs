//! Explores one lock until it fails:
//! `cargo run --release -p stanchion-sim --example explore_one -- LOCK SCHEDULES SEED [FAULT…]`.
//!
//! What `stanchion explore` does, without its reports and without what it is built from:
//! `cargo xtask mutants` builds this once for each mutant. The first line of the output is
//! `KIND SCHEDULE: DETAILS`, or `none SCHEDULES`, with the worst overtaking below. Exit status: 0 nothing
//! failed, 1 the lock failed, 2 the command line is unusable.
use std::process::ExitCode;

use stanchion_sim::explore::{Fault, Options, explore, locks};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [lock, schedules, seed, faults @ ..] = words.as_slice() else {
        eprintln!("explore_one: write LOCK SCHEDULES SEED, and FAULTS that every schedule has and no others");
        return ExitCode::from(2);
    };
    let mut options = Options::default();
    for fault in faults {
        let Some(known) = Fault::named(fault) else {
            eprintln!("explore_one: there is no fault {fault}");
            return ExitCode::from(2);
        };
        options.faults = Some(options.faults.unwrap_or_default().with(known));
    }
    let (Ok(schedules), Ok(first)) = (schedules.parse::<u64>(), seed.parse::<u64>()) else {
        eprintln!("explore_one: {schedules} and {seed} must be numbers");
        return ExitCode::from(2);
    };
    let Some(subject) = locks().into_iter().find(|subject| subject.name() == lock) else {
        eprintln!("explore_one: there is no lock {lock}");
        return ExitCode::from(2);
    };
    let tally = explore(&subject, &options, first..first.saturating_add(schedules), |_| true);
    if let Some((seed, failure)) = tally.failure {
        println!("{} {}: {}", failure.kind.name(), seed - first + 1, failure.what);
        ExitCode::FAILURE
    } else {
        println!("none {}\nworst overtaking: {}", tally.schedules, tally.worst_overtaking);
        ExitCode::SUCCESS
    }
}
