//! What became of one lock, and what a child process tells its parent of it: one JSON object per line.
use super::counts::{Counts, Shared};
use super::orders::Orders;
use super::tally::Tally;
use crate::one_by_one::{self, Outcome as _};
use lab_kit::column::Column;
use serde::{Deserialize, Serialize};
use signal_hook::consts::SIGKILL;
use std::io::Write as _;

/// A count of a run that has told everything: who died has not.
fn sum(name: &'static str, of: fn(&Finished) -> u64) -> Column<Outcome> {
    Column::called(name, move |seen: &Outcome| seen.finished.as_ref().map(of))
}

/// The same of the writers and of the readers, as they last told them.
fn tally(name: &str, of: fn(Tally, Tally) -> u64) -> Column<Outcome> {
    Column::new(name, move |seen: &Outcome| seen.counts.map(|(writes, reads)| of(writes, reads)))
}

/// One way to fail. `NotStarted` and `Idle` say nothing about the lock: no threads or no process were to be
/// had, or nobody came round to it.
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
    Idle,
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
            Self::Idle => write!(f, "nobody acquired anything: give it more --time"),
            Self::NotStarted => write!(f, "the run could not be started"),
            Self::Overdue { seconds } => write!(f, "not done after {seconds:.0} s, killed"),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Event {
    /// Of the writers, and of the readers.
    Stats(Tally, Tally),
    /// A stall: the last event but for `Finished`. Or a waiter that starved: the run goes on.
    Failed(Failure),
    Finished(Box<Finished>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stall {
    pub(crate) seconds: f64,
    /// Whether the workers had already been asked to end.
    pub(crate) at_end: bool,
    /// Those that somebody holds or wants, and what they say of themselves.
    pub(crate) locks: Vec<(String, String)>,
    pub(crate) workers: Vec<StalledWorker>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StalledWorker {
    pub(crate) name: String,
    pub(crate) doing: String,
    pub(crate) seconds: f64,
    pub(crate) acquired: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Finished {
    pub(crate) elapsed: f64,
    pub(crate) cut_short: bool,
    pub(crate) writes: Tally,
    pub(crate) reads: Tally,
    pub(crate) jain: f64,
    /// Over workers, handlers and the tormentor.
    #[serde(flatten)]
    pub(crate) counts: Counts<u64>,
    /// Locks whose protected counter differs from the acquisitions: name, counter, acquisitions.
    pub(crate) miscounted: Vec<(String, u64, u64)>,
    pub(crate) panicked: u64,
    pub(crate) handler_acquired: u64,
    pub(crate) handler_deepest: u64,
    pub(crate) threads: u64,
    pub(crate) moves: u64,
    pub(crate) pauses: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(crate) shared: Option<Shared<u64>>,
    /// A test lock at which a reader kept another one out, with no writer there.
    pub(crate) serial: Option<String>,
}

impl Event {
    /// Writes the event out. A parent that is gone cannot be told anything: the child ends.
    pub(crate) fn send(&self) {
        let line = serde_json::to_string(self).expect("events have string keys only");
        if writeln!(std::io::stdout(), "{line}").is_err() {
            std::process::exit(1);
        }
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Outcome {
    pub(crate) orders: Orders,
    pub(crate) failures: Vec<Failure>,
    /// Starved waiters of locks that do not promise fairness, and the like.
    pub(crate) notes: Vec<String>,
    /// The latest counts of the writers and of the readers: all there is if the process died.
    pub(crate) counts: Option<(Tally, Tally)>,
    pub(crate) finished: Option<Finished>,
    pub(crate) interrupted: bool,
}

impl Outcome {
    /// Adds the sums, and the failures that follow from them.
    pub(crate) fn finish(&mut self, finished: Finished) {
        let some = |count: u64| (count > 0).then_some(count);
        self.failures.extend(some(finished.counts.exclusion).map(|count| Failure::Exclusion { count }));
        self.failures.extend(some(finished.counts.torn).map(|count| Failure::Torn { count }));
        self.failures.extend(some(finished.panicked).map(|count| Failure::Panicked { count }));
        for (lock, counted, acquired) in finished.miscounted.clone() {
            self.failures.push(Failure::Miscount { lock, counted, acquired });
        }
        self.failures.extend(finished.serial.clone().map(|lock| Failure::Serial { lock }));
        let acquired = finished.writes.total + finished.reads.total;
        if acquired == 0 && finished.threads > 0 && !finished.cut_short && self.failures.is_empty() {
            self.failures.push(Failure::Idle);
        }
        self.counts = Some((finished.writes, finished.reads));
        self.finished = Some(finished);
    }

    fn verdict(&self) -> &'static str {
        match (self.passed(), self.interrupted) {
            (false, _) => "FAILED",
            (true, true) => "interrupted",
            (true, false) => "passed",
        }
    }
}

impl one_by_one::Outcome for Outcome {
    const COMMAND: &'static str = "torture";
    const TITLE: &'static str = "Locks under torture";
    const SURVIVED: &'static str = "expected to fail, but survived";

    fn columns() -> Vec<Column<Self>> {
        vec![
            Column::called("lock", |seen: &Self| seen.orders.lock.clone()),
            Column::called("verdict", Self::verdict),
            Column::new("seed", |seen: &Self| seen.orders.seed),
            Column::new("seconds", |seen: &Self| seen.orders.seconds),
            tally("acquired", |writes, reads| writes.total + reads.total).titled("acquired"),
            tally("writes_max", |writes, _| writes.max),
            tally("writes_min", |writes, _| writes.min),
            Column::told("max/min", |seen: &Self| {
                seen.counts.map(|(writes, _)| format!("{}/{}", writes.max, writes.min))
            }),
            tally("fail", |writes, reads| writes.fail + reads.fail).titled("fail"),
            Column::new("jain", |seen: &Self| Some(seen.finished.as_ref()?.jain))
                .titled("Jain")
                .shown(|jain| format!("{jain:.2}")),
            sum("nested", |sums| sums.counts.nested),
            sum("handlers", |sums| sums.counts.handler_runs),
            sum("deepest", |sums| sums.handler_deepest),
            sum("fifths", |sums| sums.counts.handler_fifth),
            sum("threads", |sums| sums.threads),
            Column::new("reason", |seen: &Self| {
                let failures: Vec<String> = seen.failures.iter().map(Failure::to_string).collect();
                (!failures.is_empty()).then(|| failures.join("; "))
            }),
        ]
    }

    fn lock(&self) -> &str {
        &self.orders.lock
    }

    fn doubts(&self) -> Vec<String> {
        let failures = self.failures.iter().map(|failure| format!("FAILED: {failure}"));
        failures.chain(self.notes.iter().map(|note| format!("note: {note}"))).collect()
    }

    fn passed(&self) -> bool {
        self.failures.is_empty()
    }

    /// A run that could not begin has caught nothing. One that ended without a word may not have begun.
    fn caught(&self) -> bool {
        let has_begun = self.counts.is_some();
        self.failures.iter().any(|failure| match failure {
            Failure::NotStarted | Failure::Idle => false,
            Failure::Exited { .. } | Failure::Overdue { .. } | Failure::Crashed { signal: SIGKILL } => {
                has_begun
            }
            _ => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_by_one::tests::report;

    fn outcome(failures: &[Failure]) -> Outcome {
        Outcome { failures: failures.to_vec(), ..Outcome::default() }
    }

    #[test]
    fn what_is_good_depends_on_what_is_expected() {
        let good =
            |seen: &[Failure]| [false, true].map(|expect| !report(vec![outcome(seen)], expect).failed());
        assert_eq!(good(&[]), [true, false]);
        assert_eq!(good(&[Failure::Torn { count: 1 }]), [false, true]);
        assert_eq!(good(&[Failure::NotStarted]), [false, false], "a run that never began has caught nothing");
        assert_eq!(good(&[Failure::Exited { code: 101 }]), [false, false], "nor has one that may not have");
        assert_eq!(good(&[Failure::Crashed { signal: libc::SIGSEGV }]), [false, true]);
        let begun = Outcome { counts: Some(<_>::default()), ..outcome(&[Failure::Exited { code: 66 }]) };
        assert!(!report(vec![begun], true).failed());
    }

    #[test]
    fn sums_turn_into_failures() {
        let mut seen = outcome(&[]);
        seen.finish(Finished::default());
        assert!(seen.passed());
        assert_eq!(seen.verdict(), "passed");
        let mut idle = outcome(&[]);
        idle.finish(Finished { threads: 4, ..Finished::default() });
        assert_eq!((idle.verdict(), idle.caught()), ("FAILED", false));
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

    fn outcomes() -> Vec<Outcome> {
        let [mut good, mut bad] = ["good", "bad"].map(|lock| Outcome {
            orders: Orders { lock: lock.to_owned(), ..Orders::default() },
            ..Outcome::default()
        });
        good.finish(Finished {
            writes: Tally { total: 30, max: 20, min: 10, fail: 0 },
            jain: 0.9,
            ..Finished::default()
        });
        bad.failures.push(Failure::Crashed { signal: libc::SIGSEGV });
        bad.notes.push("something else".to_owned());
        vec![good, bad]
    }

    #[test]
    fn the_summary_has_a_row_per_lock_and_a_line_per_failure() {
        let text = report(outcomes(), true).text();
        let lines: Vec<&str> = text.lines().collect();
        assert!(
            lines
                .iter()
                .any(|line| line.contains("good") && line.contains("passed") && line.contains("20/10"))
        );
        assert!(lines.iter().any(|line| line.contains("bad") && line.contains("FAILED")));
        assert!(lines.contains(&"bad: FAILED: crashed with signal 11 (SIGSEGV)"), "{text}");
        assert!(lines.contains(&"bad: note: something else"));
        assert_eq!(lines.last(), Some(&"expected to fail, but survived: good"));
    }

    #[test]
    fn programs_read_what_failed_and_what_was_counted() {
        let told = serde_json::to_value(outcomes()).unwrap();
        assert_eq!(told[1]["failures"][0]["kind"], "crashed");
        assert_eq!(told[0]["finished"]["writes"]["total"], 30);
        assert_eq!(told[0]["finished"]["handler_runs"], 0);
    }
}
