//! One run of one program under one lock: started, watched, and its output judged.
use super::table::{Program, Rate, Step, Words, fill};
use crate::{files, process};
use anyhow::{Context as _, Result, bail, ensure};
use core::cell::Cell;
use core::error::Error;
use core::fmt;
use core::net::Ipv4Addr;
use core::time::Duration;
use lab_kit::child::Gone;
use lab_kit::compare::Figures;
use lab_kit::interrupt;
use regex::Regex;
use rustix::process::Signal;
use std::net::TcpStream;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Instant;

/// How long a server may take to answer, and to stop.
const SERVER_TIMEOUT: Duration = Duration::from_secs(20);
/// What no program says of itself: the lock was not there, or not the one that was asked for.
const NOT_PRELOADED: &str = "(?m)^(ERROR: ld.so:|stanchion[a-z_-]*:).*$";

/// A lock: what makes a program use it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lock {
    pub(crate) name: String,
    /// Nothing for libc's own.
    pub(crate) library: Option<PathBuf>,
    /// A command that the commands under the lock are given to.
    pub(crate) wrapper: Words,
    /// With more threads than CPUs it takes a time slice for each hand-over, so it gets less to do.
    pub(crate) slow: bool,
}

impl Lock {
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        if let Some(library) = &self.library {
            command.env("LD_PRELOAD", library).env("STANCHION", format!("lock={}", self.name));
        }
        command
    }
}

/// What became of a run. What is not right ends it as an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Right,
    Wrong(String),
    /// It crashed or gave up.
    Died(String),
    Hung(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Right => out.write_str("right"),
            Self::Wrong(what) => write!(out, "WRONG: {what}"),
            Self::Died(what) => write!(out, "DIED: {what}"),
            Self::Hung(what) => write!(out, "HANG: {what}"),
        }
    }
}

impl Error for Verdict {}

#[derive(Debug, Clone)]
pub(crate) struct Played {
    pub(crate) verdict: Verdict,
    /// CPU time and memory are those of commands under the lock; what is picked is the rate, of the program's
    /// own kind, a second: more is better.
    pub(crate) figures: Figures,
}

/// A run that is to be.
pub(crate) struct Stage<'a> {
    pub(crate) program: &'a Program,
    pub(crate) lock: &'a Lock,
    pub(crate) dir: PathBuf,
    /// What the placeholders stand for.
    pub(crate) values: Vec<(&'static str, String)>,
    pub(crate) limit: Duration,
    /// The CPU time of commands under the lock, and the most memory that one was seen to have.
    pub(crate) used: Cell<(Duration, u64)>,
}

pub(crate) fn prepare(words: &[String], dir: &Path) -> Result<()> {
    let (out, err) = (dir.join("prepare.out"), dir.join("prepare.err"));
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).current_dir(dir);
    let ended = process::run(&mut command, [&out, &err], Duration::from_mins(5))?.in_time();
    let failed = || format!("`{}` {}: {}", words.join(" "), tell(ended), last_line(&read(&err)));
    ensure!(ended.is_some_and(|status| status.success()), failed());
    Ok(())
}

