//! `stanchion explore`: random and priority schedules, with faults, over every lock.
//!
//! The exploring itself is in `stanchion-sim`; here is what may be typed ([`args`]), how schedules are spread
//! over threads, and what came of each lock.
mod args;

use crate::one_by_one::{self, Report, cpus};
pub(crate) use args::Args;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use lab_kit::column::Column;
use lab_kit::experiment::Experiment;
use lab_kit::interrupt;
use lab_kit::output::{FAILED, PASSED, add, say};
use lab_kit::progress::Progress;
use serde::Serialize;
use serde_json::json;
use stanchion_family::events::ALL;
use stanchion_sim::explore::{Fault, Finding, Options, Replay, Strategy, Subject, Tally};
use stanchion_sim::explore::{busted, explore, investigate, locks, replay};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    match &args.replay {
        _ if args.list => Ok(list()),
        Some(what) => again(args, what),
        None => explore_all(args),
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
    say!("  {:26} all that are sound", lab_kit::names::ALL);
    say!("  {:26} all that are broken on purpose", args::BUSTED);
    say!("faults, drawn anew for each schedule unless --fault chooses:");
    for fault in Fault::ALL {
        say!("  {:26} {}", fault.name(), fault.about());
    }
    say!("strategies: {}", Strategy::ALL.map(Strategy::name).join(", "));
    ExitCode::SUCCESS
}

fn explore_all(args: &Args) -> Result<ExitCode, String> {
    let subjects = args.subjects()?;
    let Options { contexts, rounds, strategy, depth, faults } = args.options();
    let (strategy, faults) = (strategy.name(), faults.map(|faults| faults.to_string()));
    let options = json!({
        "contexts": contexts, "rounds": rounds, "strategy": strategy, "depth": depth, "faults": faults
    });
    let experiment = Experiment::open(&args.files, &Report::FORMATS, subjects.len())?;
    let set_up = format!("seed {}, {}", args.seed, args.describe());
    let report = Report::new(args.seed, set_up, Some(options), args.expect_failure);
    let steps = args.time.map_or(args.schedules(), |time| time.as_millis() as u64);
    Ok(report.run(experiment, &subjects, |number, subject, progress| {
        explore_one(subject, args, &progress.part(number, steps))
    }))
}

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

/// So many schedules a thread takes at a time.
const CHUNK: u64 = 128;

/// Explores one lock, and prints how it failed. Which schedule fails first does not depend on the threads.
fn explore_one(subject: &Subject, args: &Args, progress: &Progress) -> Outcome {
    let (start, schedules, options) = (Instant::now(), args.schedules(), args.options());
    progress.now(subject.name());
    // The first seed that nobody has taken yet, and the lowest that failed: none above it needs to be run.
    let [next, limit] = [args.seed, args.seed.saturating_add(schedules)].map(AtomicU64::new);
    let tally = Mutex::new(Tally::default());
    let work = || loop {
        let from = next.fetch_add(CHUNK, Relaxed);
        let to = limit.load(Relaxed).min(from.saturating_add(CHUNK));
        // Something is explored however short the time is.
        let over = from > args.seed && args.time.is_some_and(|time| start.elapsed() >= time);
        if from >= to || over || interrupt::requested() {
            return;
        }
        let seen = explore(subject, &options, from..to, |seed| seed < limit.load(Relaxed));
        if let Some((seed, _)) = seen.failure {
            limit.fetch_min(seed, Relaxed);
        }
        let mut sum = tally.lock().unwrap_or_else(PoisonError::into_inner);
        sum.merge(seen);
        // Of a time, or of a number of schedules.
        progress.set(args.time.map_or(sum.schedules, |_| start.elapsed().as_millis() as u64));
        progress.seldom(subject.name());
    };
    std::thread::scope(|scope| {
        for _ in 1..args.jobs.unwrap_or_else(cpus) {
            scope.spawn(work);
        }
        work();
    });
    let seconds = start.elapsed().as_secs_f64();
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    let finding = tally.failure.as_ref().and_then(|&(seed, _)| investigate(subject, &options, seed));
    let outcome = Outcome::new(subject, args, &tally, seconds, finding.as_ref());
    if let Some(finding) = &finding {
        progress.aside(|| say!("{}", outcome.told(&args.flags(), finding)));
    } else if let Some((seed, failure)) = &tally.failure {
        // A script of its turns does not bring it about: who stays away for good is drawn.
        let (lock, flags, what) = (subject.name(), args.flags(), &failure.what);
        let again = format!("again, in full:    stanchion explore --lock {lock}{flags} --replay {seed}");
        progress.aside(|| say!("{lock}: FAILED with seed {seed}: {what}\n{again}"));
    }
    outcome
}

/// An exploration of so many schedules that draw their faults reaches every row that can be reached.
const ENOUGH_FOR_ROWS: u64 = 20_000;

#[derive(Serialize)]
struct Failed {
    seed: u64,
    /// How many schedules it took, in the order of seeds.
    after: u64,
    kind: &'static str,
    what: String,
}

