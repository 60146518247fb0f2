//! Tiny runs of `stanchion bench` on the real machine: what they measure is noise, what they write is not.
use crate::common::{command, interrupt, json, stanchion, text};
use core::time::Duration;
use std::fs;
use std::process::{Output, Stdio};
use std::time::Instant;

/// One or two threads, milliseconds, few rounds.
const TINY: [&str; 10] =
    ["bench", "--quiet", "--time", "5ms", "--rounds", "2", "--latency-rounds", "1", "--seed", "7"];

fn tiny(more: &[&str]) -> Output {
    stanchion(&[&TINY, more].concat())
}

/// Every lock is run so at night.
#[test]
fn a_tiny_run_is_sound_and_writes_all_files() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().join("out");
    let path = out.to_str().expect("plain path");
    // A generous drain: on a loaded machine a FIFO lock may need it even for two threads.
    let output = tiny(&[
        "--lock",
        "stanchion,cna,xen-pv",
        "--peers",
        "std",
        "--threads",
        "1,2",
        "--profile",
        "empty,cs=100ns,think=1us",
        "--drain",
        "60s",
        "--out",
        path,
    ]);
    let (text, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{text}\n{error}");
    assert!(
        text.contains("== empty ==") && text.contains("== 100ns-1us ==") && text.contains("seed 7"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 100 || line.starts_with("written")), "{text}");
    let (_, verdict) = text.split_once("\nverdict: ").expect("a verdict");
    assert!(verdict.lines().count() <= 10 && verdict.contains("not decided"), "it comes last: {text}");

    let report = json(&out.join("bench.json"));
    assert_eq!(report["complete"], true);
    assert_eq!(report["provenance"]["seed"], 7);
    let locks = report["locks"].as_array().expect("a list").len();
    let cells = report["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), locks * 2 * 2);
    for cell in cells {
        assert_eq!(cell["state"], "measured", "{cell}");
        assert_eq!(cell["throughput"]["rounds"].as_array().map(Vec::len), Some(2), "{cell}");
        assert!(cell["latency"]["worst_ns"].is_u64(), "{cell}");
    }
    // Not every single one: on a loaded machine a thread may not run at all in five milliseconds.
    let alive =
        cells.iter().filter(|cell| cell["throughput"]["max"].as_f64().is_some_and(|rate| rate > 1000.0));
    assert!(alive.count() > cells.len() / 2);
    let csv = fs::read_to_string(out.join("bench.csv")).expect("written");
    let rows = csv.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(rows, 1 + cells.len());
    let html = fs::read_to_string(out.join("bench.html")).expect("written");
    assert!(html.contains("</html>") && !html.contains("http://") && !html.contains("https://"));
}

#[test]
fn a_lock_without_exclusion_is_reported_as_broken_with_exit_code_1() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("result.json");
    let path = file.to_str().expect("plain path");
    // Two threads have to meet in an addition: longer, where the machine is busy.
    let output = ["50ms", "500ms", "5s"]
        .iter()
        .map(|time| broken(path, time))
        .find(|output| output.status.code() == Some(1));
    let output = output.expect("it is noticed");
    let text = text(&output.stdout);
    assert!(text.contains("BROKEN"), "{text}");
    let cell = &json(&file)["cells"][0];
    assert_eq!(cell["state"], "broken");
    assert!(cell["counter"].as_u64() < cell["acquisitions"].as_u64(), "{cell}");
}

fn broken(path: &str, time: &str) -> Output {
    let arguments = [
        "--lock",
        "busted-none",
        "--peers",
        "none",
        "--threads",
        "4",
        "--time",
        time,
        "--profile",
        "short",
        "--force",
        "--json",
        path,
    ];
    tiny(&arguments)
}

#[test]
fn a_lock_with_other_tunables_runs_with_them_under_its_whole_name() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (file, table) = (dir.path().join("result.json"), dir.path().join("result.csv"));
    let (sleeps, spins) = ("xen-pv:xen_timeout=1", "xen-pv:xen_wake_all=1:xen_timeout=4294967295");
    let locks = format!("{sleeps},{spins}");
    let output = tiny(&[
        "--lock",
        &locks,
        "--peers",
        "none",
        "--threads",
        "8",
        "--profile",
        "cs=20us,think=0",
        "--time",
        "50ms",
        "--drain",
        "60s",
        "--json",
        file.to_str().expect("plain path"),
        "--csv",
        table.to_str().expect("plain path"),
    ]);
    let text = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    // It has a row, or collapsed beside the other.
    assert!(text.contains(&format!(" {sleeps} ")), "{text}");
    assert!(
        fs::read_to_string(&table)
            .expect("written")
            .lines()
            .any(|line| line.starts_with(&format!("{spins},")))
    );
    let report = json(&file);
    let slept = |lock: &str| {
        let of_lock = |cell: &&serde_json::Value| cell["lock"] == lock;
        let cell = report["cells"].as_array().and_then(|cells| cells.iter().find(of_lock)).expect("a cell");
        let events = cell["events"].as_array().expect("a list");
        events.iter().any(|event| event["name"] == "xen_taken_slow")
    };
    assert!(slept(sleeps), "waiters that poll once sleep at once");
    assert!(!slept(spins), "waiters that poll for ever never sleep");
}

#[test]
fn uncontended_alone_measures_nothing_else() {
    let output = tiny(&["--uncontended", "--lock", "none", "--peers", "pthread-spin,std"]);
    let text = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("pthread-spin") && !text.contains("throughput"), "{text}");
    // Alone and after contention, each with a ratio and the two ends of its interval; bytes.
    let row = text.lines().find(|line| line.starts_with(" std ")).expect("a row");
    let figures = row.split([' ', '(', ')', '–']).filter(|word| word.parse::<f64>().is_ok_and(|ns| ns > 0.0));
    assert_eq!(figures.count(), 2 + 2 * 3 + 1, "{row}");
}

#[test]
fn an_interrupt_keeps_what_is_finished() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("result.json");
    let child = command(&["bench", "--peers", "std", "--lock", "none", "--threads", "1,2", "--time", "20ms"])
        .args(["--rounds", "500", "--profile", "empty", "--seed", "7", "--json"])
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
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&child);
    let output = child.wait_with_output().expect("the program ends");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("interrupted"), "{error}");
    let report = json(&file);
    assert_eq!(report["complete"], false);
    assert!(report["uncontended"].as_array().is_some_and(|rows| !rows.is_empty()));
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = command(&["bench", "--list"]).stdout(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
}
