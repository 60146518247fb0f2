//! The command line of `stanchion run`, and what it means. Everything that can be refused is refused here,
//! before the program starts for the first time.
use super::compare::{self, Report};
use super::library::{self, Environment, Outer, word_of};
use super::locks;
use super::program::Program;
use super::record::Record;
use super::record::cost::{self, Costs};
use super::single::Single;
use super::stats::Stats;
use clap::{ArgAction, ArgGroup};
use core::time::Duration;
use lab_kit::compare::{Order, Setting};
use lab_kit::experiment::Experiment;
use lab_kit::export::{Files, ResultFile};
use lab_kit::names::{LockNames, with_all};
use lab_kit::units::{TEN_DAYS, seconds_within, within};
use stanchion_cells::scenes::once;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// The most runs of a comparison that anybody can mean.
const RUNS_MOST: usize = 10_000;

const STATISTICS: &str = "Statistics";
const TRACES: &str = "Traces";
const COMPARING: &str = "Comparing";

/// Run a program as it is with its pthread locks replaced, or compare it under several locks
///
/// The program's input, output, exit code and signals are its own. STANCHION and LD_PRELOAD of the
/// environment are kept and added to. With --quiet nothing is warned of before the program ends, either.
#[derive(clap::Args, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent flag")]
#[command(
    override_usage = "stanchion run [OPTIONS] [--] PROGRAM [ARGS]...",
    group(ArgGroup::new("of_results").arg("json").requires("results")),
    group(ArgGroup::new("of_comparisons").args(["csv", "html", "out"]).multiple(true).requires("compare")
        .conflicts_with_all(["stats", "record", "show"])),
    after_help = "Exit codes: the program's own, 128 + N if signal N ended it, 124 after --timeout; 2 refused, nothing was run. \
With --compare: 0 all went well; 1 a run failed, or printed something else; 2 refused, nothing was run; 130 interrupted, what was \
finished is kept."
)]
pub(crate) struct Args {
    /// The lock to run under [default: the one in STANCHION, or stanchion]; with --compare those to run
    /// under, such as libc,all, and the others are set in relation to the first [default: libc,stanchion];
    /// NAME+stats counts as --stats does, to see what that costs
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set, value_parser = LockNames::PRELOADED, hide_possible_values = true)]
    pub lock: Vec<String>,

    /// List the locks, and stop
    #[arg(long, exclusive = true)]
    pub list: bool,

    /// More words for the library, such as nopv or spin_ns=20000; they count more than those in STANCHION
    #[arg(long, value_name = "WORDS", value_delimiter = ',', value_parser = word)]
    pub set: Vec<OsString>,

    /// Count what happens at each lock, and tell on standard error when the program has ended; also whenever
    /// this command gets SIGUSR2, which then is not passed on; with --json all locks, as JSON
    #[arg(long, group = "results", conflicts_with = "compare", help_heading = STATISTICS)]
    pub stats: bool,

    /// Locks to show, those waited for longest
    #[arg(
        long, value_name = "N", default_value_t = 10, requires = "stats", help_heading = STATISTICS,
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pub stats_top: u32,

    /// Write a trace of the locks: each hold of each thread, with the times before, of waiting and of holding
    #[arg(long, value_name = "FILE", conflicts_with = "compare", group = "recorded", help_heading = TRACES)]
    pub record: Option<PathBuf>,

    /// Sum up a trace, and run nothing; with --json as JSON, which may go to '-'
    #[arg(long, value_name = "FILE", group = "results", conflicts_with_all = ["stats", "record", "program", "lock", "set", "timeout", "library"], help_heading = TRACES)]
    pub show: Option<PathBuf>,

    #[command(flatten)]
    pub launch: Launch,

    /// Run the program under several locks in turn, and compare; its input is empty, its output is not shown;
    /// files are written after each run
    #[arg(long, group = "results", help_heading = COMPARING)]
    pub compare: bool,

    /// Runs under each lock that count
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = within(1_usize, RUNS_MOST), requires = "compare", help_heading = COMPARING)]
    pub rounds: usize,

    /// Runs under each lock before them that do not count
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = within(0_usize, RUNS_MOST), requires = "compare", help_heading = COMPARING)]
    pub warm_up_rounds: usize,

    /// What to compare: wall or cpu (seconds), rss (KiB at most), or a regular expression whose one group is
    /// a number in the program's output, such as 'ops/sec: ([0-9.]+)'; the last line that matches counts
    #[arg(long, value_name = "WHAT", default_value = "wall", requires = "compare", help_heading = COMPARING)]
    pub metric: String,

    /// The number picked from the output is better if it is higher
    #[arg(long, requires = "metric", help_heading = COMPARING)]
    pub higher_is_better: bool,

    /// Shuffle the locks of each round by this seed, in place of rotating them
    #[arg(long, value_name = "N", requires = "compare", help_heading = COMPARING)]
    pub seed: Option<u64>,

    /// A run fails if it does not print, byte for byte, what the first run printed
    #[arg(long, requires = "compare", help_heading = COMPARING)]
    pub check_output: bool,

    /// Show what each run printed, on standard error
    #[arg(long, requires = "compare", help_heading = COMPARING)]
    pub show_output: bool,

    /// The program, and its arguments
    #[arg(value_name = "PROGRAM", trailing_var_arg = true)]
    pub program: Vec<OsString>,

    // Last, because what follows would come under its heading.
    #[command(flatten, next_help_heading = "Files")]
    pub files: Files,
}

