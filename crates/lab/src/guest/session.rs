//! One boot: QEMU from its start to its end, watched line by line.
use super::clock::Meter;
use super::record::{LONGEST, Line, Record, shown};
use super::report::{Cost, Run};
use super::transcript::{Ending, Transcript};
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use lab_kit::child::{self, Gone, Limits, Running};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

/// How often it is looked whether the guest's time is over.
const GLANCE: Duration = Duration::from_millis(50);
/// How long a guest may take to end after its last record.
const GOODBYE: Duration = Duration::from_secs(5);
/// How many lines may wait to be looked at; then the guest waits.
const LINES: usize = 1024;

type Audience<'a> = dyn FnMut(Option<&Record>) -> bool + 'a;

/// Starts `command`, which boots a guest for a lock and round, and sees it through: for `boot` until the
/// first record comes, and from there for `work`. `log` gets every byte that the guest writes. `audience` is
/// called with each record, and with none when a glance has passed, and says whether the user wants to stop.
pub(crate) fn run(
    command: &mut Command,
    (lock, round): (&str, usize),
    [boot, work]: [Duration; 2],
    log: Option<&mut File>,
    audience: &mut Audience,
) -> io::Result<Run> {
    let [_, stderr] = child::capture(command)?;
    let mut running = Running::lead(command.stdout(Stdio::piped()))?;
    let (start, stdout) = (running.start, running.child.stdout.take());
    let stop = AtomicBool::new(false);
    let to_stop = || stop.load(Ordering::Relaxed);
    let (sender, lines) = sync_channel(LINES);
    let mut watch = Watch {
        work: Some(work),
        meter: Meter::new(running.pid),
        transcript: Transcript::default(),
        booted: None,
        until: (start + boot, Ending::NotUp),
    };
    let mut ending = Ending::Own;
    let gone = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| running.wait(Some(&Limits { timeout: None, stop: &to_stop }), || ()));
        let reader = scope.spawn(move || pump(stdout, log, &sender));
        while watch.hears_more(&lines, audience) || !waiter.is_finished() {
            if ending == Ending::Own {
                let (until, why) = watch.until;
                let over = if Instant::now() >= until { why } else { Ending::Own };
                ending = if audience(None) { Ending::Stopped } else { over };
                stop.store(ending != Ending::Own, Ordering::Relaxed);
            }
        }
        let logged = reader.join().expect("reading does not panic");
        let gone = waiter.join().expect("waiting does not panic");
        gone.and_then(|gone| logged.map(|()| gone))
    });
    let Gone { status, wall, cpu, max_rss_kib, .. } = gone?;
    let cost = Cost {
        given: watch.meter.given(),
        qemu_cpu_s: cpu.as_secs_f64(),
        qemu_wall_s: wall.as_secs_f64(),
        boot_wall_s: watch.booted.map(|booted| (booted - start).as_secs_f64()),
        max_rss_kib,
    };
    let transcript = watch.transcript;
    let (state, reason) =
        transcript.state(ending, status.code(), &told(status, &child::printed(&stderr, 0, LONGEST as u64)?));
    let (lock, caught) = (lock.to_owned(), transcript.has_caught());
    let Transcript { told, log, .. } = transcript;
    Ok(Run { lock, round, ending, state, reason, caught, told, cost, log })
}

struct Watch {
    /// How long the work may take; none once it is over.
    work: Option<Duration>,
    meter: Meter,
    transcript: Transcript,
    /// When the first record came.
    booted: Option<Instant>,
    /// When we end it unless something is heard, and why.
    until: (Instant, Ending),
}

impl Watch {
    /// Waits for a line, a glance at most. False if no more lines can come.
    fn hears_more(&mut self, lines: &Receiver<Line>, audience: &mut Audience) -> bool {
        match lines.recv_timeout(GLANCE) {
            Ok(line) => {
                if let Some(record) = self.transcript.take(&line) {
                    self.hear(&record);
                    audience(Some(&record));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                // QEMU and all that it started have ended, or nobody can hear them any more.
                if self.until.1 != Ending::Mute {
                    self.until = (Instant::now() + GOODBYE, Ending::Mute);
                }
                std::thread::sleep(GLANCE / 10);
                return false;
            }
        }
        if self.booted.is_some() {
            self.meter.look();
        }
        true
    }

    fn hear(&mut self, record: &Record) {
        let now = Instant::now();
        match record {
            Record::Boot(_) if self.booted.is_none() => {
                self.booted = Some(now);
                self.until = self.work.map_or(self.until, |work| (now + work, Ending::Overdue));
            }
            // The first of those that come when the work is done.
            Record::Vcpu(_) | Record::Wake(_) | Record::Result(_) => self.meter.stop(),
            Record::End { .. } => {
                self.meter.stop();
                if self.work.take().is_some() {
                    self.until = (now + GOODBYE, Ending::Overdue);
                }
            }
            _ => {}
        }
    }
}

/// Copies what is read to the log. A log that cannot be written is the only error.
struct Logged<'a, R> {
    from: R,
    log: Option<&'a mut File>,
}

impl<R: Read> Read for Logged<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into).unwrap_or(0);
        if let Some(log) = &mut self.log {
            log.write_all(&into[..count])
                .map_err(|error| io::Error::new(error.kind(), format!("--log: {error}")))?;
        }
        Ok(count)
    }
}

/// Makes lines of what the guest writes; returns when nothing more can come, or nobody wants it.
fn pump(from: Option<impl Read>, log: Option<&mut File>, to: &SyncSender<Line>) -> io::Result<()> {
    let Some(from) = from else { return Ok(()) };
    let mut from = BufReader::new(Logged { from, log });
    while let Some(line) = Line::next(&mut from)? {
        if to.send(line).is_err() {
            break;
        }
    }
    Ok(())
}

/// `QEMU ended with exit code 1: could not load kernel`.
fn told(status: ExitStatus, words: &[u8]) -> String {
    use std::os::unix::process::ExitStatusExt;
    let how = match status.code() {
        Some(code) => format!("QEMU ended with exit code {code}"),
        None => format!("QEMU was ended by signal {}", status.signal().unwrap_or(0)),
    };
    let text = String::from_utf8_lossy(words);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    // The first line tells the cause; later ones are what followed from it.
    let line = lines().find(|line| !line.contains(" warning: ")).or_else(|| lines().next());
    how + &line.map(|line| format!(": {}", shown(line, 200))).unwrap_or_default()
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
