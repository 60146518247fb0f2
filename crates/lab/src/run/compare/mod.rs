//! `stanchion run --compare`: one program under several locks, again and again in turn; from what was asked
//! for ([`metric`]) by single runs ([`executor`]) to what came of all ([`report`]).
mod executor;
mod export;
mod metric;
mod report;

use super::library::Environment;
use super::program::Program;
use executor::Executor;
pub(crate) use export::FORMATS;
use lab_kit::child::peak_kib;
use lab_kit::compare::{Figures, Trial, TrialError};
use lab_kit::experiment::Experiment;
use lab_kit::output::{tell, warn};
pub(crate) use metric::parse;
pub(crate) use report::Report;
use std::path::Path;
use std::process::ExitCode;

/// Runs `program` in each of the environments, those of the setting's locks; the report has no runs yet.
pub(crate) fn run(
    program: &Program,
    environments: &[Environment],
    mut report: Report,
    mut experiment: Experiment<Report>,
    quiet: bool,
) -> ExitCode {
    let of_library = report.library.as_deref().map(Path::new).and_then(unoptimised);
    report.comparison.warnings.extend(of_library);
    let before = report.comparison.warnings.len();
    report.comparison.refresh(before);
    let setting = report.comparison.setting.clone();
    if !quiet {
        let warmup =
            if setting.warmup > 0 { format!(" after {} to warm up", setting.warmup) } else { String::new() };
        let path = program.path.display();
        tell!("{path} under {}, {} runs each{warmup}", setting.locks.join(", "), setting.runs);
        warn(&report.comparison.warnings[..before]);
    }
    let (setting, progress) = (&setting, experiment.progress.clone());
    let mut executor = Executor { program, environments, setting, progress, first: None };
    run_all(&mut report, &mut experiment, before, |trial| executor.run(trial));
    let text = export::text(&report) + &experiment.written();
    // Those from before the start have been said, or were not to be.
    warn(&report.comparison.warnings[before..]);
    experiment.end(&text, report.comparison.complete, report.comparison.failed())
}

/// A warning if the library lies where Cargo puts what it builds without optimisation.
fn unoptimised(library: &Path) -> Option<String> {
    let debug = library.parent().and_then(Path::file_name).is_some_and(|dir| dir == "debug");
    debug.then(|| {
        format!(
            "{}: a debug build, whose figures say nothing; cargo build --release -p stanchion-preload --features family",
            library.display()
        )
    })
}

