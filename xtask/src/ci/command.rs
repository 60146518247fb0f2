//! The commands of a job: what they print is passed on as it comes, and the last lines are kept for the
//! summary.
use super::job::Step;
use super::summary::Outcome;
use crate::process::ourselves;
use core::fmt;
use core::time::Duration;
use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, PipeReader, Read as _, Write};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, mpsc};
use std::time::Instant;
use std::{fs, thread};

/// So many lines of a command that failed are told again at the end.
const KEPT: usize = 25;
/// Whatever a command leaves running may have its output; it is not waited for longer than this.
const FOR_LEFTOVERS: Duration = Duration::from_secs(2);

/// Standard output, unbuffered.
pub(super) fn live() -> Arc<File> {
    let copy = io::stdout().as_fd().try_clone_to_owned();
    Arc::new(File::from(copy.expect("a process has room for a descriptor")))
}

/// Runs the commands of one job.
pub(super) struct Shell<'a> {
    /// The workspace, as an absolute path.
    pub(super) root: &'a Path,
    /// Where what the job prints goes.
    pub(super) out: Arc<File>,
    /// The CPU time of the commands so far, and of the children that they waited for.
    pub(super) cpu: Duration,
}

impl Shell<'_> {
    /// Prints a line.
    pub(super) fn say(&mut self, line: fmt::Arguments<'_>) {
        // A closed pipe does not stop the jobs.
        let _ = self.out.write_all(format!("{line}\n").as_bytes());
    }

    /// Whether a command succeeds; nothing of it is seen.
    pub(super) fn succeeds(&self, step: &Step) -> bool {
        let mut command = self.command(step);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    fn command(&self, step: &Step) -> Command {
        let mut command = match step.words().as_slice() {
            ["cargo", "xtask", words @ ..] => {
                let mut ours = ourselves(self.root);
                ours.args(words);
                ours
            }
            words => {
                let mut other = Command::new(words[0]);
                other.args(&words[1..]);
                other
            }
        };
        command.current_dir(self.root);
        command
    }

    /// Runs a command.
    pub(super) fn run(&mut self, step: &Step, env: &BTreeMap<String, String>) -> Outcome {
        let line = command_line(step, env);
        self.say(format_args!("--- {line}"));
        let mut command = self.command(step);
        command.envs(env);
        match passed_on(command, self.out.clone()) {
            Ok((status, last, cpu)) => {
                self.cpu += cpu;
                if status.success() { Outcome::Ok } else { Outcome::Failed { step: line, last } }
            }
            Err(error) => Outcome::failed(format!("{line}: {error}")),
        }
    }
}

/// The command as one would type it, variables first.
fn command_line(step: &Step, env: &BTreeMap<String, String>) -> String {
    let quoted = |value: &str| shlex::try_quote(value).map_or_else(|_| value.to_owned(), Into::into);
    let env = env.iter().map(|(name, value)| format!("{name}={} ", quoted(value)));
    env.collect::<String>() + &step.line
}

/// Runs it with one pipe for both of its outputs, so that they stay in the order in which they were written.
/// How it ended, its last lines, and its CPU time.
fn passed_on(
    mut command: Command,
    out: impl Write + Send + 'static,
) -> io::Result<(ExitStatus, Vec<String>, Duration)> {
    let (reader, writer) = io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // It holds the pipe, too, which would never end.
    drop(command);
    let (read, lines) = mpsc::channel();
    thread::spawn(move || copy(reader, out, &read));
    let cpu = cpu_at_end(&child);
    let status = child.wait()?;
    let until = Instant::now() + FOR_LEFTOVERS;
    let left = || until.checked_duration_since(Instant::now());
    let mut last = VecDeque::new();
    // It matters not whether all was read or the time is over: what there is is what is told.
    while let Some(Ok(line)) = left().map(|left| lines.recv_timeout(left)) {
        last.push_back(line);
        if last.len() > KEPT {
            last.pop_front();
        }
    }
    Ok((status, last.into(), cpu))
}

/// Waits until a child has ended, but leaves it to be reaped: its CPU time, with that of the children it
/// waited for, is in /proc until then. 0 if the system does not say.
fn cpu_at_end(child: &Child) -> Duration {
    let pid = Pid::from_child(child);
    let ends = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(pid), ends), Err(Errno::INTR)) {}
    let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    Duration::from_secs_f64(cpu_ticks(&stat) as f64 / clock_ticks_per_second() as f64)
}

/// The sum of utime, stime, cutime and cstime of proc(5). What stands before them may have blanks itself, in
/// parentheses.
fn cpu_ticks(stat: &str) -> u64 {
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum()
}

/// Passes on what comes, when it comes, until the pipe ends, and ends the last line.
fn copy(mut reader: PipeReader, mut out: impl Write, lines: &mpsc::Sender<String>) {
    let keep = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        // What a progress bar draws over is not kept.
        let text = text.trim_end_matches(['\r', '\n']).rsplit('\r').next().unwrap_or_default();
        // Whoever waited has gone by now when this fails.
        let _ = lines.send(text.to_owned());
    };
    let (mut bytes, mut line) = ([0; 4096], Vec::new());
    loop {
        let length = match reader.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        // A closed pipe does not stop the command.
        let _ = out.write_all(&bytes[..length]).and_then(|()| out.flush());
        line.extend_from_slice(&bytes[..length]);
        while let Some(end) = line.iter().position(|&byte| byte == b'\n') {
            keep(&line.drain(..=end).collect::<Vec<_>>());
        }
    }
    if !line.is_empty() {
        keep(&line);
        let _ = out.write_all(b"\n");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(line: &str) -> Step {
        Step::try_from(line.to_owned()).expect("a command")
    }

    fn shell(script: &str) -> (ExitStatus, Vec<String>, Duration) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        passed_on(command, io::sink()).expect("a shell")
    }

    #[test]
    fn cpu_time_is_that_of_a_command_and_of_what_it_waited_for() {
        assert_eq!(cpu_ticks("7 (a b) c) S 1 7 7 0 -1 4 0 0 0 0 3 5 70 900 20 0 1"), 978);
        assert_eq!(cpu_ticks(""), 0);
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
    fn only_a_failure_tells_them_again() {
        let run = |script| {
            let mut shell = Shell { root: Path::new("/"), out: live(), cpu: Duration::ZERO };
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
    fn all_is_passed_on_and_the_last_line_ended() {
        let (reader, mut writer) = io::pipe().expect("a pipe");
        writer.write_all(b"a\r\n 10 %\r 20 %\rb").expect("room");
        drop(writer);
        let (mut out, (read, lines)) = (Vec::new(), mpsc::channel());
        copy(reader, &mut out, &read);
        drop(read);
        assert_eq!(out, b"a\r\n 10 %\r 20 %\rb\n");
        assert_eq!(lines.iter().collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn what_it_leaves_running_is_not_waited_for() {
        let start = Instant::now();
        let (_, last, _) = shell("sleep 1000 & echo why");
        assert!(start.elapsed() < Duration::from_secs(500), "it ends before what it left");
        assert_eq!(last, ["why"]);
    }
}
