//! One simulation from arguments to exit code.
use super::args::Args;
use super::config::{self, Config};
use super::export::FORMATS;
use super::report::{Effort, Report, SCHEMA};
use super::timeline::{self, Caption};
use super::{samples, table, trace};
use crate::ablate::Sample;
use core::fmt::Write as _;
use lab_kit::export::{Exports, Wanted, Writer};
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, REFUSED, print};
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use lab_kit::units::round_ns;
use stanchion_cells::cell::{Cell, SceneInfo};
use stanchion_cells::pool::{self, Observer, Task};
use stanchion_sim::{Outcome, Recording};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

/// Runs the simulations.
pub(crate) fn run(args: &Args) -> ExitCode {
    run_with(args, &|report| table::render(report, args.events))
}

/// Runs the simulations, and shows their cells in tables of another kind.
pub(crate) fn run_showing(args: &Args, render: &dyn Fn(&[Sample]) -> String) -> ExitCode {
    run_with(args, &|report| {
        let notes = report.scenes.iter().map(|scene| table::notes(report, scene)).collect::<String>();
        render(&samples::of(report)) + &notes
    })
}

fn run_with(args: &Args, render: &dyn Fn(&Report) -> String) -> ExitCode {
    if args.list {
        return print(&config::list(), ExitCode::SUCCESS);
    }
    let wanted = Wanted {
        json: args.json.as_deref(),
        csv: args.csv.as_deref(),
        html: args.html.as_deref(),
        dir: args.out.as_deref(),
        force: args.force,
    };
    let prepared = Config::resolve(args).and_then(|config| {
        let mut exports = Exports::open(&wanted, &FORMATS)?;
        let views = Exports::open_files(Watched::files(args), args.force);
        let views = views.inspect_err(|_| exports.abandon())?;
        Ok((config, exports, views))
    });
    match prepared {
        Ok((config, exports, views)) => simulate(args, &config, exports, views, render),
        Err(message) => {
            eprintln!("stanchion: {message}");
            ExitCode::from(REFUSED)
        }
    }
}

fn simulate<'a>(
    args: &Args,
    config: &'a Config,
    exports: Exports<Report>,
    mut views: Exports<Watched<'a>>,
    render: &dyn Fn(&Report) -> String,
) -> ExitCode {
    interrupt::install();
    pool::keep_panics_to_cells();
    let infos: Vec<SceneInfo> = config.scenes.iter().map(SceneInfo::of).collect();
    let mut tasks = Vec::new();
    for (scene, info) in config.scenes.iter().zip(&infos) {
        for &vcpus in &scene.counts {
            tasks.extend(config.locks.iter().map(|lock| Task { scene, info, lock, vcpus }));
        }
    }
    let setting = &config.setting;
    let seeds = setting.seeds.len();
    if !args.quiet {
        let time = round_ns(setting.time_ns as f64);
        eprintln!(
            "{} cells x {seeds} seeds from {}, {time} of virtual time each, {} at a time",
            tasks.len(),
            setting.seeds[0],
            config.jobs
        );
    }
    // vCPUs of runs, which is roughly what they cost.
    let cost = tasks.iter().map(|task| (task.vcpus * seeds) as u64).sum();
    let mut driver = Driver {
        report: blank_report(config, infos.clone()),
        exports,
        progress: Progress::new(cost, args.quiet),
        vcpus_done: 0,
        places: Vec::new(),
        start: Instant::now(),
        error: None,
    };
    let watched: Mutex<Option<Outcome>> = Mutex::new(None);
    let one = |task: &Task, seed: u64| {
        let mut spec = pool::spec(task, setting, seed);
        spec.record = config.watched;
        let outcome = stanchion_sim::run(&spec, &interrupt::requested)?;
        if config.watched.is_some()
            && let Ok(mut kept) = watched.lock()
        {
            *kept = Some(outcome.clone());
        }
        Ok(outcome)
    };
    pool::run_all(&tasks, &setting.seeds, config.jobs, &one, &interrupt::requested, &mut driver);
    driver.progress.finish();
    let complete = driver.report.cells.len() == tasks.len();
    driver.close(complete);
    let watched = watched.into_inner().ok().flatten().and_then(|outcome| Watched::of(config, outcome));
    let shown = driver.show(args, &mut views, watched);
    finish(&driver, render(&driver.report), &shown)
}

/// What is known before the first cell.
fn blank_report(config: &Config, scenes: Vec<SceneInfo>) -> Report {
    Report {
        schema: SCHEMA,
        complete: false,
        provenance: Provenance::collect(config.setting.seeds[0]),
        effort: Effort { jobs: config.jobs, ..Effort::default() },
        setting: config.setting.clone(),
        scenes,
        cells: Vec::new(),
    }
}

