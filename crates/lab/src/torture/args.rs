//! The command line of `stanchion torture`, and what it means.
//!
//! Everything that can be refused is refused before a single thread starts.
use super::orders::{Extras, Orders};
use super::registry::{self, Row};
use super::shuffle::Shuffle;
use clap::value_parser;
use lab_kit::names::{LockNames, unknown};
use lab_kit::seed;
use std::path::PathBuf;
use std::thread;

/// The most threads of each kind that make sense on any machine.
const THREADS_MOST: u64 = 4096;
/// The longest run of one lock, in seconds: ten days.
const SECONDS_MOST: f64 = 864_000.0;
/// The longest time without progress that is no stall yet, in seconds.
const STALL_MOST: f64 = 3600.0;

/// Torture locks the way the kernel's locktorture does
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 nothing failed; 1 a lock failed (with --expect-failure: one survived); 2 bad input, nothing \
was run; 130 interrupted, what was finished is printed."
)]
pub(crate) struct Args {
    /// Locks to torture, one after the other; `family` is all of Stanchion's, `rw` those of them
    /// whose readers share, `busted` all that are broken on purpose
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = registry::FAMILY, value_parser = LockNames::ALL, hide_possible_values = true)]
    pub(super) lock: Vec<String>,

    /// Print the names of the locks and of the extras, and do nothing
    #[arg(long)]
    pub(super) list: bool,

    /// How long to torture each lock
    #[arg(long, value_name = "S", default_value = "10", value_parser = seconds)]
    seconds: f64,

    /// Threads that write [default: twice the CPUs]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(..=THREADS_MOST))]
    writers: Option<u64>,

    /// Threads that only look; under a mutual-exclusion lock they take it like everybody else [default: none
    /// there, twice the CPUs under a reader-writer lock]
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(..=THREADS_MOST))]
    readers: Option<u64>,

    /// The seed of every random decision [default: a new one, printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Seconds between two lines of statistics [default: a fifth of the run, 15 at most]
    #[arg(long, value_name = "S", value_parser = seconds)]
    stat_interval: Option<f64>,

    /// A lock is stalled when nobody has got it for this long although somebody wants it [default: 3, more
    /// with very many threads]
    #[arg(long, value_name = "S", value_parser = stall)]
    stall_seconds: Option<f64>,

    /// How long the rare long holds take
    #[arg(long, value_name = "MS", default_value = "20", value_parser = value_parser!(u64).range(1..=60_000))]
    long_hold: u64,

    /// Seconds between two pauses of all threads
    #[arg(long, value_name = "S", default_value = "1", value_parser = seconds)]
    stutter: f64,

    /// Extras to leave out (see --list), or `all`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    without: Vec<String>,

    /// Succeed only if every selected lock was caught failing
    #[arg(long)]
    pub(super) expect_failure: bool,

    /// With --expect-failure: torture a lock that survives again, with the next seed and for twice as long,
    /// until it has been so many times
    #[arg(long, value_name = "N", default_value_t = 1, requires = "expect_failure", value_parser = value_parser!(u32).range(1..=12))]
    pub(super) tries: u32,

    /// Write the results here
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long)]
    pub(super) force: bool,

    /// Carry out orders from a parent process (JSON)
    #[arg(long, hide = true, value_name = "ORDERS")]
    pub(super) child: Option<String>,
}

/// A time in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    within(text, f64::MIN_POSITIVE, SECONDS_MOST).ok_or(format!("must be above 0 and at most {SECONDS_MOST}"))
}

/// A time without progress.
fn stall(text: &str) -> Result<f64, String> {
    const LEAST: f64 = 0.1;
    within(text, LEAST, STALL_MOST).ok_or(format!("must be from {LEAST} to {STALL_MOST}"))
}

fn within(text: &str, least: f64, most: f64) -> Option<f64> {
    text.parse().ok().filter(|seconds| (least..=most).contains(seconds))
}

impl Args {
    /// The locks, each once.
    pub(super) fn rows(&self) -> Result<Vec<&'static Row>, String> {
        let mut rows: Vec<&'static Row> = Vec::new();
        for name in &self.lock {
            let mut found = registry::named(name, self.expect_failure);
            if found.is_empty() {
                return Err(unknown("lock", name, registry::names()));
            }
            found.retain(|row| rows.iter().all(|known| known.name != row.name));
            rows.extend(found);
        }
        Ok(rows)
    }

    /// How many readers there are, where they share the lock or not.
    pub(super) fn readers(&self, share: bool) -> usize {
        self.readers.map_or(if share { 2 * cpus() } else { 0 }, |readers| readers as usize)
    }

    /// The orders of all these locks, but for the name, and for what a lock cannot take.
    pub(super) fn orders(&self, rows: &[&Row]) -> Result<Orders, String> {
        let writers = self.writers.map_or(2 * cpus(), |writers| writers as usize);
        let readers = self.readers(false);
        if writers + readers == 0 {
            return Err("--writers 0 and --readers 0 leave nobody to torture the lock".to_owned());
        }
        let crowd = writers + self.readers(rows.iter().any(|row| row.skills.shares));
        Ok(Orders {
            lock: String::new(),
            seconds: self.seconds,
            writers,
            readers,
            seed: self.seed.unwrap_or_else(seed::fresh),
            stat_interval: self.stat_interval.unwrap_or((self.seconds / 5.0).min(15.0)),
            stall_seconds: self.stall_seconds.unwrap_or_else(|| stall_limit(crowd, cpus())),
            long_hold_ms: self.long_hold,
            stutter: self.stutter,
            extras: extras(&self.without)?,
        })
    }

    /// The orders for one lock.
    pub(super) fn orders_for(&self, all: &Orders, row: &Row) -> Orders {
        let mut orders =
            Orders { lock: row.name.to_owned(), readers: self.readers(row.skills.shares), ..all.clone() };
        orders.extras.signals &= row.signal_safe;
        orders
    }
}

fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Switches off what this process is not permitted to do, and says so.
pub(super) fn ask_permission(extras: &mut Extras) {
    let refused = |what: &str, error: &dyn core::fmt::Display, extra: &str| {
        eprintln!("stanchion torture: no permission to {what} ({error}): going on without {extra}");
    };
    if extras.shuffle
        && let Err(error) = Shuffle::probe()
    {
        extras.shuffle = false;
        refused("bind threads to CPUs", &error, "shuffle");
    }
    // In a thread of its own, which takes its nice value with it: a process cannot always take one back.
    let nice = thread::spawn(|| rustix::process::setpriority_process(None, 19)).join();
    if extras.nice
        && let Ok(Err(error)) = nice
    {
        extras.nice = false;
        refused("lower the workers' priority", &error, "nice");
    }
}

/// How long a standstill is no stall yet. A spinning first-come-first-served lock hands over only when the
/// scheduler has come round to the next in line, which takes up to a time slice of every other thread.
fn stall_limit(threads: usize, cpus: usize) -> f64 {
    const LEAST: f64 = 3.0;
    const ROUNDS: f64 = 3.0;
    const SLICE: f64 = 0.004;
    LEAST.max(ROUNDS * SLICE * threads as f64 / cpus as f64)
}

fn extras(without: &[String]) -> Result<Extras, String> {
    let mut extras = Extras::all(true);
    for name in without {
        if name == "all" {
            extras = Extras::all(false);
        } else if !extras.leave_out(name) {
            return Err(unknown("extra", name, Extras::NAMES.iter().copied().chain(["all"])));
        }
    }
    Ok(extras)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        args: Args,
    }

    fn args(words: &[&str]) -> Result<Args, clap::Error> {
        Cli::try_parse_from([&["torture"], words].concat()).map(|cli| cli.args)
    }

    fn chosen(words: &[&str]) -> Result<Vec<&'static Row>, String> {
        args(words).unwrap().rows()
    }

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn names_select_each_lock_once() {
        let chosen = chosen(&["--expect-failure", "--lock", "busted-none,busted,busted-none"]).ok().unwrap();
        assert_eq!(chosen[0].name, "busted-none");
        assert_eq!(chosen.iter().filter(|row| row.name == "busted-none").count(), 1);
        assert_eq!(chosen.len(), registry::named(registry::BUSTED, true).len());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let line = chosen(&["--lock", "busted-nome"]).err().unwrap();
        assert!(line.starts_with("unknown lock 'busted-nome': nearest are busted-none"), "{line}");
        let line = extras(&strings(&["signal"])).unwrap_err();
        assert!(line.starts_with("unknown extra 'signal': nearest are signals"), "{line}");
    }

    #[test]
    fn absurd_numbers_are_refused() {
        let planned = |words: &[&str]| args(words).is_ok_and(|args| args.orders(&[]).is_ok());
        assert!(!planned(&["--writers", "0", "--readers", "0"]));
        assert!(!planned(&["--writers", "4097"]));
        assert!(!planned(&["--readers", "4097"]));
        assert!(planned(&["--writers", "0", "--readers", "1"]));
        for bad in ["0", "-1", "NaN", "inf", "1e9", "ten"] {
            assert!(args(&[&format!("--seconds={bad}")]).is_err(), "{bad}");
        }
        assert!(planned(&["--seconds", "0.01"]));
        assert!(!planned(&["--stall-seconds", "0.01"]) && !planned(&["--long-hold", "0"]));
    }

    #[test]
    fn readers_are_there_where_they_share_unless_it_is_said_how_many() {
        let readers = |words: &[&str]| {
            let args = args(&[&["--lock", "qspin,qrw"], words].concat()).unwrap();
            let rows = args.rows().ok().unwrap();
            let all = args.orders(&rows).unwrap();
            [rows[0], rows[1]].map(|row| args.orders_for(&all, row).readers)
        };
        assert_eq!(readers(&[]), [0, 2 * cpus()]);
        assert_eq!(readers(&["--readers", "4"]), [4, 4]);
    }

    #[test]
    fn the_stall_limit_grows_with_the_crowd() {
        assert!((stall_limit(4, 2) - 3.0).abs() < 1e-9);
        assert!((stall_limit(64, 2) - 3.0).abs() < 1e-9);
        assert!(stall_limit(4096, 2) > 20.0);
    }

    #[test]
    fn all_extras_can_be_left_out_at_once() {
        assert_eq!(extras(&strings(&["all"])), Ok(Extras::all(false)));
        assert_eq!(extras(&[]), Ok(Extras::all(true)));
    }
}
