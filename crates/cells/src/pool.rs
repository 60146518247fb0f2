//! Runs cells on all CPUs of the host: every seed of every cell is a job of its own, and a simulation is one
//! thread's work.
use crate::cell::{Cell, SceneInfo, Setting};
use crate::scenes::Scene;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;
use stanchion_sim::{Failure, Outcome, Spec};
use std::panic::catch_unwind;
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};

/// What threads of the pool are called; their panics are answers, not crashes.
const NAME: &str = "simulation";
/// Room for the engine; the contexts' stacks are elsewhere.
const STACK_BYTES: usize = 8 << 20;

/// A lock in a scene with so many vCPUs.
pub struct Task<'a> {
    /// Where.
    pub scene: &'a Scene,
    /// The same for reports.
    pub info: &'a SceneInfo,
    /// The lock.
    pub lock: &'a str,
    /// How many vCPUs.
    pub vcpus: usize,
}

/// What came of a run: nothing if the user wanted to stop.
type Answer = Option<Result<Outcome, Failure>>;

/// Who is told how far things are.
pub trait Observer {
    /// A run is over, of so many vCPUs.
    fn run_done(&mut self, task: &Task);
    /// A cell is over. `index` is its place among the tasks.
    fn cell_done(&mut self, index: usize, cell: Cell);
}

/// Runs every task once a seed with `simulate`, on `jobs` threads. Cells are reported in the order in which
/// they end. `stop` is asked before each run whether there is any need for it.
pub fn run_all(
    tasks: &[Task],
    seeds: &[u64],
    jobs: usize,
    simulate: &(dyn Fn(&Task, u64) -> Result<Outcome, Failure> + Sync),
    stop: &(dyn Fn() -> bool + Sync),
    observer: &mut dyn Observer,
) {
    let next = AtomicUsize::new(0);
    let total = tasks.len() * seeds.len();
    std::thread::scope(|scope| {
        let (sender, answers) = channel();
        for _ in 0..jobs.min(total) {
            let (sender, next) = (sender.clone(), &next);
            let body = move || work(tasks, seeds, next, simulate, stop, &sender);
            let builder = std::thread::Builder::new().name(NAME.to_owned()).stack_size(STACK_BYTES);
            // With fewer threads it only takes longer; without any the channel closes and nothing is
            // reported.
            let _ = builder.spawn_scoped(scope, body);
        }
        drop(sender);
        let mut runs: Vec<Vec<Answer>> = tasks.iter().map(|_| vec![None; seeds.len()]).collect();
        for (task, seed, answer) in answers {
            observer.run_done(&tasks[task]);
            runs[task][seed] = answer;
            if runs[task].iter().all(Option::is_some) {
                let runs: Vec<_> = core::mem::take(&mut runs[task]).into_iter().flatten().collect();
                let of = &tasks[task];
                let score = |outcome: &Outcome| of.scene.workload.score(outcome).value;
                observer.cell_done(task, Cell::of(of.info, &score, of.lock, of.vcpus, seeds, &runs));
            }
        }
    });
}

/// One thread: takes runs in order, so that cells end one after the other.
fn work(
    tasks: &[Task],
    seeds: &[u64],
    next: &AtomicUsize,
    simulate: &(dyn Fn(&Task, u64) -> Result<Outcome, Failure> + Sync),
    stop: &(dyn Fn() -> bool + Sync),
    answers: &Sender<(usize, usize, Answer)>,
) {
    while !stop() {
        let index = next.fetch_add(1, Relaxed);
        let (task, seed) = (index / seeds.len().max(1), index % seeds.len().max(1));
        let Some(of) = tasks.get(task) else { break };
        let result = catch_unwind(AssertUnwindSafe(|| simulate(of, seeds[seed]))).unwrap_or_else(|panic| {
            Err(Failure::Refused(format!("the simulator gave up: {}", words(panic.as_ref()))))
        });
        // A run that the user cut short is no result.
        let stopped = matches!(&result, Ok(outcome) if outcome.cut_short) && stop();
        let answer = (!stopped).then_some(result);
        if answers.send((task, seed, answer)).is_err() {
            break;
        }
    }
}