/// Carries out the trials of the report's setting by `run`. The first `before` warnings stay.
fn run_all(
    report: &mut Report,
    experiment: &mut Experiment<Report>,
    before: usize,
    mut run: impl FnMut(&Trial) -> Result<Figures, TrialError>,
) {
    let trials = report.comparison.setting.trials();
    let locks = report.comparison.locks.len();
    experiment.run(report, &trials, |Report { comparison, .. }, number, trial, progress| {
        if !comparison.locks[trial.lock].given_up {
            match run(trial) {
                Err(TrialError::Interrupted) => return Ok(false),
                came => comparison.take(*trial, came),
            }
        }
        let done = number + 1;
        comparison.complete = done == trials.len();
        comparison.rss_floor_kib = peak_kib("self");
        comparison.refresh(before);
        progress.part(number, 1).set(1);
        if done % locks == 0 {
            progress.line(&format!("round {} of {} done", done / locks, trials.len() / locks));
        }
        Ok(true)
    });
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use core::cell::RefCell;
    use lab_kit::compare::{Metric, Setting};
    use lab_kit::export::{Exports, Writer};
    use lab_kit::progress::Progress;

    pub(crate) fn setting(locks: &[&str]) -> Setting {
        let locks = locks.iter().map(|&lock| lock.to_owned()).collect();
        Setting { timeout_s: 60.0, seed: 42, ..Setting::new(locks, Metric::Wall, 5) }
    }

    pub(crate) fn report(locks: &[&str]) -> Report {
        let words = vec!["x".into(), "a b".into()];
        let program =
            Program { path: "/bin/x".into(), binary: "/bin/x".into(), loader: "/lib/ld.so".into(), words };
        Report::new(setting(locks), &program, None, &[], None)
    }

    pub(crate) fn figures(wall_s: f64) -> Figures {
        Figures { wall_s, cpu_s: wall_s * 2.0, max_rss_kib: 1000, picked: None }
    }

    thread_local! {
        static SEEN: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
    }

    /// The report, what was asked, and how many runs the report had whenever it was to be written.
    fn told(
        mut answer: impl FnMut(&Trial) -> Result<Figures, TrialError>,
    ) -> (Report, Vec<Trial>, Vec<usize>) {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let note: Writer<Report> = |report| {
            let runs = report.comparison.locks.iter().map(|row| row.runs.len() + row.failures.len()).sum();
            SEEN.with_borrow_mut(|seen| seen.push(runs));
            String::new()
        };
        let exports = Exports::open(vec![(dir.path().join("seen"), note)], false).expect("writable");
        let mut experiment = Experiment::new(exports, Progress::new(1, true), 1);
        let (mut report, mut asked) = (report(&["a", "b"]), Vec::new());
        run_all(&mut report, &mut experiment, 0, |trial| {
            asked.push(*trial);
            answer(trial)
        });
        (report, asked, SEEN.take())
    }

    #[test]
    fn a_sound_comparison_is_complete_and_told_after_each_run() {
        let (report, asked, seen) = told(|trial| Ok(figures(1.0 + trial.lock as f64)));
        assert!(report.comparison.complete && !report.comparison.failed());
        assert_eq!(asked, report.comparison.setting.trials());
        assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
        let ratio = report.comparison.locks[1].ratio.expect("five pairs");
        assert!((ratio.ratio - 2.0).abs() < 1e-9 && ratio.pairs == 5);
    }

    #[test]
    fn a_run_that_fails_does_not_count_and_the_others_go_on() {
        let (report, asked, _) = told(|trial| {
            if trial.lock == 1 && trial.round == 2 {
                Err(TrialError::Failed("exit code 3".into()))
            } else {
                Ok(figures(1.0))
            }
        });
        assert_eq!(asked.len(), 10);
        assert!(report.comparison.complete && report.comparison.failed());
        assert_eq!(report.comparison.locks[1].runs.len(), 4);
        assert_eq!(report.comparison.locks[1].ratio.map(|ratio| ratio.pairs), Some(4));
        assert!(report.comparison.locks[0].failures.is_empty());
    }

    #[test]
    fn a_lock_that_hangs_twice_is_not_run_again() {
        let (report, asked, seen) =
            told(|trial| if trial.lock == 1 { Err(TrialError::TimedOut) } else { Ok(figures(1.0)) });
        assert!(report.comparison.complete);
        assert_eq!(asked.iter().filter(|trial| trial.lock == 1).count(), 2);
        assert_eq!(seen.len(), 10, "what is left out passes in the progress");
        let row = &report.comparison.locks[1];
        assert!(row.given_up && row.failures.len() == 2 && row.ratio.is_none());
        assert!(row.failures[0].reason.contains("limit of 60s"), "{:?}", row.failures);
        assert!(!report.comparison.locks[0].given_up && report.comparison.locks[0].runs.len() == 5);
    }

    #[test]
    fn an_interruption_keeps_what_is_finished() {
        let mut left = 3;
        let (report, asked, seen) = told(|_| {
            left -= 1;
            if left < 0 { Err(TrialError::Interrupted) } else { Ok(figures(1.0)) }
        });
        assert_eq!(asked.len(), 4);
        assert!(!report.comparison.complete && !report.comparison.failed() && seen == [1, 2, 3]);
    }

    #[test]
    fn a_debug_build_is_warned_of() {
        assert!(
            unoptimised(Path::new("/w/target/debug/lib.so")).is_some_and(|text| text.contains("--release"))
        );
        assert_eq!(unoptimised(Path::new("/w/debug/release/lib.so")), None);
    }
}
