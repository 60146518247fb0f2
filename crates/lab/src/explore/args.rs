//! The command line of `stanchion explore`. What can be refused is refused before the first schedule.
use crate::one_by_one::chosen;
use clap::ArgAction;
use core::time::Duration;
use lab_kit::export::{FLAGS, Files};
use lab_kit::names::{ALL, LockNames, unknown};
use lab_kit::seed;
use lab_kit::units::{TEN_DAYS, time_within, within};
use stanchion_sim::explore::{CONTEXTS, Fault, Faults, Options, Replay, Strategy, Subject, busted, locks};

/// The word that stands for all that are broken on purpose.
pub(super) const BUSTED: &str = "busted";

/// The most rounds of a context; more would exceed the step limit of a schedule.
const ROUNDS_MOST: u32 = 64;
/// Half of all numbers are left for the seeds that follow the first: if they ran out, there would be no end.
const SEED_MOST: u64 = u64::MAX >> 1;

#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 nothing failed; 1 a lock failed, or a row of its table was never reached (with \
--expect-failure: a lock was not caught as stated), or a file could not be written; 2 bad input, nothing was run; 130 interrupted, \
what was finished is kept."
)]
pub(crate) struct Args {
    /// Locks to explore: names, `all` that are sound, `busted` all that are broken on purpose
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set, default_value = ALL, value_parser = LockNames::ALL, hide_possible_values = true)]
    lock: Vec<String>,

    /// Print the names of locks, faults and strategies, and do nothing
    #[arg(long, conflicts_with_all = FLAGS)]
    pub(super) list: bool,

    /// Schedules of each lock [default: 100000; without end if --time is given]
    #[arg(long, value_name = "N", value_parser = within(1_u64, SEED_MOST))]
    schedules: Option<u64>,

    /// Time for each lock, such as 30s, 5m or 2h
    #[arg(long, value_name = "TIME", value_parser = time_within(Duration::from_nanos(1), TEN_DAYS))]
    pub(super) time: Option<Duration>,

    /// How turns are given: random, pct (random priorities that change a few times), or a mix of both
    #[arg(long, value_name = "NAME", default_value = Options::default().strategy.name(), value_parser = parse_strategy)]
    strategy: Strategy,

    /// Priority levels of a pct schedule: at most this many less one change
    #[arg(long, value_name = "D", default_value_t = Options::default().depth, value_parser = within(1_u32, 64))]
    depth: u32,

    /// Contexts of a schedule, at most
    #[arg(long, value_name = "N", default_value_t = Options::default().contexts, value_parser = within(1_usize, CONTEXTS))]
    contexts: usize,

    /// Acquisitions of each context, at most; tries do not count, nor does who starves another one
    #[arg(long, value_name = "N", default_value_t = Options::default().rounds, value_parser = within(1_u32, ROUNDS_MOST))]
    acquisitions: u32,

    /// Faults that every schedule has, and no others (see --list), or `none` [default: each schedule draws
    /// its own]
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set, value_parser = parse_fault)]
    fault: Vec<Faults>,

    /// The seed of the first schedule; the others follow [default: a new one, printed]
    #[arg(long, value_name = "N", default_value_t = seed::fresh(), hide_default_value = true, value_parser = within(0_u64, SEED_MOST))]
    pub(super) seed: u64,

    /// Run one schedule of one lock again and print it: a seed, or what a failure printed
    #[arg(long, value_name = "SCHEDULE", conflicts_with_all = FLAGS, conflicts_with_all = ["list", "schedules", "time", "seed", "jobs"])]
    pub(super) replay: Option<Replay>,

    /// Threads to explore with [default: all CPUs]
    #[arg(long, value_name = "N", value_parser = within(1_usize, 1024))]
    pub(super) jobs: Option<usize>,

    /// Succeed only if every selected lock was caught failing, as stated
    #[arg(long)]
    pub(super) expect_failure: bool,

    // As explore.json, explore.csv and explore.html in a directory, written after each lock.
    #[command(flatten)]
    pub(super) files: Files,
}

