//! The commands of a job: what they print goes to a file, and its last lines to the summary.
use super::Step;
use super::summary::Outcome;
use crate::process::ourselves;
use core::fmt;
use core::time::Duration;
use lab_kit::child::Running;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

/// So many lines of a command that failed are told again at the end.
const KEPT: usize = 25;

pub(super) struct Shell<'a> {
    pub(super) root: &'a Path,
    /// What the job prints is appended to it, and read again.
    pub(super) log: &'a File,
    /// The CPU time of the commands so far, and of the children that they waited for.
    pub(super) cpu: Duration,
}

impl Shell<'_> {
    pub(super) fn say(&mut self, line: fmt::Arguments<'_>) {
        // A full disk does not stop the jobs.
        let _ = self.log.write_all(format!("{line}\n").as_bytes());
    }

    pub(super) fn succeeds(&self, step: &Step) -> bool {
        let mut command = self.command(step);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    fn command(&self, step: &Step) -> Command {
        let words = step.words();
        let (mut command, words) = match words.as_slice() {
            ["cargo", "xtask", words @ ..] => (ourselves(self.root), words),
            words => (Command::new(words[0]), &words[1..]),
        };
        command.args(words).current_dir(self.root);
        command
    }

    pub(super) fn run(&mut self, step: &Step, env: &BTreeMap<String, String>) -> Outcome {
        let line = command_line(step, env);
        self.say(format_args!("--- {line}"));
        match self.logged(self.command(step).envs(env)) {
            Ok((status, _)) if status.success() => Outcome::Ok,
            Ok((_, printed)) => Outcome::Failed { step: line, last: last_lines(&printed) },
            Err(error) => Outcome::failed(format!("{line}: {error}")),
        }
    }

    /// How a command ended and what it printed, in the order in which it was written; its last line is ended.
    fn logged(&mut self, command: &mut Command) -> io::Result<(ExitStatus, Vec<u8>)> {
        let start = self.log.metadata()?.len();
        command.stdout(self.log.try_clone()?).stderr(self.log.try_clone()?);
        let gone = Running::start(command)?.wait(None, || ())?;
        self.cpu += gone.cpu;
        let mut printed = Vec::new();
        self.log.seek(SeekFrom::Start(start))?;
        self.log.read_to_end(&mut printed)?;
        if printed.last().is_some_and(|&last| last != b'\n') {
            self.say(format_args!(""));
        }
        Ok((gone.status, printed))
    }
}

/// The command as one would type it, variables first.
fn command_line(step: &Step, env: &BTreeMap<String, String>) -> String {
    let quoted = |value: &str| shlex::try_quote(value).map_or_else(|_| value.to_owned(), Into::into);
    let env = env.iter().map(|(name, value)| format!("{name}={} ", quoted(value)));
    env.collect::<String>() + &step.line
}

/// With the first lines before them that name a failed test or tell of a panic, and without what a progress
/// bar draws over.
fn last_lines(printed: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(printed);
    let lines: Vec<&str> = text.lines().collect();
    let (before, last) = lines.split_at(lines.len().saturating_sub(KEPT));
    let panics = |line: &str| line.contains(" panicked at ");
    let why = before.iter().enumerate().filter(|&(at, line)| {
        line.ends_with(" ... FAILED") || panics(line) || (at > 0 && panics(before[at - 1]))
    });
    why.map(|(_, line)| line)
        .take(KEPT)
        .chain(last)
        .filter_map(|line| line.trim_end_matches('\r').rsplit('\r').next())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ci::lanes::open;
    use core::sync::atomic::{AtomicUsize, Ordering};
    use std::fs;
    use std::time::Instant;

    fn step(line: &str) -> Step {
        Step::try_from(line.to_owned()).expect("a command")
    }

    /// A file without a name.
    fn log() -> File {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = (std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("stanchion-log-{number:?}"));
        let file = open(&path).expect("a directory for files");
        fs::remove_file(path).expect("it is there");
        file
    }

    fn shell(script: &str) -> (ExitStatus, Vec<String>, Duration) {
        let log = log();
        let mut shell = Shell { root: Path::new("/"), log: &log, cpu: Duration::ZERO };
        let (status, printed) = shell.logged(Command::new("sh").args(["-c", script])).expect("a shell");
        (status, last_lines(&printed), shell.cpu)
    }

    #[test]
    fn cpu_time_is_that_of_a_command_and_of_what_it_waited_for() {
        let loops = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; true";
        let (_, _, cpu) = shell(loops);
        assert!(cpu > Duration::ZERO, "it counts for a while, and its parent waits for it");
    }

    #[test]
    fn command_lines_can_be_pasted() {
        let env = [("RUSTFLAGS".to_owned(), "-Za -Cb".to_owned())].into();
        assert_eq!(
            command_line(&step("cargo test --test '*'"), &env),
            "RUSTFLAGS='-Za -Cb' cargo test --test '*'"
        );
    }

    #[test]
    fn the_last_lines_are_kept_from_both_outputs() {
        let (status, last, _) = shell("seq 100; echo why >&2; printf end; exit 1");
        assert_eq!((status.code(), last.len()), (Some(1), KEPT));
        assert_eq!(last[KEPT - 3..], ["100", "why", "end"]);
    }

    #[test]
    fn what_failed_is_kept_however_much_follows() {
        let script = "echo test a ... FAILED; echo; echo \"thread 'a' panicked at x.rs:1:\"; echo why; seq 100; exit 1";
        let (_, last, _) = shell(script);
        let (why, end) = last.split_at(last.len() - KEPT);
        assert_eq!(why, ["test a ... FAILED", "thread 'a' panicked at x.rs:1:", "why"]);
        assert_eq!((end[0].as_str(), end[KEPT - 1].as_str()), ("76", "100"));
    }

    #[test]
    fn only_a_failure_tells_them_again() {
        let log = log();
        let run = |script| {
            let mut shell = Shell { root: Path::new("/"), log: &log, cpu: Duration::ZERO };
            shell.run(&step(&format!("sh -c '{script}'")), &BTreeMap::new())
        };
        assert_eq!(run("true"), Outcome::Ok);
        let failed = |last: &[&str]| Outcome::Failed {
            step: "sh -c 'echo why; false'".to_owned(),
            last: last.iter().map(|&line| line.to_owned()).collect(),
        };
        assert_eq!(run("echo why; false"), failed(&["why"]));
    }

    #[test]
    fn all_is_logged_and_the_last_line_ended() {
        let mut log = log();
        log.write_all(b"before\n").expect("room");
        let mut shell = Shell { root: Path::new("/"), log: &log, cpu: Duration::ZERO };
        let script = r"printf 'a\r\n 10 %%\r 20 %%\rb'";
        let (_, printed) = shell.logged(Command::new("sh").args(["-c", script])).expect("a shell");
        assert_eq!(last_lines(&printed), ["a", "b"]);
        let mut all = Vec::new();
        log.rewind().and_then(|()| log.read_to_end(&mut all)).expect("readable");
        assert_eq!(all, b"before\na\r\n 10 %\r 20 %\rb\n");
    }

    #[test]
    fn what_it_leaves_running_is_not_waited_for() {
        let start = Instant::now();
        let (_, last, _) = shell("sleep 1000 & echo why");
        assert!(start.elapsed() < Duration::from_secs(500), "it ends before what it left");
        assert_eq!(last, ["why"]);
    }
}
