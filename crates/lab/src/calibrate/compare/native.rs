//! The native side: cells of `stanchion bench`, run now or read from the JSON of an earlier run.
use super::verdict::Row;
use crate::bench::{self, State};
use crate::calibrate::args::Args;
use clap::{Args as _, FromArgMatches};
use core::time::Duration;
use lab_kit::child::Running;
use lab_kit::interrupt;
use lab_kit::output::read_text;
use lab_kit::provenance::Provenance;
use lab_kit::usage::one_line;
use stanchion_cells::threads;
use std::path::Path;
use std::process::{Command, Stdio};

/// How often we look whether to stop the benchmark.
const GLANCE: Duration = Duration::from_millis(50);

#[derive(Clone, Debug)]
pub(super) struct Native {
    pub(super) cells: Vec<Row>,
    /// Where it comes from, in a line.
    pub(super) whence: String,
    /// CPUs that it ran on.
    pub(super) cpus: usize,
    /// What makes a file that was read doubtful.
    pub(super) doubts: Vec<String>,
}

impl Native {
    /// The cells of some locks, profiles and thread counts, in the order of the benchmark.
    pub(super) fn only(mut self, locks: &[&str], args: &Args) -> Result<Self, String> {
        let profiles = args.profile.as_ref().map(|list| list.split(',').map(str::trim).collect::<Vec<_>>());
        let counts = args.threads.as_ref().map(|list| threads::parse(list, self.cpus));
        let counts = counts.transpose().map_err(|error| format!("--threads: {error}"))?;
        self.cells.retain(|cell| {
            locks.contains(&cell.lock.as_str())
                && profiles.as_ref().is_none_or(|profiles| profiles.contains(&cell.unlimited()))
                && counts.as_ref().is_none_or(|counts| counts.contains(&cell.threads))
        });
        let any = !self.cells.is_empty();
        any.then_some(self).ok_or_else(|| "--bench-json: it has none of these cells".to_owned())
    }
}

pub(super) fn read(path: &Path) -> Result<Native, String> {
    let report: bench::Report = serde_json::from_str(&read_text(path)?)
        .map_err(|error| format!("{} is no result of stanchion bench as JSON: {error}", path.display()))?;
    let (path, schema, known) = (path.display(), report.schema, bench::SCHEMA);
    if schema != known {
        return Err(format!("{path}: its schema is {schema}, and this stanchion knows {known}"));
    }
    let (own, here) = (&report.provenance, Provenance::collect(0).cpu_model);
    let model = &own.cpu_model;
    let doubts = [
        (!report.complete).then(|| format!("{path} is of a run that was not finished")),
        (own.build == "debug").then(|| format!("{path} is of a debug build, whose figures mean nothing")),
        (*model != here).then(|| format!("{path} was measured on {model}, and this machine is {here}")),
    ];
    Ok(Native { doubts: doubts.into_iter().flatten().collect(), ..native(&report) })
}

/// The cells that have a rate that counts.
fn native(report: &bench::Report) -> Native {
    let cell = |cell: &bench::Cell| {
        // What was skipped or failed has no rate. Holders that yield have no like in the simulator.
        let counts = matches!(cell.state, State::Measured | State::Stalled);
        let rates = cell.throughput.clone().filter(|_| counts)?;
        let profile = report.load(cell)?.profile;
        (!profile.yields).then(|| Row {
            profile: cell.profile.clone(),
            threads: cell.threads,
            lock: cell.lock.clone(),
            critical_ns: profile.critical_ns,
            think_ns: profile.think_ns,
            cpu_limit: profile.cpu_limit,
            native: rates,
            stalled: cell.state == State::Stalled,
            ..Row::default()
        })
    };
    let mut whence = report.provenance.rows();
    whence.retain(|(name, _)| ["date", "machine", "kernel"].contains(name));
    Native {
        cells: report.cells.iter().filter_map(cell).collect(),
        whence: whence.into_iter().map(|(_, value)| value).collect::<Vec<_>>().join(", "),
        cpus: report.setting.cpus.len(),
        doubts: Vec::new(),
    }
}

