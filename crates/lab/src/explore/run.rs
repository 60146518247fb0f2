//! Spreads the schedules of one lock over threads; which schedule fails first does not depend on their
//! number.
use super::args::Args;
use super::outcome::Outcome;
use core::sync::atomic::{AtomicU64, Ordering};
use lab_kit::progress::Progress;
use stanchion_sim::explore::{Finding, Options, Subject, Tally, explore, investigate};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// So many schedules a thread takes at a time.
const CHUNK: u64 = 128;
/// What the threads share.
struct Shared {
    start: Instant,
    deadline: Option<Instant>,
    /// The first seed that nobody has taken yet.
    next: AtomicU64,
    /// The lowest seed that failed; nothing above it needs to be run.
    limit: AtomicU64,
    tally: Mutex<Tally>,
}

/// Explores one lock, from that seed on.
pub(super) fn run(subject: &Subject, args: &Args, seed: u64) -> (Outcome, Option<Finding>) {
    let (start, schedules, options) = (Instant::now(), args.schedules(), args.options());
    let shared = Shared {
        start,
        deadline: args.time.map(|time| start + time),
        next: AtomicU64::new(seed),
        limit: AtomicU64::new(seed.saturating_add(schedules)),
        tally: Mutex::new(Tally::default()),
    };
    let progress = Progress::new(args.time.map_or(schedules, |time| time.as_millis() as u64), false);
    progress.now(subject.name());
    std::thread::scope(|scope| {
        for _ in 1..args.jobs() {
            scope.spawn(|| shared.work(subject, &options, &progress));
        }
        shared.work(subject, &options, &progress);
    });
    progress.finish();
    let seconds = start.elapsed().as_secs_f64();
    let tally = shared.tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    let finding = tally.failure.as_ref().and_then(|&(seed, _)| investigate(subject, &options, seed));
    (Outcome::new(subject, &options, seed, &tally, seconds, finding.as_ref()), finding)
}

impl Shared {
    fn work(&self, subject: &Subject, options: &Options, progress: &Progress) {
        loop {
            let from = self.next.fetch_add(CHUNK, Ordering::Relaxed);
            let to = self.limit.load(Ordering::Relaxed).min(from.saturating_add(CHUNK));
            if from >= to || self.over() {
                return;
            }
            let tally = explore(subject, options, from..to, |seed| seed < self.limit.load(Ordering::Relaxed));
            if let Some((seed, _)) = tally.failure {
                self.limit.fetch_min(seed, Ordering::Relaxed);
            }
            let mut sum = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
            sum.merge(tally);
            // Of a time, or of a number of schedules.
            let done = self.deadline.map_or(sum.schedules, |_| self.start.elapsed().as_millis() as u64);
            progress.set(done);
        }
    }

    fn over(&self) -> bool {
        lab_kit::interrupt::requested() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}
