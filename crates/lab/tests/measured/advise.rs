//! `stanchion advise` for the machine at hand.
use crate::common::command;
use crate::interrupted::interrupted;
use std::fs;
use std::path::Path;

#[test]
fn a_machine_that_was_not_measured_to_the_end_is_not_kept() {
    let cache = tempfile::tempdir().expect("a directory");
    let mut command = command(&["advise", "--here", "--", "true"]);
    command.env("XDG_CACHE_HOME", cache.path());
    let (printed, _) = interrupted(&mut command, "  round ", || ());
    assert!(printed.trim_end().ends_with("nothing is kept"), "{printed}");
    assert_eq!(fs::read_dir(cache.path()).expect("it is there").count(), 0, "{printed}");

    // One that was kept by another version is measured anew, and stays until that is done.
    let (_, path) = printed.split_once("kept in ").expect("it says where");
    let path = Path::new(path.lines().next().expect("a line"));
    fs::create_dir_all(path.parent().expect("a directory")).expect("writable");
    fs::write(path, "name = \"here\"\n").expect("writable");
    let (printed, _) = interrupted(&mut command, "  round ", || ());
    assert!(printed.contains("missing") && printed.contains("is measured once"), "{printed}");
    assert_eq!(fs::read_to_string(path).expect("it is still there"), "name = \"here\"\n");
}
