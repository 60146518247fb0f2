//! `stanchion torture` from the outside: the real binary, short runs.
//!
//! That it catches each lock that is broken on purpose is the job `torture-busted` of CI.
mod common;

use common::{command, interrupt, json, passed, refused, stanchion, text};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Output, Stdio};

fn torture(words: &[&str]) -> Output {
    stanchion(&[&["torture"], words].concat())
}

/// Short runs until the lock is caught. Several, and longer ones: threads that have to meet may take their
/// time on a machine that is busy. The stall time is short too, but not so short that such a machine looks
/// stuck.
fn caught(lock: &str, more: &[&str]) -> Output {
    let args =
        ["--lock", lock, "--time", "500ms", "--stall-time", "1500ms", "--seed", "7", "--expect-failure"];
    torture(&[&args[..], &["--tries", "7"], more].concat())
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("torture ends by itself")
}

fn stdout(output: &Output) -> String {
    text(&output.stdout)
}

#[test]
fn a_lost_wake_up_is_reported_with_the_lock_and_its_waiters_and_does_not_hang() {
    let output = caught("busted-lost-wakeup", &[]);
    let text = stdout(&output);
    assert_eq!(code(&output), 0, "{text}");
    assert!(text.contains("STALL"), "{text}");
    assert!(text.contains("next ticket "), "the lock describes itself:\n{text}");
    let described = text.contains("writer 0 ") && text.contains("waiting for ");
    assert!(described, "the workers are described:\n{text}");
}

