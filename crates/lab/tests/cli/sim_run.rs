//! Small runs of `stanchion sim`: what it prints and writes, that it repeats, and that an interrupt loses
//! nothing.
use crate::common::{command, interrupt, json, passed, stanchion, text};
use core::time::Duration;
use std::fs;
use std::process::{Output, Stdio};
use std::time::Instant;

/// Few runs of a millisecond of virtual time.
const TINY: [&str; 10] = [
    "sim",
    "--quiet",
    "--time",
    "1ms",
    "--warm-up",
    "100us",
    "--seeds",
    "2",
    "--lock",
    "byte,ticket,pv-qspin",
];

fn tiny(more: &[&str]) -> Output {
    stanchion(&[&TINY, more].concat())
}

/// Runs, which must succeed, and returns what was printed.
fn must_run(more: &[&str]) -> String {
    passed(&[&TINY, more].concat())
}

#[test]
fn a_run_prints_tables_and_writes_all_files() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().join("out");
    let path = out.to_str().expect("plain path");
    let text = must_run(&[
        "--machine",
        "small-vm,xen-2cpu",
        "--workload",
        "short,medium",
        "--threads",
        "1-2",
        "--overcommit",
        "2",
        "--set",
        "workload.think=3us",
        "--events",
        "--out",
        path,
    ]);
    for part in [
        "== small-vm (2 CPUs), workload short ==",
        "== xen-2cpu (2 CPUs), workload medium ==",
        "4 (2x)",
        "speed-up over the first lock",
        "fairness",
        "acquire latency p99.9",
        "where the time of vCPUs goes",
        "another socket",
        "lock events for each acquisition",
        "memory events",
        "seeds 1 to 2",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 100 || line.starts_with("written")), "{text}");
    let report = json(&out.join("sim.json"));
    assert_eq!(report["complete"], true);
    let cells = report["cells"].as_array().expect("a list");
    assert_eq!(cells.len(), 2 * 2 * 3 * 3);
    for cell in cells {
        assert_eq!(cell["state"], "measured", "{cell}");
        let shares = cell["figures"]["causes"].as_array().expect("a list");
        let sum: f64 = shares.iter().filter_map(|share| share["value"].as_f64()).sum();
        assert!((sum - 1.0).abs() < 1e-9, "all time goes somewhere: {cell}");
        assert_eq!(cell["figures"]["score"]["values"].as_array().map(Vec::len), Some(2), "{cell}");
    }
    let csv = fs::read_to_string(out.join("sim.csv")).expect("written");
    assert_eq!(csv.lines().filter(|line| !line.starts_with('#')).count(), 1 + cells.len());
    let html = fs::read_to_string(out.join("sim.html")).expect("written");
    assert!(html.contains("</html>") && !html.contains("http://") && !html.contains("https://"));
}

#[test]
fn a_lock_with_other_tunables_is_simulated_with_them() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("result.json");
    let locks = "xen-pv,xen-pv-wake-all,xen-pv:xen_wake_all=1,xen-pv:xen_wake_all=0";
    must_run(&[
        "--lock",
        locks,
        "--threads",
        "4",
        "--time",
        "50ms",
        "--json",
        file.to_str().expect("plain path"),
    ]);
    let report = json(&file);
    let hashes = |name: &str| {
        let of_lock = |cell: &&serde_json::Value| cell["lock"] == name;
        let cell = report["cells"].as_array().and_then(|cells| cells.iter().find(of_lock)).expect("a cell");
        cell["figures"]["hashes"].clone()
    };
    assert_eq!(hashes("xen-pv:xen_wake_all=1"), hashes("xen-pv-wake-all"), "the same lock by two names");
    assert_eq!(hashes("xen-pv:xen_wake_all=0"), hashes("xen-pv"), "what the default is anyway");
    assert_ne!(hashes("xen-pv:xen_wake_all=1"), hashes("xen-pv"), "runs in which waiters slept");
}

#[test]
fn a_seed_gives_the_same_result_however_many_run_at_a_time() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let run = |name: &str, seed: &str, jobs: &str| {
        let file = dir.path().join(name);
        must_run(&[
            "--threads",
            "2,4",
            "--seed",
            seed,
            "--jobs",
            jobs,
            "--json",
            file.to_str().expect("plain path"),
        ]);
        let mut report = json(&file);
        let parts = report.as_object_mut().expect("an object");
        // Where and when it ran, and how long that took.
        assert!(parts.remove("provenance").is_some() && parts.remove("effort").is_some());
        report
    };
    let first = run("first.json", "7", "1");
    assert_eq!(first, run("second.json", "7", "4"));
    let other = run("other.json", "107", "2");
    assert_ne!(first["cells"], other["cells"]);
    let hashes = |report: &serde_json::Value| report["cells"][0]["figures"]["hashes"].clone();
    assert_ne!(hashes(&first), hashes(&other));
}

