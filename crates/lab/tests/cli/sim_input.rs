//! Bad input to `stanchion sim`, through the real program: one line, exit code 2, nothing simulated.
use crate::common::{self, passed};
use std::fs;

fn refused(words: &[&str]) -> String {
    common::refused(&[&["sim"], words].concat())
}

#[test]
fn unknown_names_are_answered_with_the_nearest() {
    assert!(refused(&["--lock", "tiket"]).contains("ticket"));
    assert!(refused(&["--machine", "smal-vm"]).contains("small-vm"));
    assert!(refused(&["--workload", "shrot"]).contains("short"));
    assert!(refused(&["--set", "memory.remote-dirt=1"]).contains("memory.remote-dirty"));
    assert!(refused(&["--set", "hypervisor.slise=1ms"]).contains("slice"));
    assert!(refused(&["--set", "workload.critcal=1"]).contains("workload.critical"));
    assert!(refused(&["--trheads", "2"]).contains("--threads"));
}

#[test]
fn settings_in_names_of_locks_are_checked() {
    assert!(
        refused(&["--lock", "stanchin:turns=0"]).contains("unknown lock 'stanchin': nearest are stanchion")
    );
    assert!(refused(&["--lock", "stanchion:tuns=0"]).contains("nearest are turns"));
    assert!(refused(&["--lock", "cna:turns=0"]).contains("does not belong to lock 'cna'"));
    assert!(refused(&["--lock", "stanchion:turns=x"]).contains("'x' is no number"));
    assert!(refused(&["--lock", "percpu-rw+rw-simple:turns=1"]).contains("has no tunables"));
}

#[test]
fn absurd_values_are_refused() {
    for threads in ["0", "5000", "-1", "0x", "two", "", "9-3"] {
        assert!(refused(&[&format!("--threads={threads}")]).contains("--threads"), "{threads}");
    }
    for multiple in ["0", "-1", "x", "99999", ""] {
        assert!(refused(&[&format!("--overcommit={multiple}")]).contains("--overcommit"), "{multiple}");
    }
    for time in ["0", "0s", "-5ms", "5", "fast", "10000000h"] {
        assert!(refused(&[&format!("--time={time}")]).contains("--time"), "{time}");
    }
    for (flag, value) in
        [("--seeds", "0"), ("--seeds", "1001"), ("--seed", "x"), ("--event-limit", "0"), ("--jobs", "0")]
    {
        assert!(refused(&[flag, value]).contains(flag), "{flag} {value}");
    }
    assert!(refused(&["--seeds", "0"]).contains("must be a number from 1 to 1000"));
    assert!(refused(&["--time", "0s"]).contains("--time: nothing happens in no time"));
    for set in
        ["memory.hit", "memory.hit=", "memory.hit=-1", "topology.sockets=9999999", "=", "memory.hit=1y"]
    {
        assert!(!refused(&["--set", set]).is_empty(), "{set}");
    }
}

#[test]
fn what_does_not_fit_on_the_machine_is_refused_before_anything_runs() {
    let error = refused(&["--machine", "xeon-e7-8895v3-4x18x2", "--threads", "1,145"]);
    assert!(error.contains("145 vCPUs do not fit"), "{error}");
    assert!(refused(&["--machine", "/no/such/file.toml"]).contains("/no/such/file.toml"));
}

#[test]
fn a_trace_of_several_runs_is_refused_and_creates_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("trace.json");
    let path = file.to_str().expect("plain path");
    assert!(refused(&["--trace", path]).contains("show one run"));
    let one = ["--lock", "byte", "--threads", "2"];
    assert!(refused(&[&one[..], &["--timeline", path, "--seeds", "2"]].concat()).contains("--seeds 1"));
    assert!(refused(&[&one[..], &["--trace", path, "--timeline", path]].concat()).contains("named twice"));
    let nowhere = refused(&[&one[..], &["--timeline", "no-such-directory/file"]].concat());
    assert!(nowhere.contains("cannot write no-such-directory/file"), "{nowhere}");
    assert!(refused(&[&one[..], &["--trace-time", "1ms"]].concat()).contains("--trace FILE"));
    assert!(!file.exists());
    fs::write(&file, "precious").expect("written");
    assert!(refused(&[&one[..], &["--trace", path]].concat()).contains("exists already"));
    assert_eq!(fs::read_to_string(&file).expect("readable"), "precious");
}

#[test]
fn existing_and_unwritable_output_is_refused() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("sim.json");
    fs::write(&file, "precious").expect("written");
    let error = refused(&["--out", dir.path().to_str().expect("plain path")]);
    assert!(error.contains("sim.json exists already") && error.contains("--force"), "{error}");
    assert_eq!(fs::read_to_string(&file).expect("readable"), "precious");
    assert!(refused(&["--csv", "/proc/nobody/x.csv"]).contains("cannot write /proc/nobody/x.csv"));
}

#[test]
fn help_tells_the_exit_codes_and_list_tells_the_names() {
    let help = passed(&["sim", "--help"]);
    assert!(help.contains("130 interrupted") && help.contains("--threads"), "{help}");
    let list = passed(&["sim", "--list"]);
    for name in ["small-vm", "xen-2cpu", "medium", "pv-qspin", "ticket"] {
        assert!(list.contains(name), "{name}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(passed(&["completions", shell]).contains("overcommit"), "{shell}");
    }
}
