//! `stanchion advise` for the machine at hand.
use crate::common::{command, interrupt};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

#[test]
fn a_machine_that_was_not_measured_to_the_end_is_not_kept() {
    let cache = tempfile::tempdir().expect("a directory");
    let mut command = command(&["advise", "--here", "--", "true"]);
    let child = command.env("XDG_CACHE_HOME", cache.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().expect("the program starts");
    let mut lines = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut printed = String::new();
    while !printed.contains("  round ") {
        assert!(lines.read_line(&mut printed).expect("readable") > 0, "{printed}");
    }
    interrupt(&child);
    lines.read_to_string(&mut printed).expect("readable");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{printed}");
    assert!(printed.trim_end().ends_with("nothing is kept"), "{printed}");
    assert_eq!(fs::read_dir(cache.path()).expect("it is there").count(), 0, "{printed}");
}
