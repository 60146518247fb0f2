//! Progress on standard error: a bar with the time left on a terminal, else one line per group.
use super::cell::CellSpec;
use super::mix::named;
use super::plan::{Group, nominal_ms};
use super::units::spoken;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::Instant;

/// Shows how far a run is.
pub(crate) struct Progress {
    bar: ProgressBar,
    plain: bool,
    quiet: bool,
    start: Instant,
    total_ms: u64,
    /// What the steps so far take by the plan; the bar only learns of it when a step is over.
    planned_ms: u64,
}

impl Progress {
    pub(crate) fn new(groups: &[Group], quiet: bool) -> Self {
        let cells = groups.iter().flat_map(|group| &group.cells);
        let total_ms = cells.map(nominal_ms).sum();
        let plain = !std::io::stderr().is_terminal();
        let bar = ProgressBar::new(total_ms);
        if plain || quiet {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {eta} left  {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar, plain, quiet, start: Instant::now(), total_ms, planned_ms: 0 }
    }

    /// A step begins.
    pub(crate) fn step(&mut self, spec: &CellSpec) {
        self.bar.set_position(self.planned_ms);
        self.planned_ms += nominal_ms(spec);
        let load = named(&spec.profile.name, spec.mix);
        self.bar.set_message(format!("{load}, {} threads, {}", spec.threads, spec.lock));
    }

    /// A group is over.
    pub(crate) fn group_done(&self, group: &Group) {
        self.bar.set_position(self.planned_ms);
        if self.plain && !self.quiet {
            let what = group.topic.told();
            let elapsed = self.start.elapsed().as_secs_f64();
            let share = self.planned_ms as f64 / self.total_ms.max(1) as f64;
            let left = elapsed / share.max(1e-3) * (1.0 - share);
            eprintln!("{:3.0} %  done: {what}; about {} left", share * 100.0, spoken(left));
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
