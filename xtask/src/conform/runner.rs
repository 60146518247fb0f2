//! Runs one test in a process group of its own, with a time limit, and says how it ended.
use super::Case;
use crate::foreign::Foreign;
use crate::{files, process};
use anyhow::Result;
use core::time::Duration;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// For the table: `ok`, `skip` (it does not apply here), `FAIL`, `HANG` (no end in time) or `SIGNAL n`.
    pub(super) word: String,
    /// What was said: why it does not apply, or what went wrong.
    pub(super) what: String,
}

impl Verdict {
    pub(super) fn new(word: &str, what: &str) -> Self {
        Self { word: word.to_owned(), what: what.to_owned() }
    }

    pub(super) fn is_ok(&self) -> bool {
        self.word == "ok"
    }

    pub(super) fn is_fine(&self) -> bool {
        self.is_ok() || self.word == "skip"
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
    pub(super) env: Vec<(String, String)>,
    pub(super) timeout: Duration,
    /// How often it is run, until it fails.
    pub(super) repeat: u32,
}

impl Setting {
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
        command.envs(self.env.iter().cloned());
        if let (Some(library), None) = (&self.preload, self.foreign) {
            command.env("LD_PRELOAD", library);
        }
        command
    }
}

/// Runs the test until it fails, or as often as the setting says. What it says goes to the file `output`, so
/// that a process that it leaves behind keeps no pipe open.
pub(super) fn run(case: &Case, setting: &Setting, output: &Path) -> Result<Verdict> {
    for round in 1..=setting.repeat.max(1) {
        let mut command = setting.command(&case.program);
        let mut running = process::start(command.arg(&case.test), Path::new("/dev/null"), output)?;
        let (ended, _) = running.wait(setting.timeout)?;
        let mut verdict = judge(ended, &files::text(output)?);
        if setting.repeat > 1 && !verdict.is_fine() {
            verdict.what = format!("in run {round} of {}: {}", setting.repeat, verdict.what);
        }
        if !verdict.is_ok() {
            return Ok(verdict);
        }
    }
    Ok(Verdict::new("ok", ""))
}

/// The verdict of an end and of what was said on stderr before.
fn judge(ended: Option<ExitStatus>, output: &str) -> Verdict {
    let line = |prefix: &str| output.lines().find_map(|line| line.strip_prefix(prefix));
    let last = output.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default();
    let complaint = line("FAIL ").unwrap_or(last);
    let failed = |what: &str| Verdict::new("FAIL", &format!("{what}: {complaint}"));
    let Some(status) = ended else { return Verdict::new("HANG", complaint) };
    match status.code() {
        None => Verdict::new(&format!("SIGNAL {}", status.signal().unwrap_or_default()), complaint),
        Some(0) if output.lines().any(|line| line == "PASS") => Verdict::new("ok", ""),
        Some(0) => failed("it ended with 0 before the test was over"),
        Some(77) => Verdict::new("skip", line("SKIP ").unwrap_or_default()),
        Some(1) if line("FAIL ").is_some() => Verdict::new("FAIL", complaint),
        Some(code) => failed(&format!("it ended with {code}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[expect(clippy::unnecessary_wraps, reason = "as it is handed to `judge`")]
    fn exited(code: i32) -> Option<ExitStatus> {
        Some(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn ends_are_judged() {
        assert_eq!(judge(exited(0), "noise\nPASS\n"), Verdict::new("ok", ""));
        assert_eq!(judge(exited(77), "SKIP no right\n"), Verdict::new("skip", "no right"));
        assert_eq!(
            judge(exited(1), "FAIL a.c:1: wrong\nFAIL a.c:2: child\n"),
            Verdict::new("FAIL", "a.c:1: wrong")
        );
        assert_eq!(
            judge(exited(255), "too many threads\n"),
            Verdict::new("FAIL", "it ended with 255: too many threads")
        );
        assert_eq!(judge(None, ""), Verdict::new("HANG", ""));
        assert_eq!(judge(Some(ExitStatus::from_raw(11)), "PASS\n"), Verdict::new("SIGNAL 11", "PASS"));
    }

    #[test]
    fn an_end_without_the_word_is_no_pass() {
        assert_eq!(judge(exited(0), "not supported\n").word, "FAIL");
    }

    #[test]
    fn a_test_that_takes_too_long_is_ended_with_its_children() {
        let setting = Setting { timeout: Duration::from_millis(200), repeat: 1, ..Setting::default() };
        let directory = std::env::temp_dir().join(format!("conform-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let script = directory.join("hangs.sh");
        fs::write(&script, "#!/bin/sh\nsleep 1000 & echo FAIL waits >&2; wait\n").expect("a script");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&script, mode).expect("it is ours");
        let case = Case { program: script, test: "any".to_owned() };
        let verdict = run(&case, &setting, &directory.join("output")).expect("it runs");
        assert_eq!(verdict, Verdict::new("HANG", "waits"));
        fs::remove_dir_all(&directory).expect("it is ours");
    }
}
