//! What `stanchion` does when nobody reads what it prints: nothing that anybody has to read.
use crate::common::{command, line, text};
use std::io::pipe;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

/// SIGPIPE.
const PIPE: i32 = 13;

/// Runs a command whose standard output nobody reads, from the beginning.
fn unread(words: &str) -> Output {
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    command(&words.split(' ').collect::<Vec<_>>()).stdout(writer).output().expect("the program starts")
}

#[test]
fn a_command_that_prints_as_it_goes_ends_as_sigpipe_ends_programs() {
    for words in [
        "completions bash",
        "completions zsh",
        "torture --list",
        "torture --lock qspin --time 1s",
        "explore --list",
        "explore --lock qspin --schedules 100",
        "explore --lock qspin --replay 1",
    ] {
        let output = unread(words);
        let printed = text(&output.stderr);
        assert_eq!(output.status.signal(), Some(PIPE), "{words}: {}: {printed}", output.status);
        assert_eq!(printed, "", "{words}");
    }
}

#[test]
fn nobody_has_to_read_standard_error() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let json = dir.path().join("sim.json");
    let sim =
        format!("sim --lock byte --threads 1 --time 1ms --warm-up 100us --seeds 1 --json {}", json.display());
    for (words, code) in [
        ("sim --lock tiket", 2),
        ("run --lock libc -- /no/such/program", 2),
        ("run --lock libc --timeout 1ms -- sleep 600", 124),
        ("sim --lock byte --threads 1 --time 1ms --warm-up 100us --seeds 1 --json /dev/full", 1),
        (&sim, 0),
    ] {
        let (reader, writer) = pipe().expect("a pipe");
        drop(reader);
        let mut command = command(&words.split(' ').collect::<Vec<_>>());
        let output = command.stderr(writer).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(code), "{words}: {}", output.status);
    }
    assert!(json.exists());
}

#[test]
fn an_answer_that_a_full_disk_does_not_take_is_a_failure() {
    for words in ["--help", "--version", "help torture", "bench --list", "completions bash"] {
        let full = std::fs::File::options().write(true).open("/dev/full").expect("it is there");
        let output = command(&words.split(' ').collect::<Vec<_>>()).stdout(full).output().expect("it starts");
        assert_eq!(output.status.code(), Some(1), "{words}");
        assert!(line(&output).starts_with("stanchion: cannot write "), "{words}");
    }
}

#[test]
fn a_command_that_prints_at_its_end_keeps_its_exit_code() {
    for words in ["--help", "--version", "help torture", "bench --list", "sim --list", "run --list"] {
        let output = unread(words);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{words}: {}: {printed}", output.status);
        assert_eq!(printed, "", "{words}");
    }
}
