//! One boot: QEMU from its start to its end, watched line by line.
use super::clock::{Given, Meter};
use super::lines::{Line, Lines, shown};
use super::record::Record;
use super::transcript::{Ending, Exit, Transcript};
use crate::run::child::{Gone, Limits, Running};
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::fs::File;
use std::io::{self, Read, Write};
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Instant;

/// How often it is looked whether the guest's time is over, and what its vCPUs were given.
const GLANCE: Duration = Duration::from_millis(50);
/// How often the latter: reading is work on the CPUs that the guest is measured on.
const READING: Duration = Duration::from_millis(500);
/// How long a guest may take to end after its last record.
const GOODBYE: Duration = Duration::from_secs(5);
/// How many lines may wait to be looked at; then the guest waits.
const LINES: usize = 1024;
/// How much of what QEMU says on standard error is kept.
const LAST_WORDS: usize = 4096;

/// How long a boot may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Until the first record.
    pub boot: Duration,
    /// From the first record to the last.
    pub work: Duration,
}

/// Who looks on.
pub(crate) trait Audience {
    /// A record has come.
    fn record(&mut self, record: &Record);
    /// A glance has passed.
    fn idle(&mut self);
    /// Whether the user wants to stop.
    fn stop_requested(&self) -> bool;
}

/// A boot that is over.
#[derive(Debug)]
pub(crate) struct Session {
    pub transcript: Transcript,
    pub ending: Ending,
    pub exit: Exit,
    /// From start to end.
    pub wall: Duration,
    /// Start of QEMU to the guest's first record.
    pub boot_wall: Option<Duration>,
    /// All that QEMU used.
    pub cpu: Duration,
    pub max_rss_kib: u64,
    /// Each vCPU's share of the host while the guest was at work.
    pub given: Vec<Given>,
}

/// Starts `command` and sees it through. `log` gets every byte that the guest writes.
pub(crate) fn run(
    command: &mut Command,
    timeouts: Timeouts,
    log: Option<&mut File>,
    audience: &mut dyn Audience,
) -> io::Result<Session> {
    let start = Instant::now();
    let mut child = command.spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let running = Running::new(child, start);
    let stop = AtomicBool::new(false);
    let to_stop = || stop.load(Ordering::Relaxed);
    let (sender, lines) = sync_channel(LINES);
    let (gone, words, seen) = std::thread::scope(|scope| {
        let waiter = scope.spawn(|| running.wait(Some(&Limits { timeout: None, stop: &to_stop }), || ()));
        let reader = scope.spawn(move || pump(stdout, log, &sender));
        let words = scope.spawn(move || last_words(stderr));
        let watch = Watch { start, timeouts, meter: Meter::new(running.pid()), stop: &stop };
        let mut seen = watch.until_the_end(&lines, audience);
        // A reader that waits for room must not wait for ever.
        drop(lines);
        // What can no longer be heard may still run.
        let silent = Instant::now();
        while !waiter.is_finished() {
            if seen.ending == Ending::Own {
                seen.ending = match silent.elapsed() >= GOODBYE {
                    _ if audience.stop_requested() => Ending::Stopped,
                    true => Ending::Mute,
                    false => Ending::Own,
                };
                stop.store(seen.ending != Ending::Own, Ordering::Relaxed);
            }
            std::thread::sleep(GLANCE / 10);
        }
        let logged =
            reader.join().unwrap_or_else(|_| Err(io::Error::other("the reader of the serial line died")));
        let gone = waiter.join().unwrap_or_else(|_| Err(io::Error::other("the waiter for QEMU died")));
        (gone.and_then(|gone| logged.map(|()| gone)), words.join().unwrap_or_default(), seen)
    });
    let Gone { status, wall, usage, .. } = gone?;
    let exit = Exit { code: status.code(), told: told(status, &words) };
    let Seen { transcript, ending, boot_wall, given } = seen;
    let (cpu, max_rss_kib) = (usage.cpu, usage.max_rss_kib);
    Ok(Session { transcript, ending, exit, wall, boot_wall, cpu, max_rss_kib, given })
}

/// What watching has to know.
struct Watch<'a> {
    start: Instant,
    timeouts: Timeouts,
    meter: Meter,
    /// Set to have the guest killed.
    stop: &'a AtomicBool,
}

