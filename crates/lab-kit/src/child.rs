//! A child process from its start to its end: ended when its time is over or the user wants it, with all that
//! it started; and what it used, which `wait4` alone tells.
#![expect(
    unsafe_code,
    reason = "wait4 has no safe wrapper among our dependencies, nor has what is done after fork"
)]
use core::mem::MaybeUninit;
use core::time::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, getppid, kill_process, kill_process_group,
    pidfd_open, set_parent_process_death_signal, waitid,
};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::Instant;

/// How often we look whether to stop the program; rare enough not to disturb it.
const GLANCE: Duration = Duration::from_millis(50);
/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(1);
/// How much of the end of what was printed is searched for the last words.
const LAST_WORDS: u64 = 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Itself, or somebody else.
    Own,
    /// We, because its time was over.
    TimedOut,
    /// We, because the user asked for it.
    Stopped,
}

#[derive(Debug)]
pub struct Gone {
    pub status: ExitStatus,
    pub wall: Duration,
    /// Of it and of the descendants that it waited for; so is the memory, where the largest counts.
    pub cpu: Duration,
    pub max_rss_kib: u64,
    /// The most memory that it alone was seen to have, perhaps without its very end. The kernel's figure
    /// counts what we had when we became the program, too.
    pub seen_kib: u64,
    pub end: End,
}

impl Gone {
    /// How it ended, if it was in time.
    pub fn in_time(&self) -> Option<ExitStatus> {
        (self.end != End::TimedOut).then_some(self.status)
    }
}

/// When a program is to be ended.
pub struct Limits<'a> {
    pub timeout: Option<Duration>,
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Killed and reaped when it goes out of scope, unless it was waited for.
pub struct Running {
    pub start: Instant,
    pub pid: Pid,
    /// Reaped by us and not through it, for the sake of what the program used.
    pub child: Child,
    /// Readable when it has ended; none before Linux 5.3.
    exit: Option<OwnedFd>,
    /// Of a process group, which is then ended with it.
    leads: bool,
    /// If it ends by itself in time, what it leaves behind in its group lives on.
    pub spares: bool,
    reaped: bool,
    seen_kib: u64,
}

impl Running {
    /// Starts it in our process group, where the terminal's keys reach it, and a shell stops and continues
    /// both.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let start = Instant::now();
        let child = command.spawn()?;
        let pid = Pid::from_child(&child);
        let exit = pidfd_open(pid, PidfdFlags::empty()).ok();
        Ok(Self { start, pid, child, exit, leads: false, spares: false, reaped: false, seen_kib: 0 })
    }

    /// Starts it in a process group of its own. Ctrl-C is for us, and what it leaves behind is ended with it.
    pub fn lead(command: &mut Command) -> io::Result<Self> {
        let mut running = Self::start(command.process_group(0))?;
        running.leads = true;
        Ok(running)
    }

    /// Waits until the program is over, and lets `last` know before its number can belong to another.
    pub fn wait(&mut self, limits: Option<&Limits>, last: impl FnOnce()) -> io::Result<Gone> {
        let ended = self.until_end(limits);
        let wall = self.start.elapsed();
        last();
        let end = ended?;
        if self.leads && !(self.spares && end == End::Own) {
            // What it left behind would disturb the next run. Its group lives as long as it is not reaped.
            self.signal(Signal::KILL);
        }
        self.reaped = true;
        let (status, cpu, max_rss_kib) = reap(self.pid)?;
        Ok(Gone { status, wall, cpu, max_rss_kib, seen_kib: self.seen_kib, end })
    }

    /// Waits for its end, or ends it; says who did.
    fn until_end(&mut self, limits: Option<&Limits>) -> io::Result<End> {
        let glance = limits.map_or(Duration::from_hours(1), |_| GLANCE);
        let mut until = limits.and_then(|limits| limits.timeout).map(|most| self.start + most);
        let mut end = End::Own;
        loop {
            let left = || until.map_or(glance, |until| until.saturating_duration_since(Instant::now()));
            if self.has_ended_within(left().min(glance))? {
                return Ok(end);
            }
            let is_over = left().is_zero();
            match end {
                End::Own if is_over => end = End::TimedOut,
                End::Own if limits.is_some_and(|limits| (limits.stop)()) => end = End::Stopped,
                End::Own => continue,
                _ if is_over => {
                    self.signal(Signal::KILL);
                    until = None;
                    continue;
                }
                _ => continue,
            }
            // Asked first, so that it can tidy up; one that is stopped would not hear it.
            self.signal(Signal::TERM);
            self.signal(Signal::CONT);
            until = Some(Instant::now() + GRACE);
        }
    }

    /// Looks at its memory, and waits so long at most.
    pub fn has_ended_within(&mut self, time: Duration) -> io::Result<bool> {
        self.seen_kib = peak_kib(&self.pid.to_string()).max(self.seen_kib);
        let Some(exit) = &self.exit else {
            let (start, ends) = (Instant::now(), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            while retry_on_intr(|| waitid(WaitId::Pid(self.pid), ends | WaitIdOptions::NOHANG))?.is_none() {
                let left = time.saturating_sub(start.elapsed());
                if left.is_zero() {
                    return Ok(false);
                }
                thread::sleep(left.min(GLANCE / 50));
            }
            return Ok(true);
        };
        let time = Timespec::try_from(time).map_err(io::Error::other)?;
        Ok(retry_on_intr(|| poll(&mut [PollFd::new(exit, PollFlags::IN)], Some(&time)))? > 0)
    }

    /// Sends a signal to all of its group; one that is gone already takes none.
    pub fn signal(&self, signal: Signal) {
        let _ =
            if self.leads { kill_process_group(self.pid, signal) } else { kill_process(self.pid, signal) };
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.reaped {
            self.signal(Signal::KILL);
            let _ = reap(self.pid);
        }
    }
}

