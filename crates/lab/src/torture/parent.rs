//! The parent's side of one lock: starts the child, listens to it, and is the one that never hangs.
use super::orders::Orders;
use super::outcome::{Event, Failure, Outcome, Stall, StalledWorker};
use super::registry::Row;
use super::session::EXIT_NOT_STARTED;
use super::tally::Tally;
use core::time::Duration;
use lab_kit::child::Running;
use lab_kit::interrupt;
use lab_kit::output::say;
use lab_kit::progress::Progress;
use std::io::{self, Read as _};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::time::Instant;

/// How often the parent looks up while the child is silent.
const TICK: Duration = Duration::from_millis(20);

const WORKERS_SHOWN: usize = 40;

/// How long a child may take in all: its run, its own stall detection at the end, time to start on a machine
/// that is busy, and time for its threads to leave. They leave one after the other, and where the lock spins
/// in order each waits for a time slice of all that are left.
fn limit(orders: &Orders) -> Duration {
    const SLICE: f64 = 0.004;
    const LEAVING_MOST: f64 = 600.0;
    let long_hold = orders.long_hold_ms as f64 / 1000.0;
    let threads = (orders.writers + orders.readers) as f64;
    let leaving = (threads * threads * SLICE).min(LEAVING_MOST);
    Duration::from_secs_f64(orders.seconds + 4.0 * (orders.stall_seconds + long_hold) + 20.0 + leaving)
}

pub(crate) fn run_child(row: &Row, orders: Orders, progress: &Progress) -> Outcome {
    let (start, limit) = (Instant::now(), limit(&orders));
    let mut outcome = Outcome { orders, ..Outcome::default() };
    let (mut child, mut pipe) = match start_child(&outcome.orders) {
        Ok(started) => started,
        Err(error) => {
            outcome.notes.push(format!("could not start: {error}"));
            outcome.failures.push(Failure::NotStarted);
            return outcome;
        }
    };
    let mut said = Vec::new();
    loop {
        progress.set(start.elapsed().as_millis() as u64);
        // The child ends with its standard input.
        outcome.interrupted |= interrupt::requested() && child.child.stdin.take().is_some();
        // First, so that all it said is there to be read. One that cannot be waited for is told of below.
        let has_ended = child.has_ended_within(TICK).unwrap_or(true);
        // Looked at now and then, without a reader thread and a channel: a ThreadSanitizer build would report
        // races inside the standard library's channel, which is not instrumented. What cannot be read is as
        // good as not said: the exit status says the rest.
        let _ = pipe.read_to_end(&mut said);
        while let Some(end) = said.iter().position(|&byte| byte == b'\n') {
            let line: Vec<u8> = said.drain(..=end).collect();
            // Whatever else a broken lock made the child print is not for us.
            if let Some(event) = str::from_utf8(&line).ok().and_then(|line| serde_json::from_str(line).ok()) {
                handle(row, &mut outcome, event, progress);
            }
        }
        if has_ended {
            break;
        }
        // Only then: who was stopped for long finds a child that is done.
        if start.elapsed() >= limit {
            outcome.failures.push(Failure::Overdue { seconds: limit.as_secs_f64() });
            return outcome;
        }
    }
    match child.wait(None, || ()) {
        Ok(gone) => ended(&mut outcome, gone.status),
        Err(error) => {
            outcome.notes.push(format!("could not wait for the child: {error}"));
            outcome.failures.push(Failure::NotStarted);
        }
    }
    outcome
}

