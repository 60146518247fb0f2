//! Progress on standard error: a bar with the time left on a terminal, else one line for each scene and
//! count.
use crate::units::spoken;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stanchion_cells::cell::Cell;
use stanchion_cells::pool::Task;
use std::io::IsTerminal;
use std::time::Instant;

/// Shows how far a simulation is.
pub(super) struct Progress {
    bar: ProgressBar,
    plain: bool,
    start: Instant,
    /// vCPUs of runs, which is roughly what they cost.
    total: u64,
    done: u64,
    /// When the last plain line was written.
    last_line: Instant,
}

/// Plain lines come no more often than this many seconds, so that a log of many small cells stays short.
const LINE_SECONDS: f64 = 2.0;

impl Progress {
    pub(super) fn new(tasks: &[Task], seeds: usize, quiet: bool) -> Self {
        let total = tasks.iter().map(|task| (task.vcpus * seeds) as u64).sum();
        let terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::new(total);
        if quiet || !terminal {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {eta} left  {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let now = Instant::now();
        Self { bar, plain: !terminal && !quiet, start: now, total, done: 0, last_line: now }
    }

    /// A run is over.
    pub(super) fn run_done(&mut self, task: &Task) {
        self.done += task.vcpus as u64;
        self.bar.set_position(self.done);
        self.bar.set_message(format!("{}, {} vCPUs, {}", task.info.machine, task.vcpus, task.lock));
    }

    /// A cell is over.
    pub(super) fn cell_done(&mut self, cell: &Cell) {
        if self.plain && self.last_line.elapsed().as_secs_f64() >= LINE_SECONDS {
            self.last_line = Instant::now();
            let share = self.done as f64 / self.total.max(1) as f64;
            let left = self.start.elapsed().as_secs_f64() / share.max(1e-3) * (1.0 - share);
            eprintln!(
                "{:3.0} %  done: {}, {} vCPUs, {}; about {} left",
                share * 100.0,
                cell.machine,
                cell.vcpus,
                cell.lock,
                spoken(left)
            );
        }
    }

    /// The bar moves on its own while a long run goes on.
    pub(super) fn idle(&self) {
        self.bar.tick();
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
