//! The command line of `stanchion run`, and what it means.
//!
//! Two stages: [`Args`] is what was typed, [`Request`] what will be done. Everything that can be refused is
//! refused on the way from one to the other, before the program starts for the first time.
use super::compare::{Comparison, Metric, Order, Setting};
use super::environment::{Environment, Outer};
use super::launch::Launch;
use super::library::{self, Places};
use super::program::Program;
use super::record::cost::Costs;
use super::record::{self, Record, Show};
use super::single::Single;
use super::stats::{self, Stats};
use super::{Target, imports, locks, probe};
use core::time::Duration;
use lab_kit::export::Exports;
use lab_kit::names::LockNames;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// How long a run of a comparison may take unless told otherwise.
const DEFAULT_TIMEOUT: Duration = Duration::from_mins(10);
/// The longest timeout, in seconds: ten days.
const SECONDS_MOST: f64 = 864_000.0;
/// The most runs of a comparison that anybody can mean.
const RUNS_MOST: usize = 10_000;

/// Run a program as it is with its pthread locks replaced, or compare it under several locks
///
/// The program's input, output, exit code and signals are its own. STANCHION and LD_PRELOAD of the
/// environment are kept and added to.
#[derive(clap::Args, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent flag")]
#[command(
    override_usage = "stanchion run [OPTIONS] [--] PROGRAM [ARGS]...",
    after_help = "Exit codes: the program's own, 128 + N if signal N ended it, 124 after --timeout; 2 refused, nothing was run. \
With --compare: 0 all went well; 1 a run failed, or printed something else; 2 refused, nothing was run; 130 interrupted, what was \
finished is kept."
)]
pub(crate) struct Args {
    /// The lock to run under [default: stanchion]; with --compare those to run under, and the others are set
    /// in relation to the first [default: libc,stanchion]; NAME+stats counts as --stats does, to see what
    /// that costs
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = LockNames::PRELOADED, hide_possible_values = true)]
    pub lock: Vec<String>,

    /// List the locks, and stop
    #[arg(long)]
    pub list: bool,

    /// More words for the library, such as nopv or spin=200; they count more than those in STANCHION
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    pub set: Vec<String>,

    /// Count what happens at each lock, and tell on standard error when the program has ended; also whenever
    /// this command gets SIGUSR2, which then is not passed on
    #[arg(long, conflicts_with = "compare", help_heading = "Statistics")]
    pub stats: bool,

    /// Locks to show, those waited for longest [default: 10]
    #[arg(long, value_name = "N", requires = "stats", help_heading = "Statistics")]
    pub stats_top: Option<usize>,

    /// Write all locks as JSON, too
    #[arg(long, value_name = "FILE", requires = "stats", help_heading = "Statistics")]
    pub stats_json: Option<PathBuf>,

    /// Write a trace of the locks: each hold of each thread, with the times before, of waiting and of holding
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "compare",
        group = "recorded",
        help_heading = "Traces"
    )]
    pub record: Option<PathBuf>,

    /// Sum up a trace, and run nothing; with --json as JSON, which may go to '-'
    #[arg(long, value_name = "FILE", group = "results", conflicts_with_all = ["stats", "record", "program"], help_heading = "Traces")]
    pub show: Option<PathBuf>,

    #[command(flatten)]
    pub launch: Launch,

    /// Replace existing output files
    #[arg(long)]
    pub force: bool,

    /// No progress and no warnings on standard error before the program ends
    #[arg(long, short)]
    pub quiet: bool,

    /// Run the program under several locks in turn, and compare; its input is empty, its output is not shown
    #[arg(long, group = "results", help_heading = "Comparing")]
    pub compare: bool,

    /// Runs under each lock that count [default: 5]
    #[arg(long, value_name = "N", requires = "compare", help_heading = "Comparing")]
    pub runs: Option<usize>,

    /// Runs under each lock before them that do not count [default: 0]
    #[arg(long, value_name = "N", requires = "compare", help_heading = "Comparing")]
    pub warmup: Option<usize>,

    /// What to compare: wall or cpu (seconds), rss (KiB at most), or a regular expression whose one group is
    /// a number in the program's output, such as 'ops/sec: ([0-9.]+)'; the last line that matches counts
    /// [default: wall]
    #[arg(long, value_name = "WHAT", requires = "compare", help_heading = "Comparing")]
    pub metric: Option<String>,

    /// The number picked from the output is better if it is higher
    #[arg(long, requires = "metric", help_heading = "Comparing")]
    pub higher_is_better: bool,

    /// Shuffle the locks of each round by this seed, in place of rotating them
    #[arg(long, value_name = "N", requires = "compare", help_heading = "Comparing")]
    pub seed: Option<u64>,

    /// A run fails if it does not print, byte for byte, what the first run printed
    #[arg(long, requires = "compare", help_heading = "Comparing")]
    pub check_output: bool,

    /// Show what each run printed, on standard error
    #[arg(long, requires = "compare", help_heading = "Comparing")]
    pub show_output: bool,

    /// Write the whole result as JSON, after each run
    #[arg(long, value_name = "FILE", requires = "results", help_heading = "Comparing")]
    pub json: Option<PathBuf>,

    /// Write one row per run as CSV, after each run
    #[arg(long, value_name = "FILE", requires = "compare", help_heading = "Comparing")]
    pub csv: Option<PathBuf>,

    /// The program, and its arguments
    #[arg(value_name = "PROGRAM", trailing_var_arg = true)]
    pub program: Vec<OsString>,
}

