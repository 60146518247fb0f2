//! The native side: cells of `stanchion bench`, run now or read from the files of an earlier run.
use super::verdict::Row;
use crate::bench;
use crate::calibrate::args::Args;
use clap::{Args as _, FromArgMatches};
use lab_kit::usage::one_line;
use stanchion_cells::threads;
use std::path::Path;
use std::process::{Command, Stdio};

#[derive(Clone, Debug)]
pub(super) struct Native {
    pub(super) cells: Vec<Row>,
    /// Where it comes from, in a line.
    pub(super) whence: String,
    /// CPUs that it ran on, if that is known.
    pub(super) cpus: Option<usize>,
}

impl Native {
    /// The cells of some locks, profiles and thread counts, in the order of the benchmark.
    pub(super) fn only(mut self, locks: &[&str], args: &Args) -> Result<Self, String> {
        let profiles = args.profile.as_ref().map(|list| list.split(',').map(str::trim).collect::<Vec<_>>());
        let counts = args.threads.as_ref().map(|list| threads::parse(list, self.cpus.unwrap_or(1)));
        let counts = counts.transpose().map_err(|error| format!("--threads: {error}"))?;
        self.cells.retain(|cell| {
            locks.contains(&cell.lock.as_str())
                && profiles.as_ref().is_none_or(|profiles| profiles.contains(&cell.profile.as_str()))
                && counts.as_ref().is_none_or(|counts| counts.contains(&cell.threads))
        });
        let any = !self.cells.is_empty();
        any.then_some(self).ok_or_else(|| "--bench-json: it has none of these cells".to_owned())
    }
}

pub(super) fn read(path: &Path) -> Result<Native, String> {
    let text =
        std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let native = if text.trim_start().starts_with('{') { from_json(&text) } else { from_csv(&text) };
    native.map_err(|error| format!("{} is no result of stanchion bench: {error}", path.display()))
}

fn from_json(text: &str) -> Result<Native, String> {
    let report: bench::Report = serde_json::from_str(text).map_err(|error| error.to_string())?;
    Ok(Native { cpus: Some(report.setting.cpus.len()), ..from_csv(&bench::csv(&report))? })
}

fn from_csv(text: &str) -> Result<Native, String> {
    let head = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix("# ")?.strip_prefix(name));
        line.map_or_else(String::new, |line| line.trim_start_matches(':').trim().to_owned())
    };
    let cells = cells(text).map_err(|error| error.to_string())?;
    let cpus = head("machine").split(", ").find_map(|part| part.split_once(" CPU")?.0.parse().ok());
    Ok(Native { cells, whence: format!("{}, {}, {}", head("date"), head("machine"), head("kernel")), cpus })
}

/// The cells that have a rate that counts.
fn cells(text: &str) -> csv::Result<Vec<Row>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let head = reader.headers()?.clone();
    let column = |name: &str| head.iter().position(|column| column == name);
    let (rate, state) = (column("acquisitions_per_s"), column("state"));
    let mut cells = Vec::new();
    for record in reader.records() {
        let record = record?;
        let value = |column: Option<usize>| record.get(column?);
        // What was skipped or failed has none.
        if value(rate) != Some("") && matches!(value(state), None | Some("measured" | "stalled")) {
            cells.push(record.deserialize::<Row>(Some(&head))?);
        }
    }
    // Profiles under a CPU limit have it in their name, and the simulator has none.
    cells.retain(|cell| !cell.profile.contains('@'));
    Ok(cells)
}

/// What is typed after `stanchion bench`. It does not wait for fair spin locks with many threads a CPU.
fn words(args: &Args) -> Vec<String> {
    let profiles = args.profile.as_deref().unwrap_or("empty,short,medium,long");
    let mut words = vec![format!("--lock={}", args.lock), format!("--profile={profiles}")];
    words.extend("--peers=none --latency-rounds=0 --drain=500ms --force".split(' ').map(str::to_owned));
    let rounds = args.rounds.map(|rounds| rounds.to_string());
    let Args { threads, time, cpus, .. } = args;
    for (flag, value) in [("threads", threads), ("time", time), ("rounds", &rounds), ("cpus", cpus)] {
        words.extend(value.iter().map(|value| format!("--{flag}={value}")));
    }
    words.extend(args.results.quiet.then(|| "--quiet".to_owned()));
    words
}

/// What the benchmark would refuse, in one line.
pub(super) fn check(args: &Args) -> Result<(), String> {
    let command = bench::Args::augment_args(clap::Command::new("bench").no_binary_name(true));
    let typed = command.try_get_matches_from(words(args));
    let typed = typed.and_then(|typed| bench::Args::from_arg_matches(&typed));
    bench::check(&typed.map_err(|error| one_line(&error))?)
}

/// Runs the benchmark, in a process of its own as a user would.
pub(super) fn bench(args: &Args) -> Result<Native, String> {
    let json = tempfile::NamedTempFile::new();
    let json = json.map_err(|error| format!("cannot make a file for the benchmark: {error}"))?;
    let mut command = Command::new("/proc/self/exe");
    command.arg("bench").args(words(args)).arg("--json").arg(json.path());
    match command.stdout(Stdio::null()).status() {
        // Interrupted or with a broken cell: what is there is compared.
        Ok(status) if status.code() != Some(2) => read(json.path()),
        Ok(_) => Err("the benchmark refused these cells".to_owned()),
        Err(error) => Err(format!("cannot start the benchmark: {error}")),
    }
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
        assert_eq!([native.cells[0].stalled, native.cells[1].stalled], [false, true]);
        assert!(native.whence.contains("2026-11-20") && native.whence.contains("Linux 6"));
        let args = Args::of(&["--profile", "short", "--threads", "1,1x"]);
        let only = native.only(&["byte"], &args).expect("two CPUs");
        assert_eq!(only.cells.len(), 1);
    }

    #[test]
    fn json_has_the_cells_of_the_csv_with_the_times_of_the_profile() {
        let report = bench::tests::full();
        let native = from_json(&serde_json::to_string(&report).expect("it is JSON")).expect("well formed");
        let (first, measured) = (&native.cells[0], &report.cells[0]);
        let profile = &report.setting.profiles[0];
        assert_eq!(
            (&first.lock, &first.profile, first.threads),
            (&measured.lock, &profile.name, measured.threads)
        );
        assert_eq!((first.critical_ns, first.think_ns), (profile.critical_ns, profile.think_ns));
        assert_eq!(first.native.to_bits(), measured.rate().to_bits());
        assert_eq!((native.cells.len(), native.cpus), (report.cells.len(), Some(report.setting.cpus.len())));
    }

    #[test]
    fn other_files_are_refused() {
        assert!(from_json("{}").is_err());
        assert!(from_csv("a,b\n1,2\n").is_err());
    }
}
