//! The commands of a job: what they print is passed on as it comes, and the last lines are kept for the
//! summary.
use super::summary::Outcome;
use core::fmt;
use core::time::Duration;
use rustix::io::Errno;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, PipeReader, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::{fs, thread};

/// So many lines of a command that failed are told again at the end.
const KEPT: usize = 25;
/// This program, whatever is at its path by now.
const OURSELVES: &str = "/proc/self/exe";
/// Whatever a command leaves running may have its output; it is not waited for longer than this.
const FOR_LEFTOVERS: Duration = Duration::from_secs(2);

/// Where what a job prints goes: to standard output, or to a file.
#[derive(Clone)]
pub(super) enum Out {
    Live,
    Kept(Arc<File>),
}

impl Out {
    /// To this file, made anew.
    pub(super) fn kept(path: &Path) -> io::Result<Self> {
        Ok(Self::Kept(Arc::new(File::create(path)?)))
    }
}

impl Write for Out {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Live => io::stdout().write(bytes),
            Self::Kept(file) => file.as_ref().write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Live => io::stdout().flush(),
            Self::Kept(_) => Ok(()),
        }
    }
}

/// Runs the commands of one job.
pub(super) struct Shell {
    root: PathBuf,
    out: Out,
    cpu: Duration,
}

impl Shell {
    /// In this directory.
    pub(super) fn new(root: &Path, out: Out) -> Self {
        Self { root: root.to_owned(), out, cpu: Duration::ZERO }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The CPU time of all commands, and of what they have waited for.
    pub(super) fn cpu(&self) -> Duration {
        self.cpu
    }

    /// Prints a line.
    pub(super) fn say(&mut self, line: fmt::Arguments<'_>) {
        // Nobody reads what we print, perhaps; the jobs are to go on all the same.
        let _ = writeln!(self.out, "{line}");
    }

    /// Whether a command succeeds; nothing of it is seen.
    pub(super) fn succeeds(&self, words: &[&str]) -> bool {
        let mut command = self.command(words);
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }

    /// `cargo xtask` is this program, which another build may have replaced meanwhile.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(words[0]);
        let mut arguments = &words[1..];
        if let ["cargo", "xtask", rest @ ..] = words {
            command = Command::new(OURSELVES);
            command.arg("--root").arg(&self.root);
            arguments = rest;
        }
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Runs a command.
    pub(super) fn run(&mut self, words: &[&str], env: &[(&str, &str)]) -> Outcome {
        let line = command_line(words, env);
        self.say(format_args!("--- {line}"));
        let mut command = self.command(words);
        command.envs(env.iter().copied());
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
fn command_line(words: &[&str], env: &[(&str, &str)]) -> String {
    let quote = |word: &str| if word.contains([' ', '*']) { format!("'{word}'") } else { word.to_owned() };
    let env = env.iter().map(|(name, value)| format!("{name}={}", quote(value)));
    env.chain(words.iter().map(|word| quote(word))).collect::<Vec<_>>().join(" ")
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
    let last = Arc::new(Mutex::new(VecDeque::new()));
    let (all_read, done) = mpsc::channel();
    let kept = Arc::clone(&last);
    thread::spawn(move || {
        copy(reader, out, &kept);
        // Whoever waited has gone by now when this fails.
        let _ = all_read.send(());
    });
    let cpu = cpu_at_end(&child);
    let status = child.wait()?;
    // It matters not whether all was read or the time is over: what there is is what is told.
    let _ = done.recv_timeout(FOR_LEFTOVERS);
    let last = last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
    Ok((status, last, cpu))
}

/// Waits until a child has ended, and reads the CPU time of it and of what it has waited for, before it is
/// waited for itself. 0 if the system does not say.
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

/// Passes on what comes, when it comes, until the pipe ends; keeps the last lines, and ends the last one.
fn copy(mut reader: PipeReader, mut out: impl Write, last: &Mutex<VecDeque<String>>) {
    let mut bytes = [0; 4096];
    let (mut line, mut returned) = (Vec::new(), false);
    loop {
        let length = match reader.read(&mut bytes) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        // Nobody reads what we print, perhaps; the command is to go on all the same.
        let _ = out.write_all(&bytes[..length]).and_then(|()| out.flush());
        for &byte in &bytes[..length] {
            match byte {
                b'\n' => {
                    keep(last, &line);
                    line.clear();
                }
                b'\r' => {}
                // What a progress bar draws over is not kept.
                _ if returned => line = vec![byte],
                _ => line.push(byte),
            }
            returned = byte == b'\r';
        }
    }
    if !line.is_empty() {
        keep(last, &line);
        let _ = out.write_all(b"\n");
    }
}

fn keep(last: &Mutex<VecDeque<String>>, line: &[u8]) {
    let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
    if last.len() == KEPT {
        last.pop_front();
    }
    last.push_back(String::from_utf8_lossy(line).into_owned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// How it ended, and its last lines.
    fn shell(script: &str) -> (ExitStatus, Vec<String>) {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let (status, last, _) = passed_on(command, io::sink()).expect("a shell");
        (status, last)
    }

    #[test]
    fn cpu_time_is_that_of_a_command_and_of_what_it_waited_for() {
        assert_eq!(cpu_ticks("7 (a b) c) S 1 7 7 0 -1 4 0 0 0 0 3 5 70 900 20 0 1"), 978);
        assert_eq!(cpu_ticks(""), 0);
        let of = |script| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            passed_on(command, io::sink()).expect("a shell").2
        };
        let loops = "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; true";
        assert!(of(loops) > Duration::ZERO, "it counts for a while, and its parent waits for it");
    }

    #[test]
    fn command_lines_can_be_pasted() {
        assert_eq!(
            command_line(&["cargo", "test", "--test", "*"], &[("RUSTFLAGS", "-Za -Cb")]),
            "RUSTFLAGS='-Za -Cb' cargo test --test '*'"
        );
    }

    #[test]
    fn the_last_lines_are_kept_from_both_outputs() {
        let (status, last) = shell("seq 100; echo why >&2; printf end; exit 1");
        assert_eq!((status.code(), last.len()), (Some(1), KEPT));
        assert_eq!(last[KEPT - 3..], ["100", "why", "end"]);
    }

    #[test]
    fn only_a_failure_tells_them_again() {
        let run = |script| Shell::new(Path::new("/"), Out::Live).run(&["sh", "-c", script], &[]);
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
        let (mut out, last) = (Vec::new(), Mutex::default());
        copy(reader, &mut out, &last);
        assert_eq!(out, b"a\r\n 10 %\r 20 %\rb\n");
        assert_eq!(last.into_inner().expect("no panic"), ["a", "b"]);
    }

    #[test]
    fn what_it_leaves_running_is_not_waited_for() {
        let start = Instant::now();
        let (_, last) = shell("sleep 1000 & echo why");
        assert!(start.elapsed() < Duration::from_secs(500), "it ends before what it left");
        assert_eq!(last, ["why"]);
    }
}
