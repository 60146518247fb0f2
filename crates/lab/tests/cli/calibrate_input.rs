//! Bad input to `stanchion calibrate`, through the real program: one line, exit code 2, and nothing is
//! measured before.
use crate::common::refused;

// Measuring would have warned, and shown its progress.
fn check_refusal(arguments: &[&str], reason: &str) {
    let error = refused(&[&["calibrate"], arguments].concat());
    assert!(error.contains(reason), "{arguments:?}: {error}");
}

#[test]
fn a_comparison_is_refused_before_anything_is_measured() {
    check_refusal(&["--compare", "--threads", "0"], "--threads");
    check_refusal(&["--compare", "--profile", "nope"], "nope");
    check_refusal(&["--compare", "--rounds", "0"], "--rounds");
    check_refusal(&["--compare", "--lock", "tiket"], "ticket");
    check_refusal(&["--compare", "--time", "5"], "--time");
    check_refusal(&["--compare", "--bench-json", "/nonexistent"], "cannot read /nonexistent");
    check_refusal(&["--compare", "--bench-json", "/etc/passwd"], "no result of stanchion bench");
    check_refusal(&["--compare", "--bench-json", "/dev/zero"], "/dev/zero is no file of at most 256 MiB");
    check_refusal(&["--compare", "--seeds", "0"], "--seeds");
    check_refusal(&["--compare", "--sim-time", "0"], "--sim-time");
    check_refusal(&["--compare", "--sim-time", "5 parsecs"], "--sim-time");
    check_refusal(&["--compare", "--toml", "/tmp/x.toml"], "--toml");
}

#[test]
fn a_calibration_is_refused_before_anything_is_measured() {
    check_refusal(&["--cpus", "100000"], "100000");
    check_refusal(&["--threads", "2"], "--compare");
    check_refusal(&["--name", ""], "--name");
    check_refusal(&["--toml", "-"], "'-' is no file");
    check_refusal(&["--toml", "/nonexistent/machine.toml"], "cannot write /nonexistent/machine.toml");
}
