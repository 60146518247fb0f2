//! Simulations: some cells at once, or those of a sweep one by one.
use crate::refused;
use crate::table::Table;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};
use core::time::Duration;
use pyo3::prelude::*;
use stanchion_cells::cell::{Cell, SceneInfo, Setting};
use stanchion_cells::column::Column;
use stanchion_cells::columns::{CellRow, of_cells};
use stanchion_cells::pool::{self, Observer, Task};
use stanchion_cells::scenes::{self, Scene, Typed};
use stanchion_sim::{NS, parse_time};
use std::sync::mpsc::{RecvTimeoutError, channel};

/// How soon Ctrl-C ends a simulation.
const GLANCE: Duration = Duration::from_millis(100);

/// Does `work` without holding the interpreter. Ctrl-C makes its `stop` true.
pub(crate) fn until_interrupted<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> T + Send,
) -> PyResult<T> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (sender, receiver) = channel();
        let stopped = || stop.load(Relaxed);
        // The receiver waits for the answer, so there is one to send it to.
        scope.spawn(move || sender.send(work(&stopped)).ok());
        let receiver = std::sync::Mutex::new(receiver);
        loop {
            let answer = py.detach(|| receiver.lock().expect("nobody panics with it").recv_timeout(GLANCE));
            match answer {
                Ok(answer) => return Ok(answer),
                Err(RecvTimeoutError::Timeout) => {
                    py.check_signals().inspect_err(|_| stop.store(true, Relaxed))?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(refused("the simulator gave up".to_owned()));
                }
            }
        }
    })
}

/// Texts of files by their paths, for machines that do not have the files.
type Files = Vec<(String, String)>;

/// The text of a file of a machine or of a workload; nothing if the name is that of a shipped one.
#[pyfunction]
pub(crate) fn read_file(name: &str) -> PyResult<Option<String>> {
    stanchion_sim::text_of(name).map_err(refused)
}

fn time(argument: &str, text: &str) -> PyResult<u64> {
    let time = parse_time(text).filter(|time| time % NS == 0);
    let wrong =
        || refused(format!("{argument}: '{text}' is not a time: write for example 50ns, 2us or 300ms"));
    time.map(|time| time / NS).ok_or_else(wrong)
}

/// Locks and counts of vCPUs that the words of a grid stand for on one machine with one workload, after
/// everything about them has been checked.
#[pyfunction]
pub(crate) fn resolve(
    machine: &str,
    workload: &str,
    lock: &str,
    vcpus: Option<&str>,
    set: Vec<String>,
    files: Files,
) -> PyResult<(Vec<String>, Vec<usize>)> {
    let counts = vcpus.map(|list| ("vcpus", list));
    let typed =
        Typed { machines: machine, workloads: workload, counts, overcommit: None, sets: &set, files: &files };
    let scenes = scenes::resolve(&typed).map_err(refused)?;
    let [scene] = &scenes[..] else {
        return Err(refused(format!("'{machine}' and '{workload}' are not one machine and one workload")));
    };
    let locks = scenes::locks(lock, &scenes).map_err(refused)?;
    scenes::probe(scene, &locks).map_err(refused)?;
    Ok((locks, scene.counts.clone()))
}

