//! One command at a time: a process group of its own, output into files, a limit, and nothing left behind.
use anyhow::{Context as _, bail};
use core::time::Duration;
use lab_kit::interrupt;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::retry_on_intr;
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process_group, pidfd_open, setrlimit};
use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::Instant;
use xshell::{Cmd, Shell};

/// A command of this program, as it was when it started: a build may have replaced the file at its path.
pub(crate) fn ourselves(root: &Path) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg("--root").arg(root);
    command
}

/// Runs commands in a directory; what they print is seen.
pub(crate) fn shell(dir: &Path) -> xshell::Result<Shell> {
    let shell = Shell::new()?;
    shell.change_dir(dir);
    Ok(shell)
}

/// Runs a command that must succeed; what it prints is seen only if it does not.
pub(crate) fn silently(command: Cmd<'_>) -> anyhow::Result<Output> {
    let line = command.to_string();
    let output = command.ignore_status().output()?;
    if output.status.success() {
        return Ok(output);
    }
    eprint!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    bail!("`{line}` fails ({}); see above", output.status)
}

/// Whether a command succeeds; nothing of it is seen.
pub(crate) fn succeeds(words: &[&str]) -> bool {
    Command::new(words[0]).args(&words[1..]).output().is_ok_and(|output| output.status.success())
}

/// From now on Ctrl-C and a request to terminate end the current command and let the results be written.
pub(crate) fn catch_interrupts() -> io::Result<()> {
    interrupt::note();
    // A hundred crashes must not fill the disk.
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    setrlimit(Resource::Core, none).map_err(io::Error::from)
}

pub(crate) struct Running {
    child: Child,
    exit: OwnedFd,
    started: Instant,
    peak_kib: u64,
}

const TICK: Duration = Duration::from_millis(50);

/// Starts a command: no input, output into these files, which may be one, a process group of its own.
pub(crate) fn start(command: &mut Command, stdout: &Path, stderr: &Path) -> anyhow::Result<Running> {
    let out = File::create(stdout)?;
    let err = if stdout == stderr { out.try_clone()? } else { File::create(stderr)? };
    command.stdin(Stdio::null()).stdout(out).stderr(err).process_group(0);
    let started = Instant::now();
    let child = command.spawn();
    let child = child.with_context(|| format!("{} can not be started", command.get_program().display()))?;
    let exit = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    Ok(Running { child, exit, started, peak_kib: 0 })
}

impl Running {
    /// Waits at most so long, and kills what is left of its group. `None`: no end in time. Ctrl-C: an error.
    pub(crate) fn wait(&mut self, limit: Duration) -> io::Result<(Option<ExitStatus>, Duration)> {
        let until = Instant::now() + limit;
        let timed_out = loop {
            if interrupt::requested() {
                self.signal(Signal::KILL);
                return Err(io::Error::other("interrupted"));
            }
            self.peak_kib();
            let left = until.saturating_duration_since(Instant::now());
            if self.has_ended_within(left.min(TICK))? {
                break false;
            }
            if left.is_zero() {
                break true;
            }
        };
        let took = self.started.elapsed();
        self.signal(Signal::KILL);
        let status = self.child.wait()?;
        Ok(((!timed_out).then_some(status), took))
    }

    /// The most memory it was seen to have at a time, without its children and perhaps its very end.
    pub(crate) fn peak_kib(&mut self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let now = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        self.peak_kib = now.and_then(|now| now.parse().ok()).unwrap_or(0).max(self.peak_kib);
        self.peak_kib
    }

    pub(crate) fn has_ended_within(&self, time: Duration) -> io::Result<bool> {
        let time = Timespec::try_from(time).map_err(io::Error::other)?;
        let mut exit = [PollFd::new(&self.exit, PollFlags::IN)];
        Ok(retry_on_intr(|| poll(&mut exit, Some(&time)))? > 0)
    }

    /// Sends a signal to the group; one that is gone already takes none.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process_group(Pid::from_child(&self.child), signal);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Reaped already, unless an error made us leave in between: then the number is still ours.
        if matches!(self.child.try_wait(), Ok(None)) {
            self.signal(Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env::temp_dir;
    use std::os::unix::process::ExitStatusExt;
    use std::thread;

    fn run(script: &str, limit: Duration) -> (Option<ExitStatus>, String) {
        let dir = temp_dir().join(format!("stanchion-programs-{}-{}", std::process::id(), script.len()));
        fs::create_dir_all(&dir).expect("a directory");
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).env("TOLD", "yes");
        let mut running = start(&mut shell, &dir.join("out"), &dir.join("err")).expect("a shell starts");
        let (ended, _) = running.wait(limit).expect("it is waited for");
        let printed = fs::read_to_string(dir.join("out")).expect("its output");
        fs::remove_dir_all(&dir).expect("tidying up");
        (ended, printed)
    }

    #[test]
    fn endings_are_told_apart() {
        let long = Duration::from_mins(1);
        let exited = |code: i32| Some(ExitStatus::from_raw(code << 8));
        assert_eq!(run("echo $TOLD", long), (exited(0), "yes\n".to_owned()));
        assert_eq!(run("exit 3", long).0, exited(3));
        assert_eq!(run("kill -SEGV $$", long).0.and_then(|status| status.signal()), Some(11));
        assert_eq!(run("sleep 1000", Duration::from_millis(50)).0, None);
    }

    #[test]
    fn memory_is_seen_while_it_is_there() {
        let hold = "import time; held = b'x' * (100 << 20); time.sleep(1000)";
        let null = Path::new("/dev/null");
        let mut running = start(Command::new("python3").args(["-c", hold]), null, null).expect("it starts");
        let until = Instant::now() + Duration::from_mins(1);
        while running.peak_kib() < 90_000 && Instant::now() < until {
            thread::yield_now();
        }
        assert!(running.peak_kib() >= 90_000, "{} KiB", running.peak_kib());
    }

    #[test]
    fn what_a_command_leaves_running_is_killed() {
        let (ended, pid) = run("sleep 1000 & echo $!", Duration::from_mins(1));
        assert_eq!(ended, Some(ExitStatus::from_raw(0)));
        // Killed, perhaps not yet reaped by whoever inherited it.
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let gone = |stat: &str| stat.is_empty() || stat.contains(") Z ") || stat.contains(") X ");
        let end = Instant::now() + Duration::from_secs(20);
        let mut stat = stat;
        while !gone(&stat) && Instant::now() < end {
            thread::yield_now();
            stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        }
        assert!(gone(&stat), "{stat}");
    }
}
