//! The command line of `stanchion explore`, and what it means.
//!
//! Two stages: [`Args`] is what was typed, [`Plan`] what will be done. Everything that can be refused is
//! refused on the way from one to the other, before the first schedule.
use core::time::Duration;
use lab_kit::names::{LockNames, unknown};
use lab_kit::output::create_json;
use lab_kit::seed;
use stanchion_sim::explore::{CONTEXTS, Fault, Faults, Options, Replay, Strategy, Subject, busted, locks};
use std::path::PathBuf;

/// The word that stands for all sound locks.
pub(super) const ALL: &str = "all";
/// The word that stands for all locks that are broken on purpose.
pub(super) const BUSTED: &str = "busted";
/// The word that stands for no fault.
const NONE: &str = "none";

/// Schedules of each lock unless told otherwise.
const SCHEDULES: u64 = 100_000;
/// The most rounds of a context; more would exceed the step limit of a schedule.
const ROUNDS_MOST: u32 = 64;
/// The deepest priority schedules that make sense.
const DEPTH_MOST: u32 = 64;

/// Explore schedules of every lock, with faults, in a machine that goes one step at a time
#[derive(clap::Args)]
#[command(
    after_help = "Exit codes: 0 nothing failed; 1 a lock failed, or a row of its table was never reached (with \
--expect-failure: a lock was not caught as stated); 2 bad input, nothing was run; 130 interrupted, what was finished is printed."
)]
pub(crate) struct Args {
    /// Locks to explore: names, `all` that are sound, `busted` all that are broken on purpose
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = ALL, value_parser = LockNames::ALL, hide_possible_values = true)]
    lock: Vec<String>,

    /// Print the names of locks, faults and strategies, and do nothing
    #[arg(long)]
    list: bool,

    /// Schedules of each lock [default: 100000; without end if --time is given]
    #[arg(long, value_name = "N")]
    schedules: Option<u64>,

    /// Time for each lock, such as 30s, 5m or 2h
    #[arg(long, value_name = "TIME")]
    time: Option<String>,

    /// How turns are given: random, pct (random priorities that change a few times), or a mix of both
    #[arg(long, value_name = "NAME", default_value = "mix")]
    strategy: String,

    /// Priority levels of a pct schedule: at most this many less one change
    #[arg(long, value_name = "D", default_value_t = u64::from(Options::default().depth))]
    depth: u64,

    /// Contexts of a schedule, at most
    #[arg(long, value_name = "N", default_value_t = Options::default().contexts)]
    contexts: usize,

    /// Acquisitions of each context, at most, tries not counted
    #[arg(long, value_name = "N", default_value_t = Options::default().rounds)]
    rounds: u32,

    /// Faults that every schedule has, and no others (see --list), or `none` [default: each schedule draws
    /// its own]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    fault: Vec<String>,

    /// The seed of the first schedule; the others follow [default: a new one, printed]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Run one schedule of one lock again and print it: a seed, or what a failure printed
    #[arg(long, value_name = "SCHEDULE")]
    replay: Option<String>,

    /// Threads to explore with [default: all CPUs]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Succeed only if every selected lock was caught failing, as stated
    #[arg(long)]
    expect_failure: bool,

    /// Write the results here
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

/// What was asked for.
pub(super) enum Request {
    /// Many schedules.
    Explore(Box<Plan>),
    /// One schedule, to be seen.
    Replay(Box<Plan>, Replay),
    /// The list of names.
    List,
}

/// An exploration that can be started.
pub(super) struct Plan {
    pub(super) subjects: Vec<Subject>,
    pub(super) options: Options,
    /// The seed of the first schedule.
    pub(super) seed: u64,
    /// How many schedules a lock has at most.
    pub(super) schedules: u64,
    /// For how long a lock is explored at most.
    pub(super) time: Option<Duration>,
    pub(super) jobs: usize,
    pub(super) expect_failure: bool,
    pub(super) json: Option<(PathBuf, std::fs::File)>,
}

impl Plan {
    /// What is going to happen, in a line.
    pub(super) fn describe(&self) -> String {
        let much = match (self.time, self.schedules) {
            (Some(time), u64::MAX) => format!("{} s a lock", time.as_secs_f64()),
            (Some(time), schedules) => format!("{schedules} schedules or {} s a lock", time.as_secs_f64()),
            (None, schedules) => format!("{schedules} schedules a lock"),
        };
        let Options { contexts, rounds, strategy, depth, faults } = &self.options;
        let faults = faults.map_or("faults drawn for each".to_owned(), |faults| format!("faults: {faults}"));
        let strategy = strategy.name();
        format!("{much}, {contexts} contexts, {rounds} rounds, {strategy} of depth {depth}, {faults}")
    }

    /// The flags that a replay needs, beyond the lock.
    pub(super) fn flags(&self) -> String {
        let (given, default) = (&self.options, Options::default());
        let mut flags = String::new();
        let mut flag = |name: &str, value: String, needed: bool| {
            if needed {
                flags.extend([" --", name, " ", value.as_str()]);
            }
        };
        flag("strategy", given.strategy.name().to_owned(), given.strategy != default.strategy);
        flag("depth", given.depth.to_string(), given.depth != default.depth);
        flag("contexts", given.contexts.to_string(), given.contexts != default.contexts);
        flag("rounds", given.rounds.to_string(), given.rounds != default.rounds);
        flag("fault", given.faults.unwrap_or_default().to_string(), given.faults.is_some());
        flags
    }
}