impl Stage<'_> {
    /// Plays the program; `None` when Ctrl-C ended it. An error is the harness's own.
    pub(crate) fn play(&self) -> Result<Option<Played>> {
        let mut before = self.program.before.iter();
        let ready = before.try_for_each(|words| prepare(&self.fill_all(words), &self.dir));
        let started = Instant::now();
        let result = ready.and_then(|()| self.perform());
        let wall_s = started.elapsed().as_secs_f64();
        let (verdict, picked) = match result.map_err(anyhow::Error::downcast) {
            Ok(rate) => (Verdict::Right, rate),
            Err(Ok(verdict)) => (verdict, None),
            Err(Err(_)) if interrupt::requested() => return Ok(None),
            Err(Err(error)) => return Err(error),
        };
        let (cpu, max_rss_kib) = self.used.get();
        let figures = Figures { wall_s, cpu_s: cpu.as_secs_f64(), max_rss_kib, picked };
        Ok(Some(Played { verdict, figures }))
    }

    fn fill(&self, text: &str) -> String {
        fill(text, &self.values)
    }

    fn fill_all(&self, words: &Words) -> Words {
        words.iter().map(|word| self.fill(word)).collect()
    }

    fn command(&self, words: &Words, under_lock: bool) -> Command {
        let wrapper = self.lock.wrapper.iter().filter(|_| under_lock).cloned();
        let words: Words = wrapper.chain(self.fill_all(words)).collect();
        let mut command = if under_lock { self.lock.command(&words[0]) } else { Command::new(&words[0]) };
        command.args(&words[1..]).current_dir(&self.dir);
        command.envs(self.program.env.iter().map(|(name, value)| (name, self.fill(value))));
        command
    }

    /// The server if there is one, and the steps; what rate they reached.
    fn perform(&self) -> Result<Option<f64>> {
        let Some(server) = &self.program.server else { return self.steps() };
        let [out, err] = ["server.out", "server.err"].map(|name| self.dir.join(name));
        let mut running = process::start(&mut self.command(server, true), &out, &err)?;
        let says = || last_line(&format!("{}\n{}", read(&out), read(&err)));
        let until = Instant::now() + SERVER_TIMEOUT;
        let port: u16 = self.fill("{port}").parse()?;
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if running.has_ended_within(Duration::from_millis(10))? {
                bail!(Verdict::Died(format!("the server ended at once: {}", says())));
            }
            if Instant::now() > until {
                bail!(Verdict::Hung("the server does not answer".to_owned()));
            }
        }
        let result = self.steps();
        // A client fails when its server dies: that is what there is to tell.
        let has_died = running.has_ended_within(Duration::ZERO)?;
        running.signal(Signal::TERM);
        // What failed is told already, so that nothing depends on how the server stops.
        let patience = if result.is_ok() { SERVER_TIMEOUT } else { Duration::ZERO };
        let until = running.start.elapsed() + patience;
        let ended = self.used(&process::wait(&mut running, until)?);
        if has_died {
            bail!(Verdict::Died(format!("the server {}: {}", tell(ended), says())));
        }
        let rate = result?;
        match ended {
            None => bail!(Verdict::Hung("the server does not stop when told".to_owned())),
            Some(status) if status.success() || status.signal() == Some(15) => {
                no_complaint(&read(&err)).map(|()| rate)
            }
            ended => bail!(Verdict::Died(format!("the server {} when told to stop", tell(ended)))),
        }
    }

    /// Counts what a command under the lock used; how it ended, if it was in time.
    fn used(&self, gone: &Gone) -> Option<ExitStatus> {
        let (cpu, kib) = self.used.get();
        self.used.set((cpu + gone.cpu, kib.max(gone.seen_kib)));
        gone.in_time()
    }

    fn steps(&self) -> Result<Option<f64>> {
        let mut steps = self.program.steps.iter().enumerate();
        steps.try_fold(None, |rate, (index, step)| Ok(self.step(index, step)?.or(rate)))
    }

    fn step(&self, index: usize, step: &Step) -> Result<Option<f64>> {
        let (words, under_lock) = step.command();
        let who = self.fill(words[0].rsplit('/').next().unwrap_or_default());
        let out = self.dir.join(step.keep.clone().unwrap_or_else(|| format!("{index}.out")));
        let err = self.dir.join(format!("{index}.err"));
        let gone = process::run(&mut self.command(words, under_lock), [&out, &err], self.limit)?;
        let ended = if under_lock { self.used(&gone) } else { gone.in_time() };
        let complaints = read(&err);
        let text = format!("{}\n{complaints}", if step.keep.is_some() { String::new() } else { read(&out) });
        let Some(status) = ended else {
            bail!(Verdict::Hung(format!("{who} did not end within {} s", self.limit.as_secs())));
        };
        match status.code() {
            Some(0) => {
                no_complaint(&complaints)?;
                self.look(step, &text).map_err(|what| Verdict::Wrong(format!("{who}: {what}")))?;
                Ok(self.rate(step, &text, gone.wall).map_err(|what| Verdict::Wrong(what.to_string()))?)
            }
            // Our own drivers say so when they find a value wrong, and `cmp` exists to say so.
            Some(1) if complaints.contains("WRONG: ") || who == "cmp" => {
                bail!(Verdict::Wrong(last_line(&text).trim_start_matches("WRONG: ").to_owned()))
            }
            _ => bail!(Verdict::Died(format!("{who} {}: {}", tell(ended), last_line(&text)))),
        }
    }

    /// A pattern of the table; lines are matched only where it says so.
    fn pattern(&self, text: &str) -> Result<Regex> {
        Ok(Regex::new(&self.fill(text))?)
    }

    fn look(&self, step: &Step, text: &str) -> Result<()> {
        for wanted in &step.expect {
            let found = self.pattern(wanted)?.is_match(text);
            ensure!(found, "no `{}` in its output", self.fill(wanted).trim());
        }
        for unwanted in &step.forbid {
            if let Some(found) = self.pattern(unwanted)?.find(text) {
                let line = text.lines().find(|line| line.contains(found.as_str())).unwrap_or(found.as_str());
                bail!("it says `{}`", line.trim());
            }
        }
        for same in &step.same {
            let found = self.pattern(same)?.captures(text);
            let found = found.with_context(|| format!("no `{same}` in its output"))?;
            ensure!(found[1] == found[2], "it says `{}`", &found[0]);
        }
        Ok(())
    }

    fn rate(&self, step: &Step, text: &str, took: Duration) -> Result<Option<f64>> {
        let number = |text: &str| text.parse::<f64>().with_context(|| format!("`{text}` is no number"));
        let found = |find: &str| {
            let found = self.pattern(find)?.captures(text);
            number(&found.with_context(|| format!("no rate in its output: `{find}`"))?[1])
        };
        let rate = match &step.rate {
            None => return Ok(None),
            Some(Rate::Printed { find }) => found(find)?,
            Some(Rate::Time { find, seconds_for }) => number(&self.fill(seconds_for))? / found(find)?,
            Some(Rate::Wall { wall_for }) => number(&self.fill(wall_for))? / took.as_secs_f64(),
        };
        ensure!(rate.is_finite() && rate > 0.0, "a rate of {rate}");
        Ok(Some(rate))
    }
}

/// A run whose lock was not in effect shows nothing.
fn no_complaint(stderr: &str) -> Result<()> {
    if let Some(complaint) = Regex::new(NOT_PRELOADED)?.find(stderr) {
        bail!(Verdict::Died(format!("the lock was not in effect: {}", complaint.as_str())));
    }
    Ok(())
}

fn tell(ended: Option<ExitStatus>) -> String {
    ended.map_or_else(|| "did not end".to_owned(), |status| format!("ended with {status}"))
}

fn read(path: &Path) -> String {
    files::text(path).unwrap_or_default()
}

/// The last line that says something, shortened.
fn last_line(text: &str) -> String {
    let line =
        text.split(['\n', '\r']).rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(silent)");
    line.chars().take(160).collect()
}

#[cfg(test)]
mod tests;
