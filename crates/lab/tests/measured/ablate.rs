//! Tiny runs of `stanchion ablate`: that every row is there, here and in the simulator, and that bad input is
//! refused.
use crate::common::{self, json, passed};
use std::fs;

const RULES: [&str; 5] = [
    "without barging",
    "without adaptive spins",
    "without sleeping for a turn on a hot lock",
    "without handing over the CPU",
    "without near first",
];

fn must_run(more: &[&str]) -> String {
    passed(&[&["ablate", "--quiet"], more].concat())
}

fn refused(more: &[&str]) -> String {
    common::refused(&[&["ablate", "--quiet"], more].concat())
}

#[test]
fn rules_are_measured_here_one_by_one_and_all_files_are_written() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = |name: &str| dir.path().join(name).to_str().expect("plain path").to_owned();
    let (file, csv) = (path("a.json"), path("a.csv"));
    let text = must_run(&[
        "--threads",
        "2",
        "--profile",
        "empty,short",
        "--time",
        "50ms", // beside other programs threads may get no CPU for less, and without sections there is no ratio
        "--rounds",
        "2",
        "--latency-time",
        "5ms",
        "--latency-rounds",
        "2",
        "--seed",
        "7",
        "--json",
        &file,
        "--csv",
        &csv,
    ]);
    for title in ["throughput", "worst wait", "CPU time of an acquisition"] {
        let table = text.split(&format!("{title} (95 % interval)")).nth(1).expect(title);
        for rule in RULES {
            assert!(table.contains(rule), "{title}, {rule}: {text}");
        }
    }
    assert!(text.contains("seed 7") && text.contains("all"), "{text}");
    let report = json(file.as_ref());
    assert_eq!(report["cells"].as_array().map(Vec::len), Some((1 + RULES.len()) * 2));
    assert_eq!(report["locks"][0]["name"], "stanchion");
    let csv = fs::read_to_string(csv).expect("written");
    assert!(csv.lines().any(|line| line.starts_with("stanchion:turns=0,")), "{csv}");
}

#[test]
fn rules_and_constants_are_simulated_the_same_each_time() {
    let tiny = [
        "--machine",
        "small-vm,xen-2cpu",
        "--threads",
        "4",
        "--time",
        "300us",
        "--rounds",
        "2",
        "--seed",
        "5",
    ];
    let text = must_run(&[&tiny[..], &["--markdown"]].concat());
    for part in
        ["| small-vm locktorture |", "| small-vm open1 |", "| xen-2cpu short |", "| all |", "seeds 5 to 6"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let rows =
        |text: &str| text.lines().filter(|line| line.starts_with('|')).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(rows(&text).len(), 3 * (2 + 1 + RULES.len()), "{text}");
    assert_eq!(rows(&must_run(&[&tiny[..], &["--markdown"]].concat())), rows(&text));
    let text = must_run(&[
        "--machine",
        "small-vm",
        "--threads",
        "2",
        "--time",
        "1ms",
        "--rounds",
        "1",
        "--constants",
    ]);
    assert!(
        text.contains("spin_ns = 5000") && text.contains("near_us = 10000") && !text.contains("without"),
        "{text}"
    );
}

#[test]
fn mistakes_are_refused_in_one_line() {
    assert!(refused(&["--machine", "smal-vm"]).contains("small-vm"));
    assert!(refused(&["--machine", "small-vm", "--profile", "short"]).contains("--profile"));
    assert!(refused(&["--profile", "shrot"]).contains("nearest are short"));
    assert!(refused(&["--threads", "0"]).contains("--threads"));
    assert!(refused(&["--rounds", "0"]).contains("--rounds"));
    assert!(refused(&["--constant"]).contains("--constants"));
}
