//! The command line of `stanchion torture`. What can be refused is refused before a single thread starts.
use super::orders::{Extras, Orders};
use super::registry::{self, Row};
use super::tormentor::Shuffle;
use crate::one_by_one::{chosen, cpus};
use clap::ArgAction;
use core::time::Duration;
use lab_kit::export::{FLAGS, Files};
use lab_kit::names::{ALL, LockNames};
use lab_kit::output::tell;
use lab_kit::seed;
use lab_kit::units::{TEN_DAYS, time_within, within};
use std::{io, thread};

/// The most threads of each kind that make sense on any machine.
const THREADS_MOST: usize = 4096;
/// The shortest time that can be kept.
const LEAST: Duration = Duration::from_millis(1);

#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 nothing failed; 1 a lock failed (with --expect-failure: one survived), or a file could \
not be written; 2 bad input, nothing was run; 130 interrupted, what was finished is kept."
)]
pub(crate) struct Args {
    /// Locks to torture, one after the other; `all` is all of Stanchion's, `rw` those of them
    /// whose readers share, `busted` all that are broken on purpose
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set, default_value = ALL, value_parser = LockNames::ALL, hide_possible_values = true)]
    lock: Vec<String>,

    /// Print the names of the locks and of the extras, and do nothing
    #[arg(long, conflicts_with_all = FLAGS)]
    pub(super) list: bool,

    /// How long to torture each lock
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = time_within(LEAST, TEN_DAYS))]
    time: Duration,

    /// Threads that write [default: twice the CPUs]
    #[arg(long, value_name = "N", value_parser = within(0_usize, THREADS_MOST))]
    writers: Option<usize>,

    /// Threads that only look; under a mutual-exclusion lock they take it like everybody else [default: none
    /// there, twice the CPUs under a reader-writer lock]
    #[arg(long, value_name = "N", value_parser = within(0_usize, THREADS_MOST))]
    readers: Option<usize>,

    /// The seed of every random decision [default: a new one, printed]
    #[arg(long, value_name = "N", default_value_t = seed::fresh(), hide_default_value = true)]
    seed: u64,

    /// Time between two lines of statistics [default: a fifth of the run, 15s at most]
    #[arg(long, value_name = "TIME", value_parser = time_within(LEAST, TEN_DAYS))]
    stat_interval: Option<Duration>,

    /// A lock is stalled when nobody has got it for this long although somebody wants it [default: 3s, more
    /// with very many threads]
    #[arg(long, value_name = "TIME", value_parser = time_within(100 * LEAST, Duration::from_hours(1)))]
    stall_time: Option<Duration>,

    /// How long the rare long holds take
    #[arg(long, value_name = "TIME", default_value = "20ms", value_parser = time_within(LEAST, Duration::from_mins(1)))]
    long_hold: Duration,

    /// Time between two pauses of all threads
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time_within(LEAST, TEN_DAYS))]
    stutter: Duration,

    /// Extras to leave out (see --list), or `all`
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set)]
    without: Vec<String>,

    /// Succeed only if every selected lock was caught failing
    #[arg(long)]
    pub(super) expect_failure: bool,

    /// With --expect-failure: torture a lock that survives again, with the next seed and for twice as long,
    /// until it has been so many times
    #[arg(long, value_name = "N", default_value_t = 1, requires = "expect_failure", value_parser = within(1_u32, 12))]
    pub(super) tries: u32,

    // As torture.json, torture.csv and torture.html in a directory, written after each lock.
    #[command(flatten)]
    pub(super) files: Files,

    /// Carry out orders from a parent process (JSON)
    #[arg(long, hide = true, value_name = "ORDERS")]
    pub(super) child: Option<String>,
}

