//! The loop over the runs; what a run is, is the executor's.
use super::metric::Figures;
use super::report::{Failure, Report, Run};

/// A lock that took too long this often is not run any more: it would take the longest time of all for each
/// further run.
const MOST_TIMEOUTS: usize = 2;

/// One run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Its place in the list of locks.
    pub lock: usize,
    pub round: usize,
    pub warmup: bool,
}

/// Why a run does not count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TrialError {
    /// It could not be started, ended badly, or printed the wrong thing.
    Failed(String),
    TimedOut,
    /// The user asked to stop.
    Interrupted,
}

/// Runs the program once under a lock.
pub(crate) trait Executor {
    fn run(&mut self, trial: &Trial) -> Result<Figures, TrialError>;
}

/// Is told what happens, and may ask to stop.
pub(crate) trait Observer {
    /// A run begins.
    fn step(&mut self, trial: &Trial);
    /// A run is over, or was left out, and stands in the report.
    fn done(&mut self, report: &mut Report);
    fn stop_requested(&self) -> bool;
}

/// How a comparison ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Complete,
    Interrupted,
}

/// Carries out the trials of the report's setting.
pub(crate) fn run(executor: &mut impl Executor, observer: &mut impl Observer, report: &mut Report) -> Ended {
    let mut overdue = vec![0; report.locks.len()];
    for trial in report.setting.trials() {
        if observer.stop_requested() {
            return Ended::Interrupted;
        }
        observer.step(&trial);
        if overdue[trial.lock] >= MOST_TIMEOUTS {
            observer.done(report);
            continue;
        }
        let timeout_s = report.setting.timeout_s;
        let row = &mut report.locks[trial.lock];
        let Trial { round, warmup, .. } = trial;
        match executor.run(&trial) {
            Ok(figures) => row.runs.push(Run { round, warmup, figures }),
            Err(TrialError::Interrupted) => return Ended::Interrupted,
            Err(TrialError::Failed(reason)) => row.failures.push(Failure { round, warmup, reason }),
            Err(TrialError::TimedOut) => {
                overdue[trial.lock] += 1;
                row.given_up = overdue[trial.lock] >= MOST_TIMEOUTS;
                let reason = format!("not over after --timeout {timeout_s} s");
                row.failures.push(Failure { round, warmup, reason });
            }
        }
        observer.done(report);
    }
    report.complete = true;
    observer.done(report);
    Ended::Complete
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compare::testing::{self, MockExecutor, MockObserver, figures};

    fn run(
        stop_at: Option<usize>,
        answer: impl FnMut(&Trial) -> Result<Figures, TrialError>,
    ) -> (Report, Vec<Trial>, MockObserver, Ended) {
        let mut report = testing::report(&["a", "b"]);
        let mut executor = MockExecutor { answer, asked: Vec::new() };
        let mut observer = MockObserver { stop_at, ..MockObserver::default() };
        let ended = super::run(&mut executor, &mut observer, &mut report);
        (report, executor.asked, observer, ended)
    }

    #[test]
    fn a_sound_comparison_is_complete_and_told_after_each_run() {
        let (report, asked, observer, ended) = run(None, |trial| Ok(figures(1.0 + trial.lock as f64)));
        assert_eq!(ended, Ended::Complete);
        assert!(report.complete && !report.failed());
        assert_eq!(asked, report.setting.trials());
        assert_eq!(observer.seen, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
        let ratio = report.locks[1].ratio.expect("five pairs");
        assert!((ratio.ratio - 2.0).abs() < 1e-9 && ratio.pairs == 5);
    }

    #[test]
    fn a_run_that_fails_does_not_count_and_the_others_go_on() {
        let (report, asked, _, ended) = run(None, |trial| {
            if trial.lock == 1 && trial.round == 2 {
                Err(TrialError::Failed("exit code 3".into()))
            } else {
                Ok(figures(1.0))
            }
        });
        assert_eq!((ended, asked.len()), (Ended::Complete, 10));
        assert!(report.complete && report.failed());
        assert_eq!(report.locks[1].runs.len(), 4);
        assert_eq!(report.locks[1].ratio.map(|ratio| ratio.pairs), Some(4));
        assert!(report.locks[0].failures.is_empty());
    }

    #[test]
    fn a_lock_that_hangs_twice_is_not_run_again() {
        let (report, asked, observer, ended) =
            run(None, |trial| if trial.lock == 1 { Err(TrialError::TimedOut) } else { Ok(figures(1.0)) });
        assert_eq!(ended, Ended::Complete);
        assert_eq!(asked.iter().filter(|trial| trial.lock == 1).count(), 2);
        assert_eq!(observer.steps, 10, "what is left out passes in the progress");
        let row = &report.locks[1];
        assert!(row.given_up && row.failures.len() == 2 && row.ratio.is_none());
        assert!(row.failures[0].reason.contains("60 s"), "{:?}", row.failures);
        assert!(!report.locks[0].given_up && report.locks[0].runs.len() == 5);
    }

    #[test]
    fn an_interruption_keeps_what_is_finished() {
        let (report, asked, observer, ended) = run(Some(3), |_| Ok(figures(1.0)));
        assert_eq!((ended, asked.len()), (Ended::Interrupted, 3));
        assert!(!report.complete && observer.seen == [1, 2, 3]);
        let mut left = 2;
        let (report, asked, ..) = run(None, |_| {
            left -= 1;
            if left < 0 { Err(TrialError::Interrupted) } else { Ok(figures(1.0)) }
        });
        assert_eq!(asked.len(), 3);
        assert!(!report.complete && !report.failed());
    }
}
