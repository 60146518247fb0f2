//! What became of one lock, and what a child process tells its parent of it: one JSON object per line on
//! standard output.
use super::orders::Orders;
use super::tally::{Counts, Shared, Tally};
use serde::{Deserialize, Serialize};

/// One way to fail; see below for what each says. A lock may collect several. `NotStarted` says nothing about
/// the lock: there were no threads or no process to be had.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Failure {
    Exclusion { count: u64 },
    Torn { count: u64 },
    Miscount { lock: String, counted: u64, acquired: u64 },
    Stall(Stall),
    Starved { worker: String, seconds: f64, doing: String },
    Serial { lock: String },
    Panicked { count: u64 },
    Crashed { signal: i32 },
    Exited { code: i32 },
    NotStarted,
    Overdue { seconds: f64 },
}

/// ThreadSanitizer's exit code when it has reported something.
const THREAD_SANITIZER: i32 = 66;

impl core::fmt::Display for Failure {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Exclusion { count } => write!(f, "{count} times two were inside at once"),
            Self::Torn { count } => write!(f, "{count} torn views of the protected words"),
            Self::Miscount { lock, counted, acquired } => {
                write!(f, "{lock}: counter {counted} after {acquired} acquisitions")
            }
            Self::Stall(stall) => {
                let when = if stall.at_end { " at the end of the run" } else { "" };
                write!(f, "stalled for {:.1} s{when}", stall.seconds)
            }
            Self::Starved { worker, seconds, doing } => {
                write!(f, "{worker} starved for {seconds:.1} s, {doing}")
            }
            Self::Serial { lock } => write!(f, "{lock}: a reader kept another one out"),
            Self::Panicked { count } => write!(f, "{count} workers panicked"),
            Self::Crashed { signal } => {
                let name = signal_hook::low_level::signal_name(*signal);
                let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
                write!(f, "crashed with signal {signal}{name}")
            }
            Self::Exited { code: THREAD_SANITIZER } => {
                write!(f, "exit code {THREAD_SANITIZER}: ThreadSanitizer reported a race (above)")
            }
            Self::Exited { code } => write!(f, "ended early with exit code {code}"),
            Self::NotStarted => write!(f, "the run could not be started"),
            Self::Overdue { seconds } => write!(f, "not done after {seconds:.0} s, killed"),
        }
    }
}

/// One line of a child.
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

/// Everything known about one lock's run.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Outcome {
    pub(crate) orders: Orders,
    pub(crate) failures: Vec<Failure>,
    /// Starved waiters of locks that do not promise fairness, and the like.
    pub(crate) notes: Vec<String>,
    /// The latest counts of the writers and of the readers: all there is if the process died.
    pub(crate) counts: Option<(Tally, Tally)>,
    /// The sums, where the process lived to tell them.
    pub(crate) finished: Option<Finished>,
    /// Whether the user ended it early.
    pub(crate) interrupted: bool,
}

impl Outcome {
    pub(crate) fn new(orders: Orders) -> Self {
        Self {
            orders,
            failures: Vec::new(),
            notes: Vec::new(),
            counts: None,
            finished: None,
            interrupted: false,
        }
    }

    /// Adds the sums, and the failures that follow from them.
    pub(crate) fn finish(&mut self, finished: Finished) {
        let (Counts { exclusion, torn, .. }, panicked) = (finished.counts, finished.panicked);
        let mut fail = |failure, count| {
            if count > 0 {
                self.failures.push(failure);
            }
        };
        fail(Failure::Exclusion { count: exclusion }, exclusion);
        fail(Failure::Torn { count: torn }, torn);
        fail(Failure::Panicked { count: panicked }, panicked);
        for (lock, counted, acquired) in &finished.miscounted {
            let (lock, counted, acquired) = (lock.clone(), *counted, *acquired);
            self.failures.push(Failure::Miscount { lock, counted, acquired });
        }
        let serial = finished.serial.clone();
        self.failures.extend(serial.map(|lock| Failure::Serial { lock }));
        self.counts = Some((finished.writes, finished.reads));
        self.finished = Some(finished);
    }

    pub(crate) fn failed(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Whether the lock itself was seen to fail.
    pub(crate) fn caught(&self) -> bool {
        self.failures.iter().any(|failure| *failure != Failure::NotStarted)
    }

    /// Whether it is as is to be expected.
    pub(crate) fn good(&self, expect_failure: bool) -> bool {
        if expect_failure { self.caught() } else { !self.failed() }
    }

    /// One word.
    pub(crate) fn verdict(&self) -> &'static str {
        match (self.failed(), self.interrupted) {
            (true, _) => "FAILED",
            (false, true) => "interrupted",
            (false, false) => "passed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::orders::Extras;

    fn outcome(failures: &[Failure]) -> Outcome {
        let orders = Orders {
            lock: "x".to_owned(),
            seconds: 1.0,
            writers: 2,
            readers: 0,
            seed: 1,
            stat_interval: 1.0,
            stall_seconds: 1.0,
            long_hold_ms: 1,
            stutter: 1.0,
            extras: Extras::all(true),
        };
        Outcome { failures: failures.to_vec(), ..Outcome::new(orders) }
    }

    #[test]
    fn what_is_good_depends_on_what_is_expected() {
        let good = |outcome: &Outcome| [outcome.good(false), outcome.good(true)];
        assert_eq!(good(&outcome(&[])), [true, false]);
        assert_eq!(good(&outcome(&[Failure::Torn { count: 1 }])), [false, true]);
        let never = outcome(&[Failure::NotStarted]);
        assert_eq!(good(&never), [false, false], "a run that never began has caught nothing");
    }

    #[test]
    fn sums_turn_into_failures() {
        let mut seen = outcome(&[]);
        seen.finish(Finished::default());
        assert!(!seen.failed());
        assert_eq!(seen.verdict(), "passed");
        seen.finish(Finished {
            counts: Counts { exclusion: 2, torn: 1, ..Counts::default() },
            panicked: 1,
            miscounted: vec![("the lock".to_owned(), 1, 2)],
            serial: Some("the lock".to_owned()),
            ..Finished::default()
        });
        assert_eq!(seen.failures.len(), 5);
        assert_eq!(seen.verdict(), "FAILED");
        assert_eq!(seen.failures[0].to_string(), "2 times two were inside at once");
    }

    #[test]
    fn a_sanitizer_s_exit_code_is_named() {
        assert!(Failure::Exited { code: 66 }.to_string().contains("ThreadSanitizer"));
        assert!(Failure::Crashed { signal: libc::SIGSEGV }.to_string().contains("SIGSEGV"));
        assert_eq!(Failure::Crashed { signal: 40 }.to_string(), "crashed with signal 40");
    }

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
