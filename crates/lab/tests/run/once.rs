//! `stanchion run` through the real program, with a library of the test's own in place of the interposer.
use crate::common::interrupt;
use crate::preloaded::{Preload, line, refused, stanchion, text};
use core::time::Duration;
use lab_kit::interrupt::is_ignored;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;

#[test]
fn a_program_is_its_own_but_for_the_library_in_front() {
    let Some(preload) = Preload::build() else { return };
    let script = "read line; echo \"$line, $LOADED, $STANCHION\"; echo complaint >&2; exit 7";
    let mut child = preload
        .run(&["--quiet", "--lock", "unfair-q", "--set", "spin=5", "--", "sh", "-c", script])
        .env("STANCHION", "nopv,lock=byte,spin=9")
        .env("TMPDIR", "/no/such/directory")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    std::io::Write::write_all(&mut child.stdin.take().expect("a pipe"), b"input\n").expect("written");
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(text(&output.stdout), "input, yes, lock=unfair-q,spin=5,nopv\n");
    assert_eq!(text(&output.stderr), "complaint\n");
}

#[test]
fn the_default_lock_and_libc() {
    let Some(preload) = Preload::build() else { return };
    let script = "echo \"${LOADED-no} ${STANCHION-nothing} ${LD_PRELOAD-none}\"";
    let printed = |arguments: &[&str]| {
        let output =
            preload.run(arguments).args(["-q", "sh", "-c", script]).output().expect("the program starts");
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let library = preload.library().canonicalize().expect("exists").display().to_string();
    assert_eq!(printed(&[]), format!("yes lock=stanchion {library}\n"));
    assert_eq!(printed(&["--lock", "libc"]), "no nothing none\n");
    assert_eq!(printed(&["--lock", "libc-through"]), format!("yes lock=libc {library}\n"));
}

#[test]
fn what_the_loader_says_of_other_libraries_is_no_complaint() {
    let Some(preload) = Preload::build() else { return };
    let gone = preload.run(&["-q", "sh", "-c", "exit 3"]).env("LD_PRELOAD", "/nonexistent/gone.so").output();
    let gone = gone.expect("the program starts");
    assert_eq!(gone.status.code(), Some(3), "{}", text(&gone.stderr));
    assert!(text(&gone.stderr).contains("/nonexistent/gone.so"), "the loader says so in the program");
}

#[test]
fn advice_that_is_interrupted_twice_ends_with_the_program_and_leaves_no_files() {
    let dir = tempfile::tempdir().expect("a directory");
    let left = || fs::read_dir(dir.path()).expect("readable").count();
    let mut command =
        stanchion(&["advise", "--machine", "small-vm", "--quiet", "--", "sh", "-c", "read line"]);
    command.env("STANCHION_PRELOAD", crate::stats::library()).env_remove("LD_PRELOAD");
    command.env("TMPDIR", dir.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut advises = command.spawn().expect("the command starts");
    while left() < 2 {
        assert!(matches!(advises.try_wait(), Ok(None)), "it records until it is interrupted");
        thread::sleep(Duration::from_millis(5)); // until there are files of a recording
    }
    for _ in 0..2 {
        interrupt(&advises);
        thread::sleep(Duration::from_millis(50));
    }
    drop(advises.stdin.take()); // the program reads no line, and ends
    let output = advises.wait_with_output().expect("it ends");
    assert_eq!(left(), 0, "{output:?}");
}

#[test]
fn libc_without_a_library_needs_none() {
    let output = Command::new(env!("CARGO_BIN_EXE_stanchion"))
        .args(["run", "--lock", "libc", "--", "sh", "-c", "exit 3"])
        .env("STANCHION_PRELOAD", "/no/such/library.so")
        .output()
        .expect("the program starts");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(3), String::new()));
}

