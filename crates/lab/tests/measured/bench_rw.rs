//! `stanchion bench rw` through the real program: tiny runs, a lock that must be caught, bad input.
use crate::common::{self, command, interrupt, json, passed, stanchion, text};
use core::time::Duration;
use std::fs;
use std::process::{Output, Stdio};
use std::time::Instant;

/// Milliseconds, few rounds.
const TINY: [&str; 11] =
    ["bench", "rw", "--quiet", "--time", "5ms", "--rounds", "2", "--latency-rounds", "1", "--seed", "7"];

fn tiny(more: &[&str]) -> Output {
    stanchion(&[&TINY, more].concat())
}

fn refused(more: &[&str]) -> String {
    common::refused(&[&["bench", "rw"], more].concat())
}

/// Every lock is run so at night.
#[test]
fn a_tiny_run_is_sound_and_writes_all_files() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().join("out");
    let path = out.to_str().expect("plain path");
    // A generous drain: on a loaded machine a FIFO lock may need it even for three threads.
    let output = tiny(&[
        "--lock",
        "qrw,percpu-rw",
        "--threads",
        "1,3",
        "--profile",
        "cs=100ns,think=1us",
        "--reads",
        "100,90",
        "--drain",
        "60s",
        "--out",
        path,
    ]);
    let (text, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{text}\n{error}");
    assert!(text.contains("== 100ns-1us, 90 % reads ==") && text.contains("seed 7"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100 || line.starts_with("written")), "{text}");

    let report = json(&out.join("bench-rw.json"));
    assert_eq!((&report["complete"], &report["provenance"]["seed"]), (&true.into(), &7.into()));
    let locks = report["locks"].as_array().expect("a list");
    assert_eq!(locks.len(), 6, "two of ours, four peers: {locks:?}");
    let cells = report["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), locks.len() * 2 * 2);
    for cell in cells {
        assert_eq!(cell["state"], "measured", "{cell}");
        assert_eq!(cell["reads"]["throughput"]["rounds"].as_array().map(Vec::len), Some(2), "{cell}");
        assert!(cell["reads"]["latency"]["p999_ns"].is_u64(), "{cell}");
        // Whether anybody writes is the share's decision.
        let writes = cell["reads_percent"].as_f64() != Some(100.0);
        assert_eq!(cell["writes"]["latency"]["worst_ns"].is_u64(), writes, "{cell}");
        assert_eq!(cell["writes"]["throughput"].is_object(), writes, "{cell}");
    }
    // One write to nine reads, over all of them.
    let sum = |side: &str| -> f64 {
        let of_share = cells.iter().filter(|cell| cell["reads_percent"] == 90.0);
        of_share.filter_map(|cell| cell[side]["throughput"]["median"].as_f64()).sum()
    };
    let (reads, writes) = (sum("reads"), sum("writes"));
    assert!((4.0..20.0).contains(&(reads / writes)), "{reads} reads and {writes} writes a second");
    for row in report["uncontended"].as_array().expect("a list") {
        assert!(
            row["read_ns"]["min"].as_f64() > Some(0.0) && row["write_ns"]["min"].as_f64() > Some(0.0),
            "{row}"
        );
    }
    let csv = fs::read_to_string(out.join("bench-rw.csv")).expect("written");
    assert_eq!(csv.lines().filter(|line| !line.starts_with('#')).count(), 1 + cells.len());
    let html = fs::read_to_string(out.join("bench-rw.html")).expect("written");
    assert!(html.contains("</html>") && !html.contains("http://") && !html.contains("https://"));
}

#[test]
fn dedicated_readers_and_writers_do_one_thing_only() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("result.json");
    let output = tiny(&[
        "--lock",
        "rw-simple",
        "--peers",
        "std",
        "--readers",
        "1,2",
        "--writers",
        "0,1",
        "--profile",
        "medium",
        "--time",
        "50ms",
        "--drain",
        "60s",
        "--json",
        file.to_str().expect("plain path"),
    ]);
    let text = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("== medium, 0 writers ==") && text.contains("== medium, 1 writer =="), "{text}");
    assert!(text.contains("readers (per CPU)"), "{text}");
    let report = json(&file);
    let cells = report["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 2 * 2 * 2);
    for cell in cells {
        let writers = cell["writers"].as_u64().expect("a number");
        assert!(cell["threads"].as_u64() > Some(writers), "{cell}");
        assert_eq!(cell["writes"]["throughput"].is_object(), writers > 0, "{cell}");
        assert!(cell["fairness"].is_null() && cell["reads"]["fairness"]["jain"].is_number(), "{cell}");
    }
}

