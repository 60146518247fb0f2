//! A workload that is no formula: what the threads of a recorded program did, played on a simulated machine.
//!
//! A [`Script`] is what one thread did, in bytes; [`Recorded`] all of them, and which locks they share;
//! [`Replay`] the workload. These rules make more contexts than threads were recorded:
//!
//! - A *worker* is copied as often as needed; of every other thread there is one. Copy *k* of all workers
//!   belongs together: conditions are notified within it.
//! - All copies share the locks that [`Recorded`] has. A lock that was one thread's own is each copy's own,
//!   a private one: it costs its instructions, and nobody waits.
//! - Each copy begins at a moment of the recording of its own, drawn from the seed, when all workers were
//!   there. A thread that comes to its end goes on at its beginning, when that comes again.
//! - Computing and sleeping take as long as recorded; waiting for locks is simulated; a wait for a condition
//!   ends with the notification that ended it in the recording, whenever that is. If waiters are *relayed*,
//!   who is notified by the holder of a mutex sleeps until that is released.
mod play;
mod script;
#[cfg(test)]
mod tests;

use crate::time::{MS, NS, Time};
use crate::workload::{Behaviour, Lives, Placement, Takes, Workload};
use play::Running;
use std::sync::Arc;

pub use script::{Script, Step, Writer};

/// What a lock was in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A mutex.
    Mutex,
    /// A reader-writer lock.
    Rw,
}

/// What was recorded of a program: a script for each thread, and the locks that they share.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Threads that are copied.
    pub workers: Vec<Script>,
    /// Those that are not. Their numbers follow those of the workers.
    pub others: Vec<Script>,
    /// Locks that several threads took, those first that were taken most often.
    pub locks: Vec<Class>,
    /// Every step is performed once, from the first one on: for tests, and to see how long the work takes.
    pub once: bool,
}

impl Recorded {
    /// Contexts for so many workers.
    pub fn contexts(&self, workers: usize) -> usize {
        self.others.len() + workers
    }

    /// The script of thread `thread`, a worker or another one.
    fn script(&self, thread: usize) -> &Script {
        match thread.checked_sub(self.workers.len()) {
            None => &self.workers[thread],
            Some(other) => &self.others[other],
        }
    }

    /// When the first thread was seen.
    fn first(&self) -> u64 {
        let all = self.workers.iter().chain(&self.others);
        all.map(|script| script.span().0).min().unwrap_or(0)
    }

    /// When all workers were there, in nanoseconds of the recording; when any was, if they never met.
    fn common(&self) -> (u64, u64) {
        let spans = || self.workers.iter().map(Script::span);
        let (last, first) = (spans().map(|(from, _)| from).max(), spans().map(|(_, to)| to).min());
        match (last, first) {
            (Some(from), Some(to)) if from < to => (from, to),
            _ => {
                let from = spans().map(|(from, _)| from).min().unwrap_or(0);
                (from, spans().map(|(_, to)| to).max().unwrap_or(from).max(from + 1))
            }
        }
    }

    /// The workload of it, under the program's name.
    pub fn workload(self, name: &str) -> Workload {
        Workload {
            name: name.to_owned(),
            about: "a recorded program".to_owned(),
            unit: "acquisitions/s".to_owned(),
            per: 1_000 * MS,
            job: None,
            placement: Placement::Spread,
            behaviour: Behaviour::Replay(Replay {
                recorded: Arc::new(self),
                holds_percent: 100,
                relays: false,
            }),
        }
    }
}

impl Workload {
    /// The same with work under locks that takes so many per cent of the time that was recorded.
    #[must_use]
    pub fn holding(&self, percent: u32) -> Self {
        self.replayed(|replay| replay.holds_percent = percent)
    }

    /// The same with mutexes that keep who is notified by their holder, and wake one with each release.
    #[must_use]
    pub fn relaying(&self) -> Self {
        self.replayed(|replay| replay.relays = true)
    }