/// Simulates every lock on every machine with every workload; see the package.
#[pyfunction]
#[pyo3(signature = (machine, workload, lock, vcpus, overcommit, set, seeds, time_text, warm_up, limit, jobs))]
#[expect(clippy::too_many_arguments, reason = "the package gives them names")]
pub(crate) fn simulate(
    py: Python<'_>,
    machine: &str,
    workload: &str,
    lock: &str,
    vcpus: Option<&str>,
    overcommit: Option<&str>,
    set: Vec<String>,
    seeds: Vec<u64>,
    time_text: &str,
    warm_up: &str,
    limit: u64,
    jobs: usize,
) -> PyResult<Table> {
    let counts = vcpus.map(|list| ("vcpus", list));
    let typed = Typed { machines: machine, workloads: workload, counts, overcommit, sets: &set, files: &[] };
    let scenes = scenes::resolve(&typed).map_err(refused)?;
    let locks = scenes::locks(lock, &scenes).map_err(refused)?;
    for scene in &scenes {
        scenes::probe(scene, &locks).map_err(refused)?;
    }
    let setting = Setting {
        locks: locks.clone(),
        seeds,
        time_ns: time("time", time_text)?,
        warm_up_ns: time("warm_up", warm_up)?,
        limit,
        sets: set,
    };
    let infos: Vec<SceneInfo> = scenes.iter().map(SceneInfo::of).collect();
    let mut tasks = Vec::new();
    for (scene, info) in scenes.iter().zip(&infos) {
        for &vcpus in &scene.counts {
            tasks.extend(locks.iter().map(|lock| Task { scene, info, lock, vcpus }));
        }
    }
    let mut cells = until_interrupted(py, |stop| run(&tasks, &setting, jobs, stop))?;
    cells.sort_by_key(|(index, _)| *index);
    let rows: Vec<CellRow> =
        cells.iter().map(|(index, cell)| CellRow { scene: Some(tasks[*index].info), cell }).collect();
    Ok(Table::of(&of_cells(), &rows))
}

/// Collects cells as they come.
#[derive(Default)]
struct Collected(Vec<(usize, Cell)>);

impl Observer for Collected {
    fn run_done(&mut self, _task: &Task) {}
    fn cell_done(&mut self, index: usize, cell: Cell) {
        self.0.push((index, cell));
    }
}

fn run(
    tasks: &[Task],
    setting: &Setting,
    jobs: usize,
    stop: &(dyn Fn() -> bool + Sync),
) -> Vec<(usize, Cell)> {
    let mut collected = Collected::default();
    let one = |task: &Task, seed: u64| stanchion_sim::run(&pool::spec(task, setting, seed), stop);
    pool::run_all(tasks, &setting.seeds, jobs, &one, stop, &mut collected);
    collected.0
}

/// A cell of a sweep: its number, machine, workload, lock, vCPUs, fields replaced, seed.
type Numbered = (u64, String, String, String, usize, Vec<String>, u64);

/// Runs cells of a sweep one after the other, and returns a row for each.
#[pyfunction]
pub(crate) fn run_cells(
    py: Python<'_>,
    cells: Vec<Numbered>,
    time_text: &str,
    warm_up: &str,
    limit: u64,
    files: Files,
) -> PyResult<Table> {
    let mut setting = Setting {
        locks: Vec::new(),
        seeds: Vec::new(),
        time_ns: time("time", time_text)?,
        warm_up_ns: time("warm_up", warm_up)?,
        limit,
        sets: Vec::new(),
    };
    let mut scenes: Vec<(Scene, SceneInfo)> = Vec::new();
    for (_, machine, workload, _, vcpus, set, _) in &cells {
        let count = vcpus.to_string();
        let typed = Typed {
            machines: machine,
            workloads: workload,
            counts: Some(("vcpus", &count)),
            overcommit: None,
            sets: set,
            files: &files,
        };
        let scene = scenes::resolve(&typed).map_err(refused)?.remove(0);
        let info = SceneInfo::of(&scene);
        scenes.push((scene, info));
    }
    let done = until_interrupted(py, |stop| {
        let mut done = Vec::new();
        for (numbered, (scene, info)) in cells.iter().zip(&scenes) {
            let task = Task { scene, info, lock: &numbered.3, vcpus: numbered.4 };
            setting.seeds = vec![numbered.6];
            let cell = run(&[task], &setting, 1, stop).pop();
            done.extend(cell.map(|(_, cell)| cell));
        }
        done
    })?;
    // Without an interruption, which has returned, each has come out.
    let rows: Vec<CellRow> =
        done.iter().zip(&scenes).map(|(cell, (_, info))| CellRow { scene: Some(info), cell }).collect();
    let numbered = [
        Column::new("cell", |numbered: &Numbered| numbered.0),
        Column::new("seed", |numbered: &Numbered| numbered.6),
        Column::new("set", |numbered: &Numbered| numbered.5.join(" ")),
    ];
    Ok(Table::of(&numbered, &cells).beside(&Table::of(&of_cells(), &rows)))
}
