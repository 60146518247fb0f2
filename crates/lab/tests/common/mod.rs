//! How the tests call the command, and what has to be true of all that it says.
use lab_kit::interrupt::is_ignored;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output};

pub(crate) fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stanchion"));
    command.args(words);
    command
}

pub(crate) fn stanchion(words: &[&str]) -> Output {
    command(words).output().expect("the program starts")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What was printed by words that must succeed.
pub(crate) fn passed(words: &[&str]) -> String {
    let output = stanchion(words);
    let (printed, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{words:?}: {printed}\n{error}");
    printed
}

/// The one line on standard error.
pub(crate) fn line(output: &Output) -> String {
    let error = text(&output.stderr);
    assert_eq!(error.lines().count(), 1, "{error}");
    error.trim_end().to_owned()
}

/// The line with which a command is refused before it does anything.
pub(crate) fn refusal(command: &mut Command) -> String {
    let output = command.output().expect("the program starts");
    let error = line(&output);
    assert_eq!(output.status.code(), Some(2), "{command:?}: {error}");
    assert!(error.starts_with("stanchion: ") && output.stdout.is_empty(), "{command:?}: {error}");
    error
}

pub(crate) fn refused(words: &[&str]) -> String {
    refusal(&mut command(words))
}

/// A report that was written.
pub(crate) fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&fs::read_to_string(path).expect("written")).expect("parses")
}

/// As Ctrl-C does it; or where that is ignored, as it is in jobs in the background, as `kill` does.
pub(crate) fn interrupt(child: &Child) {
    let signal = if is_ignored(Signal::INT.as_raw()) { Signal::TERM } else { Signal::INT };
    kill_process(Pid::from_child(child), signal).expect("it is there");
}
