//! Runs one test in a process group of its own, with a time limit, and says how it ended.
use crate::foreign::Foreign;
use core::time::Duration;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::{self, File};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::Instant;

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    /// It does not apply here; why.
    Skip(String),
    /// What went wrong.
    Fail(String),
    /// It did not end in time; what it had said.
    Hang(String),
    /// It died of this signal; what it had said.
    Signal(i32, String),
}

impl Verdict {
    /// Whether this is no fault.
    pub(super) const fn is_fine(&self) -> bool {
        matches!(self, Self::Ok | Self::Skip(_))
    }

    /// One word, for a table.
    pub(super) fn word(&self) -> String {
        match self {
            Self::Ok => "ok".to_owned(),
            Self::Skip(_) => "skip".to_owned(),
            Self::Fail(_) => "FAIL".to_owned(),
            Self::Hang(_) => "HANG".to_owned(),
            Self::Signal(number, _) => format!("SIGNAL {number}"),
        }
    }

    /// What was said.
    pub(super) fn what(&self) -> &str {
        match self {
            Self::Ok => "",
            Self::Skip(what) | Self::Fail(what) | Self::Hang(what) | Self::Signal(_, what) => what,
        }
    }
}

/// What a test runs in.
#[derive(Clone)]
pub(super) struct Setting {
    /// Goes into `LD_PRELOAD`; `None` is libc alone.
    pub(super) preload: Option<PathBuf>,
    /// The words of a command that runs the test, such as a checker's; none if it runs by itself.
    pub(super) wrapper: Vec<String>,
    /// The machine that the test is for, if it is not this one.
    pub(super) foreign: Option<&'static Foreign>,
    /// Further variables.
    pub(super) env: Vec<(String, String)>,
    /// When a test is ended.
    pub(super) timeout: Duration,
}

impl Setting {
    /// A command that runs in this setting.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = match (self.foreign, self.wrapper.split_first()) {
            (Some(foreign), _) => foreign.command(program, self.preload.as_deref()),
            (None, None) => Command::new(program),
            (None, Some((first, rest))) => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        // A test gives up what does not happen before it is ended, and can then say what it was.
        let timeout = (self.timeout.as_secs() * 2 / 3).max(1);
        command.env_remove("LD_PRELOAD").env("CONFORM_TIMEOUT", timeout.to_string());
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        if let (Some(library), None) = (&self.preload, self.foreign) {
            command.env("LD_PRELOAD", library);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        command
    }
}

/// Runs the test once. What it says goes to the file `output`, so that a process that it leaves behind keeps
/// no pipe open.
pub(super) fn run(program: &Path, test: &str, setting: &Setting, output: &Path) -> io::Result<Verdict> {
    let mut command = setting.command(program);
    command.arg(test).stderr(File::create(output)?);
    let mut child = command.spawn()?;
    let group = Pid::from_child(&child);
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > setting.timeout {
            break None;
        }
        // Most tests take a few milliseconds; one that hangs is looked at less often.
        thread::sleep(if start.elapsed() < Duration::from_millis(50) {
            Duration::from_millis(1)
        } else {
            Duration::from_millis(10)
        });
    };
    // The group is there as long as anybody is in it. An error says that nobody is.
    let _ = kill_process_group(group, Signal::KILL);
    if status.is_none() {
        child.wait()?;
    }
    let output = fs::read(output)?;
    Ok(judge(status, &String::from_utf8_lossy(&output)))
}

/// The verdict of an end and of what was said on stderr before.
fn judge(status: Option<ExitStatus>, output: &str) -> Verdict {
    let line = |prefix: &str| output.lines().find_map(|line| line.strip_prefix(prefix));
    let complaint = || {
        let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
        line("FAIL ").unwrap_or(last).to_owned()
    };
    let Some(status) = status else { return Verdict::Hang(complaint()) };
    if let Some(signal) = status.signal() {
        return Verdict::Signal(signal, complaint());
    }
    match status.code() {
        Some(0) if output.lines().any(|line| line == "PASS") => Verdict::Ok,
        Some(0) => Verdict::Fail(format!("it ended with 0 before the test was over: {}", complaint())),
        Some(77) => Verdict::Skip(line("SKIP ").unwrap_or_default().to_owned()),
        Some(1) if line("FAIL ").is_some() => Verdict::Fail(complaint()),
        code => Verdict::Fail(format!("it ended with {}: {}", code.unwrap_or(-1), complaint())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exited(code: i32) -> ExitStatus {
        ExitStatus::from_raw(code << 8)
    }

    #[test]
    fn ends_are_judged() {
        assert_eq!(judge(Some(exited(0)), "noise\nPASS\n"), Verdict::Ok);
        assert_eq!(judge(Some(exited(77)), "SKIP no right\n"), Verdict::Skip("no right".into()));
        assert_eq!(
            judge(Some(exited(1)), "FAIL a.c:1: wrong\nFAIL a.c:2: child\n"),
            Verdict::Fail("a.c:1: wrong".into())
        );
        assert_eq!(
            judge(Some(exited(255)), "too many threads\n"),
            Verdict::Fail("it ended with 255: too many threads".into())
        );
        assert_eq!(judge(None, ""), Verdict::Hang(String::new()));
        assert_eq!(judge(Some(ExitStatus::from_raw(11)), "PASS\n"), Verdict::Signal(11, "PASS".into()));
    }

    #[test]
    fn an_end_without_the_word_is_no_pass() {
        assert!(matches!(judge(Some(exited(0)), "not supported\n"), Verdict::Fail(_)));
    }

    #[test]
    fn a_test_that_takes_too_long_is_ended_with_its_children() {
        let setting = Setting {
            preload: None,
            wrapper: Vec::new(),
            foreign: None,
            env: Vec::new(),
            timeout: Duration::from_millis(200),
        };
        let directory = std::env::temp_dir().join(format!("conform-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let script = directory.join("hangs.sh");
        fs::write(&script, "#!/bin/sh\nsleep 1000 & echo FAIL waits >&2; wait\n").expect("a script");
        let mut mode = fs::metadata(&script).expect("it is there").permissions();
        std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
        fs::set_permissions(&script, mode).expect("it is ours");
        let verdict = run(&script, "any", &setting, &directory.join("output")).expect("it runs");
        assert_eq!(verdict, Verdict::Hang("waits".into()));
        fs::remove_dir_all(&directory).expect("it is ours");
    }
}
