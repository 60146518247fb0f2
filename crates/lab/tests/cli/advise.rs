//! `stanchion advise` as it is called.
use crate::common::{command, refusal, stanchion, text};
use std::fs;

#[test]
fn mistakes_are_refused_in_one_line() {
    let place = ["--machine", "small-vm"];
    for (words, part) in [
        (&[][..], "nothing to advise on: write -- and a program"),
        (&["trace", "--lock", "libc"], "--lock: libc's are what others are compared with"),
        (&["no-such-file", "--machine", "small-vm"], "no-such-file: "),
        (&["trace", "--machine", "small-wm"], "--machine small-wm: unknown machine"),
        (&["trace", "--lock", "tiket"], "--lock: unknown lock 'tiket'"),
        (&["trace", "--cpus", "0"], "'0' for '--cpus <N>': must be a number from 1 to 4096"),
        (&["trace", "--cpu-limit", "0"], "'0' for '--cpu-limit <CPUS>': must be a number from 0.01 to 1024"),
        (&["trace", "--seeds", "0"], "'0' for '--seeds <N>': must be a number from 1 to 100"),
        (&["trace", "--measured", "1=5,2=9"], "'1=5,2=9' for '--measured <LIST>': not three loads"),
        (&["--machine", "small-vm", "--", "/no/such/program"], "/no/such/program: there is no such program"),
    ] {
        let output = stanchion(&[&["advise"], words].concat());
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{words:?}: {told}");
        assert!(told.contains(part) && told.lines().count() == 1, "{words:?}: {told}");
        assert!(output.stdout.is_empty(), "{words:?}");
    }
    let dir = tempfile::tempdir().expect("a directory");
    let (no_trace, json) = (dir.path().join("no-trace"), dir.path().join("advice.json"));
    fs::write(&no_trace, "nothing of ours").expect("written");
    let json = json.to_string_lossy().into_owned();
    let output = stanchion(&["advise", &no_trace.to_string_lossy(), place[0], place[1], "--json", &json]);
    let told = text(&output.stderr);
    assert!(told.contains("is no trace of") && told.contains("stands behind '--'"), "{told}");
    assert!(!std::path::Path::new(&json).exists(), "a refusal leaves no file behind");
    // Measuring this machine would be told, in a second line.
    for name in [no_trace.to_string_lossy().as_ref(), "no-such-file"] {
        let told = refusal(command(&["advise", name]).env("XDG_CACHE_HOME", dir.path()));
        assert!(told.contains("stands behind '--'"), "{told}");
    }
    let kept = no_trace.to_string_lossy().into_owned();
    for (flag, part) in [("--json", "exists already"), ("--csv", "exists already"), ("--keep", "--keep: ")] {
        let words = ["advise", flag, &kept, "--", "true"];
        let told = refusal(command(&words).env("XDG_CACHE_HOME", dir.path()));
        assert!(told.contains(part) && told.contains("exists already"), "{flag}: {told}");
        let nowhere = refusal(
            command(&["advise", flag, "/nonexistent/x", "--", "true"]).env("XDG_CACHE_HOME", dir.path()),
        );
        assert!(nowhere.contains("cannot write /nonexistent/x"), "{flag}: {nowhere}");
    }
    let out = dir.path().join("out").to_string_lossy().into_owned();
    let words = ["advise", "--out", &out, "--machine", "small-wm", "--", "true"];
    assert!(refusal(&mut command(&words)).contains("unknown machine"));
    assert!(!std::path::Path::new(&out).exists(), "a refusal leaves no directory behind");
    assert_eq!(fs::read(&no_trace).expect("readable"), b"nothing of ours");
}