    fn replayed(&self, change: impl FnOnce(&mut Replay)) -> Self {
        let mut changed = self.clone();
        if let Behaviour::Replay(replay) = &mut changed.behaviour {
            change(replay);
        }
        changed
    }
}

/// The behaviour of a recorded program. Runs share what was recorded.
#[derive(Clone, Debug)]
pub struct Replay {
    recorded: Arc<Recorded>,
    /// How long work under locks takes, in per cent of what was recorded.
    holds_percent: u32,
    /// Whether mutexes keep who is notified by their holder.
    relays: bool,
}

impl PartialEq for Replay {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.recorded, &other.recorded)
            && (self.holds_percent, self.relays) == (other.holds_percent, other.relays)
    }
}

impl Replay {
    pub(crate) fn prepare(&self) -> Box<dyn Lives> {
        Box::new(Running::new(self.clone()))
    }
}

/// What happened at one lock in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often it was acquired.
    pub acquisitions: u64,
    /// Nanoseconds that contexts waited for it, together.
    pub waited: u64,
    /// Waits by length: eight steps to a power of two of nanoseconds.
    waits: Vec<u32>,
}

/// Steps of a power of two, as a power of two.
const FINE: u32 = 3;

impl Tally {
    fn waits(&mut self, nanos: u64) {
        self.acquisitions += 1;
        self.waited += nanos;
        let step = step_of(nanos);
        if self.waits.len() <= step {
            self.waits.resize(step + 1, 0);
        }
        self.waits[step] = self.waits[step].saturating_add(1);
    }

    /// Adds another run.
    pub fn add(&mut self, other: &Self) {
        self.acquisitions += other.acquisitions;
        self.waited += other.waited;
        if self.waits.len() < other.waits.len() {
            self.waits.resize(other.waits.len(), 0);
        }
        for (mine, theirs) in self.waits.iter_mut().zip(&other.waits) {
            *mine = mine.saturating_add(*theirs);
        }
    }

    /// The wait in nanoseconds that `part` of all waits do not exceed, to an eighth.
    pub fn quantile(&self, part: f64) -> u64 {
        let all: u64 = self.waits.iter().map(|&count| u64::from(count)).sum();
        let wanted = (all as f64 * part).ceil() as u64;
        let mut seen = 0;
        for (step, &count) in self.waits.iter().enumerate() {
            seen += u64::from(count);
            if seen >= wanted.max(1) {
                return longest_of(step);
            }
        }
        0
    }
}

fn step_of(nanos: u64) -> usize {
    let small = 1 << FINE;
    if nanos < small {
        return nanos as usize;
    }
    let power = nanos.ilog2();
    let within = (nanos >> (power - FINE)) - small;
    (u64::from(power - FINE + 1) * small + within) as usize
}

fn longest_of(step: usize) -> u64 {
    let (step, small) = (step as u64, 1 << FINE);
    if step < small {
        return step;
    }
    let (power, within) = (step / small - 1, step % small);
    ((small + within + 1) << power) - 1
}

impl Lives for Running {
    /// One class for mutexes, one for reader-writer locks.
    fn classes(&self) -> usize {
        2
    }

    fn class_of(&self, lock: usize) -> usize {
        usize::from(self.recorded().locks[lock] == Class::Rw)
    }

    fn locks(&self, _contexts: usize) -> usize {
        self.recorded().locks.len()
    }

    /// What a lock protects, for want of better knowledge: one line.
    fn lines(&self, _contexts: usize) -> usize {
        self.recorded().locks.len()
    }

    fn takes(&self) -> Takes {
        Takes::Either
    }

    fn live(&self, here: &crate::here::Here) {
        self.play(here);
    }

    fn tallies(&self) -> Vec<Tally> {
        self.take_tallies()
    }
}

/// Five seconds in nanoseconds, which no run of a recording lasts. Of a longer time, company and turbo could
/// make one that no number holds.
const LONGEST: u64 = 5_000_000_000;

/// Virtual time of recorded nanoseconds.
fn time(nanos: u64) -> Time {
    nanos.min(LONGEST) * NS
}
