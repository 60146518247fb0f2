//! Bad input to `stanchion bench`, through the real program: one line, exit code 2, nothing measured.
use crate::common::{passed, refused, stanchion};
use std::fs;
use std::path::Path;

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    assert!(refused(&["bench", "--lock", "parkinglot"]).contains("parking_lot"));
    assert!(refused(&["bench", "--lock", "tiket"]).contains("ticket"));
    assert!(refused(&["bench", "--peers", "usinc"]).contains("usync"));
    for none in ["", " ", ","] {
        assert!(refused(&["bench", "--lock", none]).contains("--lock: "), "{none:?}");
        assert!(refused(&["bench", "--peers", none]).contains("names nothing"), "{none:?}");
    }
    assert!(refused(&["bench", "--profile", "shrot"]).contains("short"));
    assert!(refused(&["bench", "--profile", "cs=5ns,thnik=5ns"]).contains("think"));
    assert!(refused(&["bench", "--trheads", "2"]).contains("--threads"));
    assert!(refused(&["bnech"]).contains("bench"));
    assert!(refused(&["completions", "bsh"]).contains("bash"));
}

#[test]
fn settings_in_names_of_locks_are_checked() {
    assert!(refused(&["bench", "--lock", "stanchin:turns=0"]).contains("nearest are stanchion"));
    assert!(refused(&["bench", "--lock", "stanchion:tuns=0"]).contains("nearest are turns"));
    assert!(refused(&["bench", "--lock", "cna:turns=0"]).contains("does not belong to lock 'cna'"));
    assert!(refused(&["bench", "--lock", "stanchion:turns=x"]).contains("'x' is no number"));
    assert!(refused(&["bench", "--peers", "std:turns=0"]).contains("has no tunables"));
    assert!(refused(&["bench", "--lock", "qrw:turns=0"]).contains("does not belong to lock 'qrw'"));
}

#[test]
fn absurd_numbers_are_refused() {
    for threads in ["0", "5000", "-1", "0x", "1e9", "two", "", "9-3"] {
        assert!(refused(&["bench", &format!("--threads={threads}")]).contains("--threads"));
    }
    for time in ["0", "0s", "-5ms", "5", "fast", "10000000h"] {
        assert!(refused(&["bench", &format!("--time={time}")]).contains("--time"));
    }
    assert!(refused(&["bench", "--rounds", "0"]).contains("--rounds"));
    assert!(refused(&["bench", "--seed", "x"]).contains("--seed"));
    for words in ["bench --json -", "sim --out -", "sweep g.toml --out -"] {
        assert!(refused(&words.split(' ').collect::<Vec<_>>()).contains("'-' is no file"), "{words}");
    }
    assert!(refused(&["bench", "--cpus", "99999"]).contains("may not use CPU 99999"));
    assert!(refused(&["bench", "--lock", "none", "--peers", "none"]).contains("no lock is left"));
    assert!(refused(&["bench", "--threads"]).contains("--threads"));
    for [flag, value] in [["--threads", "2"], ["--profile", "short"], ["--cpu-limit", "1"]] {
        assert!(refused(&["bench", "--uncontended", flag, value]).contains(flag));
    }
    assert!(refused(&["bench", "--uncontended", "--readers=1", "--writers=1"]).contains("--readers"));
}

#[test]
fn bad_input_about_readers_and_writers_is_refused() {
    let refused = |more: &[&str]| refused(&[&["bench"], more].concat());
    assert!(refused(&["--lock", "pecpu-rw"]).contains("percpu-rw"));
    assert!(refused(&["--rw", "--peers", "parkinglot"]).contains("parking_lot"));
    assert!(refused(&["--reads", "101"]).contains("--reads"));
    assert!(refused(&["--rw", "--threads", "0"]).contains("--threads"));
    assert!(refused(&["--readers", "2"]).contains("--writers"));
    assert!(refused(&["--readers", "2", "--writers", "1", "--reads", "50"]).contains("--read"));
    assert!(refused(&["--readers=0", "--writers=1"]).contains("--readers"));
    assert!(refused(&["--raeds", "50"]).contains("--reads"));
    assert!(refused(&["--rw", "--lock", "none", "--peers", "none"]).contains("no lock is left"));
    assert!(refused(&["--lock", "qrw,ticket"]).contains("type 'stanchion bench --lock ticket'"));
    // There was a command of its own.
    assert!(refused(&["rw"]).contains("rw"));
    assert_eq!(stanchion(&["bench", "--quick", "rw"]).status.code(), Some(2));
}

#[test]
fn existing_output_is_refused_and_left_alone() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("result.json");
    fs::write(&file, "precious").expect("written");
    let path = file.to_str().expect("plain path");
    let error = refused(&["bench", "--json", path]);
    assert!(error.contains("exists already") && error.contains("--force"), "{error}");
    assert_eq!(fs::read_to_string(&file).expect("readable"), "precious");
}

#[test]
fn unwritable_output_is_refused() {
    assert!(Path::new("/proc").is_dir());
    assert!(
        refused(&["bench", "--csv", "/proc/nobody/result.csv"])
            .contains("cannot write /proc/nobody/result.csv")
    );
    assert!(refused(&["bench", "--out", "/proc/nobody"]).contains("/proc/nobody"));
    let dir = tempfile::tempdir().expect("a temporary directory");
    assert!(
        refused(&["bench", "--html", dir.path().to_str().expect("plain path")]).contains("is a directory")
    );
}

#[test]
fn a_refusal_creates_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().join("out");
    let path = out.to_str().expect("plain path");
    assert!(refused(&["bench", "--out", path, "--threads", "0"]).contains("--threads"));
    assert!(!out.exists());
}

#[test]
fn help_tells_the_exit_codes_and_list_tells_the_names() {
    let help = passed(&["bench", "--help"]);
    assert!(help.contains("--writers") && help.contains("130 interrupted"), "{help}");
    let list = passed(&["bench", "--list"]);
    let rw = ["percpu-rw-fenced", "pthread-writers", "crossbeam-sharded", "24 B a class"];
    for name in ["pv-qspin", "parking_lot", "spin-park", "medium"].iter().chain(&rw) {
        assert!(list.contains(name), "{name}: {list}");
    }
    assert!(!list.contains("busted-none") && list.lines().all(|line| line.len() <= 100), "{list}");
}

#[test]
fn completions_know_the_flags() {
    for shell in ["bash", "zsh", "fish"] {
        let script = passed(&["completions", shell]);
        assert!(script.contains("latency-time") && script.contains("readers"), "{shell}");
        assert!(!script.contains("bench-worker"), "{shell}: hidden commands stay hidden");
    }
}
