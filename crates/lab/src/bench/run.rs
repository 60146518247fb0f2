//! One run from arguments to exit code.
use super::args::Args;
use super::cell::Calibration;
use super::cgroup::Cgroup;
use super::config::{self, Config};
use super::engine::{Ended, Engine, Observer};
use super::executor::ProcessExecutor;
use super::export::FORMATS;
use super::list;
use super::machine::{self, Activity};
use super::mutexes::Mutexes;
use super::plan;
use super::progress::Progress;
use super::report::{Report, SCHEMA};
use super::study::{GroupOf, ReportOf, Spec, Study};
use super::units::spoken;
use super::warnings::{self, Beforehand, Warning};
use super::{calibrate, clock};
use crate::export::{Exports, Formats, Wanted};
use crate::interrupt;
use crate::output::{FAILED, INTERRUPTED, REFUSED, print};
use crate::provenance::Provenance;
use core::fmt::Write as _;
use core::time::Duration;
use std::io::IsTerminal;
use std::process::ExitCode;
use std::time::Instant;

/// How long the machine is watched before the start.
const WATCH: Duration = Duration::from_millis(200);

/// Runs the benchmark of mutexes.
pub(crate) fn run(args: &Args) -> ExitCode {
    run_study::<Mutexes>(
        args,
        list::list,
        |cpus| Config::resolve(args, cpus),
        &FORMATS,
        |config, calibration| {
            plan::groups(&config.setting, &config.locks, calibration, config.uncontended_only)
        },
    )
}

/// Runs a benchmark: resolved by `resolve`, planned by `plan`, written as `formats`.
pub(crate) fn run_study<S: Study>(
    args: &Args,
    list: fn() -> String,
    resolve: impl FnOnce(Vec<usize>) -> Result<Config, String>,
    formats: &Formats<ReportOf<S>>,
    plan: impl FnOnce(&Config, Calibration) -> Vec<GroupOf<S>>,
) -> ExitCode {
    if args.list {
        return print(&list(), ExitCode::SUCCESS);
    }
    match prepare(args, resolve, formats) {
        Ok((config, exports)) => measure::<S>(args, config, exports, plan),
        Err(message) => {
            eprintln!("stanchion: {message}");
            ExitCode::from(REFUSED)
        }
    }
}

/// Everything that may be refused.
fn prepare<R>(
    args: &Args,
    resolve: impl FnOnce(Vec<usize>) -> Result<Config, String>,
    formats: &Formats<R>,
) -> Result<(Config, Exports<R>), String> {
    let cpus = match &args.cpus {
        Some(list) => {
            let cpus = config::cpus(list)?;
            machine::restrict_to(&cpus)
                .map_err(|error| format!("--cpus: cannot keep to CPUs {list}: {error}"))?;
            cpus
        }
        None => machine::available_cpus(),
    };
    let config = resolve(cpus)?;
    if let Some(text) = &args.nice {
        let value = config::nice(text)?;
        rustix::process::setpriority_process(None, value)
            .map_err(|error| format!("--nice: not permitted to set priority {value}: {error}"))?;
    }
    let wanted = Wanted {
        json: args.json.as_deref(),
        csv: args.csv.as_deref(),
        html: args.html.as_deref(),
        dir: args.out.as_deref(),
        force: args.force,
    };
    let exports = Exports::open(&wanted, formats)?;
    Ok((config, exports))
}

/// What is known before the first cell.
fn blank_report<C, U>(config: &Config) -> Report<C, U> {
    let setting = config.setting.clone();
    Report {
        schema: SCHEMA,
        complete: false,
        provenance: Provenance::collect(setting.seed),
        calibration: calibrated(),
        locks: config.locks.clone(),
        overhead: Vec::new(),
        uncontended: Vec::new(),
        cells: Vec::new(),
        warnings: Vec::new(),
        summary: Vec::new(),
        setting,
    }
}

/// Calibrates on one CPU, on a thread of its own so that the rest of the run stays free to move.
fn calibrated() -> Calibration {
    let pinned = std::thread::spawn(|| {
        // If pinning is refused, the figures are only noisier.
        let _ = machine::pin_to_one_cpu();
        calibrate::calibrate()
    });
    pinned.join().expect("calibration does not panic")
}

fn measure<S: Study>(
    args: &Args,
    mut config: Config,
    exports: Exports<ReportOf<S>>,
    plan: impl FnOnce(&Config, Calibration) -> Vec<GroupOf<S>>,
) -> ExitCode {
    interrupt::install();
    let (cgroup, unlimited) = cgroup(&mut config);
    let config = &config;
    let cpus = &config.setting.cpus;
    let mut before = warnings::before(&Beforehand {
        debug_build: cfg!(debug_assertions),
        cpus: cpus.len(),
        quota: std::thread::available_parallelism().map_or(cpus.len(), usize::from),
        runnable: machine::other_runnable(),
        busy: machine::busy_before(cpus, WATCH),
        governor: machine::governor(),
        stable_clock: clock::is_stable(),
    });
    before.extend(unlimited);
    let mut report: ReportOf<S> = blank_report(config);
    report.warnings.clone_from(&before);
    let groups = plan(config, report.calibration);
    announce::<S>(args, &report, &groups, &before);

    let progress = Progress::new::<S>(&groups, args.quiet);
    let mut driver = Driver::<S>::new(exports, progress, before, cpus.clone());
    let mut executor = ProcessExecutor { cgroup };
    let ended = Engine::<S>::new(&mut executor, &mut driver).run(&groups, &mut report);
    drop(executor);
    driver.progress.finish();
    finish(&driver, &report, ended)
}

