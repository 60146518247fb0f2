//! Runs cells, and is the seam at which tests put a mock in place of a machine.
use super::cell::{CellOutcome, CellSpec, Pass};
use super::cgroup::{self, Cgroup};
use super::contenders;
use core::time::Duration;
use lab_kit::interrupt;
use lab_kit::output::say;
use rustix::process::{Signal, set_parent_process_death_signal};
use stanchion_cells::tuned;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Instant;

/// Why a cell has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CellError {
    /// The worker ended without a result: what it said last, or how it ended.
    Died(String),
    /// The worker did not even end at its own deadline, and was killed.
    Hung,
    /// The user asked the run to stop.
    Interrupted,
}

pub(crate) trait Executor {
    fn run(&mut self, spec: &CellSpec) -> Result<CellOutcome, CellError>;
}

/// The hidden subcommand that runs a cell.
pub(crate) const WORKER: &str = "bench-worker";

/// Runs each cell in a worker process, which is this program under its hidden subcommand.
pub(crate) struct ProcessExecutor {
    /// Where cells with a CPU limit run, if there are any.
    pub cgroup: Option<Cgroup>,
}

/// What a worker may need beyond its cell and its drain: to start, to merge histograms, to be scheduled.
const GRACE: Duration = Duration::from_secs(10);
/// How often a waiting parent looks whether the user wants to stop; rare enough not to disturb the cell.
const GLANCE: Duration = Duration::from_millis(50);

impl Executor for ProcessExecutor {
    fn run(&mut self, spec: &CellSpec) -> Result<CellOutcome, CellError> {
        let text = serde_json::to_string(spec).map_err(|error| CellError::Died(error.to_string()))?;
        let limit = spec.profile.cpu_limit.zip(self.cgroup.as_ref());
        if let Some((cpus, cgroup)) = limit {
            cgroup.limit_to(cpus).map_err(CellError::Died)?;
        }
        // The link names the running program even if its file has been replaced meanwhile. A process group
        // of its own keeps Ctrl-C for the parent, which decides what to keep.
        let mut child = Command::new("/proc/self/exe")
            .args([WORKER, &text])
            .args(limit.map(|(_, cgroup)| cgroup.entrance()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| CellError::Died(format!("cannot start a worker process: {error}")))?;
        let limit = Duration::from_millis(spec.time_ms * 2 + spec.drain_ms) + GRACE;
        let output = collect(&mut child, Instant::now() + limit);
        if output.is_err() {
            let _ = child.kill();
        }
        let status = child.wait().map_err(|error| CellError::Died(error.to_string()))?;
        let (stdout, stderr) = output?;
        match serde_json::from_slice(&stdout) {
            Ok(outcome) if status.success() => Ok(outcome),
            _ => Err(CellError::Died(last_words(status, &stderr))),
        }
    }
}

/// Everything the child writes on its two outputs until it closes them.
fn collect(child: &mut Child, deadline: Instant) -> Result<(Vec<u8>, Vec<u8>), CellError> {
    let (mut stdout, mut stderr) = (child.stdout.take(), child.stderr.take());
    let (sender, output) = channel();
    // Detached on purpose: after a kill the pipe closes and the thread ends by itself.
    std::thread::spawn(move || {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        // Workers write less on stderr than a pipe holds, so reading one after the other cannot block.
        let _ = stdout.as_mut().map(|pipe| pipe.read_to_end(&mut out));
        let _ = stderr.as_mut().map(|pipe| pipe.read_to_end(&mut err));
        let _ = sender.send((out, err));
    });
    loop {
        match output.recv_timeout(GLANCE) {
            Ok(output) => return Ok(output),
            Err(RecvTimeoutError::Disconnected) => return Err(CellError::Died("its output was lost".into())),
            Err(RecvTimeoutError::Timeout) if interrupt::requested() => return Err(CellError::Interrupted),
            Err(RecvTimeoutError::Timeout) if Instant::now() > deadline => return Err(CellError::Hung),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn last_words(status: ExitStatus, stderr: &[u8]) -> String {
    let text = String::from_utf8_lossy(stderr);
    let printed = text.lines().map(str::trim).rfind(|line| !line.is_empty() && !line.starts_with("note:"));
    match (status.signal(), printed) {
        (Some(signal), _) => format!("killed by signal {signal}"),
        (None, Some(line)) => line.to_owned(),
        (None, None) => status.to_string(),
    }
}

/// The other side: runs the cell and prints the outcome. Never returns, because threads may be left behind.
pub(crate) fn worker(text: &str, entrance: Option<String>) -> ! {
    // A worker must not outlive a parent that was killed.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    // A panic of one thread would otherwise look like a stall of the others.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        report(info);
        std::process::exit(101);
    }));
    let entered = entrance.map_or(Ok(()), |entrance| cgroup::enter(entrance.as_ref()));
    end(entered.and_then(|()| run_cell(text)).map(|json| say!("{json}")))
}

/// Ends this process, which has said what it has to say, or says why it could not.
fn end(result: Result<(), String>) -> ! {
    let Err(message) = result else { std::process::exit(0) };
    eprintln!("{message}");
    std::process::exit(1)
}

/// A process that only enters a cgroup, and says why it could not.
pub(crate) fn trial(entrance: &str) -> ! {
    end(cgroup::enter(entrance.as_ref()))
}

fn run_cell(text: &str) -> Result<String, String> {
    let spec: CellSpec = serde_json::from_str(text).map_err(|error| format!("not a cell: {error}"))?;
    if spec.pass == Pass::Uncontended {
        // One CPU for all of them, so that no lock is measured on the slower one. If pinning is refused the
        // figure is only noisier.
        let _ = super::machine::pin_to_one_cpu();
    }
    for (tunable, value) in tuned::read(&spec.lock)?.1 {
        stanchion::tunables::set(tunable, value);
    }
    let entry = contenders::by_name(&spec.lock, spec.mix.is_some())
        .ok_or_else(|| format!("unknown lock '{}'", spec.lock))?;
    serde_json::to_string(&entry.run(&spec)?).map_err(|error| error.to_string())
}
