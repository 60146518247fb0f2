//! One simulation from arguments to exit code.
use super::args::Args;
use super::config::{self, Config};
use super::report::{Effort, Report, SCHEMA};
use super::{export, table, timeline, trace};
use crate::one_by_one::cpus;
use core::fmt::Write as _;
use lab_kit::experiment::Experiment;
use lab_kit::interrupt;
use lab_kit::output::{print, tell};
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use lab_kit::sample::Sample;
use lab_kit::units::{plural, round_ns};
use stanchion_cells::cell::{Cell, SceneInfo, State};
use stanchion_cells::pool::{self, Observer, Task};
use stanchion_sim::Recording;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    simulate(args, &|report| table::render(report, args.events))
}

/// Runs the simulations, and shows their cells in tables of another kind.
pub(crate) fn run_showing(args: &Args, render: &dyn Fn(&[Sample]) -> String) -> Result<ExitCode, String> {
    simulate(args, &|report| {
        let notes = report.scenes.iter().map(|scene| table::notes(report, scene)).collect::<String>();
        render(&samples(report)) + &notes
    })
}

fn samples(report: &Report) -> Vec<Sample> {
    let cells = report.scenes.iter().flat_map(|scene| report.cells.iter().map(move |cell| (scene, cell)));
    cells.filter(|(scene, cell)| cell.is_of(scene)).map(|(scene, cell)| sample(scene, cell)).collect()
}

fn sample(scene: &SceneInfo, cell: &Cell) -> Sample {
    let figures = cell.figures.as_ref().filter(|_| cell.state == State::Measured);
    let score = figures.and_then(|figures| figures.score.as_ref());
    let rate = |&score: &f64| if scene.lower_is_better { 1.0 / score } else { score };
    Sample {
        lock: cell.lock.clone(),
        load: format!("{} {}", scene.machine, scene.workload),
        threads: cell.vcpus,
        rates: score.map(|score| score.values.iter().map(rate).collect()).unwrap_or_default(),
        worst_ns: figures.map(|figures| figures.longest_ns.values.clone()).unwrap_or_default(),
        cpu: figures.map(|figures| figures.cpu_ns.values.clone()).unwrap_or_default(),
    }
}

fn simulate(args: &Args, render: &dyn Fn(&Report) -> String) -> Result<ExitCode, String> {
    if args.list {
        return Ok(print(&config::list(), ExitCode::SUCCESS));
    }
    let Config { scenes, setting, chosen, files, watched } = Config::resolve(args)?;
    let jobs = args.jobs.unwrap_or_else(cpus);
    let infos: Vec<SceneInfo> = scenes.iter().map(SceneInfo::of).collect();
    let mut tasks = Vec::new();
    for (scene, info) in scenes.iter().zip(&infos) {
        for &vcpus in &scene.counts {
            tasks.extend(setting.locks.iter().map(|lock| Task { scene, info, lock, vcpus }));
        }
    }
    let (cells, seeds, first) = (tasks.len(), setting.seeds.len(), setting.seeds[0]);
    // vCPUs of runs, which is roughly what they cost.
    let cost = tasks.iter().map(|task| (task.vcpus * seeds) as u64).sum();
    let progress = Progress::new(cost, args.files.results.quiet).ticking();
    let experiment = Experiment::new(export::open(args)?, progress, cells);
    pool::keep_panics_to_cells();
    if !args.files.results.quiet {
        let time = round_ns(setting.time_ns as f64);
        let (cells, seeds) = (plural(cells, "cell"), plural(seeds, "seed"));
        tell!("{cells} x {seeds} from {first}, {time} of virtual time each, {jobs} at once");
    }
    let recorded = Mutex::new(None);
    let mut driver = Driver {
        recorded: &recorded,
        report: Report {
            schema: SCHEMA,
            complete: false,
            provenance: Provenance { files, ..Provenance::collect(first) },
            effort: Effort { jobs, ..Effort::default() },
            setting: setting.clone(),
            scenes: infos.clone(),
            cells: Vec::new(),
            chosen,
            recording: None,
        },
        experiment,
        cells,
        vcpus_done: 0,
        places: Vec::new(),
        start: Instant::now(),
    };
    let one = |task: &Task, seed: u64| {
        let mut spec = pool::spec(task, &setting, seed);
        spec.record = watched;
        let mut outcome = stanchion_sim::run(&spec, &interrupt::requested)?;
        if let Some(recording) = outcome.recording.take() {
            *recorded.lock().expect("no thread panics with it") = Some(recording);
        }
        Ok(outcome)
    };
    pool::run_all(&tasks, &setting.seeds, jobs, &one, &interrupt::requested, &mut driver);
    let text = render(&driver.report);
    Ok(finish(driver, args, text))
}