/// What is typed after `stanchion bench`. It does not wait for fair spin locks with many threads a CPU.
fn words(args: &Args) -> Vec<String> {
    let profiles = args.profile.as_deref().unwrap_or("empty,short,medium,long");
    let mut words = vec![format!("--lock={}", args.lock), format!("--profile={profiles}")];
    words.extend("--peers=none --latency-rounds=0 --drain=500ms --force".split(' ').map(str::to_owned));
    let rounds = args.rounds.map(|rounds| rounds.to_string());
    let Args { threads, time, cpus, cpu_limit, .. } = args;
    let given =
        [("threads", threads), ("time", time), ("rounds", &rounds), ("cpus", cpus), ("cpu-limit", cpu_limit)];
    for (flag, value) in given {
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
    command.arg("bench").args(words(args)).arg("--json").arg(json.path()).stdout(Stdio::null());
    let failed = |error| format!("cannot run the benchmark: {error}");
    let mut running = Running::lead(&mut command).map_err(failed)?;
    while !running.has_ended_within(GLANCE).map_err(failed)? && !interrupt::requested() {}
    if interrupt::requested() {
        // It is killed, and does not say that its results are kept.
        return Err("interrupted before the cells were simulated; nothing is kept".to_owned());
    }
    match running.wait(None, || ()).map_err(failed)?.status.code() {
        Some(2) => Err("the benchmark refused these cells".to_owned()),
        // Cells beside a broken one are compared.
        _ => read(json.path()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_a_rate_is_kept_and_chosen_by_lock_profile_and_threads() {
        let mut report = bench::tests::full();
        report.cells[0].state = State::Stalled;
        report.cells[1].state = State::Skipped { stalled_at: 1 };
        report.cells[2].throughput = None;
        report.setting.profiles[1].yields = true;
        let yields = report.cells.iter().filter(|cell| cell.profile == "short").count();
        let native = native(&report);
        assert_eq!(native.cells.len(), report.cells.len() - 2 - yields);
        assert_eq!(native.cpus, report.setting.cpus.len());
        assert_eq!([native.cells[0].stalled, native.cells[1].stalled], [true, false]);
        let provenance = &report.provenance;
        for part in [&provenance.date, &provenance.cpu_model, &provenance.kernel] {
            assert!(native.whence.contains(part), "{part}: {}", native.whence);
        }
        let (lock, profile) = (native.cells[0].lock.clone(), native.cells[0].profile.clone());
        let is_meant = |cell: &&Row| cell.lock == lock && cell.profile == profile && cell.threads <= 2;
        let meant: Vec<Row> = native.cells.iter().filter(is_meant).cloned().collect();
        let args = Args::of(&["--profile", &profile, "--threads", "1,1x"]);
        let only = native.only(&[&lock], &args).expect("two CPUs");
        assert!(!meant.is_empty() && only.cells == meant, "{meant:?}");
        assert!(only.only(&["none"], &args).is_err_and(|error| error.contains("none of these cells")));
    }

    #[test]
    fn cells_under_a_limit_have_it_and_come_with_their_profile() {
        let mut report = bench::tests::full();
        let name = core::mem::replace(&mut report.setting.profiles[0].name, "own@0.5".to_owned());
        report.setting.profiles[0].cpu_limit = Some(0.5);
        report.cells.retain(|cell| cell.profile == name);
        report.cells.iter_mut().for_each(|cell| cell.profile = "own@0.5".to_owned());
        let lock = report.cells[0].lock.clone();
        let only = |profile| native(&report).only(&[&lock], &Args::of(&["--profile", profile]));
        let cells = only("own").expect("there are some").cells;
        assert!(cells.iter().all(|cell| cell.cpu_limit == Some(0.5)), "{cells:?}");
        assert!(only("ow").is_err());
        assert!(words(&Args::of(&["--cpu-limit", "1,0.5"])).contains(&"--cpu-limit=1,0.5".to_owned()));
        let refused = check(&Args::of(&["--cpu-limit", "half"])).expect_err("no number");
        assert!(refused.contains("--cpu-limit"), "{refused}");
    }

    #[test]
    fn cells_have_the_times_of_their_profiles_and_the_rates_of_their_rounds() {
        let report = bench::tests::full();
        let native = native(&report);
        let (first, measured) = (&native.cells[0], &report.cells[0]);
        let profile = &report.setting.profiles[0];
        assert_eq!(
            (&first.lock, &first.profile, first.threads),
            (&measured.lock, &profile.name, measured.threads)
        );
        assert_eq!((first.critical_ns, first.think_ns), (profile.critical_ns, profile.think_ns));
        assert_eq!(first.native.median.to_bits(), measured.rate().to_bits());
        assert_eq!(first.native.rounds, measured.rates());
        assert_eq!((native.cells.len(), native.cpus), (report.cells.len(), report.setting.cpus.len()));
    }

    type Change = fn(&mut bench::Report);

    /// What there is to say of a result that was written.
    fn doubts(change: impl FnOnce(&mut bench::Report)) -> Result<Vec<String>, String> {
        let mut report = bench::tests::full();
        report.provenance.build = "release".to_owned();
        change(&mut report);
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), lab_kit::export::json(&report)).expect("written");
        read(file.path()).map(|native| native.doubts)
    }

    #[test]
    fn unlike_results_are_refused_or_doubted() {
        assert_eq!(doubts(|_| ()), Ok(Vec::new()));
        let refused = doubts(|report| report.schema = 99).expect_err("unknown");
        assert!(refused.ends_with("its schema is 99, and this stanchion knows 1"), "{refused}");
        let changes: [(Change, &str); 3] = [
            (|report| report.complete = false, "was not finished"),
            (|report| report.provenance.build = "debug".to_owned(), "debug build"),
            (|report| report.provenance.cpu_model = "another".to_owned(), "was measured on another"),
        ];
        for (change, part) in changes {
            let doubts = doubts(change).expect("well formed");
            assert!(doubts.len() == 1 && doubts[0].contains(part), "{part}: {doubts:?}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        for text in ["{}", "a,b\n1,2\n"] {
            let file = tempfile::NamedTempFile::new().expect("a temporary file");
            std::fs::write(file.path(), text).expect("written");
            assert!(read(file.path()).is_err_and(|error| error.contains("no result of stanchion bench")));
        }
    }
}