#[test]
fn an_end_by_a_signal_is_128_and_its_number() {
    let Some(preload) = Preload::build() else { return };
    for (signal, code) in [("TERM", 143), ("KILL", 137), ("SEGV", 139)] {
        let status =
            preload.run(&["-q", "sh", "-c", &format!("kill -{signal} $$")]).status().expect("starts");
        assert_eq!(status.code(), Some(code), "{signal}");
    }
}

/// Starts a script that says `ready` and then sleeps, sends `signal` to us, and returns what it said then and
/// our exit code.
fn signalled(preload: &Preload, options: &[&str], trap: &str, signal: Signal) -> (String, Option<i32>) {
    let script =
        format!("{trap} echo ready; i=0; while [ $i -lt 500 ]; do sleep 0.02; i=$((i+1)); done; echo never");
    let mut child = preload
        .run(options)
        .args(["-q", "sh", "-c", &script])
        // A group of its own, so that the test can be interrupted without it.
        .process_group(0)
        .stdout(Stdio::piped())
        // Where a shell says which signal ended its children.
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut ready = String::new();
    lines.read_line(&mut ready).expect("readable");
    assert_eq!(ready, "ready\n");
    kill_process(Pid::from_child(&child), signal).expect("it is there");
    let mut rest = String::new();
    lines.read_to_string(&mut rest).expect("readable");
    (rest, child.wait().expect("ends").code())
}

#[test]
fn signals_are_passed_on() {
    let Some(preload) = Preload::build() else { return };
    for options in [&[][..], &["--timeout", "100s"]] {
        for (signal, name) in
            [(Signal::INT, "INT"), (Signal::TERM, "TERM"), (Signal::HUP, "HUP"), (Signal::USR2, "USR2")]
        {
            // A shell can not trap what was ignored when it started, as SIGINT is in a job in the background.
            if is_ignored(signal.as_raw()) {
                continue;
            }
            let trap = format!("trap 'echo got {name}; exit 9' {name};");
            let (printed, code) = signalled(&preload, options, &trap, signal);
            assert_eq!((printed.as_str(), code), (format!("got {name}\n").as_str(), Some(9)), "{options:?}");
        }
        // What the program does not handle ends it, and us with its code.
        assert_eq!(signalled(&preload, options, "", Signal::TERM), (String::new(), Some(143)), "{options:?}");
    }
}

#[test]
fn what_is_ignored_outside_is_ignored_by_the_program() {
    let Some(preload) = Preload::build() else { return };
    let command = format!(
        "trap '' HUP; {} run -q -- sh -c 'kill -HUP $$; kill -HUP $PPID; sleep 0.1; echo alive'",
        env!("CARGO_BIN_EXE_stanchion")
    );
    let output = Command::new("sh")
        .args(["-c", &command])
        .env("STANCHION_PRELOAD", preload.library())
        .output()
        .expect("a shell");
    assert_eq!((text(&output.stdout).as_str(), output.status.code()), ("alive\n", Some(0)));
}

#[test]
fn a_timeout_ends_the_program_with_all_that_it_started() {
    let Some(preload) = Preload::build() else { return };
    // The pipe closes only when the last of them is gone: that this test ends is what it shows.
    let script = "trap '' TERM; sleep 500 & sleep 500; sleep 500";
    let output = preload
        .run(&["-q", "--timeout", "0.2s", "--", "sh", "-c", script])
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(124));
    assert_eq!(line(&output), "stanchion: ended the program after --timeout 0.2s");
    let quick = preload.run(&["-q", "--timeout", "100s", "sh", "-c", "exit 4"]).status().expect("starts");
    assert_eq!(quick.code(), Some(4));
}