/// What was asked for.
#[derive(Debug)]
pub(crate) enum Request {
    List,
    Show(Show),
    Single(Box<Single>),
    Compare(Box<Comparison>),
}

impl Args {
    /// Checks everything; the error is the one line to print.
    pub(crate) fn resolve(&self) -> Result<Request, String> {
        if self.list {
            return Ok(Request::List);
        }
        if let Some(trace) = &self.show {
            let (trace, json) = (trace.clone(), self.json.clone());
            return Ok(Request::Show(Show { trace, json, force: self.force }));
        }
        let chosen = self.locks()?;
        let timeout = self.launch.timeout.map(seconds).transpose()?;
        let mut words = self.words()?;
        let setting = if self.compare {
            Some(self.setting(&chosen, timeout.unwrap_or(DEFAULT_TIMEOUT))?)
        } else {
            None
        };
        let target = self.target()?;
        // Anything that only the library can do needs it, under libc's own locks too.
        let asked = self.stats || self.record.is_some();
        let needs = |lock: &str| asked || lock != locks::LIBC;
        let outer = Outer::here();
        let library = if chosen.iter().any(|lock| needs(lock)) {
            outer.check()?;
            Some(self.find_library()?)
        } else {
            None
        };
        let environment = |lock: &str, words: &[OsString]| {
            Environment::new(lock, library.as_deref().filter(|_| needs(lock)), words, &outer)
        };
        let tried = self.words_to_try(&words)?;
        for lock in chosen.iter().filter(|lock| needs(lock)) {
            probe::probe(&environment(lock, &tried.0)).map_err(|error| format!("--lock {lock}: {error}"))?;
        }
        let quiet = self.quiet || library.is_none();
        let warning = if quiet { None } else { imports::warning(&target.program) };
        // Files come last, because a refusal leaves none behind.
        if let Some(setting) = setting {
            let exports = Exports::open_files(self.files(), self.force)?;
            let environments = chosen.iter().map(|lock| environment(lock, &words)).collect();
            let quiet = self.quiet;
            let comparison =
                Comparison { target, environments, setting, library, words, exports, warning, quiet };
            return Ok(Request::Compare(Box::new(comparison)));
        }
        let cost = tried.1.as_ref().and_then(|dir| Costs::measured(&dir.path().join("record")));
        let record = self.new_record(cost)?;
        if let Some(record) = &record {
            words.push(word_of("record", "--record", record.raw())?);
        }
        let stats = if self.stats { Some(self.new_stats()?) } else { None };
        if let Some(stats) = &stats {
            words.push(word_of("stats", "--stats", stats.path())?);
        }
        let environment = environment(&chosen[0], &words);
        Ok(Request::Single(Box::new(Single { target, environment, timeout, stats, record, warning })))
    }

    fn locks(&self) -> Result<Vec<String>, String> {
        let mut chosen: Vec<String> = Vec::new();
        for lock in &self.lock {
            locks::check(lock)?;
            if chosen.contains(lock) {
                return Err(format!("--lock names {lock} twice"));
            }
            chosen.push(lock.clone());
        }
        if chosen.is_empty() {
            let usual: &[&str] =
                if self.compare { &[locks::LIBC, locks::DEFAULT] } else { &[locks::DEFAULT] };
            chosen = usual.iter().map(|&lock| lock.to_owned()).collect();
        }
        let libcs = |lock: &str| [locks::LIBC, locks::LIBC_THROUGH].contains(&lock);
        match (self.compare, chosen.len()) {
            (true, 1) => Err(format!("--compare has nothing to compare {} with; name more locks", chosen[0])),
            (false, 1) if self.record.is_some() && libcs(&chosen[0]) => {
                Err(format!("--record records our locks, and {} are libc's own", chosen[0]))
            }
            (false, 1) if self.stats && libcs(&chosen[0]) => {
                Err(format!("--stats counts at our locks, and {} are libc's own", chosen[0]))
            }
            (false, 2..) => {
                Err(format!("--lock names {} locks, and a run has one; use --compare", chosen.len()))
            }
            _ => Ok(chosen),
        }
    }