/// Lets a command be killed when the thread that starts it is gone, however that comes about.
pub fn dies_with_us(command: &mut Command) {
    let us = getpid();
    let prepare = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If not, we died before that could work.
        if getppid() == Some(us) { Ok(()) } else { Err(rustix::io::Errno::CHILD.into()) }
    };
    // SAFETY: the closure runs in the forked child, where only async-signal-safe calls are allowed: it makes
    // two system calls through functions that neither allocate nor lock, and touches nothing but its own
    // captured value.
    unsafe { command.pre_exec(prepare) };
}

/// Lets the kernel forget a child that has ended: how, its CPU time, and its memory.
fn reap(pid: Pid) -> io::Result<(ExitStatus, Duration, u64)> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    let number = pid.as_raw_nonzero().get();
    // SAFETY: both pointers are to writable values of the types that the call fills, and outlive it.
    while unsafe { libc::wait4(number, &raw mut status, 0, usage.as_mut_ptr()) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: a `rusage` is made of integers: the zeroes above are valid, and the call only overwrites them.
    let usage = unsafe { usage.assume_init() };
    let time = |value: libc::timeval| Duration::new(value.tv_sec as u64, value.tv_usec as u32 * 1000);
    Ok((ExitStatus::from_raw(status), time(usage.ru_utime) + time(usage.ru_stime), usage.ru_maxrss as u64))
}

/// The most memory that a process had so far, by its number or as `self`, in KiB; 0 if it has none any more.
pub fn peak_kib(process: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    line.and_then(|kib| kib.parse().ok()).unwrap_or(0)
}

/// Lets a command print into files without a name: one that prints much costs no memory of ours, and what it
/// leaves running keeps no pipe open.
pub fn capture(command: &mut Command) -> io::Result<[File; 2]> {
    let [stdout, stderr] = [tempfile::tempfile()?, tempfile::tempfile()?];
    command.stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    Ok([stdout, stderr])
}

/// What was printed into a file of [`capture`], from that byte on, and so many at most.
pub fn printed(mut file: &File, from: u64, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The last line that is not empty.
pub fn last_words(file: &File) -> io::Result<Option<String>> {
    let bytes = printed(file, file.metadata()?.len().saturating_sub(LAST_WORDS), LAST_WORDS)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().map(str::trim).rfind(|line| !line.is_empty()).map(str::to_owned))
}

