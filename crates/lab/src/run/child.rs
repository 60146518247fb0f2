//! A program while it runs, ended when its time is over; and what it used, which `wait4` alone tells.
#![expect(unsafe_code, reason = "wait4 has no safe wrapper among our dependencies")]
use core::mem::MaybeUninit;
use core::time::Duration;
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

/// How often it is looked whether the program shall stop; rare enough not to disturb it.
const GLANCE: Duration = Duration::from_millis(50);
/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Itself, or somebody else.
    Own,
    /// We, because its time was over.
    TimedOut,
    /// We, because the user asked for it.
    Stopped,
}

#[derive(Debug)]
pub(crate) struct Gone {
    pub status: ExitStatus,
    pub wall: Duration,
    /// Of it and of the descendants that it waited for; so is the memory, where the largest counts.
    pub cpu: Duration,
    pub max_rss_kib: u64,
    pub end: End,
}

/// When a program is to be ended. Both need it to be the leader of a process group of its own.
pub(crate) struct Limits<'a> {
    pub timeout: Option<Duration>,
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

pub(crate) struct Running {
    pub start: Instant,
    pub pid: Pid,
    /// Reaped by us and not through it, for the sake of what the program used.
    pub child: Child,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> io::Result<Self> {
        let start = Instant::now();
        let child = command.spawn()?;
        Ok(Self { start, pid: Pid::from_child(&child), child })
    }

    /// Waits until the program is over, and lets `last` know before its number can belong to another.
    pub(crate) fn wait(&self, limits: Option<&Limits>, last: impl FnOnce()) -> io::Result<Gone> {
        let (waited, wall, end) = std::thread::scope(|scope| {
            let (here, over) = channel::<()>();
            let keeper = limits.map(|limits| scope.spawn(move || self.keep(limits, &over)));
            // The end, without reaping.
            let end = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            let waited = retry_on_intr(|| waitid(WaitId::Pid(self.pid), end));
            let wall = self.start.elapsed();
            drop(here);
            (waited, wall, keeper.map_or(End::Own, |keeper| keeper.join().unwrap_or(End::Own)))
        });
        last();
        if limits.is_some() {
            // What it left behind would disturb the next run. Its group lives as long as it is not reaped.
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
        waited?;
        reap(self.pid, wall, end)
    }

    /// Ends the program if it must be, and returns when it has ended.
    fn keep(&self, limits: &Limits, over: &Receiver<()>) -> End {
        loop {
            let left = || limits.timeout.map_or(GLANCE, |most| most.saturating_sub(self.start.elapsed()));
            if over.recv_timeout(left().min(GLANCE)) != Err(RecvTimeoutError::Timeout) {
                return End::Own;
            }
            let end = match left() {
                Duration::ZERO => End::TimedOut,
                _ if (limits.stop)() => End::Stopped,
                _ => continue,
            };
            // Asked first, so that it can tidy up; a group that is gone already needs neither.
            let _ = kill_process_group(self.pid, Signal::TERM);
            // One that is stopped would not hear it.
            let _ = kill_process_group(self.pid, Signal::CONT);
            if over.recv_timeout(GRACE) == Err(RecvTimeoutError::Timeout) {
                let _ = kill_process_group(self.pid, Signal::KILL);
                let _ = over.recv();
            }
            return end;
        }
    }
}

/// Lets the kernel forget a child that has ended, so that nothing is waited for or interrupted.
fn reap(pid: Pid, wall: Duration, end: End) -> io::Result<Gone> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    // SAFETY: both pointers are to writable values of the types that the call fills, and outlive it.
    let reaped = unsafe { libc::wait4(pid.as_raw_nonzero().get(), &raw mut status, 0, usage.as_mut_ptr()) };
    if reaped < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a `rusage` is made of integers: the zeroes above are valid, and the call only overwrites them.
    let usage = unsafe { usage.assume_init() };
    let time = |value: libc::timeval| Duration::new(value.tv_sec as u64, value.tv_usec as u32 * 1000);
    let (status, cpu) = (ExitStatus::from_raw(status), time(usage.ru_utime) + time(usage.ru_stime));
    Ok(Gone { status, wall, cpu, max_rss_kib: usage.ru_maxrss as u64, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;

    fn run(script: &str, timeout: Option<Duration>, stop: bool) -> Gone {
        let mut command = Command::new("sh");
        let running = Running::start(command.args(["-c", script]).process_group(0)).expect("a shell");
        let limits = Limits { timeout, stop: &move || stop };
        running.wait(Some(&limits), || ()).expect("waited for")
    }

    #[test]
    fn an_end_of_its_own_tells_code_and_use() {
        let gone = run("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 7", None, false);
        assert_eq!((gone.status.code(), gone.end), (Some(7), End::Own));
        assert!(gone.cpu > Duration::ZERO && gone.max_rss_kib > 100, "{gone:?}");
        assert!(gone.wall > Duration::ZERO);
    }

    #[test]
    fn what_takes_too_long_is_asked_and_then_killed_with_its_children() {
        let gone = run("sleep 600", Some(Duration::from_millis(100)), false);
        assert_eq!((gone.status.signal(), gone.end), (Some(15), End::TimedOut));
        let gone = run("trap '' TERM; sleep 600 & sleep 600", Some(Duration::from_millis(100)), false);
        assert_eq!((gone.status.signal(), gone.end), (Some(9), End::TimedOut));
    }

    #[test]
    fn a_user_who_wants_to_stop_is_heard() {
        assert_eq!(run("sleep 600", Some(Duration::from_secs(500)), true).end, End::Stopped);
    }

    #[test]
    fn what_a_program_leaves_behind_does_not_live_on() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}", file.display());
        assert_eq!(run(&script, None, false).end, End::Own);
        let pid = std::fs::read_to_string(file).expect("written");
        // A moment for the kernel to carry the signal out, then it is gone or a zombie of whoever adopts it.
        let alive = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
        };
        for _ in 0..1000 {
            if !alive() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("process {} lives on", pid.trim());
    }
}
