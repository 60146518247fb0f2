//! Progress on standard error: a bar with the time left on a terminal, else one line for each boot.
use super::record::Record;
use super::report::{Run, Setting, Trial};
use super::table;
use crate::units::spoken;
use core::time::Duration;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::time::Instant;

/// Parts that a boot is divided into on the bar.
const PARTS: u64 = 1000;

/// Shows how far a run is.
pub(crate) struct Progress {
    bar: ProgressBar,
    plain: bool,
    start: Instant,
    boots: u64,
    done: u64,
    what: String,
}

impl Progress {
    pub(crate) fn new(setting: &Setting, quiet: bool) -> Self {
        let boots = setting.trials().len() as u64;
        let terminal = std::io::stderr().is_terminal();
        let bar = ProgressBar::new(boots * PARTS);
        if quiet || !terminal {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {eta} left  {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        // A guest may be silent for long; the bar shows that we are alive.
        bar.enable_steady_tick(Duration::from_secs(1));
        Self { bar, plain: !quiet && !terminal, start: Instant::now(), boots, done: 0, what: String::new() }
    }

    /// A guest is started.
    pub(crate) fn step(&mut self, setting: &Setting, trial: &Trial) {
        let run = if setting.runs > 1 { format!(", run {}", trial.round + 1) } else { String::new() };
        self.what = format!("{} {}{run}", setting.workload, setting.locks[trial.lock]);
        self.bar.set_position(self.done * PARTS);
        self.bar.set_message(self.what.clone());
    }

    /// The guest says something.
    pub(crate) fn record(&self, record: &Record) {
        if let Record::Progress { done, of, what } = record {
            let part = done.saturating_mul(PARTS).checked_div(*of).unwrap_or(0).min(PARTS);
            self.bar.set_position(self.done * PARTS + part);
            self.bar.set_message(format!("{}: {what}", self.what));
        }
    }

    /// Prints a line on standard output without tearing the bar.
    pub(crate) fn print(&self, line: &str) {
        // Who has seen enough (`| head`) may have closed it.
        self.bar.suspend(|| {
            let _ = writeln!(std::io::stdout(), "{line}");
        });
    }

    /// A guest has ended.
    pub(crate) fn done(&mut self, run: &Run) {
        self.done += 1;
        self.bar.set_position(self.done * PARTS);
        if self.plain {
            let elapsed = self.start.elapsed().as_secs_f64();
            let left = elapsed / self.done as f64 * (self.boots - self.done) as f64;
            let left =
                if self.done < self.boots { format!("; about {} left", spoken(left)) } else { String::new() };
            eprintln!("{} of {}  {}: {}{left}", self.done, self.boots, self.what, table::in_short(run));
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
