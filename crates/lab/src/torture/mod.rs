//! `stanchion torture`: the kernel's locktorture for native locks.
//!
//! The parent ([`parent`]) starts one child process per lock and never touches a lock itself. The child
//! ([`session`]) starts workers ([`worker`]), a tormentor that signals them ([`tormentor`], [`handler`]),
//! moves and pauses them, and watches for stalls ([`watchdog`]). What they share and check is in [`arena`].
//! What each run is to do is in [`orders`]. [`lock`] says what is asked of a lock, [`registry`] which are
//! tortured, and [`busted`] has those that are broken on purpose.
mod arena;
mod args;
mod busted;
mod chance;
mod claims;
mod counts;
mod handler;
mod lock;
mod orders;
mod outcome;
mod parent;
mod registry;
mod session;
mod slot;
mod tally;
mod test_locks;
mod tormentor;
mod watchdog;
mod worker;

use crate::one_by_one::{Outcome as _, Report};
pub(crate) use args::Args;
use lab_kit::experiment::Experiment;
use lab_kit::interrupt;
use lab_kit::output::say;
use lab_kit::progress::Progress;
use orders::{Extras, Orders};
use outcome::Outcome;
use registry::Origin;
use serde_json::json;
use std::process::ExitCode;

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    match &args.child {
        Some(orders) => be_child(orders),
        None if args.list => Ok(list()),
        None => torture(args),
    }
}

/// Tortures one lock on behalf of a parent process.
fn be_child(orders: &str) -> Result<ExitCode, String> {
    let orders: Orders = serde_json::from_str(orders).map_err(|error| format!("--child: {error}"))?;
    let row = registry::row(&orders.lock).ok_or("--child: no such lock")?;
    // The thread sanitizer knows nothing of `membarrier` and of fences: readers fence by their accesses.
    if row.skills.shares && std::env::var_os("STANCHION_SANITIZER").is_some() {
        stanchion::native::force_fenced_release();
    }
    (row.run)(orders, row.skills);
    Ok(ExitCode::SUCCESS)
}

fn list() -> ExitCode {
    say!("locks:");
    for row in registry::rows() {
        let detector = match row.origin {
            Origin::Busted(detector) => format!(" [{detector}]"),
            Origin::Stanchion | Origin::Reference => String::new(),
        };
        say!("  {:22} {}{detector}", row.name, row.about);
    }
    for (group, about) in registry::GROUPS {
        say!("  {group:22} {about}");
    }
    say!("extras, all on unless left out with --without: {}", Extras::NAMES.join(", "));
    ExitCode::SUCCESS
}

/// Tortures a lock; again, with other seeds and for longer, if it survives and there are tries left. What
/// needs threads that run at the same moment may take its time on a machine that is busy.
fn until_caught(orders: Orders, tries: u32, run: impl Fn(Orders) -> Outcome) -> Outcome {
    let mut outcome = run(orders);
    for _ in 1..tries {
        if !outcome.passed() || interrupt::requested() {
            break;
        }
        let Orders { seed, seconds, .. } = outcome.orders;
        outcome = run(Orders { seed: seed.wrapping_add(1), seconds: 2.0 * seconds, ..outcome.orders });
    }
    outcome
}

fn torture(args: &Args) -> Result<ExitCode, String> {
    let rows = args.rows()?;
    let mut all = args.orders(&rows)?;
    // Last, because from here on there is a file.
    let experiment = Experiment::open(&args.files, &Report::FORMATS, rows.len())?;
    args::ask_permission(&mut all.extras);
    let Orders { seed, seconds, writers, readers, extras, .. } = all;
    let sharing = match args.readers(rows.iter().any(|row| row.skills.shares)) {
        sharing if sharing == readers => String::new(),
        sharing => format!(" ({sharing} where readers share)"),
    };
    let with = if extras.names().is_empty() { "no extras".to_owned() } else { extras.names().join(", ") };
    let set_up = format!(
        "seed {seed}, {seconds} s a lock, {writers} writers, {readers} readers{sharing}, with {with}"
    );
    let options = json!({
        "seconds": seconds, "writers": writers, "readers": readers, "extras": extras.names()
    });
    let run = |number: usize, row: &&registry::Row, progress: &Progress| {
        progress.now(format!("{} ({} of {})", row.name, number + 1, rows.len()));
        let run = |orders: Orders| {
            let progress = progress.part(number, (orders.seconds * 1000.0) as u64);
            parent::run_child(row, orders, &progress)
        };
        let mut outcome = until_caught(args.orders_for(&all, row), args.tries, run);
        if extras.signals && !row.signal_safe {
            outcome.notes.push("tortured without signals, which it is not made for".to_owned());
        }
        outcome
    };
    Ok(Report::new(seed, set_up, Some(options), args.expect_failure).run(experiment, &rows, run))
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
            let orders = Orders { seconds: 1.0, seed: 7, ..Orders::default() };
            let outcome = until_caught(orders, tries, |orders| {
                seen.borrow_mut().push((orders.seed, orders.seconds.round() as u64));
                let mut outcome = Outcome { orders, ..Outcome::default() };
                if outcome.orders.seed == fails_at {
                    outcome.failures.push(Failure::NotStarted);
                }
                outcome
            });
            (!outcome.passed(), seen.into_inner())
        };
        assert_eq!(run(5, 9), (true, vec![(7, 1), (8, 2), (9, 4)]));
        assert_eq!(run(2, 9), (false, vec![(7, 1), (8, 2)]));
        assert_eq!(run(1, 7), (true, vec![(7, 1)]));
    }
}
