//! The parent's side of one lock: starts the child, listens to it, and is the one that never hangs.
use super::orders::Orders;
use super::outcome::{Event, Failure, Outcome, Stall};
use super::registry::Row;
use super::session::EXIT_NOT_STARTED;
use super::tally::{READS, Tally, WRITES};
use core::time::Duration;
use lab_kit::interrupt;
use lab_kit::output::say;
use lab_kit::progress::Progress;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Instant;

/// How often the parent looks up while the child is silent.
const TICK: Duration = Duration::from_millis(20);

/// How many workers a stall report shows on the terminal.
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

/// Tortures one lock in a child process and says what became of it.
pub(crate) fn run_child(row: &Row, orders: Orders, progress: &Progress) -> Outcome {
    let limit = limit(&orders);
    let mut outcome = Outcome::new(orders);
    let (mut child, leash, mut lines) = match start(&outcome.orders) {
        Ok(started) => started,
        Err(error) => {
            outcome.notes.push(format!("could not start: {error}"));
            outcome.failures.push(Failure::NotStarted);
            return outcome;
        }
    };
    let (start, mut leash) = (Instant::now(), Some(leash));
    progress.restart((outcome.orders.seconds * 1000.0) as u64);
    loop {
        progress.set(start.elapsed().as_millis() as u64);
        if interrupt::requested() && leash.take().is_some() {
            outcome.interrupted = true;
        }
        match lines.next() {
            _ if start.elapsed() >= limit => {
                outcome.failures.push(Failure::Overdue { seconds: limit.as_secs_f64() });
                // It may be gone already, and a kill that fails leaves nothing to be done.
                let _ = child.kill();
                let _ = child.wait();
                return outcome;
            }
            Ok(Some(event)) => handle(row, &mut outcome, event, progress),
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(TICK),
            // A pipe that cannot be read is as good as closed: the exit status says the rest.
            Ok(None) | Err(_) => break,
        }
    }
    match child.wait() {
        Ok(status) => ended(&mut outcome, status),
        Err(error) => outcome.notes.push(format!("could not wait for the child: {error}")),
    }
    outcome
}

fn start(orders: &Orders) -> std::io::Result<(Child, ChildStdin, Lines)> {
    let orders = serde_json::to_string(orders).expect("orders have string keys only");
    // By this name even if the file was replaced while we run (somebody is building).
    let mut child = Command::new("/proc/self/exe")
        .args(["torture", "--child", &orders])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // Ctrl-C on the terminal is for the parent alone; it ends the child by letting go of the leash.
        .process_group(0)
        .spawn()?;
    let leash = child.stdin.take().expect("standard input was asked to be a pipe");
    let lines = Lines::of(&mut child)?;
    Ok((child, leash, lines))
}

/// The child's lines, as far as they have arrived.
///
/// One thread that looks now and then, rather than a reader thread and a channel: the parent has nothing
/// better to do, and a ThreadSanitizer build would report races inside the standard library's channel, which
/// is not instrumented.
struct Lines {
    pipe: BufReader<ChildStdout>,
    pending: Vec<u8>,
}

impl Lines {
    fn of(child: &mut Child) -> std::io::Result<Self> {
        let pipe = child.stdout.take().expect("standard output was asked to be a pipe");
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self { pipe: BufReader::new(pipe), pending: Vec::new() })
    }

    /// The next event, or `None` at the end of all. It is an error of the kind `WouldBlock` that there is
    /// nothing to read at the moment.
    fn next(&mut self) -> std::io::Result<Option<Event>> {
        // What there is of a line when the pipe runs dry stays in `pending`.
        while self.pipe.read_until(b'\n', &mut self.pending)? > 0 {
            let line = core::mem::take(&mut self.pending);
            // Whatever else a broken lock made the child print is not for us.
            if let Ok(event) = serde_json::from_slice(&line) {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

fn handle(row: &Row, outcome: &mut Outcome, event: Event, progress: &Progress) {
    let say = |line: &str| progress.aside(|| say!("{}-torture: {line}", row.name));
    let say_counts = |when: &str, writes: Tally, reads: Tally| {
        say(&format!("{when}{}", writes.line(WRITES)));
        if outcome.orders.readers > 0 {
            say(&format!("{when}{}", reads.line(READS)));
        }
    };
    match event {
        Event::Stats { writes, reads } => {
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
            outcome.finish(*finished);
        }
    }
}

/// A stall, in lines.
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
    for worker in stall.workers.iter().take(WORKERS_SHOWN) {
        let (seconds, acquired) = (worker.seconds, worker.acquired);
        lines.push(format!(
            "  {:16} {} (for {seconds:.1} s, after {acquired} acquisitions)",
            worker.name, worker.doing
        ));
    }
    if let Some(more) = stall.workers.len().checked_sub(WORKERS_SHOWN + 1) {
        lines.push(format!("  and {} more (see --json)", more + 1));
    }
    lines
}

/// What an exit status adds to what the child said itself.
fn ended(outcome: &mut Outcome, status: ExitStatus) {
    if let Some(signal) = status.signal() {
        outcome.failures.push(Failure::Crashed { signal });
    } else if let Some(code) = status.code()
        && (code != 0 || outcome.finished.is_none())
    {
        let not_started = code == EXIT_NOT_STARTED && outcome.finished.is_none();
        outcome.failures.push(if not_started { Failure::NotStarted } else { Failure::Exited { code } });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::torture::orders::Extras;
    use crate::torture::outcome::{Finished, StalledWorker};

    fn outcome() -> Outcome {
        Outcome::new(Orders {
            lock: "x".to_owned(),
            seconds: 10.0,
            writers: 2,
            readers: 0,
            seed: 1,
            stat_interval: 1.0,
            stall_seconds: 3.0,
            long_hold_ms: 500,
            stutter: 1.0,
            extras: Extras::all(true),
        })
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
        assert!(!good.failed());
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