// How a program is started with the library in front: the flags of every command that does so. A doc comment
// would become the description of those commands.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Launch {
    /// The most that the program may write of a trace, in MiB; what comes later is dropped and counted
    // The group is what is recorded: each command says which of its arguments that is.
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = within(1_u64, 1 << 20), requires = "recorded")]
    pub record_limit: u64,

    /// End the program after this time, with all that it started; it cannot read from a terminal then
    /// [default: none; of run --compare: 10m]
    #[arg(long, value_name = "TIME", value_parser = seconds_within(Duration::from_nanos(1), TEN_DAYS))]
    pub timeout: Option<f64>,

    /// The interposer [default: STANCHION_PRELOAD, or libstanchion_preload.so beside this command, in ../lib,
    /// or in its target/release or target/debug]
    #[arg(long, value_name = "PATH")]
    pub library: Option<PathBuf>,
}

/// A program that can be started, and a library that does as it is told.
struct Ready {
    program: Program,
    outer: Outer,
    library: Option<PathBuf>,
    /// Whether the library is to count or to record.
    is_asked: bool,
    cost: Option<Costs>,
    warning: Option<String>,
}

impl Ready {
    /// What only the library can do needs it, under libc's own locks, too.
    fn needs_library(&self, lock: &str) -> bool {
        self.is_asked || lock != locks::LIBC
    }

    fn environment(&self, lock: &str, words: &[OsString]) -> Environment {
        let library = self.library.as_deref().filter(|_| self.needs_library(lock));
        Environment::new(lock, library, words, &self.outer)
    }
}

impl Args {
    pub(crate) fn single(&self) -> Result<Single, String> {
        let outer = Outer::of_environment();
        let chosen = self.locks(&outer)?;
        let mut ready = self.ready(&chosen, outer)?;
        // Files come last, because a refusal leaves none behind.
        let ResultFile { json, force, quiet } = &self.files.results;
        self.files.apart(&compare::FORMATS, &self.record)?;
        let stats = || Stats::prepare(self.stats_top as usize, json.as_deref(), *force);
        let stats = self.stats.then(stats).transpose()?;
        let record = |path: &PathBuf| Record::prepare(path, self.launch.record_limit, *force, *quiet);
        let mut record = self.record.as_ref().map(record).transpose()?;
        if let Some(record) = &mut record {
            record.cost = ready.cost.take();
        }
        let mut words = self.set.clone();
        words.extend(record.as_ref().map(|record| word_of("record", record.raw.path())).transpose()?);
        words.extend(stats.as_ref().map(|stats| word_of("stats", &stats.file)).transpose()?);
        let environment = ready.environment(&chosen[0], &words);
        let Ready { program, warning, .. } = ready;
        Ok(Single { program, environment, timeout: self.launch.timeout, stats, record, warning })
    }

    pub(crate) fn comparison(&self) -> Result<ExitCode, String> {
        let outer = Outer::of_environment();
        let chosen = self.locks(&outer)?;
        let setting = self.setting(&chosen)?;
        let ready = self.ready(&chosen, outer)?;
        let experiment = Experiment::open(&self.files, &compare::FORMATS, setting.trials().len())?;
        let environments: Vec<_> = chosen.iter().map(|lock| ready.environment(lock, &self.set)).collect();
        let Ready { program, library, warning, .. } = ready;
        let report = Report::new(setting, &program, library.as_deref(), &self.set, warning);
        Ok(compare::run(&program, &environments, report, experiment, self.files.results.quiet))
    }

