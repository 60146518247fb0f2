//! Spreads the schedules of one lock over threads; which schedule fails first does not depend on their
//! number.
use super::args::Plan;
use super::outcome::Outcome;
use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use indicatif::{ProgressBar, ProgressStyle};
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
    let bar = progress_bar(subject, plan);
    std::thread::scope(|scope| {
        for _ in 1..plan.jobs {
            scope.spawn(|| shared.work(subject, plan, &bar));
        }
        shared.work(subject, plan, &bar);
    });
    bar.finish_and_clear();
    let seconds = start.elapsed().as_secs_f64();
    let tally = shared.tally.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let finding = tally.failure.as_ref().map(|&(seed, _)| investigate(subject, &plan.options, seed));
    Outcome::new(subject, &plan.options, plan.seed, &tally, seconds, finding.flatten())
}

impl Shared {
    fn work(&self, subject: &Subject, plan: &Plan, bar: &ProgressBar) {
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
            self.show(plan, bar, sum.schedules);
        }
    }

    fn over(&self) -> bool {
        crate::interrupt::requested() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn show(&self, plan: &Plan, bar: &ProgressBar, schedules: u64) {
        if self.start.elapsed() < SHOWN_AFTER {
            return;
        }
        match plan.time {
            Some(_) => bar.set_position(self.start.elapsed().as_millis() as u64),
            None => bar.set_position(schedules),
        }
    }
}

fn progress_bar(subject: &Subject, plan: &Plan) -> ProgressBar {
    // Draws on standard error, and nothing at all where that is no terminal.
    let style = ProgressStyle::with_template("{msg:28} [{bar:30}] {percent:>3} %  {eta} left")
        .expect("the template is well-formed")
        .progress_chars("=> ");
    let length = plan.time.map_or(plan.schedules, |time| time.as_millis() as u64);
    let bar = ProgressBar::new(length).with_style(style);
    bar.set_message(subject.name());
    bar
}
