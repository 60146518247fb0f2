//! Runs cells, each in a process of its own.
use super::cell::{CellOutcome, CellSpec, Pass};
use super::contenders::registry;
use super::machine::pin_to_one_cpu;
use core::time::Duration;
use lab_kit::cgroup::Cgroup;
use lab_kit::child::{self, End, Limits, Running};
use lab_kit::interrupt;
use lab_kit::output::{say, tell};
use rustix::process::{Signal, set_parent_process_death_signal};
use stanchion_cells::tuned;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CellError {
    /// The worker ended without a result: what it said last, or how it ended.
    Died(String),
    /// The worker did not even end at its own deadline, and was killed.
    Hung,
    Interrupted,
}

pub(crate) const WORKER: &str = "bench-worker";
/// What a worker may need beyond its cell and its drain: to start, to merge histograms, to be scheduled.
const GRACE: Duration = Duration::from_secs(10);

/// Runs a cell in a worker process, which is this program again: in the cgroup, if the cell has a CPU limit.
pub(crate) fn run(spec: &CellSpec, cgroup: Option<&Cgroup>) -> Result<CellOutcome, CellError> {
    let limit = spec.profile.cpu_limit.zip(cgroup);
    if let Some((cpus, cgroup)) = limit {
        cgroup.limit_to(cpus).map_err(CellError::Died)?;
    }
    // The link names this program even if its file was replaced; what starts it in a cgroup is another.
    let process = if limit.is_some() { std::process::id().to_string() } else { "self".to_owned() };
    let program = format!("/proc/{process}/exe");
    let cell = serde_json::to_string(spec).expect("a cell has only string keys");
    let wrapper = limit.map(|(_, cgroup)| cgroup.wrapper());
    let mut words = wrapper.into_iter().flatten().chain([program, WORKER.to_owned(), cell]);
    let mut command = Command::new(words.next().expect("the program at least"));
    command.args(words).stdin(Stdio::null());
    let started =
        child::capture(&mut command).and_then(|outputs| Ok((Running::lead(&mut command)?, outputs)));
    let (mut running, [stdout, stderr]) =
        started.map_err(|error| CellError::Died(format!("cannot start a worker process: {error}")))?;
    let timeout = Duration::from_millis(spec.time_ms * 2 + spec.drain_ms) + GRACE;
    let limits = Limits { timeout: Some(timeout), stop: &interrupt::requested };
    let gone = running.wait(Some(&limits), || ());
    let gone = gone.map_err(|error| CellError::Died(format!("cannot wait for a worker process: {error}")))?;
    let text = |file| child::printed(file, 0, u64::MAX).unwrap_or_default();
    let printed = text(&stdout);
    let outcome = str::from_utf8(&printed).ok().and_then(|printed| serde_json::from_str(printed).ok());
    match (gone.end, outcome) {
        (End::TimedOut, _) => Err(CellError::Hung),
        (End::Stopped, _) => Err(CellError::Interrupted),
        (End::Own, Some(outcome)) if gone.status.success() => Ok(outcome),
        (End::Own, _) => Err(CellError::Died(last_words(gone.status, &text(&stderr)))),
    }
}

fn last_words(status: ExitStatus, stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let printed = text.lines().map(str::trim).rfind(|line| !line.is_empty() && !line.starts_with("note:"));
    match printed {
        Some(line) if status.signal().is_none() => line.to_owned(),
        _ => child::told(status),
    }
}

/// The other side, if these are the words with which it is started: runs the cell, and prints the outcome.
/// Ends the process then, because threads may be left behind.
pub(crate) fn work(mut words: impl Iterator<Item = String>) {
    let (Some(WORKER), Some(text)) = (words.next().as_deref(), words.next()) else { return };
    // A worker must not outlive a parent that was killed.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // A panic of one thread would otherwise look like a stall of the others.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        std::process::exit(101);
    }));
    match run_cell(&text) {
        Ok(json) => say!("{json}"),
        Err(message) => {
            tell!("{message}");
            std::process::exit(1)
        }
    }
    std::process::exit(0)
}

fn run_cell(text: &str) -> Result<String, String> {
    let spec: CellSpec = serde_json::from_str(text).map_err(|error| format!("not a cell: {error}"))?;
    if spec.pass == Pass::Uncontended {
        // One CPU for all, so that no lock is measured on a slower one. If pinning is refused the figure is
        // only noisier.
        let _ = pin_to_one_cpu();
    }
    let (name, settings) = tuned::read(&spec.lock)?;
    for (tunable, value) in settings {
        stanchion::tunables::set(tunable, value);
    }
    let entry = registry(spec.mix.is_some()).find(|entry| entry.name == name);
    let entry = entry.ok_or_else(|| format!("unknown lock '{name}'"))?;
    serde_json::to_string(&entry.run(&spec)?).map_err(|error| error.to_string())
}