    /// Those that were named here; or else a single run has the one that is named outside.
    fn locks(&self, outer: &Outer) -> Result<Vec<String>, String> {
        for (index, lock) in self.lock.iter().enumerate() {
            if self.lock[..index].contains(lock) {
                return Err(format!("--lock names {lock} twice"));
            }
        }
        let named = once(with_all(self.lock.iter().map(String::as_str), &locks::taken_names()));
        named.iter().try_for_each(|lock| locks::check(lock)).map_err(|why| format!("--lock: {why}"))?;
        let mut chosen: Vec<String> = named.into_iter().map(str::to_owned).collect();
        let mut whence = "";
        if chosen.is_empty() {
            let outside = if self.compare { None } else { outer.lock()? };
            whence = outside.as_ref().map_or("", |_| " (named in STANCHION)");
            chosen.extend(self.compare.then(|| locks::LIBC.to_owned()));
            chosen.push(outside.unwrap_or_else(|| locks::DEFAULT.to_owned()));
        }
        let only = chosen[0].as_str();
        let is_libcs = [locks::LIBC, locks::LIBC_THROUGH].contains(&only);
        Err(match chosen.len() {
            1 if self.compare => format!("--compare has nothing to compare {only} with; name more locks"),
            1 if self.record.is_some() && is_libcs => {
                format!("--record records our locks, and {only}{whence} are libc's own")
            }
            1 if self.stats && is_libcs => {
                format!("--stats counts at our locks, and {only}{whence} are libc's own")
            }
            more @ 2.. if !self.compare => {
                format!("--lock names {more} locks, and a run has one; use --compare")
            }
            1 if !self.compare && locks::split(only).1 => {
                format!("--lock {only} is for --compare; a run that counts has --stats")
            }
            _ => return Ok(chosen),
        })
    }

    fn setting(&self, chosen: &[String]) -> Result<Setting, String> {
        let metric = compare::parse(&self.metric, self.higher_is_better)?;
        let usual = Setting::new(chosen.to_vec(), metric, self.rounds);
        Ok(Setting {
            warmup: self.warm_up_rounds,
            timeout_s: self.launch.timeout.unwrap_or(usual.timeout_s),
            order: if self.seed.is_some() { Order::Shuffled } else { Order::Rotated },
            seed: self.seed.unwrap_or(0),
            check_output: self.check_output,
            show_output: self.show_output,
            ..usual
        })
    }

    /// Finds the program and the library, and tries the library with each lock.
    fn ready(&self, chosen: &[String], outer: Outer) -> Result<Ready, String> {
        let mut ready = Ready {
            program: Program::find(&self.program, std::env::var_os("PATH").as_deref())?,
            outer,
            library: None,
            is_asked: self.stats || self.record.is_some(),
            cost: None,
            warning: None,
        };
        if !chosen.iter().any(|lock| ready.needs_library(lock)) {
            return Ok(ready);
        }
        ready.outer.check()?;
        ready.library = Some(library::find(
            self.launch.library.as_deref(),
            std::env::var_os("STANCHION_PRELOAD").as_deref(),
            std::env::current_exe().ok().as_deref(),
        )?);
        // Tried with files that nobody keeps.
        let dir = ready.is_asked.then(tempfile::tempdir).transpose();
        let dir = dir.map_err(|error| format!("no temporary directory can be made: {error}"))?;
        let file = |key: &str| dir.as_ref().map(|dir| dir.path().join(key));
        let mut words = self.set.clone();
        for (key, wanted) in [("stats", self.stats), ("record", self.record.is_some())] {
            words.extend(file(key).filter(|_| wanted).map(|file| word_of(key, &file)).transpose()?);
        }
        let flag = if self.lock.is_empty() { "lock" } else { "--lock" };
        for lock in chosen.iter().filter(|lock| ready.needs_library(lock)) {
            let probed = library::probe(&ready.environment(lock, &words), self.record.is_some());
            probed.map_err(|error| format!("{flag} {lock}: {error}"))?;
        }
        ready.cost = file("record").and_then(|file| cost::measured(&file));
        ready.warning = if self.files.results.quiet { None } else { ready.program.warning() };
        Ok(ready)
    }
}

/// A word of `--set`.
fn word(word: &str) -> Result<OsString, String> {
    match word.split('=').next().unwrap_or_default().trim() {
        "" => Err("write words such as nopv or spin_ns=20000".to_owned()),
        flag @ ("lock" | "stats" | "record") => Err(format!("use --{flag}")),
        _ => Ok(word.into()),
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
