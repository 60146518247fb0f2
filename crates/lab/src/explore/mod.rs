//! `stanchion explore`: random and priority schedules, with faults, over every lock.
//!
//! The exploring itself is in `stanchion-sim`; here is what may be typed ([`args`]), how schedules are spread
//! over threads ([`run`]), what came of each lock ([`outcome`]), and what is printed and written
//! ([`report`]).
mod args;
mod outcome;
mod report;
mod run;

pub(crate) use args::Args;
use args::{Plan, Request};
use lab_kit::output::{FAILED, PASSED, REFUSED, add, say};
use lab_kit::provenance::Provenance;
use outcome::Outcome;
use stanchion_sim::explore::{Fault, Replay, Strategy, Subject, busted, locks, replay};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn run(args: Args) -> ExitCode {
    match args.resolve() {
        Ok(Request::Explore(plan)) => explore(*plan),
        Ok(Request::Replay(plan, what)) => again(&plan, &what),
        Ok(Request::List) => list(),
        Err(line) => {
            eprintln!("stanchion explore: {line}");
            ExitCode::from(REFUSED)
        }
    }
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

fn explore(mut plan: Plan) -> ExitCode {
    lab_kit::interrupt::install();
    say!("explore: seed {}, {}", plan.seed, plan.describe());
    let provenance = Provenance::collect(plan.seed);
    let mut outcomes: Vec<Outcome> = Vec::new();
    for subject in &plan.subjects {
        if lab_kit::interrupt::requested() {
            break;
        }
        let outcome = run::run(subject, &plan);
        if let Some(finding) = &outcome.finding {
            say!("{}", report::finding(&plan, &outcome, finding));
        }
        outcomes.push(outcome);
        // After every lock, so that whatever happens to the next one loses nothing.
        if let Some((path, file)) = &mut plan.json
            && let Err(error) = report::write_json(file, &provenance, &plan.options, &outcomes)
        {
            eprintln!("stanchion explore: {}: {error}", path.display());
            return ExitCode::from(FAILED);
        }
    }
    say!("{}", report::summary(&outcomes, plan.expect_failure));
    let interrupted = lab_kit::interrupt::requested();
    if interrupted {
        say!("interrupted: {} of {} locks, results so far above", outcomes.len(), plan.subjects.len());
    }
    ExitCode::from(outcome::exit_code(&outcomes, plan.expect_failure, interrupted))
}

/// One schedule again, step by step.
fn again(plan: &Plan, what: &Replay) -> ExitCode {
    let Some(subject) = plan.subjects.first() else { return ExitCode::from(REFUSED) };
    let (interleaving, failure) = replay(subject, &plan.options, what);
    add(format_args!("{interleaving}"));
    match &failure {
        Some(failure) => say!("{}: FAILED: {}", subject.name(), failure.what),
        None => say!("{}: nothing went wrong", subject.name()),
    }
    ExitCode::from(if failure.is_some() == plan.expect_failure { PASSED } else { FAILED })
}