#[derive(Serialize)]
struct Outcome {
    lock: &'static str,
    schedules: u64,
    steps: u64,
    seconds: f64,
    worst_overtaking: u32,
    bound: String,
    rows_reached: Vec<&'static str>,
    rows_missed: Vec<&'static str>,
    /// Rows that were said to be out of reach and were reached.
    rows_surprising: Vec<&'static str>,
    /// Whether a missed row is a failure: there were schedules enough.
    rows_count: bool,
    events: Vec<(&'static str, u64)>,
    failed: Option<Failed>,
    /// What brings the smallest schedule up again that fails likewise, and that schedule.
    finding: Option<(String, Vec<String>)>,
    as_stated: Option<bool>,
}

impl Outcome {
    fn new(subject: &Subject, args: &Args, tally: &Tally, seconds: f64, finding: Option<&Finding>) -> Self {
        let (options, all) = (args.options(), tally.rows(subject));
        let rows = |wanted: fn(reached: bool, unreachable: bool) -> bool| {
            let unreachable = |name| subject.stated.unreachable.contains(name);
            let wanted = all.iter().filter(|(name, reached)| wanted(*reached, unreachable(name)));
            wanted.map(|&(name, _)| name).collect()
        };
        let failed = tally.failure.as_ref().map(|(seed, failure)| {
            let (kind, what) = (failure.kind.name(), failure.what.clone());
            Failed { seed: *seed, after: seed - args.seed + 1, kind, what }
        });
        let as_stated = subject.broken.map(|broken| {
            let in_time = failed.as_ref().is_some_and(|failed| failed.after <= broken.within);
            in_time && tally.failure.iter().any(|(_, failure)| broken.kinds.contains(&failure.kind))
        });
        let events = ALL.iter().map(|&event| (event.name(), tally.count(event)));
        Self {
            lock: subject.name(),
            schedules: tally.schedules,
            steps: tally.steps,
            seconds,
            worst_overtaking: tally.worst_overtaking,
            bound: subject.overtaking.to_string(),
            rows_reached: rows(|reached, _| reached),
            rows_missed: rows(|reached, unreachable| !reached && !unreachable),
            rows_surprising: rows(|reached, unreachable| reached && unreachable),
            rows_count: tally.schedules >= ENOUGH_FOR_ROWS
                && options.faults.is_none()
                && options.contexts > 2
                && options.rounds > 1,
            events: events.filter(|&(_, count)| count > 0).collect(),
            failed,
            finding: finding.map(|Finding { replay, interleaving, .. }| {
                (replay.clone(), interleaving.lines().map(str::to_owned).collect())
            }),
            as_stated,
        }
    }

    /// The failure: what went wrong, how it came about, and how to see it again.
    fn told(&self, flags: &str, finding: &Finding) -> String {
        let lock = self.lock;
        let seed = self.failed.as_ref().map_or(0, |failed| failed.seed);
        let (before, after) = finding.switches;
        format!(
            "{lock}: FAILED with seed {seed}: {}\n{}\
             smallest schedule: {after} changes of turn (found with {before})\n\
             again, in full:    stanchion explore --lock {lock}{flags} --replay {seed}\n\
             again, smallest:   stanchion explore --lock {lock}{flags} --replay {}",
            finding.failure.what, finding.interleaving, finding.replay,
        )
    }
}

impl one_by_one::Outcome for Outcome {
    const COMMAND: &'static str = "explore";
    const TITLE: &'static str = "Locks under adversarial schedules";
    const SURVIVED: &'static str = "expected to be caught as stated (see --list), and was not";

    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::called("lock", |seen: &Self| seen.lock),
            Column::called("schedules", |seen: &Self| seen.schedules),
            Column::called("steps", |seen: &Self| seen.steps),
            Column::new("rows_reached", |seen: &Self| seen.rows_reached.len()),
            Column::new("rows_missed", |seen: &Self| seen.rows_missed.len()),
            Column::told("rows", |seen: &Self| {
                let reached = seen.rows_reached.len();
                format!("{reached}/{}", reached + seen.rows_missed.len())
            }),
            Column::new("worst_overtaking", |seen: &Self| seen.worst_overtaking).titled("worst bypass"),
            Column::called("bound", |seen: &Self| seen.bound.clone()),
            Column::new("seconds", |seen: &Self| seen.seconds),
            Column::told("schedules/s", |seen: &Self| seen.schedules as f64 / seen.seconds.max(1e-9))
                .shown(|rate| format!("{rate:.0}")),
            Column::new("failed_seed", |seen: &Self| Some(seen.failed.as_ref()?.seed)),
            Column::called("verdict", |seen: &Self| match &seen.failed {
                Some(failed) => format!("FAILED: {} at schedule {}", failed.kind, failed.after),
                None if seen.passed() => "passed".to_owned(),
                None => "FAILED: rows".to_owned(),
            }),
            Column::new("reason", |seen: &Self| Some(seen.failed.as_ref()?.what.clone())),
        ]
    }

    fn lock(&self) -> &str {
        self.lock
    }

    /// Which schedule failed; rows that were not reached, or should not have been.
    fn doubts(&self) -> Vec<String> {
        let failed = self.failed.iter();
        let failed = failed.map(|failed| format!("FAILED with seed {}: {}", failed.seed, failed.what));
        let weight = if self.rows_count { "FAILED" } else { "note" };
        let missed = self.rows_missed.iter().filter(|_| self.failed.is_none());
        let missed = missed.map(|row| format!("{weight}: row never reached: {row}"));
        let surprising = self.rows_surprising.iter();
        let surprising =
            surprising.map(|row| format!("FAILED: row reached that was said to be out of reach: {row}"));
        failed.chain(missed).chain(surprising).collect()
    }

    fn passed(&self) -> bool {
        let rows_fine = !self.rows_count || self.rows_missed.is_empty();
        self.failed.is_none() && rows_fine && self.rows_surprising.is_empty()
    }

    /// One that is broken on purpose has to be caught as stated.
    fn caught(&self) -> bool {
        self.failed.is_some() && self.as_stated != Some(false)
    }
}
