//! `stanchion torture`: the kernel's locktorture for native locks.
//!
//! The parent ([`parent`]) starts one child process per lock and never touches a lock itself. The child
//! ([`session`]) starts workers ([`worker`]), a tormentor that signals them ([`tormentor`], [`handler`]),
//! moves and pauses them, and watches for stalls ([`watchdog`]). What is checked inside a lock is in
//! [`test_lock`], what is tortured in [`registry`], what is broken on purpose in [`busted`].
mod arena;
mod args;
mod busted;
mod claims;
mod delay;
mod event;
mod handler;
mod orders;
mod outcome;
mod parent;
mod registry;
mod report;
mod rng;
mod rw;
mod rw_rows;
mod session;
mod sharing;
mod shuffle;
mod slot;
mod tally;
mod test_lock;
mod tormentor;
mod tortured;
mod watchdog;
mod worker;

pub(crate) use args::Args;
use args::{Plan, Request};
use lab_kit::output::{FAILED, REFUSED, say};
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use orders::Orders;
use outcome::Outcome;
use registry::{Detector, Origin};
use std::process::ExitCode;

/// Runs the command.
pub(crate) fn run(args: Args) -> ExitCode {
    match args.resolve() {
        Ok(Request::Run(plan)) => torture(plan),
        Ok(Request::List) => list(),
        Ok(Request::Child(row, orders)) => {
            (row.run)(orders);
            ExitCode::SUCCESS
        }
        Err(line) => {
            eprintln!("stanchion torture: {line}");
            ExitCode::from(REFUSED)
        }
    }
}

fn list() -> ExitCode {
    say!("locks:");
    for row in registry::rows() {
        let detector = match row.origin {
            Origin::Busted(Detector::Torture) => " [torture must catch it]",
            Origin::Busted(Detector::LongTorture) => {
                " [torture must catch it in ten seconds, --without nice]"
            }
            Origin::Busted(Detector::ThreadSanitizer) => " [a ThreadSanitizer build must catch it]",
            Origin::Stanchion | Origin::Reference => "",
        };
        say!("  {:22} {}{detector}", row.name, row.about);
    }
    say!("  {:22} all of Stanchion's own", registry::FAMILY);
    say!("  {:22} all of those whose readers share", registry::RW);
    say!("  {:22} all that are broken on purpose", registry::BUSTED);
    say!("extras, all on unless left out with --without: {}", orders::Extras::NAMES.join(", "));
    ExitCode::SUCCESS
}

/// Tortures a lock; again, with other seeds and for longer, if it survives and there are tries left. What
/// needs threads that run at the same moment may take its time on a machine that is busy.
fn until_caught(mut orders: Orders, tries: u32, run: impl Fn(Orders) -> Outcome) -> Outcome {
    let mut outcome = run(orders.clone());
    for _ in 1..tries {
        if outcome.failed() || lab_kit::interrupt::requested() {
            break;
        }
        orders.seed = orders.seed.wrapping_add(1);
        orders.seconds *= 2.0;
        outcome = run(orders.clone());
    }
    outcome
}

fn torture(mut plan: Plan) -> ExitCode {
    lab_kit::interrupt::install();
    announce(&plan);
    let progress = Progress::new(1, false);
    let provenance = Provenance::collect(plan.orders.seed);
    let mut outcomes: Vec<Outcome> = Vec::new();
    for (number, row) in plan.rows.iter().enumerate() {
        if lab_kit::interrupt::requested() {
            break;
        }
        progress.now(format!("{} ({} of {})", row.name, number + 1, plan.rows.len()));
        let mut outcome = until_caught(plan.orders_for(row), plan.tries, |orders| {
            parent::run_child(row, orders, &progress)
        });
        if plan.orders.extras.signals && !row.signal_safe {
            outcome.notes.push("tortured without signals, which it is not made for".to_owned());
        }
        outcomes.push(outcome);
        // After every lock, so that whatever happens to the next one loses nothing.
        if let Some((path, file)) = &mut plan.json
            && let Err(error) = report::write_json(file, &provenance, &outcomes)
        {
            eprintln!("stanchion torture: {}: {error}", path.display());
            return ExitCode::from(FAILED);
        }
    }
    progress.finish();
    say!("\n{}", report::summary(&outcomes));
    let interrupted = lab_kit::interrupt::requested();
    if interrupted {
        say!("interrupted: {} of {} locks, results so far above", outcomes.len(), plan.rows.len());
    }
    let survivors = outcome::survivors(&outcomes);
    if plan.expect_failure && !survivors.is_empty() {
        say!("expected to fail, but survived: {}", survivors.join(", "));
    }
    ExitCode::from(outcome::exit_code(&outcomes, plan.expect_failure, interrupted))
}

/// Says what is going to happen, seed first, before anything does.
fn announce(plan: &Plan) {
    let orders = &plan.orders;
    for remark in &plan.remarks {
        eprintln!("stanchion torture: {remark}");
    }
    let extras = orders.extras.names();
    say!(
        "torture: seed {}, {} s a lock, {} writers, {} readers{}, with {}",
        orders.seed,
        orders.seconds,
        orders.writers,
        orders.readers,
        plan.readers_who_share(),
        if extras.is_empty() { "no extras".to_owned() } else { extras.join(", ") },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;
    use outcome::Failure;

    #[test]
    fn a_survivor_is_tortured_again_for_longer_until_it_fails() {
        let run = |tries: u32, fails_at: u64| {
            let seen = RefCell::new(Vec::new());
            let orders = Orders {
                lock: "byte".to_owned(),
                seconds: 1.0,
                writers: 1,
                readers: 0,
                seed: 7,
                stat_interval: 1.0,
                stall_seconds: 1.0,
                long_hold_ms: 1,
                stutter: 1.0,
                extras: orders::Extras::NONE,
            };
            let outcome = until_caught(orders, tries, |orders| {
                seen.borrow_mut().push((orders.seed, orders.seconds.round() as u64));
                let mut outcome = Outcome::new(orders);
                if outcome.orders.seed == fails_at {
                    outcome.failures.push(Failure::NotStarted);
                }
                outcome
            });
            (outcome.failed(), seen.into_inner())
        };
        assert_eq!(run(5, 9), (true, vec![(7, 1), (8, 2), (9, 4)]));
        assert_eq!(run(2, 9), (false, vec![(7, 1), (8, 2)]));
        assert_eq!(run(1, 7), (true, vec![(7, 1)]));
    }
}
