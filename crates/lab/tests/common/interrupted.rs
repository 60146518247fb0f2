//! A command that is interrupted at some point.
use crate::common::interrupt;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};

/// Runs a command until it says `when` on standard error, and interrupts it after `meanwhile`. What it said
/// there, and on standard output; its exit code says that it was interrupted.
pub(crate) fn interrupted(command: &mut Command, when: &str, meanwhile: impl FnOnce()) -> (String, Vec<u8>) {
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut printed = String::new();
    while !printed.contains(when) {
        assert!(lines.read_line(&mut printed).expect("readable") > 0, "{printed}");
    }
    meanwhile();
    interrupt(&child);
    lines.read_to_string(&mut printed).expect("readable");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{printed}");
    (printed, output.stdout)
}