/// `exit code 3`, or `killed by signal 9`.
pub fn told(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit code {code}"),
        None => format!("killed by signal {}", status.signal().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::process::Stdio;

    fn lead(script: &str) -> Running {
        Running::lead(Command::new("sh").args(["-c", script])).expect("a shell")
    }

    fn run(script: &str, timeout: Option<Duration>, stop: bool) -> Gone {
        let mut running = lead(script);
        let limits = Limits { timeout, stop: &move || stop };
        running.wait(Some(&limits), || ()).expect("waited for")
    }

    #[test]
    fn an_end_of_its_own_tells_code_and_use() {
        let gone = run("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 7", None, false);
        assert_eq!((gone.status.code(), gone.end), (Some(7), End::Own));
        assert!(gone.cpu > Duration::ZERO && gone.max_rss_kib > 100, "{gone:?}");
        assert!(gone.wall > Duration::ZERO);
        assert_eq!(told(gone.status), "exit code 7");
    }

    #[test]
    fn without_a_descriptor_of_it_the_end_is_seen_too() {
        let mut running = lead("exit 7");
        running.exit = None;
        assert_eq!(running.wait(None, || ()).expect("waited for").status.code(), Some(7));
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
    fn memory_is_counted_by_the_kernel_and_seen_while_it_is_there() {
        let hold = "held = b'x' * (100 << 20); print(flush=True); input()";
        let mut python = Command::new("python3");
        let python = python.args(["-c", hold]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = Running::lead(python).expect("it starts");
        let mut said = [0];
        running.child.stdout.as_mut().expect("a pipe").read_exact(&mut said).expect("it says so");
        let limits = Limits { timeout: Some(Duration::from_mins(1)), stop: &|| true };
        let gone = running.wait(Some(&limits), || ()).expect("waited for");
        assert!(gone.max_rss_kib >= 90_000 && gone.seen_kib >= 90_000, "{gone:?}");
    }

    #[test]
    fn memory_that_was_seen_before_a_sudden_end_counts() {
        let mut running = lead("sleep 600");
        assert!(!running.has_ended_within(Duration::ZERO).expect("it is there"));
        running.signal(Signal::KILL);
        assert!(running.wait(None, || ()).expect("waited for").seen_kib > 0);
    }

    #[test]
    fn who_is_not_waited_for_is_killed_and_no_zombie() {
        let running = lead("sleep 600 & sleep 600");
        let pid = running.pid;
        drop(running);
        assert_eq!(reap(pid).map_err(|error| error.raw_os_error()), Err(Some(libc::ECHILD)));
    }

    #[test]
    fn our_own_peak_is_read_and_that_of_nobody_is_none() {
        assert!(peak_kib("self") > 100);
        assert_eq!(peak_kib("0"), 0);
    }

    fn captured(text: &str) -> File {
        let mut captured = tempfile::tempfile().expect("a temporary file");
        captured.write_all(text.as_bytes()).expect("written");
        captured
    }

    #[test]
    fn last_words_are_the_last_line_with_something_in_it() {
        let words = |text: &str| last_words(&captured(text)).expect("readable");
        assert_eq!(words("a\nb \n\n"), Some("b".into()));
        assert_eq!(words(&format!("{}\nend\n", "x".repeat(10_000))), Some("end".into()));
        assert_eq!(words("\n"), None);
    }

    #[test]
    fn what_a_program_leaves_behind_does_not_live_on() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let file = dir.path().join("pid");
        let script = format!("sleep 600 & echo $! > {}", file.display());
        assert_eq!(run(&script, None, false).end, End::Own);
        let pid = fs::read_to_string(file).expect("written");
        // A moment for the kernel to carry the signal out, then it is gone or a zombie of whoever adopts it.
        let alive = || {
            let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
        };
        for _ in 0..1000 {
            if !alive() {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("process {} lives on", pid.trim());
    }
}
