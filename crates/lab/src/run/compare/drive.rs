//! One comparison from arguments to exit code.
use super::Comparison;
use super::engine::{self, Ended, Observer, Trial};
use super::executor::ProgramExecutor;
use super::report::{Report, Row, SCHEMA};
use super::setting::Setting;
use super::table;
use core::fmt::Write;
use lab_kit::export::Exports;
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, print};
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// Compares, and prints what came of it.
pub(crate) fn run(mut comparison: Comparison) -> ExitCode {
    interrupt::install();
    let mut before: Vec<String> = comparison.warning.take().into_iter().collect();
    before.extend(comparison.library.as_deref().and_then(unoptimised));
    let mut report = blank_report(&comparison);
    report.refresh(&before);
    if !comparison.quiet {
        announce(&comparison, &before);
    }
    // A single run may take long.
    let progress = Progress::new(report.setting.trials().len() as u64, comparison.quiet).ticking();
    let setting = report.setting.clone();
    let mut executor =
        ProgramExecutor::new(&comparison.target, &comparison.environments, &setting, progress.clone());
    let exports = comparison.exports;
    let mut driver = Driver { setting: &setting, exports, before, progress, finished: 0, error: None };
    let ended = engine::run(&mut executor, &mut driver, &mut report);
    driver.progress.finish();
    if ended == Ended::Interrupted
        && report.locks.iter().all(|row| row.runs.is_empty() && row.failures.is_empty())
    {
        driver.exports.abandon();
    }
    finish(&driver, &report, ended)
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

/// What is known before the first run.
fn blank_report(comparison: &Comparison) -> Report {
    let setting = comparison.setting.clone();
    let shown = |word: &std::ffi::OsString| word.to_string_lossy().into_owned();
    Report {
        schema: SCHEMA,
        complete: false,
        provenance: Provenance::collect(setting.seed),
        file: comparison.target.program.path.display().to_string(),
        program: comparison.target.words.iter().map(shown).collect(),
        library: comparison.library.as_ref().map(|path| path.display().to_string()),
        words: comparison.words.iter().map(shown).collect(),
        locks: setting.locks.iter().map(|lock| Row::new(lock)).collect(),
        rss_floor_kib: 0,
        warnings: Vec::new(),
        setting,
    }
}

/// What will be done, on standard error before it is done.
fn announce(comparison: &Comparison, before: &[String]) {
    let setting = &comparison.setting;
    let program = comparison.target.program.path.display();
    let warmup =
        if setting.warmup > 0 { format!(" after {} to warm up", setting.warmup) } else { String::new() };
    eprintln!("{program} under {}, {} runs each{warmup}", setting.locks.join(", "), setting.runs);
    for warning in before {
        eprintln!("warning: {warning}");
    }
}

/// Prints the result and decides the exit code.
fn finish(driver: &Driver, report: &Report, ended: Ended) -> ExitCode {
    let mut text = table::render(report);
    for path in driver.exports.paths() {
        let _ = writeln!(text, "written: {}", path.display());
    }
    let code = match ended {
        _ if driver.error.is_some() || report.failed() => ExitCode::from(FAILED),
        Ended::Interrupted => ExitCode::from(INTERRUPTED),
        Ended::Complete => ExitCode::SUCCESS,
    };
    let code = print(&text, code);
    // Those from before the start have been said, or were not to be.
    for warning in report.warnings.iter().skip(driver.before.len()) {
        eprintln!("warning: {warning}");
    }
    if let Some(error) = &driver.error {
        eprintln!("stanchion: {error}");
    }
    if ended == Ended::Interrupted {
        let kept = if driver.exports.paths().next().is_some() { " and in the files" } else { "" };
        eprintln!("stanchion: interrupted; what was finished is above{kept}");
    }
    code
}

/// Keeps files and progress up to date while the engine runs.
struct Driver<'a> {
    setting: &'a Setting,
    exports: Exports<Report>,
    before: Vec<String>,
    progress: Progress,
    finished: usize,
    error: Option<String>,
}

impl Observer for Driver<'_> {
    fn step(&mut self, trial: &Trial) {
        let what = if trial.warmup { "warm-up" } else { "run" };
        self.progress.now(format!("{what} {} of {}", trial.round + 1, self.setting.locks[trial.lock]));
    }

    fn done(&mut self, report: &mut Report) {
        report.rss_floor_kib = own_peak(&fs::read_to_string("/proc/self/status").unwrap_or_default());
        report.refresh(&self.before);
        // Said once and at the end: the comparison goes on, the terminal still gets its table.
        if let Err(error) = self.exports.write(report) {
            self.error = Some(error);
        }
        if report.complete {
            return;
        }
        self.finished += 1;
        self.progress.step();
        let (locks, rounds) = (self.setting.locks.len(), self.setting.warmup + self.setting.runs);
        if self.finished.is_multiple_of(locks) {
            self.progress.line(&format!("round {} of {rounds} done", self.finished / locks));
        }
    }

    fn stop_requested(&self) -> bool {
        interrupt::requested()
    }
}

/// The most memory that this process had, in KiB, from its `status`.
fn own_peak(status: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

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
