//! What may be typed after `stanchion bench`; `config.rs` tells what it means.
use super::mix::{self, Mix};
use super::{figures::SORTS, machine};
use clap::ArgAction;
use core::time::Duration;
use lab_kit::cgroup::PERIOD_MS;
use lab_kit::export::{FLAGS, Files};
use lab_kit::names::LockNames;
use lab_kit::units::{parse_time, within};

/// The contract of the exit codes, as `--help` tells it.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 all went well; 1 a lock was broken or part of the run failed; \
2 bad input, nothing was measured; 130 interrupted, what was finished is kept.";

/// Lists in one word, which are no `Vec` to the derived parser: it takes one for words that are repeated.
pub(crate) type Cpus = Vec<usize>;
type Mixes = Vec<Mix>;

/// Rounds beyond this are a typing error.
const MOST_ROUNDS: usize = 1000;

/// The loads of a run and how each is measured, for whichever command measures.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct Measure {
    /// Thread counts: numbers, ranges and multiples of the CPUs, such as 1,2,4-8,16-64:16,2x [default: 1 and
    /// 0.5x to 16x; of 'ablate': 1x to 16x]
    #[arg(long, value_name = "LIST")]
    pub threads: Option<String>,

    /// Profiles: names, 'all', or times of your own such as cs=50ns,think=200ns [default: all]
    #[arg(long, value_name = "LIST")]
    pub profile: Vec<String>,

    /// Length of a throughput round [default: 300ms; of reader-writer locks and of 'ablate': 200ms]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub time: Option<Duration>,

    /// Throughput rounds of each cell [default: 5]
    #[arg(long, value_name = "N", value_parser = within(1, MOST_ROUNDS))]
    pub rounds: Option<usize>,

    /// Length of a latency round [default: as --time; of 'ablate': 2s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub latency_time: Option<Duration>,

    /// Latency rounds of each cell; 0 leaves latency out [default: 3; of reader-writer locks: 2; of 'ablate':
    /// 5]
    #[arg(long, value_name = "N", value_parser = within(0, MOST_ROUNDS))]
    pub latency_rounds: Option<usize>,

    /// Seed of think times and of the order of rounds [default: random]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// CPUs to keep to, such as 0-3,8 [default: all this process may use]
    #[arg(long, value_name = "LIST", value_parser = machine::cpus)]
    pub cpus: Option<Cpus>,

    // Called after the command, in a directory.
    #[command(flatten)]
    pub files: Files,
}

#[derive(clap::Args, Clone, Debug, Default)]
#[command(after_help = EXIT_CODES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(crate) struct Args {
    /// Our locks to measure: names separated by commas, 'all', 'variants' or 'none'; a peer's name is taken
    /// too. With other tunables: stanchion:turn_us=200:hand_over=0 [default: stanchion,ticket,qspin; of
    /// reader-writer locks: qrw,percpu-rw,rw-simple]
    #[arg(long, value_name = "LIST", value_parser = LockNames::ALL, hide_possible_values = true)]
    pub lock: Option<String>,

    /// What to compare with: 'all', 'none', or names separated by commas [default:
    /// std,parking_lot,pthread,pthread-adaptive; of reader-writer locks:
    /// std,parking_lot,pthread-readers,pthread-writers; all with --lock all]
    #[arg(long, value_name = "LIST")]
    pub peers: Option<String>,

    /// Measure reader-writer locks in place of mutexes; the name of one says so too, as do --reads and
    /// --readers
    #[arg(long)]
    pub rw: bool,

    /// Shares of reads in per cent: each thread draws for every operation whether it reads [default:
    /// 100,99.9,99,90,50]
    #[arg(long, value_name = "LIST", value_parser = mix::shares)]
    pub reads: Option<Mixes>,

    /// Instead: threads that only read, counted as --threads; needs --writers
    #[arg(long, value_name = "LIST", requires = "writers", conflicts_with_all = ["reads", "threads"])]
    pub readers: Option<String>,

    /// Threads that only write beside them; 0 is none; needs --readers
    #[arg(long, value_name = "LIST", requires = "readers", conflicts_with_all = ["reads", "threads"])]
    pub writers: Option<String>,

    /// The figure by which tables are sorted, best first
    #[arg(long, value_name = "FIGURE", default_value = SORTS[0].0, value_parser = SORTS.map(|(key, _)| key))]
    pub sort: String,

    #[command(flatten)]
    pub measure: Measure,

    /// Also run all cells with the time of so many CPUs, such as 1,0.5: in a cgroup, where that is permitted
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set, value_parser = limit)]
    pub cpu_limit: Vec<f64>,

    /// How long threads may take to finish before a lock counts as stalled [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    pub drain: Option<Duration>,

    /// A first impression in under 40 s: short rounds, fewer threads and profiles
    #[arg(long)]
    pub quick: bool,

    /// Only the cost of acquire and release by one thread
    #[arg(long, conflicts_with_all = ["threads", "readers", "profile", "cpu_limit"])]
    pub uncontended: bool,

    /// List all locks and profiles, and stop
    #[arg(long, conflicts_with_all = FLAGS)]
    pub list: bool,
}

/// CPUs whose time a cgroup may get: the kernel's least is a millisecond a period, and Linux has no more.
fn limit(text: &str) -> Result<f64, String> {
    let cpus = within(1.0 / PERIOD_MS as f64, 8192.0)(text.trim());
    cpus.map_err(|error| error.replace("number", "number of CPUs") + ": write for example 1,0.5")
}
