//! The command line of `stanchion torture`, and what it means.
//!
//! Two stages: [`Args`] is what was typed, [`Plan`] what will be done. Everything that can be refused is
//! refused on the way from one to the other, before a single thread starts.
use super::orders::{Extras, Orders};
use super::registry::{self, Row};
use super::shuffle::Shuffle;
use lab_kit::names::{LockNames, unknown};
use lab_kit::output::create_json;
use lab_kit::seed;
use std::path::PathBuf;

/// The most threads of each kind that make sense on any machine.
const THREADS_MOST: usize = 4096;
/// The longest run of one lock, in seconds: ten days.
const SECONDS_MOST: f64 = 864_000.0;

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
    lock: Vec<String>,

    /// Print the names of the locks and of the extras, and do nothing
    #[arg(long)]
    list: bool,

    /// How long to torture each lock
    #[arg(long, value_name = "S", default_value_t = 10.0)]
    seconds: f64,

    /// Threads that write [default: twice the CPUs]
    #[arg(long, value_name = "N")]
    writers: Option<usize>,

    /// Threads that only look; under a mutual-exclusion lock they take it like everybody else [default: none
    /// there, twice the CPUs under a reader-writer lock]
    #[arg(long, value_name = "N")]
    readers: Option<usize>,

    /// The seed of every random decision [default: a new one, printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Seconds between two lines of statistics [default: a fifth of the run, 15 at most]
    #[arg(long, value_name = "S")]
    stat_interval: Option<f64>,

    /// A lock is stalled when nobody has got it for this long although somebody wants it [default: 3, more
    /// with very many threads]
    #[arg(long, value_name = "S")]
    stall_seconds: Option<f64>,

    /// How long the rare long holds take
    #[arg(long, value_name = "MS", default_value_t = 20)]
    long_hold: u64,

    /// Seconds between two pauses of all threads
    #[arg(long, value_name = "S", default_value_t = 1.0)]
    stutter: f64,

    /// Extras to leave out (see --list), or `all`
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    without: Vec<String>,

    /// Succeed only if every selected lock was caught failing
    #[arg(long)]
    expect_failure: bool,

    /// With --expect-failure: torture a lock that survives again, with the next seed and for twice as long,
    /// until it has been so many times
    #[arg(long, value_name = "N", default_value_t = 1, requires = "expect_failure", value_parser = clap::value_parser!(u32).range(1..=12))]
    tries: u32,

    /// Write the results here
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long)]
    force: bool,

    /// Carry out orders from a parent process (JSON)
    #[arg(long, hide = true, value_name = "ORDERS")]
    child: Option<String>,
}

/// What was asked for.
pub(crate) enum Request {
    /// A run.
    Run(Plan),
    /// The list of names.
    List,
    /// One lock's run on behalf of a parent process.
    Child(&'static Row, Orders),
}

/// A run that can be started.
pub(crate) struct Plan {
    pub(crate) rows: Vec<&'static Row>,
    /// The orders of every lock but for the name, and for what a lock cannot take.
    pub(crate) orders: Orders,
    /// The readers of a lock that they share.
    sharing_readers: usize,
    pub(crate) expect_failure: bool,
    /// How often a lock that survives although it is expected to fail is tortured in all.
    pub(crate) tries: u32,
    pub(crate) json: Option<(PathBuf, std::fs::File)>,
    /// What could not be had, to be said before the start.
    pub(crate) remarks: Vec<String>,
}

impl Plan {
    /// The orders for one lock.
    pub(crate) fn orders_for(&self, row: &Row) -> Orders {
        let mut orders = Orders { lock: row.name.to_owned(), ..self.orders.clone() };
        orders.extras.signals &= row.signal_safe;
        if row.shares {
            orders.readers = self.sharing_readers;
        }
        orders
    }

