//! Runs one test in a process group of its own, with a time limit, and says how it ended.
use crate::foreign::Foreign;
use crate::process::{self, Ended};
use anyhow::Result;
use core::time::Duration;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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

    /// For a table.
    pub(super) fn word(&self) -> String {
        let word = match self {
            Self::Signal(number, _) => return format!("SIGNAL {number}"),
            Self::Ok => "ok",
            Self::Skip(_) => "skip",
            Self::Fail(_) => "FAIL",
            Self::Hang(_) => "HANG",
        };
        word.to_owned()
    }

    /// What was said.
    pub(super) fn what(&self) -> &str {
        match self {
            Self::Ok => "",
            Self::Skip(what) | Self::Fail(what) | Self::Hang(what) | Self::Signal(_, what) => what,
        }
    }
}

/// What a test runs in: a column of the table.
#[derive(Clone, Default)]
pub(super) struct Setting {
    pub(super) name: String,
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
        command
    }
}

/// Runs the test once. What it says goes to the file `output`, so that a process that it leaves behind keeps
/// no pipe open.
pub(super) fn run(program: &Path, test: &str, setting: &Setting, output: &Path) -> Result<Verdict> {
    let mut running = process::start(setting.command(program).arg(test), Path::new("/dev/null"), output)?;
    let (ended, _) = running.wait(setting.timeout)?;
    Ok(judge(ended, &String::from_utf8_lossy(&fs::read(output)?)))
}

/// The verdict of an end and of what was said on stderr before.
fn judge(ended: Ended, output: &str) -> Verdict {
    let line = |prefix: &str| output.lines().find_map(|line| line.strip_prefix(prefix));
    let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let complaint = line("FAIL ").unwrap_or(last).to_owned();
    match ended {
        Ended::TimedOut | Ended::Interrupted => Verdict::Hang(complaint),
        Ended::Signalled(signal) => Verdict::Signal(signal, complaint),
        Ended::Exited(0) if output.lines().any(|line| line == "PASS") => Verdict::Ok,
        Ended::Exited(0) => Verdict::Fail(format!("it ended with 0 before the test was over: {complaint}")),
        Ended::Exited(77) => Verdict::Skip(line("SKIP ").unwrap_or_default().to_owned()),
        Ended::Exited(1) if line("FAIL ").is_some() => Verdict::Fail(complaint),
        Ended::Exited(code) => Verdict::Fail(format!("it ended with {code}: {complaint}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_judged() {
        assert_eq!(judge(Ended::Exited(0), "noise\nPASS\n"), Verdict::Ok);
        assert_eq!(judge(Ended::Exited(77), "SKIP no right\n"), Verdict::Skip("no right".into()));
        assert_eq!(
            judge(Ended::Exited(1), "FAIL a.c:1: wrong\nFAIL a.c:2: child\n"),
            Verdict::Fail("a.c:1: wrong".into())
        );
        assert_eq!(
            judge(Ended::Exited(255), "too many threads\n"),
            Verdict::Fail("it ended with 255: too many threads".into())
        );
        assert_eq!(judge(Ended::TimedOut, ""), Verdict::Hang(String::new()));
        assert_eq!(judge(Ended::Signalled(11), "PASS\n"), Verdict::Signal(11, "PASS".into()));
    }

    #[test]
    fn an_end_without_the_word_is_no_pass() {
        assert!(matches!(judge(Ended::Exited(0), "not supported\n"), Verdict::Fail(_)));
    }

    #[test]
    fn a_test_that_takes_too_long_is_ended_with_its_children() {
        let setting = Setting { timeout: Duration::from_millis(200), ..Setting::default() };
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
