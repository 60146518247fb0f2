//! `stanchion explore`: random and priority schedules, with faults, over every lock.
//!
//! The exploring itself is in `stanchion-sim`; here is what may be typed ([`args`]), how schedules are spread
//! over threads ([`run`]), what came of each lock ([`outcome`]), and what is printed and written
//! ([`report`]).
mod args;
mod outcome;
mod report;
mod run;

use crate::one_by_one;
pub(crate) use args::Args;
use core::convert::identity;
use lab_kit::output::{FAILED, PASSED, REFUSED, add, create_json, say};
use lab_kit::{interrupt, seed};
use stanchion_sim::explore::{Fault, Replay, Strategy, Subject, busted, locks, replay};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn run(args: &Args) -> ExitCode {
    let done = match &args.replay {
        _ if args.list => Ok(list()),
        Some(what) => again(args, what),
        None => explore(args),
    };
    done.unwrap_or_else(|line| {
        eprintln!("stanchion explore: {line}");
        ExitCode::from(REFUSED)
    })
}

fn list() -> ExitCode {
    let row = |subject: &Subject| {
        let note = subject.broken.as_ref().map(|broken| {
            let kinds: Vec<&str> = broken.kinds.iter().map(|kind| kind.name()).collect();
            format!(" [must be caught within {} schedules: {}]", broken.within, kinds.join(" or "))
        });
        say!("  {:26} {}{}", subject.name(), subject.about, note.unwrap_or_default());
    };
    say!("locks:");
    locks().iter().chain(&busted()).for_each(row);
    say!("  {:26} all that are sound", args::ALL);
    say!("  {:26} all that are broken on purpose", args::BUSTED);
    say!("faults, drawn anew for each schedule unless --fault chooses:");
    for fault in Fault::ALL {
        say!("  {:26} {}", fault.name(), fault.about());
    }
    say!("strategies: {}", Strategy::ALL.map(Strategy::name).join(", "));
    ExitCode::SUCCESS
}

fn explore(args: &Args) -> Result<ExitCode, String> {
    let subjects = args.subjects()?;
    let json = args.json.clone().map(|path| create_json(path, args.force)).transpose()?;
    interrupt::install();
    let seed = args.seed.unwrap_or_else(seed::fresh);
    say!("explore: seed {seed}, {}", args.describe());
    let options = report::options(&args.options());
    let outcomes = one_by_one::run("explore", seed, Some(&options), &subjects, json, |_, subject| {
        let (outcome, finding) = run::run(subject, args, seed);
        if let Some(finding) = finding {
            say!("{}", report::finding(&args.flags(), &outcome, &finding));
        }
        outcome
    });
    Ok(outcomes.map_or_else(identity, |outcomes| {
        say!("{}", report::summary(&outcomes, args.expect_failure));
        one_by_one::end(&outcomes, subjects.len(), |outcome| outcome.good(args.expect_failure))
    }))
}

/// One schedule again, step by step.
fn again(args: &Args, what: &Replay) -> Result<ExitCode, String> {
    let [subject] = args.subjects()?[..] else {
        return Err("--replay needs the lock: --lock NAME, one name".to_owned());
    };
    let (interleaving, failure) = replay(&subject, &args.options(), what);
    add(format_args!("{interleaving}"));
    match &failure {
        Some(failure) => say!("{}: FAILED: {}", subject.name(), failure.what),
        None => say!("{}: nothing went wrong", subject.name()),
    }
    Ok(ExitCode::from(if failure.is_some() == args.expect_failure { PASSED } else { FAILED }))
}
