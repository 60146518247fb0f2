//! Tiny runs of `stanchion bench` on the real machine, of mutexes and of reader-writer locks: what they
//! measure is noise, what they write is not.
use crate::common::{command, interrupt, json, stanchion, text};
use core::time::Duration;
use serde_json::Value;
use std::fs;
use std::process::{Output, Stdio};
use std::time::Instant;

/// Milliseconds, few rounds; and more words. A generous drain: on a loaded machine a FIFO lock may need it
/// even for two threads.
fn tiny(words: &str) -> Output {
    let line = format!(
        "bench --quick --quiet --time 5ms --rounds 2 --latency-rounds 1 --seed 7 --drain 60s {words}"
    );
    stanchion(&line.split(' ').collect::<Vec<_>>())
}

/// What such a run printed that must succeed.
fn measured(words: &str) -> String {
    let output = tiny(words);
    let (printed, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{words}: {printed}\n{error}");
    printed
}

/// Runs two sections with two counts of threads, and looks at all that every run has to have: the report.
fn sound(words: &str, stem: &str, sections: [&str; 2]) -> Value {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let out = dir.path().join("out");
    let text = measured(&format!("{words} --out {}", out.to_str().expect("plain path")));
    assert!(sections.iter().all(|section| text.contains(section)) && text.contains("seed 7"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 100 || line.starts_with("written")), "{text}");
    let (_, verdict) = text.split_once("\nverdict: ").expect("a verdict");
    assert!(verdict.lines().count() <= 10 && verdict.contains("not decided"), "it comes last: {text}");

    let report = json(&out.join(format!("{stem}.json")));
    assert_eq!((&report["complete"], &report["provenance"]["seed"]), (&true.into(), &7.into()));
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
    let csv = fs::read_to_string(out.join(format!("{stem}.csv"))).expect("written");
    assert_eq!(csv.lines().filter(|line| !line.starts_with('#')).count(), 1 + cells.len());
    let html = fs::read_to_string(out.join(format!("{stem}.html"))).expect("written");
    assert!(html.contains("</html>") && !html.contains("http://") && !html.contains("https://"));
    report
}

/// Every lock is run so at night.
#[test]
fn a_tiny_run_is_sound_and_writes_all_files() {
    let words = "--lock stanchion,cna,xen-pv --peers std --threads 1,2 --profile empty,cs=100ns,think=1us";
    let report = sound(words, "bench", ["== empty ==", "== 100ns-1us =="]);
    assert_eq!(report["locks"].as_array().map(Vec::len), Some(4), "three of ours, a peer");
}

#[test]
fn a_tiny_run_of_readers_and_writers_is_too() {
    let words = "--lock qrw,percpu-rw --threads 1,3 --profile cs=100ns,think=1us --reads 100,90";
    let report = sound(words, "bench-rw", ["== 100ns-1us, 100 % reads ==", "== 100ns-1us, 90 % reads =="]);
    let locks = report["locks"].as_array().expect("a list");
    assert_eq!(locks.len(), 6, "two of ours, four peers: {locks:?}");
    let cells = report["cells"].as_array().expect("a list");
    for cell in cells {
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
}

#[test]
fn dedicated_readers_and_writers_do_one_thing_only() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("result.json");
    let words =
        "--lock rw-simple --peers std --readers 1,2 --writers 0,1 --profile medium --time 50ms --json";
    let text = measured(&format!("{words} {}", file.to_str().expect("plain path")));
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
fn a_lock_without_exclusion_is_caught_by_readers_and_by_the_count_with_exit_code_1() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("result.json");
    // Several time slices: another process may have a CPU for one of them.
    let words = "--lock busted-none --peers none --threads 4 --time 300ms --profile long --force --json";
    // On a busy machine the threads may run one after the other, so it goes on until they have met.
    let caught = |state: &str, kind: &str| {
        let began = Instant::now();
        loop {
            let output = tiny(&format!("{words} {}{kind}", file.to_str().expect("plain path")));
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
    let torn = caught("torn", " --reads 50");
    assert!(torn["torn"].as_u64() > Some(0) && torn["torn"].as_u64() <= torn["of_reads"].as_u64());
    for kind in ["", " --reads 0"] {
        let lost = caught("broken", kind);
        assert!(lost["counter"].as_u64() < lost["acquisitions"].as_u64(), "{lost}");
    }
}

#[test]
fn a_lock_with_other_tunables_runs_with_them_under_its_whole_name() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (file, table) = (dir.path().join("result.json"), dir.path().join("result.csv"));
    let (sleeps, spins) = ("xen-pv:xen_timeout=1", "xen-pv:xen_wake_all=1:xen_timeout=4294967295");
    let text = measured(&format!(
        "--lock {sleeps},{spins} --peers none --threads 8 --profile cs=20us,think=0 --time 50ms --json {} --csv {}",
        file.to_str().expect("plain path"),
        table.to_str().expect("plain path"),
    ));
    // It has a row, or collapsed beside the other.
    assert!(text.contains(&format!(" {sleeps} ")), "{text}");
    let table = fs::read_to_string(&table).expect("written");
    assert!(table.lines().any(|line| line.starts_with(&format!("{spins},"))), "{table}");
    let report = json(&file);
    let slept = |lock: &str| {
        let of_lock = |cell: &&Value| cell["lock"] == lock;
        let cell = report["cells"].as_array().and_then(|cells| cells.iter().find(of_lock)).expect("a cell");
        let events = cell["events"].as_array().expect("a list");
        events.iter().any(|event| event["name"] == "xen_taken_slow")
    };
    assert!(slept(sleeps), "waiters that poll once sleep at once");
    assert!(!slept(spins), "waiters that poll for ever never sleep");
}

#[test]
fn uncontended_alone_measures_nothing_else() {
    for (kind, peer, cost) in [("", "pthread-spin", "after ns"), ("--rw ", "spin", "write ns")] {
        let text = measured(&format!("{kind}--uncontended --lock none --peers {peer},std"));
        assert!(text.contains(peer) && text.contains(cost), "{text}");
        assert!(!text.contains("throughput") && !text.contains("=="), "{text}");
        // Two costs, each with a ratio and its interval, or ranges where rounds are of two kinds; bytes.
        let row = text.lines().find(|line| line.starts_with(" std ")).expect("a row");
        let numbers = |word: &str| {
            let mut ends = word.trim_matches(['(', ')', '+']).split(['–']).flat_map(|part| part.split(".."));
            ends.all(|end| end.parse::<f64>().is_ok_and(|ns| ns > 0.0))
        };
        let words: Vec<&str> = row.split_whitespace().skip(1).collect();
        assert!(words.iter().all(|word| numbers(word)), "{row}");
        let figures = words.iter().filter(|word| !word.starts_with('('));
        assert_eq!(figures.count(), 2 + 2 + 1, "{row}");
        let ranges = words.iter().filter(|word| word.contains("..")).count();
        let intervals = words.iter().filter(|word| word.starts_with('(')).count();
        assert!(intervals <= 2 && intervals + ranges >= 2, "each ratio has its ends: {row}");
    }
}

#[test]
fn an_interrupt_keeps_what_is_finished() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for kind in ["--seed=7", "--reads=50"] {
        let file = dir.path().join(kind);
        let words = "bench --peers std --lock none --threads 1,2 --time 20ms --rounds 500 --profile empty";
        let child = command(&words.split(' ').collect::<Vec<_>>())
            .args([kind, "--json"])
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
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = command(&["bench", "--list"]).stdout(Stdio::piped()).spawn().expect("the program starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("the program ends").code(), Some(0));
}