/// What watching has seen.
struct Seen {
    transcript: Transcript,
    ending: Ending,
    boot_wall: Option<Duration>,
    given: Vec<Given>,
}

impl Watch<'_> {
    /// Until no more lines can come, which is when QEMU and all that it started have ended.
    fn until_the_end(mut self, lines: &Receiver<Line>, audience: &mut dyn Audience) -> Seen {
        let (mut transcript, mut ending) = (Transcript::default(), Ending::Own);
        let (mut booted, mut over): (Option<Instant>, Option<Instant>) = (None, None);
        let mut next_reading = self.start;
        loop {
            match lines.recv_timeout(GLANCE) {
                Ok(line) => {
                    let record = transcript.take(&line);
                    match &record {
                        Some(Record::Boot(_)) if booted.is_none() => {
                            booted = Some(Instant::now());
                            self.meter.start();
                        }
                        // The first of those that come when the work is done.
                        Some(Record::Vcpu(_) | Record::Wake(_) | Record::Result(_) | Record::End { .. }) => {
                            self.meter.stop();
                        }
                        _ => {}
                    }
                    if let Some(record) = &record {
                        audience.record(record);
                    }
                }
                Err(RecvTimeoutError::Timeout) => audience.idle(),
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now = Instant::now();
            if now >= next_reading && booted.is_some() {
                self.meter.look();
                next_reading = now + READING;
            }
            if transcript.is_over() && over.is_none() {
                over = Some(now);
            }
            let late = |since: Option<Instant>, limit| since.is_some_and(|since| now - since >= limit);
            if ending == Ending::Own {
                ending = match (booted, over) {
                    _ if audience.stop_requested() => Ending::Stopped,
                    (_, Some(_)) if late(over, GOODBYE) => Ending::Overdue,
                    (None, None) if late(Some(self.start), self.timeouts.boot) => Ending::NotUp,
                    (Some(_), None) if late(booted, self.timeouts.work) => Ending::Overdue,
                    _ => Ending::Own,
                };
                self.stop.store(ending != Ending::Own, Ordering::Relaxed);
            }
        }
        let boot_wall = booted.map(|booted| booted - self.start);
        Seen { transcript, ending, boot_wall, given: self.meter.given() }
    }
}

/// Makes lines of what the guest writes; returns when nothing more can come, or nobody wants it. A log that
/// cannot be written is the only error.
fn pump(from: Option<impl Read>, mut log: Option<&mut File>, to: &SyncSender<Line>) -> io::Result<()> {
    let Some(mut from) = from else { return Ok(()) };
    let (mut lines, mut bytes, mut wanted) = (Lines::default(), [0; 4096], true);
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if let Some(log) = &mut log {
            log.write_all(&bytes[..count])
                .map_err(|error| io::Error::new(error.kind(), format!("--log: {error}")))?;
        }
        lines.feed(&bytes[..count], |line| wanted &= to.send(line).is_ok());
        if !wanted {
            return Ok(());
        }
    }
    if let Some(line) = lines.finish() {
        let _ = to.send(line);
    }
    Ok(())
}

/// The end of what QEMU says.
fn last_words(from: Option<impl Read>) -> Vec<u8> {
    let (mut kept, mut bytes) = (Vec::new(), [0; 1024]);
    let Some(mut from) = from else { return kept };
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        kept.extend_from_slice(&bytes[..count]);
        kept.drain(..kept.len().saturating_sub(LAST_WORDS));
    }
    kept
}

/// `QEMU ended with exit code 1: could not load kernel`.
fn told(status: ExitStatus, words: &[u8]) -> String {
    use std::os::unix::process::ExitStatusExt;
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("QEMU ended with exit code {code}"),
        (None, Some(signal)) => format!("QEMU was ended by signal {signal}"),
        (None, None) => "QEMU ended".to_owned(),
    };
    let text = String::from_utf8_lossy(words);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    // The first line tells the cause; later ones are what followed from it.
    match lines().find(|line| !line.contains(" warning: ")).or_else(|| lines().next()) {
        Some(line) => format!("{how}: {}", shown(line, 200)),
        None => how,
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
