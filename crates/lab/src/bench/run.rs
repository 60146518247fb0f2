//! One run from arguments to exit code.
use super::args::{Args, RwArgs};
use super::cell::{Calibration, CellSpec};
use super::cgroup::Cgroup;
use super::config::{self, Config};
use super::engine::{self, Observer};
use super::executor::ProcessExecutor;
use super::export::formats;
use super::list::list;
use super::machine::{self, Activity};
use super::mix::named;
use super::plan::{self, Group, Topic};
use super::report::Report;
use super::warnings::{self, Beforehand, Warning};
use super::{calibrate, clock, table, verdict};
use core::fmt::Write as _;
use core::time::Duration;
use lab_kit::export::{Exports, Files};
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, REFUSED, print};
use lab_kit::progress::Progress;
use lab_kit::units::spoken;
use std::process::ExitCode;

/// How long the machine is watched before the start.
const WATCH: Duration = Duration::from_millis(200);

/// A benchmark of its own: what it measures, writes and prints.
pub(crate) struct Study {
    /// What its files are called.
    pub stem: &'static str,
    /// Whether more is measured than the cells of the matrix, and the answer is told.
    pub whole: bool,
    pub tables: fn(&Report) -> String,
}

/// Runs the benchmark of mutexes, or with `rw` that of reader-writer locks.
pub(crate) fn run(args: &Args, rw: Option<&RwArgs>) -> ExitCode {
    let stem = if rw.is_some() { "bench-rw" } else { "bench" };
    let study = Study { stem, whole: true, tables: table::render };
    run_study(args, rw, study)
}

pub(crate) fn run_study(args: &Args, rw: Option<&RwArgs>, study: Study) -> ExitCode {
    if args.list {
        return print(&list(rw.is_some()), ExitCode::SUCCESS);
    }
    match prepare(args, rw, study.stem) {
        Ok((config, exports)) => measure(args, config, exports, study),
        Err(message) => {
            eprintln!("stanchion: {message}");
            ExitCode::from(REFUSED)
        }
    }
}