    fn words(&self) -> Result<Vec<OsString>, String> {
        for word in &self.set {
            let key = word.split('=').next().unwrap_or_default().trim();
            if key.is_empty() {
                return Err(format!("--set {word}: write words such as nopv or spin=200"));
            }
            if let Some(flag) = ["lock", "stats", "record"].into_iter().find(|flag| *flag == key) {
                return Err(format!("--set {word}: use --{flag}"));
            }
        }
        Ok(self.set.iter().map(OsString::from).collect())
    }

    /// The words with files that nobody keeps, for as long as the directory is there.
    fn words_to_try(&self, words: &[OsString]) -> Result<(Vec<OsString>, Option<TempDir>), String> {
        let wanted = [("stats", self.stats), ("record", self.record.is_some())];
        let mut words = words.to_vec();
        if !wanted.iter().any(|(_, wanted)| *wanted) {
            return Ok((words, None));
        }
        let dir =
            tempfile::tempdir().map_err(|error| format!("no temporary directory can be made: {error}"))?;
        for (key, _) in wanted.into_iter().filter(|(_, wanted)| *wanted) {
            words.push(word_of(key, &format!("--{key}"), &dir.path().join(key))?);
        }
        Ok((words, Some(dir)))
    }

    fn setting(&self, chosen: &[String], timeout: Duration) -> Result<Setting, String> {
        let runs = self.runs.unwrap_or(5);
        if runs == 0 || runs > RUNS_MOST {
            return Err(format!("--runs {runs}: must be from 1 to {RUNS_MOST}"));
        }
        let warmup = self.warmup.unwrap_or(0);
        if warmup > RUNS_MOST {
            return Err(format!("--warmup {warmup}: must be {RUNS_MOST} at most"));
        }
        let metric = Metric::parse(self.metric.as_deref().unwrap_or("wall"), self.higher_is_better)?;
        Ok(Setting {
            locks: chosen.to_vec(),
            metric,
            runs,
            warmup,
            timeout_s: timeout.as_secs_f64(),
            order: if self.seed.is_some() { Order::Shuffled } else { Order::Rotated },
            seed: self.seed.unwrap_or(0),
            check_output: self.check_output,
            show_output: self.show_output,
        })
    }

    fn target(&self) -> Result<Target, String> {
        let name = self.program.first().ok_or("no program to run; give it after '--'")?;
        let program = Program::find(name, std::env::var_os("PATH").as_deref())?;
        Ok(Target { program, words: self.program.clone() })
    }

    fn find_library(&self) -> Result<PathBuf, String> {
        library::find(&Places {
            flag: self.launch.library.as_deref(),
            variable: std::env::var_os("STANCHION_PRELOAD").as_deref(),
            executable: std::env::current_exe().ok().as_deref(),
        })
    }

    fn files(&self) -> Vec<(PathBuf, super::compare::Writer)> {
        let both = [(&self.json, super::compare::JSON), (&self.csv, super::compare::CSV)];
        both.into_iter().filter_map(|(path, writer)| Some((path.clone()?, writer))).collect()
    }

    fn new_stats(&self) -> Result<Stats, String> {
        Stats::prepare(self.stats_top.unwrap_or(stats::TOP), self.stats_json.as_deref(), self.force)
    }

    /// None unless a trace is to be recorded.
    fn new_record(&self, cost: Option<Costs>) -> Result<Option<Record>, String> {
        let mib = self.launch.record_limit.unwrap_or(record::LIMIT);
        self.record.as_ref().map(|path| Record::prepare(path, mib, self.force, self.quiet, cost)).transpose()
    }
}

/// `key=path` as a word of `STANCHION`, where a comma ends a word.
pub(crate) fn word_of(key: &str, flag: &str, path: &Path) -> Result<OsString, String> {
    if path.as_os_str().as_bytes().contains(&b',') {
        return Err(format!(
            "{flag}: {} has a comma in it, which the library cannot be told",
            path.display()
        ));
    }
    let mut word = OsString::from(format!("{key}="));
    word.push::<&OsStr>(path.as_ref());
    Ok(word)
}

fn seconds(given: f64) -> Result<Duration, String> {
    if given > 0.0 && given <= SECONDS_MOST {
        Ok(Duration::from_secs_f64(given))
    } else {
        Err(format!("--timeout {given}: must be above 0 and at most {SECONDS_MOST} seconds"))
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