/// The cgroup of cells with a CPU limit, if there are any; where there can be none, the cells are left out,
/// with a warning.
fn cgroup(config: &mut Config) -> (Option<Cgroup>, Option<Warning>) {
    if config.uncontended_only || config.setting.profiles.iter().all(|profile| profile.cpu_limit.is_none()) {
        return (None, None);
    }
    match Cgroup::create() {
        Ok(cgroup) => (Some(cgroup), None),
        Err(reason) => {
            config.setting.profiles.retain(|profile| profile.cpu_limit.is_none());
            (None, Some(Warning::NoCpuLimit { reason }))
        }
    }
}

/// What will be done, on standard error before it is done.
fn announce<S: Study>(args: &Args, report: &ReportOf<S>, groups: &[GroupOf<S>], before: &[Warning]) {
    if args.quiet {
        return;
    }
    let cells = S::planned(report);
    let ms: u64 =
        groups.iter().flat_map(|group| &group.cells).map(|spec| plan::nominal_ms(spec.cell())).sum();
    eprintln!(
        "{} locks on {} CPUs ({}), seed {}{}, about {}",
        report.locks.len(),
        report.setting.cpus.len(),
        report.provenance.cpu_model,
        report.setting.seed,
        if groups.len() > 1 { format!(", {cells} cells") } else { String::new() },
        spoken(ms as f64 / 1e3)
    );
    for warning in before {
        eprintln!("warning: {warning}");
    }
}

/// Prints the result and decides the exit code.
fn finish<S: Study>(driver: &Driver<S>, report: &ReportOf<S>, ended: Ended) -> ExitCode {
    let mut text = S::tables(report, std::io::stdout().is_terminal());
    if !report.summary.is_empty() {
        text.push_str("\nsummary\n");
        for line in &report.summary {
            text.push_str(&wrapped(line));
        }
    }
    for path in driver.exports.paths() {
        let _ = write!(text, "\nwritten: {}", path.display());
    }
    let _ = writeln!(text, "\nseed {}", report.setting.seed);
    let code = match ended {
        _ if driver.error.is_some() || report.failed() => ExitCode::from(FAILED),
        Ended::Interrupted => ExitCode::from(INTERRUPTED),
        Ended::Complete => ExitCode::SUCCESS,
    };
    let code = print(&text, code);
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
    if let Some(error) = &driver.error {
        eprintln!("stanchion: {error}");
    }
    if ended == Ended::Interrupted {
        eprintln!("stanchion: interrupted; what was finished is above{}", kept(driver));
    }
    code
}

fn kept<S: Study>(driver: &Driver<S>) -> &'static str {
    if driver.exports.paths().next().is_some() { " and in the files" } else { "" }
}

/// A sentence as lines of a hundred columns, with a dash in front.
fn wrapped(line: &str) -> String {
    const COLUMNS: usize = 96;
    let (mut text, mut column) = (String::from("  -"), 3);
    for word in line.split(' ') {
        if column + 1 + word.chars().count() > COLUMNS {
            text.push_str("\n   ");
            column = 3;
        }
        text.push(' ');
        text.push_str(word);
        column += 1 + word.chars().count();
    }
    text.push('\n');
    text
}

/// Keeps files, warnings and progress up to date while the engine runs.
struct Driver<S: Study> {
    exports: Exports<ReportOf<S>>,
    progress: Progress,
    before: Vec<Warning>,
    cpus: Vec<usize>,
    epoch: Instant,
    last: Activity,
    /// Largest shares of any group: other programs, and the hypervisor.
    worst: (f64, f64),
    error: Option<String>,
}

impl<S: Study> Driver<S> {
    fn new(
        exports: Exports<ReportOf<S>>,
        progress: Progress,
        before: Vec<Warning>,
        cpus: Vec<usize>,
    ) -> Self {
        let epoch = Instant::now();
        let last = Activity::sample(&cpus, epoch);
        Self { exports, progress, before, cpus, epoch, last, worst: (0.0, 0.0), error: None }
    }
}

impl<S: Study> Observer<S> for Driver<S> {
    fn step(&mut self, spec: &S::Spec) {
        self.progress.step(spec);
    }

    fn group_done(&mut self, group: &GroupOf<S>, report: &mut ReportOf<S>) {
        let now = Activity::sample(&self.cpus, self.epoch);
        let (foreign, stolen) = now.shares_since(&self.last, self.cpus.len());
        self.last = now;
        self.worst = (self.worst.0.max(foreign), self.worst.1.max(stolen));
        report.warnings.retain(|warning| matches!(warning, Warning::Failed { .. }));
        report.warnings.extend(self.before.iter().cloned());
        report.warnings.extend(warnings::during(self.worst.0, self.worst.1));
        let doubts = S::doubts(report);
        report.warnings.extend(doubts);
        report.summary = S::sentences(report);
        self.progress.group_done::<S>(group);
        // Said once and at the end: the measurement goes on, the terminal still gets its tables.
        if let Err(error) = self.exports.write(report) {
            self.error = Some(error);
        }
    }

    fn stop_requested(&self) -> bool {
        interrupt::requested()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_wrapped_and_lose_no_word() {
        let line = "word ".repeat(60);
        let text = wrapped(line.trim_end());
        assert!(text.lines().all(|line| line.chars().count() <= 100) && text.lines().count() > 1);
        assert_eq!(text.matches("word").count(), 60);
    }
}
