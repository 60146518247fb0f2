//! One run from arguments to exit code.
use super::args::{Args, Measure};
use super::cell::CellSpec;
use super::engine::{self, Observer};
use super::export::formats;
use super::machine::{self, Activity};
use super::plan::{self, Group, Topic};
use super::report::{Cell, Report, State, Warning};
use super::warnings::{self, Beforehand};
use super::work::calibrate;
use super::{config, executor, table, verdict};
use core::fmt::Write as _;
use core::time::Duration;
use lab_kit::cgroup::Cgroup;
use lab_kit::experiment::{Experiment, heed_interrupts};
use lab_kit::interrupt;
use lab_kit::output::{tell, warn};
use lab_kit::progress::Progress;
use lab_kit::sample::Sample;
use lab_kit::units::{plural, spoken};
use std::process::ExitCode;

type Tables<'a> = &'a dyn Fn(&[Sample]) -> String;

const WATCH: Duration = Duration::from_millis(200);

fn sample(cell: &Cell) -> Sample {
    let sound = cell.state == State::Measured;
    let waits = cell.latency.as_ref().filter(|_| sound).map(|latency| &latency.worst_rounds_ns);
    Sample {
        lock: cell.lock.clone(),
        load: cell.profile.clone(),
        threads: cell.threads,
        rates: if sound { cell.rates().to_vec() } else { Vec::new() },
        worst_ns: waits.into_iter().flatten().map(|&ns| ns as f64).collect(),
        cpu: if sound { cell.cpu_rounds.clone() } else { Vec::new() },
    }
}

/// Runs the benchmark; with tables of another kind only the cells of the matrix, and without an answer. What
/// may be refused is refused before anything is measured.
pub(crate) fn measure(args: &Args, tables: Option<Tables>) -> Result<ExitCode, String> {
    let Measure { cpus, files, .. } = &args.measure;
    if let Some(cpus) = cpus {
        machine::restrict_to(cpus)
            .map_err(|error| format!("--cpus: cannot keep to CPUs {cpus:?}: {error}"))?;
    }
    let cpus = machine::available_cpus();
    let (mut setting, locks) = config::resolve(args, cpus.clone())?;
    let stem = match tables {
        Some(_) => "ablate",
        None if setting.rw() => "bench-rw",
        None => "bench",
    };
    let exports = files.open(&formats(stem))?;
    heed_interrupts();
    // Where there can be no cgroup, the cells with a CPU limit are left out, with a warning.
    let limited = !args.uncontended && !args.cpu_limit.is_empty();
    let (cgroup, unlimited) = match limited.then(Cgroup::create).transpose() {
        Ok(cgroup) => (cgroup, None),
        Err(reason) => {
            setting.profiles.retain(|profile| profile.cpu_limit.is_none());
            (None, Some(Warning::NoCpuLimit { reason }))
        }
    };
    let runnable = machine::other_runnable();
    let first = Activity::sample(&cpus);
    std::thread::sleep(WATCH);
    let mut before = warnings::before(&Beforehand {
        debug_build: cfg!(debug_assertions),
        cpus: cpus.len(),
        quota: std::thread::available_parallelism().map_or(cpus.len(), usize::from),
        runnable,
        busy: Activity::sample(&cpus).shares_since(&first, cpus.len()).0,
        governor: machine::governor(),
        stable_clock: stanchion::native::ticks::are_steady(),
    });
    before.extend(unlimited);
    // On a thread of its own, so that the rest of the run stays free to move.
    let calibration = std::thread::spawn(|| {
        // If pinning is refused, the figures are only noisier.
        let _ = machine::pin_to_one_cpu();
        calibrate()
    });
    let calibration = calibration.join().expect("calibration does not panic");
    let mut report = Report::new(setting, calibration, locks);
    report.warnings.clone_from(&before);
    let mut groups = plan::groups(&report, args.uncontended);
    groups.retain(|group| tables.is_none() || group.topic == Topic::Cells);
    if !files.results.quiet {
        announce(&report, &groups);
    }
    let progress = Progress::new(planned_ms(&groups), files.results.quiet);
    let mut driver = Driver {
        tells: tables.is_none(),
        experiment: Experiment::new(exports, progress, groups.len()),
        planned_ms: 0,
        before,
        last: Activity::sample(&cpus),
        worst: (0.0, 0.0),
    };
    engine::run(&mut |spec| executor::run(spec, cgroup.as_ref()), &mut driver, &groups, &mut report);
    drop(cgroup);
    let text = match tables {
        None => table::render(&report),
        Some(tables) => {
            let samples: Vec<Sample> = report.cells.iter().map(sample).collect();
            tables(&samples) + &table::notes(report.cells.iter(), report.setting.drain_ms)
        }
    };
    Ok(finish(driver.experiment, &report, text))
}