/// Keeps report, files and progress up to date while the pool runs.
struct Driver {
    report: Report,
    exports: Exports<Report>,
    progress: Progress,
    vcpus_done: u64,
    /// The place among the tasks of each cell of the report.
    places: Vec<usize>,
    start: Instant,
    error: Option<String>,
}

impl Observer for Driver {
    fn run_done(&mut self, task: &Task) {
        self.vcpus_done += task.vcpus as u64;
        self.progress.set(self.vcpus_done);
        self.progress.now(format!("{}, {} vCPUs, {}", task.info.machine, task.vcpus, task.lock));
    }

    fn cell_done(&mut self, index: usize, cell: Cell) {
        self.progress.seldom(&format!("done: {}, {} vCPUs, {}", cell.machine, cell.vcpus, cell.lock));
        // In the order of the plan, whichever thread was faster.
        let at = self.places.partition_point(|&place| place < index);
        self.places.insert(at, index);
        self.report.cells.insert(at, cell);
        self.report.compare();
        self.write();
    }

    fn idle(&mut self) {
        self.progress.tick();
    }
}

impl Driver {
    fn write(&mut self) {
        let seconds = self.start.elapsed().as_secs_f64();
        self.report.effort.seconds = seconds;
        self.report.effort.memory_events_per_second = self.report.memory_events() as f64 / seconds.max(1e-9);
        // Said once and at the end: the simulation goes on, the terminal still gets its tables.
        if let Err(error) = self.exports.write(&self.report) {
            self.error = Some(error);
        }
    }

    fn close(&mut self, complete: bool) {
        self.report.complete = complete;
        if self.report.cells.is_empty() {
            self.exports.abandon();
        } else {
            self.write();
        }
    }

    /// Writes trace and timeline of the run that was watched; lines about them.
    fn show<'a>(
        &mut self,
        args: &Args,
        views: &mut Exports<Watched<'a>>,
        watched: Option<Watched<'a>>,
    ) -> String {
        let Some(watched) = watched else {
            views.abandon();
            return String::new();
        };
        if let Err(error) = views.write(&watched) {
            self.error = Some(error);
            return String::new();
        }
        let Watched { recording, caption } = &watched;
        let notes = [
            args.trace.as_ref().map(|_| trace::note(recording)),
            args.timeline.as_ref().map(|_| timeline::note(recording, caption)),
        ];
        let notes = notes.into_iter().flatten().map(Option::unwrap_or_default);
        views.paths().zip(notes).map(|(path, note)| format!("\nwritten: {}{note}", path.display())).collect()
    }
}

/// A run that was watched.
struct Watched<'a> {
    recording: Recording,
    caption: Caption<'a>,
}

impl<'a> Watched<'a> {
    /// The files to show it in, with how they are written.
    fn files(args: &Args) -> Vec<(PathBuf, Writer<Self>)> {
        let trace: Writer<Self> = |watched| trace::write(&watched.recording, &watched.caption);
        let timeline: Writer<Self> = |watched| timeline::write(&watched.recording, &watched.caption);
        let files = [(&args.trace, trace), (&args.timeline, timeline)];
        files.into_iter().filter_map(|(path, writer)| Some((path.clone()?, writer))).collect()
    }

    fn of(config: &'a Config, outcome: Outcome) -> Option<Self> {
        let scene = &config.scenes[0];
        let caption = Caption {
            context: "vCPU",
            lock: &config.locks[0],
            machine: &scene.machine.name,
            workload: &scene.workload.name,
            cpus: scene.machine.topology.cpu_count(),
            seed: config.setting.seeds[0],
            ops_per_second: outcome.ops_per_second(),
        };
        Some(Self { recording: outcome.recording?, caption })
    }
}

/// Prints the result and decides the exit code.
fn finish(driver: &Driver, mut text: String, shown: &str) -> ExitCode {
    let report = &driver.report;
    if !report.cells.is_empty() {
        let _ = write!(text, "\n{}", table::simulated(report));
    }
    text.push_str(shown);
    for path in driver.exports.paths() {
        let _ = write!(text, "\nwritten: {}", path.display());
    }
    let _ = match report.setting.seeds[..] {
        [first, .., last] => writeln!(text, "\nseeds {first} to {last}"),
        [seed] => writeln!(text, "\nseed {seed}"),
        [] => writeln!(text),
    };
    let code = match report.complete {
        _ if driver.error.is_some() || report.failed() => ExitCode::from(FAILED),
        false if interrupt::requested() => ExitCode::from(INTERRUPTED),
        false => ExitCode::from(FAILED),
        true => ExitCode::SUCCESS,
    };
    let code = print(text.trim_start_matches('\n'), code);
    if let Some(error) = &driver.error {
        eprintln!("stanchion: {error}");
    }
    if !report.complete && interrupt::requested() {
        let kept = if driver.exports.paths().next().is_some() { " and in the files" } else { "" };
        eprintln!("stanchion: interrupted; what was finished is above{kept}");
    }
    code
}