/// The child, and what it says, as far as it has arrived.
fn start_child(orders: &Orders) -> io::Result<(Running, ChildStdout)> {
    let orders = serde_json::to_string(orders).expect("orders have string keys only");
    // By this name even if the file was replaced while we run (somebody is building).
    let mut command = Command::new("/proc/self/exe");
    command.args(["torture", "--child", &orders]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = Running::lead(&mut command)?;
    let pipe = child.child.stdout.take().expect("standard output was asked to be a pipe");
    rustix::io::ioctl_fionbio(&pipe, true)?;
    Ok((child, pipe))
}

fn handle(row: &Row, outcome: &mut Outcome, event: Event, progress: &Progress) {
    let say = |line: &str| progress.aside(|| say!("{}-torture: {line}", row.name));
    let say_counts = |when: &str, writes: Tally, reads: Tally| {
        say(&format!("{when}{}", writes.line("Writes")));
        if outcome.orders.readers > 0 {
            say(&format!("{when}{}", reads.line("Reads ")));
        }
    };
    match event {
        Event::Stats(writes, reads) => {
            say_counts("", writes, reads);
            outcome.counts = Some((writes, reads));
        }
        Event::Failed(starved @ Failure::Starved { .. }) if !row.fair => {
            say(&format!("{starved} (no failure: this lock is not fair)"));
            outcome.notes.push(starved.to_string());
        }
        Event::Failed(failure) => {
            match &failure {
                Failure::Stall(stall) => describe(stall).iter().for_each(|line| say(line)),
                _ => say(&format!("{failure} !!!")),
            }
            outcome.failures.push(failure);
        }
        Event::Finished(finished) => {
            say_counts("End: ", finished.writes, finished.reads);
            if let Some(shared) = finished.shared {
                progress.aside(|| say!("{}: {}", row.name, shared.line()));
            }
            outcome.finish(*finished);
        }
    }
}

fn describe(stall: &Stall) -> Vec<String> {
    let when = if stall.at_end { " at the end of the run" } else { "" };
    let mut lines = vec![format!("STALL{when}: nobody has made progress for {:.1} s", stall.seconds)];
    for (name, state) in &stall.locks {
        // A description may have several lines: the word, then the queue.
        for (number, line) in state.lines().enumerate() {
            let label = if number == 0 { format!("{name}:") } else { String::new() };
            lines.push(format!("  {label:16} {line}"));
        }
    }
    for StalledWorker { name, doing, seconds, acquired } in stall.workers.iter().take(WORKERS_SHOWN) {
        lines.push(format!("  {name:16} {doing} (for {seconds:.1} s, after {acquired} acquisitions)"));
    }
    let more = stall.workers.len().saturating_sub(WORKERS_SHOWN);
    if more > 0 {
        lines.push(format!("  and {more} more (see --json)"));
    }
    lines
}

/// What an exit status adds to what the child said itself.
fn ended(outcome: &mut Outcome, status: ExitStatus) {
    outcome.failures.extend(match (status.signal(), status.code(), &outcome.finished) {
        (Some(signal), ..) => Some(Failure::Crashed { signal }),
        (None, Some(EXIT_NOT_STARTED), None) => Some(Failure::NotStarted),
        (None, Some(0), Some(_)) | (None, None, _) => None,
        (None, Some(code), _) => Some(Failure::Exited { code }),
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::one_by_one::Outcome as _;
    use crate::torture::outcome::Finished;

    fn outcome() -> Outcome {
        let orders =
            Orders { seconds: 10.0, writers: 2, stall_seconds: 3.0, long_hold_ms: 500, ..Orders::default() };
        Outcome { orders, ..Outcome::default() }
    }

    #[test]
    fn the_limit_leaves_room_for_the_child_s_own_stall_detection() {
        assert_eq!(limit(&outcome().orders), Duration::from_millis(44_016));
        let crowd = Orders { writers: 4096, ..outcome().orders };
        assert_eq!(limit(&crowd), Duration::from_secs(644), "there is an end to it");
    }

    #[test]
    fn a_child_that_ends_without_a_word_has_failed() {
        let mut silent = outcome();
        ended(&mut silent, ExitStatus::from_raw(0));
        assert_eq!(silent.failures, [Failure::Exited { code: 0 }]);

        let mut crashed = outcome();
        ended(&mut crashed, ExitStatus::from_raw(libc::SIGSEGV));
        assert_eq!(crashed.failures, [Failure::Crashed { signal: libc::SIGSEGV }]);

        let mut sanitized = outcome();
        sanitized.finish(Finished::default());
        ended(&mut sanitized, ExitStatus::from_raw(66 << 8));
        assert_eq!(sanitized.failures, [Failure::Exited { code: 66 }]);

        let mut never = outcome();
        ended(&mut never, ExitStatus::from_raw(EXIT_NOT_STARTED << 8));
        assert_eq!(never.failures, [Failure::NotStarted]);

        let mut good = outcome();
        good.finish(Finished::default());
        ended(&mut good, ExitStatus::from_raw(0));
        assert!(good.passed());
    }

    #[test]
    fn a_stall_is_told_with_the_lock_its_queue_and_every_worker() {
        let lines = describe(&Stall {
            seconds: 3.04,
            at_end: false,
            locks: vec![("the lock".to_owned(), "(2.0,0,1)\nslot 2: waiting".to_owned())],
            workers: vec![StalledWorker {
                name: "writer 0".to_owned(),
                doing: "waiting for the lock".to_owned(),
                seconds: 3.04,
                acquired: 17,
            }],
        });
        assert_eq!(
            lines,
            [
                "STALL: nobody has made progress for 3.0 s",
                "  the lock:        (2.0,0,1)",
                "                   slot 2: waiting",
                "  writer 0         waiting for the lock (for 3.0 s, after 17 acquisitions)",
            ]
        );
    }
}