#[test]
fn a_run_beyond_its_limit_is_cut_and_marked() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("cut.json");
    let text =
        must_run(&["--threads", "4", "--event-limit", "2000", "--json", file.to_str().expect("plain path")]);
    assert!(text.contains("cut short (!)"), "{text}");
    assert_eq!(json(&file)["cells"][0]["state"], "cut");
}

#[test]
fn trace_and_timeline_show_one_run() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (trace, picture) = (dir.path().join("trace.json"), dir.path().join("timeline.svg"));
    let (trace_path, picture_path) =
        (trace.to_str().expect("plain path"), picture.to_str().expect("plain path"));
    // The flags of a tiny run name three locks and two seeds: the later ones count.
    let text = must_run(&[
        "--lock",
        "ticket",
        "--seeds",
        "1",
        "--threads",
        "4",
        "--machine",
        "small-vm",
        "--set",
        "hypervisor.slice=200us",
        "--set",
        "hypervisor.granularity=10us",
        "--trace",
        trace_path,
        "--timeline",
        picture_path,
    ]);
    assert!(text.contains("trace.json") && text.contains("timeline.svg"), "{text}");
    let events = json(&trace)["traceEvents"].as_array().expect("a list").clone();
    let count = |field: &str, value: &str| events.iter().filter(|event| event[field] == value).count();
    assert!(count("name", "spinning") > 0 && count("name", "holding") > 0 && count("name", "preempted") > 0);
    assert!(count("ph", "s") > 0);
    assert_eq!(count("ph", "s"), count("ph", "f"));
    let svg = fs::read_to_string(&picture).expect("written");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
    assert!(svg.contains("ticket: 4 vCPUs on 2 CPUs") && svg.contains("vCPU 3<"));
}

#[test]
fn an_interrupt_keeps_what_is_finished() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("result.json");
    // Cells of one vCPU take moments, the last takes minutes.
    let child = command(&[
        "sim",
        "--lock",
        "byte",
        "--workload",
        "short",
        "--threads",
        "1,2",
        "--seeds",
        "200",
        "--jobs",
        "1",
    ])
    .args(["--time", "10ms", "--warm-up", "0s", "--machine", "small-vm,xen-2cpu", "--json"])
    .arg(&file)
    .stdout(Stdio::piped())
    .stderr(Stdio::piped())
    .spawn()
    .expect("the program starts");
    let deadline = Instant::now() + Duration::from_mins(2);
    while fs::metadata(&file).map_or(0, |data| data.len()) == 0 {
        assert!(Instant::now() < deadline, "nothing was written after the first cell");
        std::thread::sleep(Duration::from_millis(2));
    }
    interrupt(&child);
    let output = child.wait_with_output().expect("the program ends");
    let (text, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{text}\n{error}");
    assert!(error.contains("interrupted") && text.contains("byte"), "{text}\n{error}");
    let report = json(&file);
    assert_eq!(report["complete"], false);
    let cells = report["cells"].as_array().expect("a list");
    assert!(!cells.is_empty() && cells.len() < 4, "{}", cells.len());
}

#[test]
fn seeds_of_an_ablation_go_on_from_the_last_one_to_the_first() {
    let last = u64::MAX.to_string();
    let words =
        ["--machine", "small-vm", "--threads", "2", "--time", "100us", "--rounds", "2", "--seed", &last];
    let text = passed(&[&["ablate", "-q"], &words[..]].concat());
    assert!(text.contains("without barging"), "{text}");
}

#[test]
fn a_device_that_takes_nothing_is_a_failure() {
    let output = tiny(&["--threads", "1", "--csv", "/dev/full"]);
    let (text, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{text}\n{error}");
    assert!(error.contains("cannot write /dev/full") && !text.contains("written"), "{text}\n{error}");
}

#[test]
fn what_is_open_already_gets_results_and_tables_one_after_the_other() {
    for (path, is_out) in
        [("/dev/stdout", true), ("/dev/stderr", false), ("/dev/fd/1", true), ("/proc/self/fd/2", false)]
    {
        let [out, err] = [(), ()].map(|()| tempfile::NamedTempFile::new().expect("a temporary file"));
        let mut command = command(&[&TINY[..], &["--threads", "1", "--csv", path]].concat());
        let files = [&out, &err].map(|file| file.reopen().expect("it is there"));
        let [to_out, to_err] = files;
        let status = command.stdout(to_out).stderr(to_err).status().expect("the program starts");
        assert_eq!(status.code(), Some(0), "{path}");
        let [out, err] = [out, err].map(|file| fs::read_to_string(file.path()).expect("readable"));
        let tables = out.find("== ").expect("tables");
        let results = (if is_out { &out } else { &err }).find("# stanchion sim").expect(path);
        assert!(!is_out || results < tables, "{path}: {out}");
        assert!(out.ends_with('\n') && !out.contains('\0'), "{path}: {out}");
    }
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = command(&["sim", "--list"]).stdout(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
}