impl Args {
    pub(super) fn rows(&self) -> Result<Vec<&'static Row>, String> {
        let named = |name: &str| registry::named(name, self.expect_failure);
        chosen(&self.lock, named, |row| row.name, registry::names())
    }

    /// How many readers there are, where they share the lock or not.
    pub(super) fn readers(&self, share: bool) -> usize {
        self.readers.unwrap_or(if share { 2 * cpus() } else { 0 })
    }

    /// The orders of all these locks, but for the name, and for what a lock cannot take.
    pub(super) fn orders(&self, rows: &[&Row]) -> Result<Orders, String> {
        let writers = self.writers.unwrap_or_else(|| 2 * cpus());
        let readers = self.readers(false);
        let has_nobody = |share| writers + self.readers(share) == 0;
        if has_nobody(true) || rows.iter().any(|row| has_nobody(row.skills.shares)) {
            return Err("--writers 0 and --readers 0 leave nobody to torture the lock".to_owned());
        }
        let crowd = writers + self.readers(rows.iter().any(|row| row.skills.shares));
        let seconds = self.time.as_secs_f64();
        let typed = |time: Option<Duration>| time.map(|time| time.as_secs_f64());
        Ok(Orders {
            lock: String::new(),
            seconds,
            writers,
            readers,
            seed: self.seed,
            stat_interval: typed(self.stat_interval).unwrap_or((seconds / 5.0).min(15.0)),
            stall_seconds: typed(self.stall_time).unwrap_or_else(|| stall_limit(crowd, cpus())),
            long_hold_ms: self.long_hold.as_millis() as u64,
            stutter: self.stutter.as_secs_f64(),
            extras: Extras::without(&self.without)?,
        })
    }

    pub(super) fn orders_for(&self, all: &Orders, row: &Row) -> Orders {
        let mut orders =
            Orders { lock: row.name.to_owned(), readers: self.readers(row.skills.shares), ..all.clone() };
        orders.extras.signals &= row.signal_safe;
        orders
    }
}

/// Switches off what this process is not permitted to do, and says so.
pub(super) fn ask_permission(extras: &mut Extras) {
    let bind = if extras.shuffle { Shuffle::probe().map(drop) } else { Ok(()) };
    // In a thread of its own, which takes its nice value with it: a process cannot always take one back.
    let nice = thread::spawn(|| rustix::process::setpriority_process(None, 19)).join();
    let nice = nice.unwrap_or(Ok(())).map_err(io::Error::from);
    for (on, extra, what, permitted) in [
        (&mut extras.shuffle, "shuffle", "bind threads to CPUs", bind),
        (&mut extras.nice, "nice", "lower the workers' priority", nice),
    ] {
        if *on && let Err(error) = permitted {
            *on = false;
            tell!("stanchion: no permission to {what} ({error}): going on without {extra}");
        }
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

    #[test]
    fn names_select_each_lock_once() {
        let chosen = chosen(&["--expect-failure", "--lock", "busted-none,busted,busted-none"]).ok().unwrap();
        assert_eq!(chosen[0].name, "busted-none");
        assert_eq!(chosen.iter().filter(|row| row.name == "busted-none").count(), 1);
        assert_eq!(chosen.len(), registry::named("busted", true).len());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let line = chosen(&["--lock", "busted-nome"]).err().unwrap();
        assert!(line.starts_with("--lock: unknown lock 'busted-nome': nearest are busted-none"), "{line}");
    }

    #[test]
    fn absurd_numbers_are_refused() {
        let planned = |words: &[&str]| args(words).is_ok_and(|args| args.orders(&[]).is_ok());
        assert!(!planned(&["--writers", "0", "--readers", "0"]));
        assert!(!planned(&["--writers", "4097"]));
        assert!(!planned(&["--readers", "4097"]));
        assert!(planned(&["--writers", "0", "--readers", "1"]));
        let left = |lock: &str| {
            let args = args(&["--lock", lock, "--writers", "0"]).expect("valid");
            args.orders(&args.rows().expect("known")).is_ok()
        };
        assert_eq!(["qrw", "qspin", "qrw,qspin"].map(left), [true, false, false]);
        for bad in ["0s", "-1s", "NaNs", "infs", "1e9s", "ten", "10", "241h"] {
            assert!(args(&[&format!("--time={bad}")]).is_err(), "{bad}");
        }
        assert!(planned(&["--time", "10ms"]));
        assert!(!planned(&["--stall-time", "10ms"]) && !planned(&["--long-hold", "0"]));
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
}
