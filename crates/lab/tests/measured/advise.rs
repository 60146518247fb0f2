//! `stanchion advise` for the machine at hand.
use crate::common::command;
use crate::interrupted::interrupted;
use std::fs;

#[test]
fn a_machine_that_was_not_measured_to_the_end_is_not_kept() {
    let cache = tempfile::tempdir().expect("a directory");
    let mut command = command(&["advise", "--here", "--", "true"]);
    command.env("XDG_CACHE_HOME", cache.path());
    let (printed, _) = interrupted(&mut command, "  round ", || ());
    assert!(printed.trim_end().ends_with("nothing is kept"), "{printed}");
    assert_eq!(fs::read_dir(cache.path()).expect("it is there").count(), 0, "{printed}");
}