impl Args {
    pub(super) fn subjects(&self) -> Result<Vec<Subject>, String> {
        let known = [locks(), busted()].concat();
        let named = |name: &str| match name {
            ALL => locks(),
            BUSTED => busted(),
            _ => known.iter().copied().filter(|subject| subject.name() == name).collect(),
        };
        chosen(&self.lock, named, Subject::name, known.iter().map(Subject::name).chain([ALL, BUSTED]))
    }

    pub(super) fn options(&self) -> Options {
        let faults = self.fault.iter().flat_map(|faults| faults.iter());
        Options {
            contexts: self.contexts,
            rounds: self.acquisitions,
            strategy: self.strategy,
            depth: self.depth,
            faults: (!self.fault.is_empty()).then(|| faults.collect()),
        }
    }

    pub(super) fn schedules(&self) -> u64 {
        self.schedules.unwrap_or(if self.time.is_some() { u64::MAX } else { 100_000 })
    }

    pub(super) fn describe(&self) -> String {
        let much = match (self.time, self.schedules()) {
            (Some(time), u64::MAX) => format!("{} s a lock", time.as_secs_f64()),
            (Some(time), schedules) => format!("{schedules} schedules or {} s a lock", time.as_secs_f64()),
            (None, schedules) => format!("{schedules} schedules a lock"),
        };
        format!("{much},{}", self.flags())
    }

    /// The flags that a replay needs, beyond the lock.
    pub(super) fn flags(&self) -> String {
        let Options { contexts, rounds, strategy, depth, faults } = self.options();
        let faults = faults.map(|faults| format!(" --fault {faults}")).unwrap_or_default();
        let name = strategy.name();
        format!(" --strategy {name} --depth {depth} --contexts {contexts} --acquisitions {rounds}{faults}")
    }
}

fn parse_strategy(name: &str) -> Result<Strategy, String> {
    let found = Strategy::ALL.into_iter().find(|strategy| strategy.name() == name);
    found.ok_or_else(|| unknown("strategy", name, Strategy::ALL.map(Strategy::name)))
}

fn parse_fault(name: &str) -> Result<Faults, String> {
    let valid = Fault::ALL.iter().map(|fault| fault.name()).chain(["none"]);
    name.parse().map_err(|_: String| unknown("fault", name, valid))
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
        Cli::try_parse_from([&["explore"], words].concat()).map(|cli| cli.args)
    }

    fn subjects(list: &str) -> Result<Vec<Subject>, String> {
        args(&["--lock", list]).unwrap().subjects()
    }

    #[test]
    fn names_select_each_lock_once() {
        let chosen = subjects("qspin,all,qspin").unwrap();
        assert_eq!(chosen[0].name(), "qspin");
        assert_eq!(chosen.len(), locks().len());
        assert_eq!(subjects("busted").unwrap().len(), busted().len());
    }

    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        let line = subjects("qspim").unwrap_err();
        assert!(line.starts_with("--lock: unknown lock 'qspim': nearest are qspin"), "{line}");
        let line = parse_fault("store-bufers").unwrap_err();
        assert!(line.starts_with("unknown fault 'store-bufers': nearest are store-buffers"), "{line}");
        let line = parse_strategy("mxi").unwrap_err();
        assert!(line.starts_with("unknown strategy 'mxi': nearest are mix"), "{line}");
    }

    #[test]
    fn faults_are_drawn_unless_chosen() {
        let faults = |words: &[&str]| args(words).unwrap().options().faults;
        assert_eq!(faults(&[]), None);
        assert_eq!(faults(&["--fault", "none"]), Some(Faults::NONE));
        assert_eq!(faults(&["--fault", "tries,none"]), Some(Faults::NONE.with(Fault::Tries)));
    }

    #[test]
    fn times_and_numbers_are_checked() {
        let time = |text: &str| args(&[&format!("--time={text}")]).map(|args| args.time);
        assert_eq!(time("1.5m").unwrap(), Some(Duration::from_secs(90)));
        assert_eq!(time("250ms").unwrap(), Some(Duration::from_millis(250)));
        for bad in ["", "5", "s", "-1s", "1000h", "NaNs", "infs"] {
            assert!(time(bad).is_err(), "{bad}");
        }
        assert!(args(&["--contexts", "0"]).is_err() && args(&["--contexts", "9"]).is_err());
        assert!(args(&["--contexts", "8"]).is_ok());
    }
}