fn planned_ms(groups: &[Group]) -> u64 {
    groups.iter().flat_map(|group| &group.cells).map(plan::nominal_ms).sum()
}

/// What will be done, on standard error before it is done.
fn announce(report: &Report, groups: &[Group]) {
    let Report { locks, setting, provenance, .. } = report;
    let matrix = groups.iter().filter(|group| group.topic == Topic::Cells).count();
    let cells = plural(matrix * locks.len(), "cell");
    let cells = if groups.len() > 1 { format!(", {cells}") } else { String::new() };
    let (locks, cpus) = (plural(locks.len(), "lock"), plural(setting.cpus.len(), "CPU"));
    let model = &provenance.cpu_model;
    let (seed, time) = (setting.seed, spoken(planned_ms(groups) as f64 / 1e3));
    tell!("{locks} on {cpus} ({model}), seed {seed}{cells}, about {time}");
    warn(&report.warnings);
}

/// Prints the result below its tables, the verdict last, and decides the exit code.
fn finish(mut experiment: Experiment<Report>, report: &Report, mut text: String) -> ExitCode {
    let _ = writeln!(text, "\n{}seed {}", experiment.written(), report.setting.seed);
    if !report.summary.is_empty() {
        let _ = writeln!(text, "\n{}", report.summary.join("\n"));
    }
    warn(&report.warnings);
    experiment.end(&text, report.complete, report.failed())
}

/// Keeps files, warnings and progress up to date while the engine runs.
struct Driver {
    tells: bool,
    experiment: Experiment<Report>,
    /// What the steps so far take by the plan; the bar learns of each when it is over.
    planned_ms: u64,
    before: Vec<Warning>,
    last: Activity,
    /// Largest shares of any group: other programs, and the hypervisor.
    worst: (f64, f64),
}

impl Observer for Driver {
    fn step(&mut self, spec: &CellSpec) -> bool {
        self.experiment.progress.set(self.planned_ms);
        self.planned_ms += plan::nominal_ms(spec);
        self.experiment.progress.now(format!("{}, {}", spec.load(), spec.lock));
        !interrupt::requested()
    }

    fn group_done(&mut self, group: &Group, report: &mut Report) {
        let now = Activity::sample(&report.setting.cpus);
        let (foreign, stolen) = now.shares_since(&self.last, report.setting.cpus.len());
        self.last = now;
        self.worst = (self.worst.0.max(foreign), self.worst.1.max(stolen));
        report.warnings.retain(|warning| matches!(warning, Warning::Failed { .. }));
        report.warnings.extend(self.before.iter().cloned());
        report.warnings.extend(warnings::during(self.worst.0, self.worst.1));
        let doubts = warnings::about_cells(report);
        report.warnings.extend(doubts);
        if self.tells {
            report.summary = verdict::lines(report);
        }
        self.experiment.progress.set(self.planned_ms);
        self.experiment.progress.line(&format!("done: {}", group.told()));
        self.experiment.keep(report);
    }
}