#[test]
fn what_a_program_leaves_behind_lives_on_if_it_was_in_time() {
    let Some(preload) = Preload::build() else { return };
    let script = "exec 3<&0; { read line <&3; echo got $line; } & exit 4";
    let mut child = preload
        .run(&["-q", "--timeout", "1h", "--", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(4));
    // Nobody reads it if the child was ended.
    let _ = std::io::Write::write_all(&mut stdin.expect("a pipe"), b"input\n");
    let mut printed = String::new();
    stdout.expect("a pipe").read_to_string(&mut printed).expect("readable");
    assert_eq!(printed, "got input\n");
}

#[test]
fn a_program_without_locks_is_warned_of_and_runs() {
    let Some(preload) = Preload::build() else { return };
    let plain = preload.program("plain", "int main(void) { return 5; }");
    let output = preload.run(&[]).arg(&plain).output().expect("the program starts");
    assert_eq!(output.status.code(), Some(5));
    assert!(line(&output).contains("warning") && line(&output).contains("nothing to replace"));
    let locks = "#include <pthread.h>\npthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\n\
                 int main(void) { return pthread_mutex_lock(&m); }";
    let output = preload.run(&[]).arg(preload.program("locks", locks)).output().expect("the program starts");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn statistics_and_records_are_asked_of_the_library() {
    let Some(preload) = Preload::build() else { return };
    let record = preload.dir().join("trace");
    let script = "echo $STANCHION; echo figures > \"${STANCHION##*stats=}\"";
    let output = preload
        .run(&["-q", "--stats", "--record", "trace", "--", "sh", "-c", script])
        .current_dir(preload.dir())
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let words = text(&output.stdout);
    let expected = format!("lock=stanchion,record={}/.stanchion-record-", preload.dir().display());
    assert!(words.starts_with(&expected) && words.contains(",stats=/") && !record.exists(), "{words}");
    let printed = text(&output.stderr);
    let lines: Vec<&str> = printed.lines().collect();
    assert!(lines.len() == 2 && lines[0].contains("--stats: the file is not what the library"), "{printed}");
    assert!(lines[1].contains("--record: nothing was recorded"), "{printed}");
}

#[test]
fn a_trace_is_replaced_by_another_one_only() {
    let Some(preload) = Preload::build() else { return };
    let dir = preload.dir();
    fs::write(dir.join("old"), "precious").expect("written");
    let command = |words: &str| {
        let mut command = preload.run(&words.split(' ').collect::<Vec<_>>());
        command.current_dir(dir);
        command
    };
    for (words, why) in [
        ("--record old true", "old exists already; use --force"),
        ("--stats --force --record old --json /no/such/x true", "cannot write /no/such/x"),
        ("--stats --record new --json /no/such/x true", "cannot write /no/such/x"),
        ("--stats --record new --json ./new true", "named twice"),
        ("--stats --force --record old --json old true", "named twice"),
        ("--stats --stats-top 0 true", "0 is not in 1..=4294967295"),
    ] {
        let told = refused(&mut command(words));
        assert!(told.contains(why), "{words}: {told}");
    }
    let output = command("-q --force --record old true").output().expect("the program starts");
    assert!(line(&output).contains("--record: nothing was recorded"), "{output:?}");
    let advise = |keep: &str| {
        let mut command =
            stanchion(&["advise", "--machine", "small-vm", "--quiet", "--force", "--json", "new"]);
        command.args(["--keep", keep, "--", "true"]).current_dir(dir);
        command.env("STANCHION_PRELOAD", preload.library());
        command
    };
    let output = advise("old").output().expect("the program starts");
    let told = text(&output.stderr);
    assert!(output.status.code() == Some(2) && told.contains("--record: nothing was recorded"), "{told}");
    assert!(refused(&mut advise("new")).contains("named twice"));
    let mut onto_itself = stanchion(&["advise", "old", "--machine", "small-vm", "--force", "--csv", "./old"]);
    assert!(refused(onto_itself.current_dir(dir)).contains("named twice"));
    let mut left: Vec<_> =
        fs::read_dir(dir).expect("readable").map(|file| file.expect("a file").file_name()).collect();
    left.sort();
    assert_eq!(left, ["library.so", "library.so.c", "old"]);
    assert_eq!(fs::read_to_string(dir.join("old")).expect("there"), "precious");
}