/// Everything that may be refused.
fn prepare(
    args: &Args,
    rw: Option<&RwArgs>,
    stem: &'static str,
) -> Result<(Config, Exports<Report>), String> {
    let cpus = match &args.measure.cpus {
        Some(list) => {
            let cpus = config::cpus(list)?;
            machine::restrict_to(&cpus)
                .map_err(|error| format!("--cpus: cannot keep to CPUs {list}: {error}"))?;
            cpus
        }
        None => machine::available_cpus(),
    };
    let config = Config::resolve(args, rw, cpus)?;
    let files = Files {
        json: args.measure.json.clone(),
        csv: args.measure.csv.clone(),
        html: args.html.clone(),
        out: args.out.clone(),
        force: args.measure.force,
    };
    Ok((config, files.open(&formats(stem))?))
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

fn measure(args: &Args, mut config: Config, exports: Exports<Report>, study: Study) -> ExitCode {
    interrupt::install();
    let (cgroup, unlimited) = cgroup(&mut config);
    let cpus = config.setting.cpus.clone();
    let mut before = warnings::before(&Beforehand {
        debug_build: cfg!(debug_assertions),
        cpus: cpus.len(),
        quota: std::thread::available_parallelism().map_or(cpus.len(), usize::from),
        runnable: machine::other_runnable(),
        busy: machine::busy_before(&cpus, WATCH),
        governor: machine::governor(),
        stable_clock: clock::is_stable(),
    });
    before.extend(unlimited);
    let mut report = Report::new(config.setting, calibrated(), config.locks);
    report.warnings.clone_from(&before);
    let mut groups = plan::groups(&report, config.uncontended_only);
    groups.retain(|group| study.whole || matches!(group.topic, Topic::Cells { .. }));
    announce(args, &report, &groups);

    let mut driver = Driver {
        study,
        exports,
        progress: Progress::new(planned_ms(&groups), args.measure.quiet),
        planned_ms: 0,
        before,
        last: Activity::sample(&cpus),
        cpus,
        worst: (0.0, 0.0),
        error: None,
    };
    let mut executor = ProcessExecutor { cgroup };
    engine::run(&mut executor, &mut driver, &groups, &mut report);
    drop(executor);
    driver.progress.finish();
    finish(&driver, &report)
}

/// The cgroup of cells with a CPU limit, if there are any; where there can be none, the cells are left out,
/// with a warning.
fn cgroup(config: &mut Config) -> (Option<Cgroup>, Option<Warning>) {
    let profiles = &mut config.setting.profiles;
    let limited = !config.uncontended_only && profiles.iter().any(|profile| profile.cpu_limit.is_some());
    match limited.then(Cgroup::create).transpose() {
        Ok(cgroup) => (cgroup, None),
        Err(reason) => {
            profiles.retain(|profile| profile.cpu_limit.is_none());
            (None, Some(Warning::NoCpuLimit { reason }))
        }
    }
}

fn planned_ms(groups: &[Group]) -> u64 {
    groups.iter().flat_map(|group| &group.cells).map(plan::nominal_ms).sum()
}

/// What will be done, on standard error before it is done.
fn announce(args: &Args, report: &Report, groups: &[Group]) {
    if args.measure.quiet {
        return;
    }
    let matrix = groups.iter().filter(|group| matches!(group.topic, Topic::Cells { .. }));
    let cells = matrix.count() * report.locks.len();
    eprintln!(
        "{} locks on {} CPUs ({}), seed {}{}, about {}",
        report.locks.len(),
        report.setting.cpus.len(),
        report.provenance.cpu_model,
        report.setting.seed,
        if groups.len() > 1 { format!(", {cells} cells") } else { String::new() },
        spoken(planned_ms(groups) as f64 / 1e3)
    );
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
}

/// Prints the result, the verdict last, and decides the exit code.
fn finish(driver: &Driver, report: &Report) -> ExitCode {
    let mut text = (driver.study.tables)(report);
    for path in driver.exports.paths() {
        let _ = write!(text, "\nwritten: {}", path.display());
    }
    let _ = writeln!(text, "\nseed {}", report.setting.seed);
    if !report.summary.is_empty() {
        let _ = writeln!(text, "\n{}", report.summary.join("\n"));
    }
    let code = match report.complete {
        _ if driver.error.is_some() || report.failed() => ExitCode::from(FAILED),
        true => ExitCode::SUCCESS,
        false => ExitCode::from(INTERRUPTED),
    };
    for warning in &report.warnings {
        eprintln!("warning: {warning}");
    }
    let code = print(&text, code);
    if let Some(error) = &driver.error {
        eprintln!("stanchion: {error}");
    }
    if !report.complete {
        let files = if driver.exports.paths().next().is_some() { " and in the files" } else { "" };
        eprintln!("stanchion: interrupted; what was finished is above{files}");
    }
    code
}

/// Keeps files, warnings and progress up to date while the engine runs.
struct Driver {
    study: Study,
    exports: Exports<Report>,
    progress: Progress,
    /// What the steps so far take by the plan; the bar learns of each when it is over.
    planned_ms: u64,
    before: Vec<Warning>,
    cpus: Vec<usize>,
    last: Activity,
    /// Largest shares of any group: other programs, and the hypervisor.
    worst: (f64, f64),
    error: Option<String>,
}

impl Observer for Driver {
    fn step(&mut self, spec: &CellSpec) {
        self.progress.set(self.planned_ms);
        self.planned_ms += plan::nominal_ms(spec);
        let load = named(&spec.profile.name, spec.mix);
        self.progress.now(format!("{load}, {} threads, {}", spec.threads, spec.lock));
    }

    fn group_done(&mut self, group: &Group, report: &mut Report) {
        let now = Activity::sample(&self.cpus);
        let (foreign, stolen) = now.shares_since(&self.last, self.cpus.len());
        self.last = now;
        self.worst = (self.worst.0.max(foreign), self.worst.1.max(stolen));
        report.warnings.retain(|warning| matches!(warning, Warning::Failed { .. }));
        report.warnings.extend(self.before.iter().cloned());
        report.warnings.extend(warnings::during(self.worst.0, self.worst.1));
        let doubts = warnings::about_cells(report);
        report.warnings.extend(doubts);
        if self.study.whole {
            report.summary = verdict::lines(report);
        }
        self.progress.set(self.planned_ms);
        self.progress.line(&format!("done: {}", group.topic.told()));
        // Said once and at the end: the measurement goes on, the terminal still gets its tables.
        if let Err(error) = self.exports.write(report) {
            self.error = Some(error);
        }
    }

    fn stop_requested(&self) -> bool {
        interrupt::requested()
    }
}
