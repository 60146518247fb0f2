//! What a child process tells its parent: one JSON object per line on standard output.
use super::outcome::Failure;
use super::tally::{Counts, Shared, Tally};
use serde::{Deserialize, Serialize};

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// The counts so far.
    Stats { writes: Tally, reads: Tally },
    /// A stall: the last event but for `Finished`. Or a waiter that starved: the run goes on.
    Failed(Failure),
    /// The run is over, whatever became of it.
    Finished(Box<Finished>),
}

/// A stall as it was found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stall {
    pub(crate) seconds: f64,
    /// Whether the workers had already been asked to end.
    pub(crate) at_end: bool,
    /// Every lock that somebody holds or wants: its name and what it says of itself.
    pub(crate) locks: Vec<(String, String)>,
    /// What each worker was doing, for how long, and how far it had come.
    pub(crate) workers: Vec<StalledWorker>,
}

/// One worker in a stall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StalledWorker {
    pub(crate) name: String,
    pub(crate) doing: String,
    pub(crate) seconds: f64,
    pub(crate) acquired: u64,
}

/// The sums of one finished run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Finished {
    pub(crate) elapsed: f64,
    /// Whether the parent asked for an early end.
    pub(crate) cut_short: bool,
    pub(crate) writes: Tally,
    pub(crate) reads: Tally,
    /// Jain's index over the writers.
    pub(crate) jain: f64,
    /// Over workers, handlers and the tormentor.
    #[serde(flatten)]
    pub(crate) counts: Counts<u64>,
    /// Locks whose protected counter differs from the acquisitions: name, counter, acquisitions.
    pub(crate) miscounted: Vec<(String, u64, u64)>,
    /// Workers that panicked.
    pub(crate) panicked: u64,
    pub(crate) handler_acquired: u64,
    pub(crate) handler_deepest: u64,
    pub(crate) threads: u64,
    pub(crate) moves: u64,
    pub(crate) pauses: u64,
    /// What readers did, if it is a lock that they share.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) shared: Option<Shared<u64>>,
    /// A test lock at which a reader kept another one out, with no writer there.
    pub(crate) serial: Option<String>,
}

impl Event {
    /// Writes the event out. A parent that is gone cannot be told anything: the child ends.
    pub(crate) fn send(&self) {
        use std::io::Write;
        let mut line = serde_json::to_string(self).expect("events have string keys only");
        line.push('\n');
        let mut out = std::io::stdout().lock();
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            std::process::exit(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_the_pipe() {
        let sent = Event::Finished(Box::new(Finished {
            miscounted: vec![("the lock".to_owned(), 3, 4)],
            jain: 0.5,
            ..Finished::default()
        }));
        let line = serde_json::to_string(&sent).unwrap();
        assert!(!line.contains('\n'));
        let Event::Finished(back) = serde_json::from_str(&line).unwrap() else {
            panic!("another event: {line}")
        };
        assert_eq!(back.miscounted, [("the lock".to_owned(), 3, 4)]);
        assert!((back.jain - 0.5).abs() < f64::EPSILON);
    }
}