fn words(panic: &(dyn core::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without words")
}

/// Performs tasks side by side, begun in their order, on as many threads as this process has CPUs. None for
/// those that were not begun when `stop` said so.
pub fn spread<T: Sync, R: Send + Sync>(
    tasks: &[T],
    stop: &(dyn Fn() -> bool + Sync),
    perform: impl Fn(&T) -> R + Sync,
) -> Vec<Option<R>> {
    let next = AtomicUsize::new(0);
    let results: Vec<OnceLock<R>> = tasks.iter().map(|_| OnceLock::new()).collect();
    let work = || {
        while !stop() {
            let index = next.fetch_add(1, Relaxed);
            let Some(task) = tasks.get(index) else { break };
            let _ = results[index].set(perform(task));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(tasks.len());
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    results.into_iter().map(OnceLock::into_inner).collect()
}

/// What a task's run is for the simulator.
pub fn spec<'a>(task: &Task<'a>, setting: &Setting, seed: u64) -> Spec<'a> {
    Spec {
        machine: &task.scene.machine,
        workload: &task.scene.workload,
        lock: task.lock,
        tunings: &task.scene.tunings,
        contexts: task.vcpus,
        seed,
        time: setting.time_ns * stanchion_sim::NS,
        warm_up: setting.warm_up_ns * stanchion_sim::NS,
        record: None,
        most_events: setting.limit,
    }
}

/// A broken lock panics within the simulation, which is caught there and told in the cell: nothing for
/// standard error.
pub fn keep_panics_to_cells() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() != Some(NAME) {
            usual(info);
        }
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::State;
    use crate::testing;

    #[derive(Default)]
    struct Seen {
        runs: usize,
        cells: Vec<(usize, Cell)>,
    }

    impl Observer for Seen {
        fn run_done(&mut self, _task: &Task) {
            self.runs += 1;
        }
        fn cell_done(&mut self, index: usize, cell: Cell) {
            self.cells.push((index, cell));
        }
    }

    fn run_mock(simulate: &(dyn Fn(&Task, u64) -> Result<Outcome, Failure> + Sync)) -> Seen {
        let (scene, info) = (testing::real_scene(), testing::scene());
        let locks = ["byte", "ticket", "qspin"];
        let tasks = locks.map(|lock| Task { scene: &scene, info: &info, lock, vcpus: 2 });
        let mut seen = Seen::default();
        run_all(&tasks, &[5, 6], 3, simulate, &|| false, &mut seen);
        seen.cells.sort_by_key(|(index, _)| *index);
        seen
    }

    #[test]
    fn every_cell_gets_every_seed_in_order() {
        let seen = run_mock(&|_, seed| Ok(testing::outcome(seed * 1000, 1)));
        assert_eq!((seen.runs, seen.cells.len()), (6, 3));
        for (_, cell) in &seen.cells {
            let rates = &cell.figures.as_ref().expect("sound").throughput.values;
            assert!(rates[0] < rates[1], "seed 5 comes before seed 6: {rates:?}");
        }
    }

    #[test]
    fn a_broken_lock_and_a_panic_stay_in_their_cells() {
        keep_panics_to_cells();
        let seen = run_mock(&|task, _| match task.lock {
            "byte" => Err(Failure::Broken("two holders".into())),
            "ticket" => panic!("out of tickets"),
            _ => Ok(testing::outcome(1, 1)),
        });
        let state = |index: usize| &seen.cells[index].1.state;
        assert_eq!(*state(0), State::Broken { seed: 5, message: "two holders".into() });
        assert!(matches!(state(1), State::Failed { message, .. } if message.contains("out of tickets")));
        assert_eq!(*state(2), State::Measured);
    }
}