    /// How many readers there are where they share the lock, if that is not said already.
    pub(crate) fn readers_who_share(&self) -> String {
        if self.sharing_readers == self.orders.readers || !self.rows.iter().any(|row| row.shares) {
            return String::new();
        }
        format!(" ({} where readers share)", self.sharing_readers)
    }
}

impl Args {
    /// Checks everything; the error is the one line to print.
    pub(crate) fn resolve(self) -> Result<Request, String> {
        if let Some(orders) = &self.child {
            let orders: Orders = serde_json::from_str(orders).map_err(|error| format!("--child: {error}"))?;
            let row = registry::row(&orders.lock).ok_or("--child: no such lock")?;
            return Ok(Request::Child(row, orders));
        }
        if self.list {
            return Ok(Request::List);
        }
        let rows = rows(&self.lock, self.expect_failure)?;
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let writers = self.writers.unwrap_or(2 * cpus);
        let readers = self.readers.unwrap_or(0);
        threads(writers, readers)?;
        let sharing_readers = self.readers.unwrap_or(2 * cpus);
        let crowd = writers + if rows.iter().any(|row| row.shares) { sharing_readers } else { readers };
        let stall_seconds = self.stall_seconds.unwrap_or_else(|| stall_limit(crowd, cpus));
        let seconds = within("--seconds", self.seconds, 0.0, SECONDS_MOST)?;
        let stat_interval = self.stat_interval.unwrap_or((seconds / 5.0).min(15.0));
        let mut extras = extras(&self.without)?;
        let remarks = permissions(&mut extras);
        let orders = Orders {
            lock: String::new(),
            seconds,
            writers,
            readers,
            seed: self.seed.unwrap_or_else(seed::fresh),
            stat_interval: within("--stat-interval", stat_interval, 0.0, SECONDS_MOST)?,
            stall_seconds: within("--stall-seconds", stall_seconds, 0.1, 3600.0)?,
            long_hold_ms: within("--long-hold", self.long_hold as f64, 0.0, 60_000.0)
                .map(|_| self.long_hold)?,
            stutter: within("--stutter", self.stutter, 0.0, SECONDS_MOST)?,
            extras,
        };
        // Last, because from here on there is a file.
        let json = self.json.map(|path| create_json(path, self.force)).transpose()?;
        Ok(Request::Run(Plan {
            rows,
            orders,
            sharing_readers,
            expect_failure: self.expect_failure,
            tries: self.tries,
            json,
            remarks,
        }))
    }
}

fn rows(names: &[String], expect_failure: bool) -> Result<Vec<&'static Row>, String> {
    let mut rows: Vec<&'static Row> = Vec::new();
    for name in names {
        let found = registry::named(name, expect_failure);
        if found.is_empty() {
            return Err(unknown("lock", name, registry::names()));
        }
        for row in found {
            if !rows.iter().any(|known| known.name == row.name) {
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

fn threads(writers: usize, readers: usize) -> Result<(), String> {
    if writers + readers == 0 {
        return Err("--writers 0 and --readers 0 leave nobody to torture the lock".to_owned());
    }
    for (flag, count) in [("--writers", writers), ("--readers", readers)] {
        if count > THREADS_MOST {
            return Err(format!(
                "{flag} {count}: more than {THREADS_MOST} threads make no sense on any machine"
            ));
        }
    }
    Ok(())
}

/// How long a standstill is no stall yet. A spinning first-come-first-served lock hands over only when the
/// scheduler has come round to the next in line, which takes up to a time slice of every other thread.
fn stall_limit(threads: usize, cpus: usize) -> f64 {
    const LEAST: f64 = 3.0;
    const ROUNDS: f64 = 3.0;
    const SLICE: f64 = 0.004;
    LEAST.max(ROUNDS * SLICE * threads as f64 / cpus as f64)
}

/// A number above zero (and above `least`) and not absurdly large.
fn within(flag: &str, given: f64, least: f64, most: f64) -> Result<f64, String> {
    if given > 0.0 && given >= least && given <= most {
        Ok(given)
    } else if least > 0.0 {
        Err(format!("{flag} {given}: must be from {least} to {most}"))
    } else {
        Err(format!("{flag} {given}: must be above 0 and at most {most}"))
    }
}

fn extras(without: &[String]) -> Result<Extras, String> {
    let mut extras = Extras::ALL;
    for name in without {
        if name == "all" {
            extras = Extras::NONE;
        } else if !extras.leave_out(name) {
            return Err(unknown("extra", name, Extras::NAMES.iter().copied().chain(["all"])));
        }
    }
    Ok(extras)
}

/// Switches off what this process is not permitted to do, and says so.
fn permissions(extras: &mut Extras) -> Vec<String> {
    let mut remarks = Vec::new();
    if extras.shuffle
        && let Err(error) = Shuffle::probe()
    {
        extras.shuffle = false;
        remarks.push(format!("no permission to bind threads to CPUs ({error}): going on without shuffle"));
    }
    // In a thread of its own, which takes its nice value with it: a process cannot always take one back.
    let nice = std::thread::spawn(|| rustix::process::setpriority_process(None, 19)).join();
    if extras.nice
        && let Ok(Err(error)) = nice
    {
        extras.nice = false;
        remarks
            .push(format!("no permission to lower the workers' priority ({error}): going on without nice"));
    }
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn names_select_each_lock_once() {
        let chosen = rows(&strings(&["busted-none", "busted", "busted-none"]), true).ok().unwrap();
        assert_eq!(chosen[0].name, "busted-none");
        assert_eq!(chosen.iter().filter(|row| row.name == "busted-none").count(), 1);
        assert_eq!(chosen.len(), registry::named(registry::BUSTED, true).len());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let line = rows(&strings(&["busted-nome"]), false).err().unwrap();
        assert!(line.starts_with("unknown lock 'busted-nome': nearest are busted-none"), "{line}");
        let line = extras(&strings(&["signal"])).unwrap_err();
        assert!(line.starts_with("unknown extra 'signal': nearest are signals"), "{line}");
    }

    #[test]
    fn absurd_numbers_are_refused() {
        assert!(threads(0, 0).is_err());
        assert!(threads(4097, 0).is_err());
        assert!(threads(0, 4097).is_err());
        assert!(threads(0, 1).is_ok());
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(within("--seconds", bad, 0.0, SECONDS_MOST).is_err(), "{bad}");
        }
        assert!(within("--seconds", 0.01, 0.0, SECONDS_MOST).is_ok());
    }

    #[test]
    fn readers_are_there_where_they_share_unless_it_is_said_how_many() {
        let orders = |readers| {
            let seed = Orders {
                lock: String::new(),
                seconds: 1.0,
                writers: 2,
                readers,
                seed: 1,
                stat_interval: 1.0,
                stall_seconds: 1.0,
                long_hold_ms: 1,
                stutter: 1.0,
                extras: Extras::ALL,
            };
            let rows = rows(&strings(&["qspin", "qrw"]), false).ok().unwrap();
            Plan {
                rows,
                orders: seed,
                sharing_readers: 4,
                expect_failure: false,
                tries: 1,
                json: None,
                remarks: vec![],
            }
        };
        let plan = orders(0);
        assert_eq!(plan.orders_for(plan.rows[0]).readers, 0);
        assert_eq!(plan.orders_for(plan.rows[1]).readers, 4);
        assert_eq!(plan.readers_who_share(), " (4 where readers share)");
        assert_eq!(orders(4).readers_who_share(), "");
    }

    #[test]
    fn the_stall_limit_grows_with_the_crowd() {
        assert!((stall_limit(4, 2) - 3.0).abs() < 1e-9);
        assert!((stall_limit(64, 2) - 3.0).abs() < 1e-9);
        assert!(stall_limit(4096, 2) > 20.0);
    }

    #[test]
    fn all_extras_can_be_left_out_at_once() {
        assert_eq!(extras(&strings(&["all"])), Ok(Extras::NONE));
        assert_eq!(extras(&[]), Ok(Extras::ALL));
    }
}