/// Keeps report, files and progress up to date while the pool runs.
struct Driver<'a> {
    /// What was seen of the last run.
    recorded: &'a Mutex<Option<Recording>>,
    report: Report,
    experiment: Experiment<Report>,
    cells: usize,
    vcpus_done: u64,
    /// The place among the tasks of each cell of the report.
    places: Vec<usize>,
    start: Instant,
}

impl Observer for Driver<'_> {
    fn run_done(&mut self, task: &Task) {
        self.vcpus_done += task.vcpus as u64;
        self.experiment.progress.set(self.vcpus_done);
        self.experiment.progress.now(format!("{}, {} vCPUs, {}", task.info.machine, task.vcpus, task.lock));
    }

    fn cell_done(&mut self, index: usize, cell: Cell) {
        let done = format!("done: {}, {} vCPUs, {}", cell.machine, cell.vcpus, cell.lock);
        self.experiment.progress.seldom(&done);
        // In the order of the plan, whichever thread was faster.
        let at = self.places.partition_point(|&place| place < index);
        self.places.insert(at, index);
        self.report.cells.insert(at, cell);
        self.report.compare();
        self.report.recording = self.recorded.lock().expect("no thread panics with it").take();
        self.report.complete = self.places.len() == self.cells;
        let seconds = self.start.elapsed().as_secs_f64();
        self.report.effort.seconds = seconds;
        self.report.effort.memory_events_per_second = self.report.memory_events() as f64 / seconds.max(1e-9);
        self.experiment.keep(&self.report);
    }
}

fn finish(Driver { report, mut experiment, .. }: Driver, args: &Args, mut text: String) -> ExitCode {
    if !report.cells.is_empty() {
        let _ = write!(text, "\nsimulated: {}", table::simulated(&report));
    }
    let _ = write!(text, "\n{}", experiment.written());
    let notes = report.looked_at(&|seen, of| {
        let cut = args.trace.as_ref().and_then(|_| trace::note(seen, trace::MOST));
        [cut, args.timeline.as_ref().and_then(|_| timeline::note(seen, of))]
    });
    text.extend(notes.into_iter().flatten().flatten().map(|note| format!("note: {note}\n")));
    let _ = match report.setting.seeds[..] {
        [first, .., last] => writeln!(text, "seeds {first} to {last}"),
        [seed] => writeln!(text, "seed {seed}"),
        [] => Ok(()),
    };
    let failed = report.failed() || !report.complete && !interrupt::requested();
    experiment.end(text.trim_start_matches('\n'), report.complete, failed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::tests as testing;
    use lab_kit::export::{Files, ResultFile};
    use std::fs;

    #[test]
    fn a_run_without_a_recording_leaves_earlier_pictures() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let [table, picture] = ["table", "picture"].map(|name| dir.path().join(name));
        fs::write(&picture, "old").expect("written");
        let results = ResultFile { force: true, json: Some(table.clone()), quiet: true };
        let files = Files { results, ..Files::default() };
        let args = Args { files, timeline: Some(picture.clone()), ..Args::default() };
        let mut report = testing::report(&["byte"], &[1]);
        let cell = report.cells.pop().expect("one");
        let exports = export::open(&args).expect("writable");
        let recorded = Mutex::new(None);
        let mut driver = Driver {
            recorded: &recorded,
            report,
            experiment: Experiment::new(exports, Progress::new(1, true), 1),
            cells: 1,
            vcpus_done: 0,
            places: Vec::new(),
            start: Instant::now(),
        };
        driver.cell_done(0, cell);
        assert!(driver.report.complete);
        let text = |path| fs::read_to_string(path).expect("readable");
        assert!(text(&table).contains("\"complete\": true") && text(&picture) == "old");
        let told = format!("written: {}\n", table.display());
        assert_eq!(driver.experiment.written(), told, "what is not written is not told");
    }

    #[test]
    fn a_cell_becomes_rates_longest_waits_and_cpu_times_by_seed() {
        let mut report = testing::report(&["byte", "ticket"], &[4]);
        let found = samples(&report);
        assert_eq!(
            (found.len(), found[1].lock.as_str(), found[1].load.as_str()),
            (2, "ticket", "two medium")
        );
        // Of a histogram of two digits.
        let worst = found[1].worst_ns[1];
        assert!(found[1].rates.len() == 2 && (9_900.0..=10_100.0).contains(&worst), "{found:?}");
        let cpu = |seed: usize| found[0].cpu[seed] / found[1].cpu[seed];
        assert!(
            [0, 1].map(cpu).iter().all(|ratio| (ratio - 2.0).abs() < 1e-9),
            "as busy, half as many acquisitions"
        );
        report.cells[0].state = State::Broken { seed: 42, message: "two holders".into() };
        let broken = &samples(&report)[0];
        assert!(broken.rates.is_empty() && broken.worst_ns.is_empty() && broken.cpu.is_empty());
    }
}