#[test]
fn a_lost_wake_up_is_found_without_any_extras_too() {
    let output = caught("busted-lost-wakeup", &["--without", "all"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
}

#[test]
fn expecting_failure_turns_the_exit_code_round() {
    let both = torture(&["--lock", "busted-none", "--time", "500ms", "--seed", "7"]);
    let failed = code(&both) == 1;
    assert_eq!(stdout(&both).contains("busted-none: FAILED: "), failed, "{}", stdout(&both));
    let args = ["--lock", "reference-tas", "--time", "200ms", "--expect-failure", "--tries", "2"];
    let survived = torture(&[&args[..], &["--seed", "7"]].concat());
    assert_eq!(code(&survived), 1, "{}", stdout(&survived));
    let line = "expected to fail, but survived: reference-tas";
    assert!(stdout(&survived).contains(line), "{}", stdout(&survived));
}

#[test]
fn sound_locks_pass() {
    // The default stall time, not the short one: this test must not fail because the machine is busy.
    // The whole family is the job `torture`'s.
    let locks =
        "reference-tas,parking-lot,reference-rw,reference-percpu-rw,parking-lot-rw,byte,qspin,stanchion,qrw";
    let text = passed(&["torture", "--lock", locks, "--time", "500ms", "--seed", "7", "--readers", "1"]);
    for lock in ["reference-tas", "parking-lot", "byte", "qspin", "stanchion", "qrw"] {
        assert!(text.contains(&format!("{lock}-torture: Writes:  Total: ")), "{text}");
        assert!(text.contains(&format!("{lock}-torture: Reads :  Total: ")), "{text}");
    }
    assert!(text.contains("Fail: 0") && !text.contains("!!!"), "{text}");
}

#[test]
fn readers_and_writers_both_have_their_line_and_readers_meet() {
    for lock in ["qrw", "percpu-rw"] {
        // Readers have to be inside at the same moment: longer, where the machine is busy.
        let told = ["1s", "4s", "16s"].iter().any(|time| {
            let output = torture(&["--lock", lock, "--time", time, "--seed", "7"]);
            let text = stdout(&output);
            assert_eq!(code(&output), 0, "{text}");
            assert!(text.contains("readers share), with "), "how many readers there are is said:\n{text}");
            for side in ["Writes:", "Reads :"] {
                assert!(text.contains(&format!("{lock}-torture: {side}  Total: ")), "{text}");
            }
            let what = text.lines().find(|line| line.starts_with(&format!("{lock}: ")));
            let line = what.expect("what readers did");
            assert!(line.contains(" readers met another"), "{line}");
            !line.contains(": 0 readers met") && !line.contains(" 0 downgrades")
        });
        assert!(told, "{lock}: no readers met, or nobody downgraded");
    }
}

#[test]
fn readers_that_exclude_each_other_are_reported() {
    let output = caught("busted-rw-serial", &[]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let says = "busted-rw-serial: FAILED: the lock: a reader kept another one out";
    assert!(stdout(&output).contains(says), "{}", stdout(&output));
}

#[test]
fn a_mutex_has_readers_only_on_request() {
    let output = torture(&["--lock", "byte", "--time", "300ms", "--seed", "7"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
    let text = stdout(&output);
    assert!(text.contains(" 0 readers, with "), "{text}");
    assert!(!text.contains("Reads :") && !text.contains("met another"), "{text}");
}

#[test]
fn what_only_a_lying_try_lock_breaks_is_sound_without_tries() {
    let output = torture(&["--lock", "busted-try", "--time", "1s", "--seed", "7", "--without", "tries"]);
    assert_eq!(code(&output), 0, "{}", stdout(&output));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn missing_orderings_are_beyond_torture_on_x86() {
    let output = torture(&["--lock", "busted-relaxed", "--time", "1s", "--seed", "7", "--expect-failure"]);
    // Built with ThreadSanitizer the same run is caught: CI's sanitizer job depends on that.
    if std::env::var_os("STANCHION_SANITIZER").is_some() {
        assert_eq!(code(&output), 0, "{}", stdout(&output));
    } else {
        assert_eq!(code(&output), 1, "{}", stdout(&output));
        assert!(stdout(&output).contains("survived: busted-relaxed"), "{}", stdout(&output));
    }
}

#[test]
fn bad_input_is_one_line_and_exit_2() {
    for (args, says) in [
        (&["--lock", "busted-nome"][..], "nearest are busted-none"),
        (&["--lock", "quspin"], "qspin"),
        (&["--without", "signal"], "nearest are signals"),
        (&["--writers", "0"], "--writers 0"),
        (&["--writers", "4097"], "invalid value '4097' for '--writers <N>': must be a number from 0 to 4096"),
        (&["--time", "0"], "invalid value '0' for '--time <TIME>': must be a time from 1ms to 864000s"),
        (
            &["--stall-time", "0"],
            "invalid value '0' for '--stall-time <TIME>': must be a time from 100ms to 3600s",
        ),
        (
            &["--stat-interval", "0"],
            "invalid value '0' for '--stat-interval <TIME>': must be a time from 1ms to 864000s",
        ),
        (&["--json", "/nonexistent/directory/results.json"], "/nonexistent/directory/results.json"),
        (&["--csv", "/"], "/ is a directory, not a file to write"),
        (&["--html", "/nonexistent/page"], "cannot write /nonexistent/page"),
        (&["--out", "/dev/null/x"], "cannot create the directory /dev/null/x"),
    ] {
        let error = refused(&[&["torture"], args].concat());
        assert!(error.contains(says), "{args:?}: {error}");
    }
}

#[test]
fn results_are_written_with_provenance_and_never_over_older_ones() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.json");
    let file = path.to_str().unwrap();
    let args = ["--lock", "reference-tas,busted-none", "--time", "1s", "--seed", "11", "--json", file];

    let output = torture(&args);
    assert_eq!(code(&output), 1, "{}", stdout(&output));
    let text = std::fs::read_to_string(&path).unwrap();
    let results = json(Path::new(file));
    assert_eq!(results["provenance"]["seed"], 11);
    assert_eq!(results["results"][0]["orders"]["lock"], "reference-tas");
    assert_eq!(results["results"][0]["failures"], serde_json::json!([]));
    assert_eq!(results["results"][1]["failures"][0]["kind"], "exclusion");

    assert!(refused(&[&["torture"], &args[..]].concat()).contains("--force"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "the older results are untouched");

    let forced = torture(&[&args[..], &["--force"]].concat());
    assert_eq!(code(&forced), 1, "{}", stdout(&forced));
    assert_ne!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn an_interrupted_run_keeps_and_prints_what_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let args =
        ["torture", "--lock", "reference-tas,byte", "--time", "600s", "--stat-interval", "100ms", "--out"];
    let mut command = command(&args);
    command.arg(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    // The first lock is under way.
    let mut text: String =
        lines.by_ref().find(|line| line.starts_with("reference-tas-torture: ")).expect("statistics");
    interrupt(&child);
    for line in lines {
        text += "\n";
        text += &line;
    }
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(code(&output), 130, "{text}");
    let error = common::text(&output.stderr);
    let says = "1 of 2 results are kept\nstanchion: interrupted; what was finished is above and in the files";
    assert!(error.contains(says), "it did not wait for the end of the run: {error}");
    assert!(text.contains("reference-tas-torture: End: Writes:  Total: "), "{text}");
    let results = &json(&folder.path().join("torture.json"))["results"];
    assert_eq!((results.as_array().map(Vec::len), &results[0]["interrupted"]), (Some(1), &true.into()));
    let read = |name| std::fs::read_to_string(folder.path().join(name)).expect("written");
    let (rows, page) = (read("torture.csv"), read("torture.html"));
    assert!(rows.starts_with("# stanchion torture, complete: false\n"), "{rows}");
    let rows: Vec<&str> = rows.lines().filter(|line| !line.starts_with('#')).collect();
    let acquired = &results[0]["finished"]["writes"]["total"];
    assert!(rows.len() == 2 && rows[1].starts_with("reference-tas,interrupted,"), "{rows:?}");
    assert!(rows[1].contains(&format!(",{acquired},")), "{acquired}: {rows:?}");
    assert!(page.contains("<b>unfinished run</b>") && page.contains(&format!(">{acquired}</td>")), "{page}");
}

#[test]
fn the_list_names_everything_that_can_be_asked_for() {
    let output = torture(&["--list"]);
    assert_eq!(code(&output), 0);
    for name in ["busted-none", "busted-percpu-rw", "busted-relaxed", "byte", "pv-qspin", "signals", "churn"]
    {
        assert!(stdout(&output).contains(name), "{name} is not listed");
    }
}
