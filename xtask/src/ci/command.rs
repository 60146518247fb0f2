//! One command of a job: what it prints is passed on as it comes, and its last lines are kept for the
//! summary.
use super::summary::Outcome;
use core::time::Duration;
use std::collections::VecDeque;
use std::io::{self, PipeReader, Read as _, Write};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;

/// So many lines of a command that failed are told again at the end.
const KEPT: usize = 25;
/// Whatever a command leaves running may have its output; it is not waited for longer than this.
const FOR_LEFTOVERS: Duration = Duration::from_secs(2);

/// Runs the command in `root`.
pub(super) fn run(root: &Path, words: &[&str], env: &[(&str, &str)]) -> Outcome {
    let line = command_line(words, env);
    println!("--- {line}");
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).envs(env.iter().copied()).current_dir(root);
    match passed_on(command, io::stdout()) {
        Ok((status, _)) if status.success() => Outcome::Ok,
        Ok((_, last)) => Outcome::Failed { step: line, last },
        Err(error) => Outcome::failed(format!("{line}: {error}")),
    }
}

/// The command as one would type it, variables first.
fn command_line(words: &[&str], env: &[(&str, &str)]) -> String {
    let quote = |word: &str| if word.contains([' ', '*']) { format!("'{word}'") } else { word.to_owned() };
    let env = env.iter().map(|(name, value)| format!("{name}={}", quote(value)));
    env.chain(words.iter().map(|word| quote(word))).collect::<Vec<_>>().join(" ")
}

/// Runs it with one pipe for both of its outputs, so that they stay in the order in which they were written.
fn passed_on(
    mut command: Command,
    out: impl Write + Send + 'static,
) -> io::Result<(ExitStatus, Vec<String>)> {
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
    let status = child.wait()?;
    // It matters not whether all was read or the time is over: what there is is what is told.
    let _ = done.recv_timeout(FOR_LEFTOVERS);
    let last = last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
    Ok((status, last))
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
        passed_on(command, io::sink()).expect("a shell")
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
        let run = |script| run(Path::new("/"), &["sh", "-c", script], &[]);
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
