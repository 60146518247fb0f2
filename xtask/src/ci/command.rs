//! One command of a job: what it prints is passed on as it comes, and its last lines are kept for the summary.
use super::summary::Outcome;
use core::time::Duration;
use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, PipeReader, Write as _};
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
    match passed_on(command) {
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

/// Runs it with one pipe for both of its outputs, so that their lines stay in order.
fn passed_on(mut command: Command) -> io::Result<(ExitStatus, Vec<String>)> {
    let (reader, writer) = io::pipe()?;
    let mut child = command.stdout(writer.try_clone()?).stderr(writer).spawn()?;
    // It holds the pipe, too, which would never end.
    drop(command);
    let last = Arc::new(Mutex::new(VecDeque::new()));
    let (all_read, done) = mpsc::channel();
    let kept = Arc::clone(&last);
    thread::spawn(move || {
        copy(reader, &kept);
        // Whoever waited has gone by now when this fails.
        let _ = all_read.send(());
    });
    let status = child.wait()?;
    // It matters not whether all was read or the time is over: what there is is what is told.
    let _ = done.recv_timeout(FOR_LEFTOVERS);
    let last = last.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect();
    Ok((status, last))
}

/// Prints each line and keeps the last ones, until the pipe ends.
fn copy(reader: PipeReader, last: &Mutex<VecDeque<String>>) {
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
        // Nobody reads what we print, perhaps; the command is to go on all the same.
        let _ = io::stdout().write_all(&line);
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == KEPT {
            last.pop_front();
        }
        last.push_back(String::from_utf8_lossy(&line).trim_end().to_owned());
        line.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn shell(script: &str) -> Outcome {
        run(Path::new("/"), &["sh", "-c", script], &[])
    }

    #[test]
    fn command_lines_can_be_pasted() {
        assert_eq!(
            command_line(&["cargo", "test", "--test", "*"], &[("RUSTFLAGS", "-Za -Cb")]),
            "RUSTFLAGS='-Za -Cb' cargo test --test '*'"
        );
    }

    #[test]
    fn the_last_lines_of_a_failure_are_kept_from_both_outputs() {
        assert_eq!(shell("echo fine"), Outcome::Ok);
        let Outcome::Failed { last, .. } = shell("seq 100; echo why >&2; printf end; exit 1") else {
            panic!("exit 1 is a failure");
        };
        assert_eq!(last.len(), KEPT);
        assert_eq!(last[KEPT - 3..], ["100", "why", "end"]);
    }

    #[test]
    fn what_it_leaves_running_is_not_waited_for() {
        let start = Instant::now();
        let Outcome::Failed { last, .. } = shell("sleep 60 & echo why; exit 1") else {
            panic!("exit 1 is a failure");
        };
        assert!(start.elapsed() < Duration::from_secs(50), "it ends before what it left");
        assert_eq!(last, ["why"]);
    }
}
