//! One comparison from arguments to exit code.
use super::executor::{Executor, TrialError};
use super::export;
use super::metric::Figures;
use super::report::{Failure, Report, Run};
use super::{Setting, Trial};
use crate::run::Target;
use crate::run::environment::Environment;
use core::fmt::Write;
use lab_kit::export::Exports;
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, PASSED, print};
use lab_kit::progress::Progress;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// A lock that took too long this often is not run any more: it would take the longest time of all for each
/// further run.
const MOST_TIMEOUTS: usize = 2;

/// A comparison that can be started.
pub(crate) struct Comparison {
    pub target: Target,
    /// One for each lock of the setting.
    pub environments: Vec<Environment>,
    pub setting: Setting,
    pub library: Option<PathBuf>,
    pub words: Vec<OsString>,
    pub exports: Exports<Report>,
    /// To be said before the start.
    pub warning: Option<String>,
    pub quiet: bool,
}

pub(crate) fn run(mut comparison: Comparison) -> ExitCode {
    interrupt::install();
    let unoptimised = comparison.library.as_deref().and_then(unoptimised);
    let before: Vec<String> = comparison.warning.take().into_iter().chain(unoptimised).collect();
    let Comparison { target, environments, setting, library, words, mut exports, quiet, .. } = comparison;
    let mut report = Report {
        library: library.map(|path| path.display().to_string()),
        words: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        ..Report::new(setting.clone(), &target)
    };
    report.refresh(&before);
    if !quiet {
        let program = target.program.path.display();
        let warmup =
            if setting.warmup > 0 { format!(" after {} to warm up", setting.warmup) } else { String::new() };
        eprintln!("{program} under {}, {} runs each{warmup}", setting.locks.join(", "), setting.runs);
        warn(&before);
    }
    // A single run may take long.
    let progress = Progress::new(setting.trials().len() as u64, quiet).ticking();
    let mut executor = Executor {
        target: &target,
        environments: &environments,
        setting: &setting,
        progress: progress.clone(),
        first: None,
    };
    let (locks, rounds) = (setting.locks.len(), setting.warmup + setting.runs);
    let (mut finished, mut error) = (0, None);
    run_all(
        &mut report,
        |trial| executor.run(trial),
        |report| {
            report.rss_floor_kib = own_peak(&fs::read_to_string("/proc/self/status").unwrap_or_default());
            report.refresh(&before);
            // Said once and at the end: the comparison goes on, the terminal still gets its table.
            error = exports.write(report).err().or(error.take());
            if !report.complete {
                finished += 1;
                progress.step();
                if finished % locks == 0 {
                    progress.line(&format!("round {} of {rounds} done", finished / locks));
                }
            }
        },
    );
    progress.finish();
    if !report.complete && report.locks.iter().all(|row| row.runs.is_empty() && row.failures.is_empty()) {
        exports.abandon();
    }
    let mut text = export::table(&report);
    for path in exports.paths() {
        let _ = writeln!(text, "written: {}", path.display());
    }
    let code = match report.complete {
        _ if error.is_some() || report.failed() => FAILED,
        true => PASSED,
        false => INTERRUPTED,
    };
    let code = print(&text, ExitCode::from(code));
    // Those from before the start have been said, or were not to be.
    warn(&report.warnings[before.len()..]);
    if let Some(error) = error {
        eprintln!("stanchion: {error}");
    }
    if !report.complete {
        let kept = if exports.paths().next().is_some() { " and in the files" } else { "" };
        eprintln!("stanchion: interrupted; what was finished is above{kept}");
    }
    code
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
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

/// Carries out the trials of the report's setting by `run`. `done` is told of each when it stands in the
/// report, or was left out, and once more of a report that is complete.
fn run_all(
    report: &mut Report,
    mut run: impl FnMut(&Trial) -> Result<Figures, TrialError>,
    mut done: impl FnMut(&mut Report),
) {
    let mut overdue = vec![0; report.locks.len()];
    for trial in report.setting.trials() {
        let Trial { lock, round, warmup } = trial;
        let row = &mut report.locks[lock];
        if !row.given_up {
            match run(&trial) {
                Ok(figures) => row.runs.push(Run { round, warmup, figures }),
                Err(TrialError::Interrupted) => return,
                Err(TrialError::Failed(reason)) => row.failures.push(Failure { round, warmup, reason }),
                Err(TrialError::TimedOut) => {
                    overdue[lock] += 1;
                    row.given_up = overdue[lock] >= MOST_TIMEOUTS;
                    let reason = format!("not over after --timeout {} s", report.setting.timeout_s);
                    row.failures.push(Failure { round, warmup, reason });
                }
            }
        }
        done(report);
    }
    report.complete = true;
    done(report);
}

/// The most memory that this process had, in KiB, from its `status`.
fn own_peak(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compare::testing::{self, figures};

    /// The report, what was asked, and how many runs the report had whenever it was told.
    fn run(
        mut answer: impl FnMut(&Trial) -> Result<Figures, TrialError>,
    ) -> (Report, Vec<Trial>, Vec<usize>) {
        let mut report = testing::report(&["a", "b"]);
        let (mut asked, mut seen) = (Vec::new(), Vec::new());
        let one = |trial: &Trial| {
            asked.push(*trial);
            answer(trial)
        };
        run_all(&mut report, one, |report| {
            report.refresh(&[]);
            seen.push(report.locks.iter().map(|row| row.runs.len() + row.failures.len()).sum());
        });
        (report, asked, seen)
    }

    #[test]
    fn a_sound_comparison_is_complete_and_told_after_each_run() {
        let (report, asked, seen) = run(|trial| Ok(figures(1.0 + trial.lock as f64)));
        assert!(report.complete && !report.failed());
        assert_eq!(asked, report.setting.trials());
        assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
        let ratio = report.locks[1].ratio.expect("five pairs");
        assert!((ratio.ratio - 2.0).abs() < 1e-9 && ratio.pairs == 5);
    }

    #[test]
    fn a_run_that_fails_does_not_count_and_the_others_go_on() {
        let (report, asked, _) = run(|trial| {
            if trial.lock == 1 && trial.round == 2 {
                Err(TrialError::Failed("exit code 3".into()))
            } else {
                Ok(figures(1.0))
            }
        });
        assert_eq!(asked.len(), 10);
        assert!(report.complete && report.failed());
        assert_eq!(report.locks[1].runs.len(), 4);
        assert_eq!(report.locks[1].ratio.map(|ratio| ratio.pairs), Some(4));
        assert!(report.locks[0].failures.is_empty());
    }

    #[test]
    fn a_lock_that_hangs_twice_is_not_run_again() {
        let (report, asked, seen) =
            run(|trial| if trial.lock == 1 { Err(TrialError::TimedOut) } else { Ok(figures(1.0)) });
        assert!(report.complete);
        assert_eq!(asked.iter().filter(|trial| trial.lock == 1).count(), 2);
        assert_eq!(seen.len(), 10 + 1, "what is left out passes in the progress");
        let row = &report.locks[1];
        assert!(row.given_up && row.failures.len() == 2 && row.ratio.is_none());
        assert!(row.failures[0].reason.contains("60 s"), "{:?}", row.failures);
        assert!(!report.locks[0].given_up && report.locks[0].runs.len() == 5);
    }

    #[test]
    fn an_interruption_keeps_what_is_finished() {
        let mut left = 3;
        let (report, asked, seen) = run(|_| {
            left -= 1;
            if left < 0 { Err(TrialError::Interrupted) } else { Ok(figures(1.0)) }
        });
        assert_eq!(asked.len(), 4);
        assert!(!report.complete && !report.failed() && seen == [1, 2, 3]);
    }

    #[test]
    fn a_debug_build_is_warned_of() {
        assert!(
            unoptimised(Path::new("/w/target/debug/lib.so")).is_some_and(|text| text.contains("--release"))
        );
        assert_eq!(unoptimised(Path::new("/w/debug/release/lib.so")), None);
    }

    #[test]
    fn our_own_peak_is_read_from_the_status() {
        assert_eq!(own_peak("VmPeak:\t 9 kB\nVmHWM:\t    4321 kB\nVmRSS:\t1 kB\n"), 4321);
        assert_eq!(own_peak(""), 0);
        assert!(own_peak(&fs::read_to_string("/proc/self/status").expect("Linux")) > 100);
    }
}
