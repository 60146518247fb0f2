//! What the tests of a comparison share.
use super::engine::{Executor, Observer, Trial, TrialError};
use super::metric::{Figures, Metric};
use super::report::{Report, Row, SCHEMA};
use super::setting::{Order, Setting};
use lab_kit::provenance::Provenance;

pub(crate) fn setting(locks: &[&str]) -> Setting {
    Setting {
        locks: locks.iter().map(|&lock| lock.to_owned()).collect(),
        metric: Metric::Wall,
        runs: 5,
        warmup: 0,
        timeout_s: 60.0,
        order: Order::Rotated,
        seed: 42,
        check_output: false,
        show_output: false,
    }
}

pub(crate) fn report(locks: &[&str]) -> Report {
    Report {
        schema: SCHEMA,
        complete: false,
        provenance: Provenance::collect(42),
        file: "/bin/x".into(),
        program: vec!["x".into(), "a b".into()],
        library: Some("/lib/y.so".into()),
        words: vec!["nopv".into()],
        setting: setting(locks),
        locks: locks.iter().map(|lock| Row::new(lock)).collect(),
        rss_floor_kib: 0,
        warnings: Vec::new(),
    }
}

pub(crate) fn figures(wall_s: f64) -> Figures {
    Figures { wall_s, cpu_s: wall_s * 2.0, max_rss_kib: 1000, picked: None }
}

/// Answers by a function in place of running anything, and keeps what it was asked.
pub(crate) struct MockExecutor<F> {
    pub answer: F,
    pub asked: Vec<Trial>,
}

impl<F: FnMut(&Trial) -> Result<Figures, TrialError>> Executor for MockExecutor<F> {
    fn run(&mut self, trial: &Trial) -> Result<Figures, TrialError> {
        self.asked.push(*trial);
        (self.answer)(trial)
    }
}

/// Keeps what it is shown, and asks to stop before run `stop_at`.
#[derive(Default)]
pub(crate) struct MockObserver {
    pub stop_at: Option<usize>,
    pub steps: usize,
    /// How many runs the report had after each.
    pub seen: Vec<usize>,
}

impl Observer for MockObserver {
    fn step(&mut self, _: &Trial) {
        self.steps += 1;
    }

    fn done(&mut self, report: &mut Report) {
        report.refresh(&[]);
        self.seen.push(report.locks.iter().map(|row| row.runs.len() + row.failures.len()).sum());
    }

    fn stop_requested(&self) -> bool {
        self.stop_at == Some(self.steps)
    }
}