#[test]
fn a_lock_without_exclusion_is_caught_by_readers_and_by_the_count() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    // On a busy machine the threads may run one after the other, so it goes on until they have met.
    let caught = |state: &str, reads: &str| {
        let file = dir.path().join(state);
        let began = Instant::now();
        loop {
            let output = tiny(&[
                "--lock",
                "busted-none",
                "--peers",
                "none",
                "--threads",
                "4",
                "--time",
                "300ms", // several time slices: another process may have a CPU for one of them
                "--profile",
                "long",
                "--reads",
                reads,
                "--drain",
                "60s",
                "--force",
                "--json",
                file.to_str().expect("plain path"),
            ]);
            let (text, error) = (text(&output.stdout), text(&output.stderr));
            assert_ne!(output.status.code(), Some(2), "{error}");
            let cell = json(&file)["cells"][0].clone();
            let broken = cell["state"] == "torn" || cell["state"] == "broken";
            assert_eq!(
                (output.status.code(), text.contains("BROKEN")),
                (Some(i32::from(broken)), broken),
                "{text}"
            );
            if cell["state"] == state {
                return cell;
            }
            assert!(began.elapsed() < Duration::from_mins(2), "not caught as {state}: {cell}");
        }
    };
    let torn = caught("torn", "50");
    assert!(torn["torn"].as_u64() > Some(0) && torn["torn"].as_u64() <= torn["of_reads"].as_u64());
    let lost = caught("broken", "0");
    assert!(lost["counter"].as_u64() < lost["acquisitions"].as_u64(), "{lost}");
}

#[test]
fn uncontended_alone_measures_nothing_else() {
    let output = tiny(&["--uncontended", "--lock", "none", "--peers", "spin,std"]);
    let text = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("spin") && text.contains("write ns") && !text.contains("=="), "{text}");
}

#[test]
fn an_interrupt_keeps_what_is_finished() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("result.json");
    let child =
        command(&["bench", "rw", "--peers", "std", "--lock", "none", "--threads", "1,2", "--time", "20ms"])
            .args(["--rounds", "500", "--profile", "empty", "--reads", "50", "--seed", "7", "--json"])
            .arg(&file)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
    // The uncontended group is over when the file is no longer empty.
    let deadline = Instant::now() + Duration::from_mins(1);
    while fs::metadata(&file).map_or(0, |data| data.len()) == 0 {
        assert!(Instant::now() < deadline, "nothing was written after the first group");
        std::thread::sleep(Duration::from_millis(10));
    }
    interrupt(&child);
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let report = json(&file);
    assert_eq!(report["complete"], false);
    assert!(report["uncontended"].as_array().is_some_and(|rows| !rows.is_empty()));
}

#[test]
fn bad_input_is_refused_in_one_line() {
    assert!(refused(&["--lock", "pecpu-rw"]).contains("percpu-rw"));
    assert!(refused(&["--peers", "parkinglot"]).contains("parking_lot"));
    assert!(refused(&["--reads", "101"]).contains("--reads"));
    assert!(refused(&["--threads", "0"]).contains("--threads"));
    assert!(refused(&["--readers", "2"]).contains("--writers"));
    assert!(refused(&["--readers", "2", "--writers", "1", "--reads", "50"]).contains("--read"));
    assert!(refused(&["--readers=0", "--writers=1"]).contains("--readers"));
    assert!(refused(&["--raeds", "50"]).contains("--reads"));
    assert!(refused(&["--lock", "none", "--peers", "none"]).contains("no lock is left"));
    let output = stanchion(&["bench", "rww"]);
    let error = text(&output.stderr);
    assert!(output.status.code() == Some(2) && error.lines().count() == 1 && error.contains("rw"), "{error}");
    // Flags of `bench` are not those of `bench rw`.
    assert_eq!(stanchion(&["bench", "--quick", "rw"]).status.code(), Some(2));
}

#[test]
fn list_and_help_tell_the_names() {
    let text = passed(&["bench", "rw", "--list"]);
    for name in ["percpu-rw-fenced", "pthread-writers", "crossbeam-sharded", "24 B a class", "medium"] {
        assert!(text.contains(name), "{name}: {text}");
    }
    assert!(!text.contains("busted-none") && text.lines().all(|line| line.len() <= 100), "{text}");
    let help = passed(&["bench", "rw", "--help"]);
    assert!(help.contains("--writers") && help.contains("130 interrupted"), "{help}");
    assert!(passed(&["completions", "bash"]).contains("--readers"));
}
