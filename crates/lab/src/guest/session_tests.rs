//! Sessions with a shell in QEMU's place.
use super::super::transcript::State;
use super::*;
use std::process::Stdio;

const SOUND: &str = r#"echo booting; echo '{"record":"boot","version":1,"vcpus":4,"nodes":1,"hypervisor":"TCG","tsc_hz":1,"x2apic":true,"steal_time":false,"kick_hypercall":false,"yield_hypercall":false,"boot_ns":5}'"#;
const OVER: &str = r#"echo '{"record":"end","ok":true}'; exit 33"#;

const TRIAL: (&str, usize) = ("byte", 0);

/// Stops after so many records.
fn watcher(stop_at: usize) -> impl FnMut(Option<&Record>) -> bool {
    let mut records = 0;
    move |record| {
        records += usize::from(record.is_some());
        records >= stop_at
    }
}

fn run(script: &str, seconds: f64, stop_at: usize) -> Run {
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdin(Stdio::null());
    let limits = [Duration::from_secs_f64(seconds); 2];
    super::run(&mut command, TRIAL, limits, None, &mut watcher(stop_at)).expect("a shell")
}

fn reason(session: &Run) -> String {
    session.reason.clone().expect("a reason")
}

#[test]
fn a_good_guest_is_finished_and_everything_is_read() {
    let session = run(&format!("{SOUND}; {OVER}"), 100.0, usize::MAX);
    assert_eq!((session.state, session.ending), (State::Finished, Ending::Own));
    assert!(session.reason.is_none() && session.cost.boot_wall_s.is_some());
    assert_eq!(session.log, ["booting"]);
}

#[test]
fn a_guest_that_hangs_is_killed_and_so_are_its_children() {
    let session = run(&format!("{SOUND}; sleep 600"), 0.2, usize::MAX);
    assert_eq!(session.state, State::Killed, "{session:?}");
    assert!(session.cost.qemu_wall_s < 60.0);
    let session = run("sleep 600", 0.2, usize::MAX);
    assert_eq!(session.ending, Ending::NotUp);
}

#[test]
fn a_flood_of_lines_does_not_keep_it_from_being_killed() {
    let session = run(&format!("{SOUND}; yes"), 0.3, usize::MAX);
    assert_eq!(session.state, State::Killed, "{:?}", session.ending);
}

#[test]
fn one_that_closes_its_serial_line_does_not_go_on_for_ever() {
    let session = run(&format!("{SOUND}; exec >&-; sleep 600"), 600.0, usize::MAX);
    assert!(reason(&session).contains("serial line"), "{session:?}");
    assert!(session.cost.qemu_wall_s < 60.0);
    let session = run(&format!("{SOUND}; exec >&-; sleep 600"), 600.0, 1);
    assert_eq!(session.ending, Ending::Stopped);
}

#[test]
fn a_user_who_stops_is_heard_at_once() {
    let session = run(&format!("{SOUND}; sleep 600"), 600.0, 1);
    assert_eq!(session.ending, Ending::Stopped);
    assert!(session.cost.qemu_wall_s < 60.0);
}

#[test]
fn an_emulator_that_dies_is_quoted() {
    let script = "(echo 'qemu: warning: odd'; echo 'qemu: no such machine'; echo 'more') >&2; exit 1";
    let printed = reason(&run(script, 100.0, usize::MAX));
    assert_eq!(printed, "the guest did not come up: QEMU ended with exit code 1: qemu: no such machine");
    let printed = reason(&run(&format!("{SOUND}; kill -9 $$"), 100.0, usize::MAX));
    assert!(printed.contains("died without a word") && printed.contains("signal 9"), "{printed}");
}

#[test]
fn the_log_has_every_byte() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("log");
    let mut file = File::create(&path).expect("created");
    let mut command = Command::new("sh");
    let script = format!("printf '\\377\\n'; {SOUND}; printf half");
    command.args(["-c", &script]);
    let limits = [Duration::from_mins(1); 2];
    let mut watcher = watcher(usize::MAX);
    super::run(&mut command, TRIAL, limits, Some(&mut file), &mut watcher).expect("a shell");
    let bytes = std::fs::read(&path).expect("written");
    assert!(bytes.starts_with(b"\xff\nbooting\n{") && bytes.ends_with(b"}\nhalf"));

    let mut full = File::options().write(true).open("/dev/full").expect("Linux has it");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{SOUND}; sleep 600")]);
    let error = super::run(&mut command, TRIAL, limits, Some(&mut full), &mut watcher).expect_err("no room");
    assert!(error.to_string().starts_with("--log: "), "{error}");
}
