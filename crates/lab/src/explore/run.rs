//! Spreads the schedules of one lock over threads; which schedule fails first does not depend on their
//! number.
use super::args::Plan;
use super::outcome::Outcome;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use lab_kit::progress::Progress;
use stanchion_sim::explore::{Subject, Tally, explore, investigate};
use std::sync::Mutex;
use std::time::Instant;

/// So many schedules a thread takes at a time.
const CHUNK: u64 = 128;
/// A shorter exploration shows no progress.
const SHOWN_AFTER: Duration = Duration::from_secs(2);

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

/// Explores one lock.
pub(super) fn run(subject: &Subject, plan: &Plan) -> Outcome {
    let start = Instant::now();
    let shared = Shared {
        start,
        deadline: plan.time.map(|time| start + time),
        next: AtomicU64::new(plan.seed),
        limit: AtomicU64::new(plan.seed.saturating_add(plan.schedules)),
        tally: Mutex::new(Tally::default()),
    };
    let progress = Progress::new(plan.time.map_or(plan.schedules, |time| time.as_millis() as u64), false);
    progress.now(subject.name());
    std::thread::scope(|scope| {
        for _ in 1..plan.jobs {
            scope.spawn(|| shared.work(subject, plan, &progress));
        }
        shared.work(subject, plan, &progress);
    });
    progress.finish();
    let seconds = start.elapsed().as_secs_f64();
    let tally = shared.tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let finding = tally.failure.as_ref().map(|&(seed, _)| investigate(subject, &plan.options, seed));
    Outcome::new(subject, &plan.options, plan.seed, &tally, seconds, finding.flatten())
}

impl Shared {
    fn work(&self, subject: &Subject, plan: &Plan, progress: &Progress) {
        loop {
            let from = self.next.fetch_add(CHUNK, Ordering::Relaxed);
            let to = self.limit.load(Ordering::Relaxed).min(from.saturating_add(CHUNK));
            if from >= to || self.over() {
                return;
            }
            let tally =
                explore(subject, &plan.options, from..to, |seed| seed < self.limit.load(Ordering::Relaxed));
            if let Some((seed, _)) = tally.failure {
                self.limit.fetch_min(seed, Ordering::Relaxed);
            }
            let mut sum = self.tally.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            sum.merge(tally);
            self.show(plan, progress, sum.schedules);
        }
    }

    fn over(&self) -> bool {
        lab_kit::interrupt::requested() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn show(&self, plan: &Plan, progress: &Progress, schedules: u64) {
        if self.start.elapsed() < SHOWN_AFTER {
            return;
        }
        match plan.time {
            Some(_) => progress.set(self.start.elapsed().as_millis() as u64),
            None => progress.set(schedules),
        }
    }
}
