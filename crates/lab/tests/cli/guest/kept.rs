//! Interruptions: the guest that was started ends, nothing else does, and what is finished is kept.
use super::fake::{BOOT, Fake, OVER, say, work};
use crate::common::{json, text};
use core::time::Duration;
use lab_kit::interrupt::is_ignored;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Instant;

/// The first guest is sound, the second says its number and hangs.
fn second_hangs() -> Fake {
    let sound = say(&[BOOT, &work("byte", 3, true), OVER]);
    let hangs = format!(
        "{} echo $$ > \"$dir/pid.new\"; mv \"$dir/pid.new\" \"$dir/pid\"; exec sleep 600",
        say(&[BOOT])
    );
    Fake::new(&format!("dir=$(dirname \"$0\")\ncase $words in *lock=byte*) {sound} exit 33;; esac\n{hangs}"))
}

fn started(fake: &Fake) -> (Child, u32) {
    let mut command = fake.command(&["--lock", "byte,qspin", "--seed", "1", "--json"]);
    command.arg(fake.path("r.json")).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the program starts");
    let pid = wait_for(|| fs::read_to_string(fake.path("pid")).ok());
    (child, pid.trim().parse().expect("a number"))
}

fn wait_for<T>(mut what: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = what() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_mins(2), "it does not come");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until the process is gone, or a zombie of whoever adopts it.
fn wait_until_gone(pid: u32) {
    let path = format!("/proc/{pid}/stat");
    wait_for(|| {
        let stat = fs::read_to_string(Path::new(&path)).unwrap_or_default();
        stat.rsplit(") ")
            .next()
            .is_none_or(|rest| rest.is_empty() || rest.starts_with(['Z', 'X']))
            .then_some(())
    });
}

#[test]
fn ctrl_c_and_sigterm_end_the_guest_and_keep_what_is_finished() {
    for signal in [Signal::INT, Signal::TERM] {
        // As SIGINT is in jobs in the background.
        if is_ignored(signal.as_raw()) {
            continue;
        }
        let fake = second_hangs();
        let mut bystander = std::process::Command::new("sleep").arg("600").spawn().expect("starts");
        let (child, guest) = started(&fake);
        kill_process(Pid::from_child(&child), signal).expect("it is there");
        let output = child.wait_with_output().expect("ends");
        let (out, err) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(output.status.code(), Some(130), "{out}{err}");
        assert!(out.lines().any(|line| line.contains("byte") && line.contains("3.00")), "{out}");
        assert!(err.contains("1 of 2 results are kept"), "{err}");
        let report = json(&fake.path("r.json"));
        assert_eq!((&report["complete"], report["runs"].as_array().map(Vec::len)), (&false.into(), Some(1)));
        wait_until_gone(guest);
        assert!(bystander.try_wait().expect("asked").is_none(), "nobody else is touched");
        bystander.kill().expect("ours");
        bystander.wait().expect("ends");
    }
}

#[test]
fn a_guest_does_not_outlive_a_command_that_was_killed() {
    let fake = second_hangs();
    let (mut child, guest) = started(&fake);
    child.kill().expect("ours");
    child.wait().expect("ends");
    wait_until_gone(guest);
    assert!(fake.path("r.json").exists(), "what was finished had been written");
}

#[test]
fn a_reader_who_has_seen_enough_does_not_end_the_run() {
    let test = r#"{"record":"test","name":"a","outcome":"ok"}"#;
    let tests = format!("for i in 1 2 3 4; do {test} sleep 0.3; done", test = say(&[test]));
    let fake = Fake::new(&format!("{} {tests}; {} exit 33", say(&[BOOT]), say(&[OVER])));
    let mut child = fake
        .command(&["--workload", "conform", "--json"])
        .arg(fake.path("r.json"))
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("ends").code(), Some(0));
    assert_eq!(json(&fake.path("r.json"))["runs"][0]["tests"].as_array().map(Vec::len), Some(4));
}

#[test]
fn the_serial_line_is_kept_as_it_was() {
    let fake = Fake::new(&format!("printf 'a\\377b\\n'; {} exit 33", say(&[BOOT, OVER])));
    let log = fake.path("log");
    let printed = fake.run(&["--workload", "boot", "--log", log.to_str().expect("text")]);
    assert_eq!(printed.code, Some(0), "{printed:?}");
    let bytes = fs::read(log).expect("written");
    assert!(bytes.starts_with(b"a\xffb\n{") && bytes.ends_with(b"true}\n"));
}
