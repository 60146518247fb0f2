//! What became of one lock.
use super::event::{Finished, Stall};
use super::orders::Orders;
use super::tally::{Counts, Tally};
use serde::{Deserialize, Serialize};

/// One way to fail. A lock may collect several.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Failure {
    /// Two were inside at once.
    Exclusion { count: u64 },
    /// A holder saw the protected words half written.
    Torn { count: u64 },
    /// The protected counter is not the number of acquisitions.
    Miscount { lock: String, counted: u64, acquired: u64 },
    /// Nobody got anywhere.
    Stall(Stall),
    /// One waiter of a fair lock was passed over.
    Starved { worker: String, seconds: f64, doing: String },
    /// A reader did not come in beside another one.
    Serial { lock: String },
    /// Workers panicked.
    Panicked { count: u64 },
    /// The process was killed by a signal of its own making.
    Crashed { signal: i32 },
    /// The process ended with a code that torture does not use: ThreadSanitizer's is 66.
    Exited { code: i32 },
    /// The run never began (no threads to be had, no process): says nothing about the lock.
    NotStarted,
    /// The process was beyond its time limit and was killed.
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
                let name = signal_hook::low_level::signal_name(*signal).unwrap_or("nameless");
                write!(f, "crashed with signal {signal} ({name})")
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
            extras: Extras::ALL,
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
    }
}
