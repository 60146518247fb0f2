//! The native side: cells of `stanchion bench`, run now or read from the files of an earlier run.
use crate::calibrate::args::Args;
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// One cell of a benchmark.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cell {
    pub(super) lock: String,
    pub(super) profile: String,
    pub(super) critical_ns: u64,
    pub(super) think_ns: u64,
    pub(super) threads: usize,
    /// Acquisitions a second: median, slowest and fastest round.
    pub(super) rate: f64,
    pub(super) least: f64,
    pub(super) most: f64,
    /// Not every thread got the lock at the end; the rates are those of the window.
    pub(super) stalled: bool,
}

/// A benchmark.
#[derive(Clone, Debug)]
pub(super) struct Native {
    pub(super) cells: Vec<Cell>,
    /// Where it comes from, in a line.
    pub(super) whence: String,
    /// CPUs that it ran on, if that is known.
    pub(super) cpus: Option<usize>,
}

impl Native {
    /// The cells of some locks, profiles and thread counts, in the order of the benchmark.
    pub(super) fn only(
        mut self,
        locks: &[&str],
        profiles: Option<&[&str]>,
        threads: Option<&str>,
    ) -> Result<Self, String> {
        let counts: Option<Vec<usize>> = threads
            .map(|list| list.split(',').map(|word| word.trim().parse()).collect::<Result<_, _>>())
            .transpose()
            .map_err(|_| "--threads: with --bench-json write plain numbers, such as 1,2,4".to_owned())?;
        self.cells.retain(|cell| {
            locks.contains(&cell.lock.as_str())
                && profiles.is_none_or(|profiles| profiles.contains(&cell.profile.as_str()))
                && counts.as_ref().is_none_or(|counts| counts.contains(&cell.threads))
        });
        Ok(self)
    }
}

/// What is read of a report; unknown fields are no matter.
#[derive(Deserialize)]
struct Report {
    provenance: Provenance,
    setting: Setting,
    cells: Vec<ReportCell>,
}
#[derive(Deserialize)]
struct Provenance {
    date: String,
    cpu_model: String,
    kernel: String,
}
#[derive(Deserialize)]
struct Setting {
    cpus: Vec<usize>,
    profiles: Vec<Profile>,
}
#[derive(Deserialize)]
struct Profile {
    name: String,
    critical_ns: u64,
    think_ns: u64,
}
#[derive(Deserialize)]
struct ReportCell {
    lock: String,
    profile: String,
    threads: usize,
    state: String,
    throughput: Option<Rates>,
}
#[derive(Deserialize)]
struct Rates {
    median: f64,
    min: f64,
    max: f64,
}

/// A file that `stanchion bench` wrote.
pub(super) fn read(path: &Path) -> Result<Native, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let mut native = if text.trim_start().starts_with('{') { from_json(&text) } else { from_csv(&text) };
    // Profiles under a CPU limit have it in their name, and the simulator has none.
    if let Ok(native) = &mut native {
        native.cells.retain(|cell| !cell.profile.contains('@'));
    }
    native.map_err(|error| format!("{} is no result of stanchion bench: {error}", path.display()))
}

fn from_json(text: &str) -> Result<Native, String> {
    let report: Report = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let cell = |cell: ReportCell| {
        let profile = report.setting.profiles.iter().find(|profile| profile.name == cell.profile)?;
        let rates = cell.throughput?;
        is_measured(&cell.state).then(|| Cell {
            lock: cell.lock,
            profile: cell.profile,
            critical_ns: profile.critical_ns,
            think_ns: profile.think_ns,
            threads: cell.threads,
            rate: rates.median,
            least: rates.min,
            most: rates.max,
            stalled: cell.state == "stalled",
        })
    };
    Ok(Native {
        cells: report.cells.into_iter().filter_map(cell).collect(),
        whence: format!(
            "{}, {}, {}",
            report.provenance.date, report.provenance.cpu_model, report.provenance.kernel
        ),
        cpus: Some(report.setting.cpus.len()),
    })
}

/// Whether a cell of this state has a rate that counts.
fn is_measured(state: &str) -> bool {
    matches!(state, "measured" | "stalled")
}

#[derive(Deserialize)]
struct Row {
    lock: String,
    profile: String,
    critical_ns: u64,
    think_ns: u64,
    threads: usize,
    state: String,
    acquisitions_per_s: Option<f64>,
    acquisitions_per_s_min: Option<f64>,
    acquisitions_per_s_max: Option<f64>,
}

