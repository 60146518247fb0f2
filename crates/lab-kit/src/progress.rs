//! Progress on standard error: a bar with the time left on a terminal; lines elsewhere ([`Progress::line`]).
use crate::output::tell;
use crate::units::spoken;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use core::time::Duration;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::sync::Arc;

/// [`Progress::seldom`] leaves out lines that come sooner than this after the last one.
const BETWEEN_LINES_MS: u64 = 2000;
/// Steps that a cell has of a bar of cells.
pub const PARTS: u64 = 1000;

/// Shows how far a run is. A clone shows the same bar, which goes with the last of them.
#[derive(Clone)]
pub struct Progress {
    bar: ProgressBar,
    /// Lines in place of a bar.
    plain: bool,
    /// When the last line was written, in milliseconds since the start.
    last_line: Arc<AtomicU64>,
    /// Of a cell: its number, and its own steps.
    part: Option<(u64, u64)>,
}

impl Progress {
    /// Of a run of so many steps, of whatever kind: what is left is told from those that are done.
    pub fn new(total: u64, quiet: bool) -> Self {
        // Which is hidden, too, where it is no terminal.
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(total), target);
        let style = ProgressStyle::with_template("{bar:30} {percent:>3} %  {eta} left  {wide_msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { plain: !quiet && bar.is_hidden(), bar, last_line: Arc::default(), part: None }
    }

    /// The part that a cell has of a bar of cells, in so many steps of its own.
    #[must_use]
    pub fn part(&self, number: usize, steps: u64) -> Self {
        Self { part: Some((number as u64, steps)), ..self.clone() }
    }

    /// Moves once a second, so that a long step is seen to be alive. Its thread disturbs who measures here,
    /// and the thread sanitizer takes it for a race; a bar that nobody sees has none.
    #[must_use]
    pub fn ticking(self) -> Self {
        if !self.bar.is_hidden() {
            self.bar.enable_steady_tick(Duration::from_secs(1));
        }
        self
    }

    pub fn now(&self, what: impl Into<String>) {
        self.bar.set_message(what.into());
    }

    pub fn set(&self, done: u64) {
        let within = |of: u64| done.saturating_mul(PARTS).checked_div(of).unwrap_or(0).min(PARTS);
        self.bar.set_position(self.part.map_or(done, |(number, of)| number * PARTS + within(of)));
    }

    pub fn step(&self) {
        self.bar.inc(1);
    }

    /// Says what is done, and about how long the rest takes, where there is no bar to see it on.
    pub fn line(&self, what: &str) {
        if self.plain {
            let elapsed = self.bar.elapsed();
            self.last_line.store(elapsed.as_millis() as u64, Relaxed);
            tell!("{}", told(what, self.share(), elapsed));
        }
    }

    /// As [`Progress::line`], but not so often that many small steps fill a log.
    pub fn seldom(&self, what: &str) {
        let (now, last) = (self.bar.elapsed().as_millis() as u64, self.last_line.load(Relaxed));
        // One of several threads writes it.
        let is_due = now >= last + BETWEEN_LINES_MS;
        if is_due && self.last_line.compare_exchange(last, now, Relaxed, Relaxed).is_ok() {
            self.line(what);
        }
    }

    /// Does what writes to the terminal, without tearing the bar.
    pub fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.bar.suspend(write)
    }

    /// Writes a line of results to standard output. Who has seen enough may have closed it; the run goes on.
    pub fn say(&self, line: &str) {
        self.aside(|| {
            let _ = writeln!(std::io::stdout(), "{line}");
        });
    }

    /// One more step is done, and this came of it.
    pub fn done(&self, line: &str) {
        self.step();
        self.say(line);
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn share(&self) -> f64 {
        self.bar.position() as f64 / self.bar.length().unwrap_or(0).max(1) as f64
    }
}

fn told(what: &str, share: f64, elapsed: Duration) -> String {
    let line = format!("{:3.0} %  {what}", share * 100.0);
    if share >= 1.0 {
        return line;
    }
    let left = elapsed.as_secs_f64() / share.max(1e-3) * (1.0 - share);
    format!("{line}; about {} left", spoken(left))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_the_share_and_what_is_left() {
        assert_eq!(told("byte", 0.25, Duration::from_secs(20)), " 25 %  byte; about 60 s left");
        assert_eq!(told("byte", 1.0, Duration::from_secs(20)), "100 %  byte");
    }

    #[test]
    fn steps_add_up_whether_the_bar_is_seen_or_not() {
        let progress = Progress::new(4, true);
        progress.step();
        progress.clone().step();
        assert!((progress.share() - 0.5).abs() < 1e-12);
        progress.set(4);
        assert!((progress.share() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_cell_moves_within_its_own_part() {
        let progress = Progress::new(4 * PARTS, true);
        for (steps, done, share) in [(50, 25, 0.375), (0, 9, 0.25), (9, u64::MAX, 0.5)] {
            progress.part(1, steps).set(done);
            assert!((progress.share() - share).abs() < 1e-12, "{share}");
        }
    }
}
