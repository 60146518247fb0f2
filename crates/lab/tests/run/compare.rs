//! Small runs of `stanchion run --compare` through the real program.
use crate::interrupted::interrupted;
use crate::preloaded::{Preload, json, refused, text};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Prints a number that depends on the lock: 100 under libc, 200 under qspin.
const SCRIPT: &str =
    "read line && exit 9; case $STANCHION in *lock=qspin*) echo rate: 200;; *) echo rate: 100;; esac";

#[test]
fn numbers_of_the_output_are_compared_and_written() {
    let Some(preload) = Preload::build() else { return };
    let (file, table) = (preload.dir().join("r.json"), preload.dir().join("r.csv"));
    let output = preload
        .run(&[
            "--compare",
            "--quiet",
            "--lock",
            "libc,qspin",
            "--rounds",
            "5",
            "--warm-up-rounds",
            "1",
            "--seed",
            "3",
        ])
        .args(["--metric", "rate: ([0-9]+)", "--higher-is-better", "--json"])
        .arg(&file)
        .arg("--csv")
        .arg(&table)
        .args(["--", "sh", "-c", SCRIPT])
        .output()
        .expect("the program starts");
    let printed = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{printed}{}", text(&output.stderr));
    assert!(printed.contains("2.000 (2.000–2.000)") && printed.contains("better"), "{printed}");
    assert!(!printed.contains("rate: 100"), "what it printed is not shown");
    let report = json(&file);
    assert_eq!((&report["complete"], &report["provenance"]["seed"]), (&true.into(), &3.into()));
    assert_eq!(report["setting"]["order"], "shuffled");
    assert_eq!(report["locks"][1]["ratio"]["ratio"], 2.0);
    assert_eq!(report["locks"][1]["ratio"]["pairs"], 5);
    assert_eq!(report["locks"][1]["runs"].as_array().map(Vec::len), Some(6), "with the warm-up");
    assert!(report["locks"][0]["runs"][0]["wall_s"].as_f64().is_some_and(|wall| wall > 0.0));
    let rows = fs::read_to_string(&table).expect("written");
    assert_eq!(rows.lines().filter(|line| !line.starts_with('#')).count(), 1 + 12);
    let again = refused(preload.run(&["--compare", "--json"]).arg(&file).args(["--", "true"]));
    assert!(again.contains("exists already"), "{again}");
}

#[test]
fn runs_that_fail_hang_or_print_something_else_are_told_by_lock() {
    let Some(preload) = Preload::build() else { return };
    let script = "case $STANCHION in *lock=qspin*) echo ouch >&2; exit 3;; *lock=byte*) sleep 500;; \
                  *lock=ppc-simple*) echo wrong;; *) echo right;; esac";
    let output = preload
        .run(&[
            "--compare",
            "-q",
            "--lock",
            "libc,qspin,byte,ppc-simple,cna",
            "--rounds",
            "3",
            "--timeout",
            "1s",
        ])
        .args(["--check-output", "--", "sh", "-c", script])
        .output()
        .expect("the program starts");
    let (printed, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{printed}{error}");
    assert!(error.contains("qspin: 3 of 3 runs failed and do not count: exit code 3: ouch"), "{error}");
    assert!(error.contains("byte: 2 of 2 runs failed") && error.contains("not run any more"), "{error}");
    assert!(
        error.contains("ppc-simple: 3 of 3")
            && error.contains("something else than the first run, under libc"),
        "{error}"
    );
    assert!(!error.contains("cna:") || error.contains("cna: noisy"), "{error}");
}

#[test]
fn output_is_shown_on_standard_error_if_asked_for() {
    let Some(preload) = Preload::build() else { return };
    let output = preload
        .run(&["--compare", "--rounds", "1", "--show-output", "--", "sh", "-c", "echo hello from $STANCHION"])
        .output()
        .expect("the program starts");
    let error = text(&output.stderr);
    assert!(error.contains("hello from\n") && error.contains("hello from lock=stanchion\n"), "{error}");
    assert!(error.contains("too few runs") && error.contains("round 1 of 1 done"), "{error}");
    assert!(!text(&output.stdout).contains("hello"));
}

#[test]
fn an_interruption_ends_the_run_and_keeps_what_is_finished() {
    let Some(preload) = Preload::build() else { return };
    let (file, flag) = (preload.dir().join("r.json"), preload.dir().join("flag"));
    // The first two runs end, the third waits to be interrupted.
    let script = format!("echo x >> {0}; [ $(wc -l < {0}) -lt 3 ] || sleep 500", flag.display());
    let mut command = preload.run(&["--compare", "--rounds", "50", "--json"]);
    command.arg(&file).args(["--", "sh", "-c", &script]);
    let (printed, stdout) = interrupted(&mut command, "round 1 of 50 done", || {
        while fs::read_to_string(&flag).expect("written").lines().count() < 3 {
            std::thread::sleep(core::time::Duration::from_millis(10));
        }
    });
    assert!(printed.contains("interrupted") && text(&stdout).contains("1 of 1"), "{printed}");
    let report = json(&file);
    assert_eq!(report["complete"], false);
    let runs = |lock: usize| report["locks"][lock]["runs"].as_array().map(Vec::len);
    assert_eq!((runs(0), runs(1)), (Some(1), Some(1)));
}

#[test]
fn what_is_ignored_outside_interrupts_nothing() {
    let Some(preload) = Preload::build() else { return };
    let stanchion = env!("CARGO_BIN_EXE_stanchion");
    let run = format!("trap '' HUP; exec {stanchion} run --compare -q --rounds 1 -- sh -c 'kill -HUP $PPID'");
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", &run]).env("STANCHION_PRELOAD", preload.library()).output();
    let output = output.expect("a shell");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn a_program_dies_with_who_compares_it() {
    let Some(preload) = Preload::build() else { return };
    let pipe = preload.dir().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    // The pipe ends with the shell, as no other process has it.
    let script = format!("exec 3> {}; echo ready >&3; sleep 60 3>&-; echo outlived >&3", pipe.display());
    let mut child = preload
        .run(&["--compare", "-q", "--", "sh", "-c", &script])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(fs::File::open(&pipe).expect("it is there"));
    let mut printed = String::new();
    lines.read_line(&mut printed).expect("readable");
    child.kill().expect("it is there");
    child.wait().expect("it ends");
    lines.read_to_string(&mut printed).expect("readable");
    assert_eq!(printed, "ready\n");
}

#[test]
fn memory_is_told_and_doubted_where_it_is_our_own() {
    let Some(preload) = Preload::build() else { return };
    let run = |source: &str| {
        let program = preload.program("eater", source);
        let arguments = ["--compare", "-q", "--metric", "rss", "--rounds", "1", "--lock", "libc,qspin", "--"];
        let output = preload.run(&arguments).arg(program).output().expect("the program starts");
        assert_eq!(output.status.code(), Some(0));
        text(&output.stderr)
    };
    let eats = "#include <stdlib.h>\n#include <string.h>\n\
                int main(void) { size_t n = 300u << 20; char *p = malloc(n); memset(p, 1, n); return p[n / 2] - 1; }";
    assert!(!run(eats).contains("whoever starts it has"));
    assert!(run("int main(void) { return 0; }").contains("whoever starts it has"));
}