fn from_csv(text: &str) -> Result<Native, String> {
    let head = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(name));
        line.map_or_else(String::new, |line| line.trim_start_matches(':').trim().to_owned())
    };
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let mut cells = Vec::new();
    for row in reader.deserialize() {
        let row: Row = row.map_err(|error| error.to_string())?;
        let (Some(rate), true) = (row.acquisitions_per_s, is_measured(&row.state)) else { continue };
        cells.push(Cell {
            lock: row.lock,
            profile: row.profile,
            critical_ns: row.critical_ns,
            think_ns: row.think_ns,
            threads: row.threads,
            rate,
            least: row.acquisitions_per_s_min.unwrap_or(rate),
            most: row.acquisitions_per_s_max.unwrap_or(rate),
            stalled: row.state == "stalled",
        });
    }
    let cpus = head("machine").split(", ").find_map(|part| part.split_once(" CPU")?.0.parse().ok());
    Ok(Native { cells, whence: format!("{}, {}, {}", head("date"), head("machine"), head("kernel")), cpus })
}

/// How long threads may take to finish: fair spin locks with many threads a CPU never do, and stall the
/// comparison.
const DRAIN: &str = "500ms";

/// What the benchmark would refuse, in one line.
pub(super) fn check(args: &Args, locks: &str, profiles: &str) -> Result<(), String> {
    if let Some(list) = &args.cpus {
        crate::bench::cpus(list)?;
    }
    crate::bench::check(&crate::bench::Args {
        lock: Some(locks.to_owned()),
        peers: Some("none".to_owned()),
        measure: crate::bench::Measure {
            profile: vec![profiles.to_owned()],
            threads: args.threads.clone(),
            time: args.time.clone(),
            rounds: args.rounds.map(|rounds| rounds.to_string()),
            ..crate::bench::Measure::default()
        },
        ..crate::bench::Args::default()
    })
}

/// Runs the benchmark, in a process of its own as a user would.
pub(super) fn bench(args: &Args, locks: &str, profiles: &str) -> Result<Native, String> {
    let path = std::env::temp_dir().join(format!("stanchion-compare-{}.json", std::process::id()));
    let mut command = Command::new("/proc/self/exe");
    command.args([
        "bench",
        "--peers",
        "none",
        "--latency-rounds",
        "0",
        "--drain",
        DRAIN,
        "--force",
        "--lock",
        locks,
        "--profile",
        profiles,
    ]);
    command.arg("--json").arg(&path);
    let rounds = args.rounds.map(|rounds| rounds.to_string());
    let options =
        [("--threads", &args.threads), ("--time", &args.time), ("--rounds", &rounds), ("--cpus", &args.cpus)];
    for (flag, value) in options {
        if let Some(value) = value {
            command.args([flag, value.as_str()]);
        }
    }
    if args.quiet {
        command.arg("--quiet");
    }
    let status = command.stdout(Stdio::null()).status();
    let read = match status {
        // Interrupted or with a broken cell: what is there is compared.
        Ok(status) if status.code() != Some(2) => read(&path),
        Ok(_) => Err("the benchmark refused these cells".to_owned()),
        Err(error) => Err(format!("cannot start the benchmark: {error}")),
    };
    let _ = std::fs::remove_file(&path);
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = "# stanchion bench, schema 1, complete: true\n# date: 2026-11-20T15:20:40Z\n\
# machine: AMD EPYC, 2 CPUs, 1 NUMA node, 24105 MiB\n# kernel: Linux 6\n\
lock,kind,profile,critical_ns,think_ns,threads,state,acquisitions_per_s,acquisitions_per_s_min,acquisitions_per_s_max\n\
byte,stanchion,short,50,200,2,measured,100,90,110\n\
qspin,stanchion,short,50,200,32,skipped,,,\n\
ticket,stanchion,empty,0,0,32,stalled,10,9,11\n";

    #[test]
    fn csv_keeps_what_has_a_rate() {
        let native = from_csv(CSV).expect("well formed");
        assert_eq!((native.cells.len(), native.cpus), (2, Some(2)));
        assert!(native.cells[1].stalled && !native.cells[0].stalled);
        assert!(native.whence.contains("2026-11-20") && native.whence.contains("Linux 6"));
        let only = native.only(&["byte"], Some(&["short"]), Some("1,2")).expect("plain numbers");
        assert_eq!(only.cells.len(), 1);
    }

    #[test]
    fn json_finds_the_times_of_the_profile() {
        let text = r#"{"provenance":{"date":"d","cpu_model":"m","kernel":"k"},
            "setting":{"cpus":[0,1],"profiles":[{"name":"p","critical_ns":1,"think_ns":2}]},
            "cells":[{"lock":"byte","profile":"p","threads":2,"state":"measured","throughput":{"median":5.0,"min":4.0,"max":6.0}},
                     {"lock":"byte","profile":"p","threads":4,"state":"failed","reason":"x","throughput":null}]}"#;
        let native = from_json(text).expect("well formed");
        assert_eq!(native.cells.len(), 1);
        assert_eq!((native.cells[0].critical_ns, native.cells[0].think_ns), (1, 2));
    }

    #[test]
    fn other_files_are_refused() {
        assert!(from_json("{}").is_err());
        assert!(from_csv("a,b\n1,2\n").is_err());
    }
}