impl Args {
    /// Checks everything; the error is the one line to print.
    pub(super) fn resolve(self) -> Result<Request, String> {
        if self.list {
            return Ok(Request::List);
        }
        let subjects = subjects(&self.lock)?;
        let replay = self.replay.as_deref().map(parse_replay).transpose()?;
        if replay.is_some() && subjects.len() != 1 {
            return Err("--replay needs the lock: --lock NAME, one name".to_owned());
        }
        let strategies = Strategy::ALL.map(Strategy::name);
        let strategy = Strategy::ALL.into_iter().find(|strategy| strategy.name() == self.strategy);
        let options = Options {
            contexts: within("--contexts", self.contexts as u64, CONTEXTS as u64)? as usize,
            rounds: within("--rounds", self.rounds.into(), ROUNDS_MOST.into())? as u32,
            strategy: strategy.ok_or_else(|| unknown("strategy", &self.strategy, strategies))?,
            depth: within("--depth", self.depth, DEPTH_MOST.into())? as u32,
            faults: faults(&self.fault)?,
        };
        let time = self.time.as_deref().map(parse_time).transpose()?;
        let schedules = match self.schedules {
            Some(schedules) => within("--schedules", schedules, u64::MAX)?,
            None if time.is_some() => u64::MAX,
            None => SCHEDULES,
        };
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = within("--jobs", self.jobs.unwrap_or(cpus) as u64, 1024)? as usize;
        let json = self.json.map(|path| create_json(path, self.force)).transpose()?;
        let plan = Box::new(Plan {
            subjects,
            options,
            seed: first_seed(self.seed)?,
            schedules,
            time,
            jobs,
            expect_failure: self.expect_failure,
            json,
        });
        Ok(match replay {
            Some(what) => Request::Replay(plan, what),
            None => Request::Explore(plan),
        })
    }
}

/// The first of the seeds; what follows it must not run out of numbers, or there would be no end.
fn first_seed(typed: Option<u64>) -> Result<u64, String> {
    match typed {
        Some(seed) if seed > MOST_SEED => {
            Err(format!("--seed: {seed} is not a number from 0 to {MOST_SEED}"))
        }
        Some(seed) => Ok(seed),
        None => Ok(seed::fresh()),
    }
}

/// Half of all numbers are left for the seeds that follow.
const MOST_SEED: u64 = u64::MAX >> 1;

fn subjects(names: &[String]) -> Result<Vec<Subject>, String> {
    let mut chosen: Vec<Subject> = Vec::new();
    for name in names {
        let found: Vec<Subject> = match name.as_str() {
            ALL => locks(),
            BUSTED => busted(),
            _ => locks().into_iter().chain(busted()).filter(|subject| subject.name() == name).collect(),
        };
        if found.is_empty() {
            let (sound, broken) = (locks(), busted());
            let valid = sound.iter().chain(&broken).map(Subject::name).chain([ALL, BUSTED]);
            return Err(unknown("lock", name, valid));
        }
        for subject in found {
            if !chosen.iter().any(|known| known.name() == subject.name()) {
                chosen.push(subject);
            }
        }
    }
    Ok(chosen)
}

fn faults(names: &[String]) -> Result<Option<Faults>, String> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut chosen = Faults::NONE;
    for name in names.iter().filter(|name| *name != NONE) {
        let valid = Fault::ALL.iter().map(|fault| fault.name()).chain([NONE]);
        chosen = chosen.with(Fault::named(name).ok_or_else(|| unknown("fault", name, valid))?);
    }
    Ok(Some(chosen))
}

fn within(flag: &str, given: u64, most: u64) -> Result<u64, String> {
    if (1..=most).contains(&given) {
        Ok(given)
    } else {
        Err(format!("{flag} {given}: must be from 1 to {most}"))
    }
}

fn parse_replay(text: &str) -> Result<Replay, String> {
    text.parse().map_err(|error| format!("--replay {text}: {error}"))
}

/// A time such as `30s`, `5m` or `2h`.
fn parse_time(text: &str) -> Result<Duration, String> {
    const LONGEST: f64 = 10.0 * 86_400.0;
    let units = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let parsed = units.iter().find_map(|&(unit, factor)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * factor)
    });
    match parsed {
        Some(seconds) if seconds > 0.0 && seconds <= LONGEST => Ok(Duration::from_secs_f64(seconds)),
        Some(_) => Err(format!("--time {text}: must be above 0 and at most ten days")),
        None => Err(format!("--time {text}: write for example 500ms, 30s, 5m or 2h")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn names_select_each_lock_once() {
        let chosen = subjects(&strings(&["qspin", "all", "qspin"])).unwrap();
        assert_eq!(chosen[0].name(), "qspin");
        assert_eq!(chosen.len(), locks().len());
        assert_eq!(subjects(&strings(&["busted"])).unwrap().len(), busted().len());
    }

    #[test]
    fn unknown_names_are_answered_with_the_nearest() {
        let line = subjects(&strings(&["qspim"])).unwrap_err();
        assert!(line.starts_with("unknown lock 'qspim': nearest are qspin"), "{line}");
        let line = faults(&strings(&["store-bufers"])).unwrap_err();
        assert!(line.starts_with("unknown fault 'store-bufers': nearest are store-buffers"), "{line}");
    }

    #[test]
    fn faults_are_drawn_unless_chosen() {
        assert_eq!(faults(&[]), Ok(None));
        assert_eq!(faults(&strings(&["none"])), Ok(Some(Faults::NONE)));
        assert_eq!(faults(&strings(&["tries", "none"])), Ok(Some(Faults::NONE.with(Fault::Tries))));
    }

    #[test]
    fn times_and_numbers_are_checked() {
        assert_eq!(parse_time("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("250ms"), Ok(Duration::from_millis(250)));
        for bad in ["", "5", "s", "-1s", "1000h", "NaNs", "infs"] {
            assert!(parse_time(bad).is_err(), "{bad}");
        }
        assert!(within("--contexts", 0, 8).is_err() && within("--contexts", 9, 8).is_err());
    }
}
