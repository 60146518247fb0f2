//! `stanchion run --compare`: one program under several locks, again and again in turn; from what was asked
//! for ([`Setting`]) by single runs ([`executor`]) to what came of all ([`report`]).
mod executor;
mod export;
mod metric;
mod report;

use super::library::Environment;
use super::program::Program;
use executor::{Executor, TrialError};
pub(crate) use export::FORMATS;
use fastrand::Rng;
use lab_kit::child::peak_kib;
use lab_kit::export::Exports;
use lab_kit::interrupt;
use lab_kit::output::warn;
use lab_kit::progress::Progress;
use metric::Figures;
pub(crate) use metric::Metric;
pub(crate) use report::Report;
use report::{Failure, Run};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::ExitCode;

/// A lock that took too long this often is not run any more: each further run would take longest of all.
const MOST_TIMEOUTS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Order {
    /// Each round begins one lock further, so that each has each place equally often.
    Rotated,
    /// By chance, from the seed.
    Shuffled,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Setting {
    /// The others are set in relation to the first.
    pub locks: Vec<String>,
    pub metric: Metric,
    pub runs: usize,
    pub warmup: usize,
    pub timeout_s: f64,
    pub order: Order,
    pub seed: u64,
    pub check_output: bool,
    pub show_output: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trial {
    /// Its place in the list of locks.
    pub lock: usize,
    pub round: usize,
    pub warmup: bool,
}

impl Setting {
    /// All runs, warm-up first, a round of all locks at a time.
    pub(crate) fn trials(&self) -> Vec<Trial> {
        let mut random = Rng::with_seed(self.seed);
        let warmups = (0..self.warmup).map(|round| (true, round));
        let rounds = warmups.chain((0..self.runs).map(|round| (false, round)));
        let mut trials = Vec::new();
        for (warmup, round) in rounds {
            let mut locks: Vec<usize> = (0..self.locks.len()).collect();
            match self.order {
                Order::Rotated => locks.rotate_left(round % self.locks.len().max(1)),
                Order::Shuffled => random.shuffle(&mut locks),
            }
            trials.extend(locks.into_iter().map(|lock| Trial { lock, round, warmup }));
        }
        trials
    }
}

/// Runs `program` in each of the environments, those of the setting's locks; the report has no runs yet.
pub(crate) fn run(
    program: &Program,
    environments: &[Environment],
    mut report: Report,
    mut exports: Exports<Report>,
    quiet: bool,
) -> ExitCode {
    interrupt::install();
    report.warnings.extend(report.library.as_deref().map(Path::new).and_then(unoptimised));
    let before = report.warnings.len();
    report.refresh(before);
    let setting = report.setting.clone();
    let (locks, rounds) = (setting.locks.len(), setting.warmup + setting.runs);
    if !quiet {
        let warmup =
            if setting.warmup > 0 { format!(" after {} to warm up", setting.warmup) } else { String::new() };
        let path = program.path.display();
        eprintln!("{path} under {}, {} runs each{warmup}", setting.locks.join(", "), setting.runs);
        warn(&report.warnings[..before]);
    }
    // A single run may take long.
    let progress = Progress::new((locks * rounds) as u64, quiet).ticking();
    let (setting, shown) = (&setting, progress.clone());
    let mut executor = Executor { program, environments, setting, progress: shown, first: None };
    let (mut finished, mut error) = (0, None);
    run_all(
        &mut report,
        |trial| executor.run(trial),
        |report| {
            report.rss_floor_kib = peak_kib("self");
            report.refresh(before);
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
    if finished == 0 {
        exports.abandon();
    }
    let text = export::table(&report) + &exports.written();
    // Those from before the start have been said, or were not to be.
    warn(&report.warnings[before..]);
    exports.end(&text, report.complete, report.failed(), error.as_deref())
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

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

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
        let words = vec!["x".into(), "a b".into()];
        let program =
            Program { path: "/bin/x".into(), binary: "/bin/x".into(), loader: "/lib/ld.so".into(), words };
        Report::new(setting(locks), &program, None, &[], None)
    }

    pub(crate) fn figures(wall_s: f64) -> Figures {
        Figures { wall_s, cpu_s: wall_s * 2.0, max_rss_kib: 1000, picked: None }
    }

    /// The locks of each round.
    fn rounds(setting: &Setting) -> Vec<Vec<usize>> {
        let locks: Vec<usize> = setting.trials().iter().map(|trial| trial.lock).collect();
        locks.chunks(setting.locks.len()).map(<[usize]>::to_vec).collect()
    }

    #[test]
    fn rounds_are_interleaved_and_rotated() {
        let setting = Setting { warmup: 1, runs: 3, ..setting(&["a", "b", "c"]) };
        assert_eq!(rounds(&setting), [[0, 1, 2], [0, 1, 2], [1, 2, 0], [2, 0, 1]]);
        let warmups = setting.trials().iter().filter(|trial| trial.warmup).count();
        assert_eq!(warmups, 3);
    }

    #[test]
    fn a_seed_shuffles_and_the_same_seed_shuffles_the_same() {
        let by = |seed| Setting { order: Order::Shuffled, seed, runs: 20, ..setting(&["a", "b", "c", "d"]) };
        let shuffled = rounds(&by(1));
        assert_eq!(shuffled, rounds(&by(1)));
        assert_ne!(shuffled, rounds(&by(2)));
        for round in shuffled {
            let mut sorted = round;
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2, 3]);
        }
    }

    /// The report, what was asked, and how many runs the report had whenever it was told.
    fn told(
        mut answer: impl FnMut(&Trial) -> Result<Figures, TrialError>,
    ) -> (Report, Vec<Trial>, Vec<usize>) {
        let mut report = report(&["a", "b"]);
        let (mut asked, mut seen) = (Vec::new(), Vec::new());
        let one = |trial: &Trial| {
            asked.push(*trial);
            answer(trial)
        };
        run_all(&mut report, one, |report| {
            report.refresh(0);
            seen.push(report.locks.iter().map(|row| row.runs.len() + row.failures.len()).sum());
        });
        (report, asked, seen)
    }

    #[test]
    fn a_sound_comparison_is_complete_and_told_after_each_run() {
        let (report, asked, seen) = told(|trial| Ok(figures(1.0 + trial.lock as f64)));
        assert!(report.complete && !report.failed());
        assert_eq!(asked, report.setting.trials());
        assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10]);
        let ratio = report.locks[1].ratio.expect("five pairs");
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
        assert!(report.complete && report.failed());
        assert_eq!(report.locks[1].runs.len(), 4);
        assert_eq!(report.locks[1].ratio.map(|ratio| ratio.pairs), Some(4));
        assert!(report.locks[0].failures.is_empty());
    }

    #[test]
    fn a_lock_that_hangs_twice_is_not_run_again() {
        let (report, asked, seen) =
            told(|trial| if trial.lock == 1 { Err(TrialError::TimedOut) } else { Ok(figures(1.0)) });
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
        let (report, asked, seen) = told(|_| {
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
}
