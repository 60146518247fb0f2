//! From what was typed to what will be run. Everything that can be refused is refused here, in one line.
use super::args::Args;
use super::cgroup::PERIOD_MS;
use super::contender::{Entry, Kind};
use super::mix::{self, Mix};
use super::report::{LockInfo, Setting};
use super::rw::RwArgs;
use super::units::parse_time;
use super::{contenders, machine, profiles, threads};
use crate::names::nearest;
use crate::tuned;
use core::time::Duration;

/// A run, resolved.
pub(crate) struct Config {
    pub setting: Setting,
    pub locks: Vec<LockInfo>,
    pub uncontended_only: bool,
}

/// What is measured if nothing is asked for.
struct Defaults {
    locks: &'static str,
    peers: &'static str,
    profiles: &'static str,
    time: Duration,
    rounds: usize,
    latency_rounds: usize,
    drain: Duration,
    uncontended_rounds: usize,
    shares: &'static str,
}

/// What a user decides between, and two locks that show why it matters: one collapses at once, and the one
/// that kernels have collapses later.
const MUTEXES: Defaults = Defaults {
    locks: "stanchion,ticket,qspin",
    peers: "std,parking_lot,pthread,pthread-adaptive",
    profiles: "all",
    time: Duration::from_millis(300),
    rounds: 5,
    latency_rounds: 3,
    drain: Duration::from_secs(5),
    uncontended_rounds: 9,
    shares: "",
};

/// As many rounds as an ordinary run, or no interval would say anything; but short ones.
const QUICK_MUTEXES: Defaults = Defaults {
    profiles: "empty,short",
    time: Duration::from_millis(50),
    latency_rounds: 1,
    drain: Duration::from_millis(500),
    uncontended_rounds: 5,
    ..MUTEXES
};

const RW: Defaults = Defaults {
    locks: "qrw,percpu-rw,rw-simple",
    peers: "std,parking_lot,pthread-readers,pthread-writers",
    time: Duration::from_millis(200),
    latency_rounds: 2,
    shares: "100,99.9,99,90,50",
    ..MUTEXES
};

const QUICK_RW: Defaults = Defaults {
    profiles: "short",
    time: Duration::from_millis(40),
    latency_rounds: 1,
    drain: Duration::from_millis(500),
    uncontended_rounds: 5,
    shares: "99.9,90",
    ..RW
};

/// Rounds beyond this are a typing error.
const MOST_ROUNDS: usize = 1000;
/// The kernel takes no shorter quota than a millisecond in each period.
const LEAST_CPUS: f64 = 1.0 / PERIOD_MS as f64;
/// More CPUs than Linux runs on.
const MOST_CPUS: f64 = 8192.0;
/// Shorter rounds than this are all start-up.
const SHORTEST: Duration = Duration::from_millis(1);
const EVENTS_TIME: Duration = Duration::from_millis(50);
const UNCONTENDED_TIME: Duration = Duration::from_millis(20);

impl Config {
    /// Resolves the arguments for these CPUs: those of mutexes, or with `rw` those of reader-writer locks.
    pub(crate) fn resolve(args: &Args, rw: Option<&RwArgs>, cpus: Vec<usize>) -> Result<Self, String> {
        let defaults = match (rw, args.quick) {
            (None, false) => &MUTEXES,
            (None, true) => &QUICK_MUTEXES,
            (Some(_), false) => &RW,
            (Some(_), true) => &QUICK_RW,
        };
        let mut setting = setting(args, cpus, defaults)?;
        if let Some(rw) = rw {
            read_and_write(&mut setting, rw, defaults)?;
        }
        let locks = locks(args, defaults, &contenders::registry(rw.is_some()))?.into_iter().map(Chosen::info);
        Ok(Self { setting, locks: locks.collect(), uncontended_only: args.uncontended })
    }
}

/// Who reads and who writes.
fn read_and_write(setting: &mut Setting, args: &RwArgs, defaults: &Defaults) -> Result<(), String> {
    let cpus = setting.cpus.len();
    let (Some(readers), Some(writers)) = (&args.readers, &args.writers) else {
        let shares = args.reads.as_deref().unwrap_or(defaults.shares);
        setting.mixes = mix::shares(shares).map_err(|error| format!("--reads: {error}"))?;
        return Ok(());
    };
    setting.threads = threads::parse(readers, cpus).map_err(|error| format!("--readers: {error}"))?;
    setting.mixes = mix::writers(writers, cpus).map_err(|error| format!("--writers: {error}"))?;
    let threads = |mix: &Mix| setting.threads.iter().map(|&column| mix.threads(column)).max();
    if setting.mixes.iter().filter_map(threads).max() > Some(threads::MOST) {
        let most = threads::MOST;
        return Err(format!("--readers and --writers are too many threads together: the most is {most}"));
    }
    Ok(())
}

/// What the arguments and the defaults say together.
fn setting(args: &Args, cpus: Vec<usize>, defaults: &Defaults) -> Result<Setting, String> {
    let time = duration("--time", args.time.as_deref(), defaults.time, SHORTEST)?;
    let default_profiles = [defaults.profiles.to_owned()];
    let typed: &[String] = if args.profile.is_empty() { &default_profiles } else { &args.profile };
    let threads = match &args.threads {
        Some(list) => threads::parse(list, cpus.len()).map_err(|error| format!("--threads: {error}"))?,
        None => threads::default_counts(cpus.len(), args.quick),
    };
    let latency_time = duration("--latency-time", args.latency_time.as_deref(), time, SHORTEST)?;
    let latency_rounds = args.latency_rounds.as_deref();
    let mut profiles = profiles::parse(typed).map_err(|error| format!("--profile: {error}"))?;
    let limits = args.cpu_limit.as_deref().map_or(Ok(Vec::new()), cpu_limits)?;
    if !limits.is_empty() && millis(time.min(latency_time)) < 2 * PERIOD_MS {
        return Err(format!(
            "--cpu-limit: a limit counts in periods of {PERIOD_MS} ms; give --time and --latency-time of {} ms or more",
            2 * PERIOD_MS
        ));
    }
    let limited = |cpus: &f64| profiles.iter().map(|profile| profile.limited_to(*cpus)).collect::<Vec<_>>();
    profiles.extend(limits.iter().flat_map(limited).collect::<Vec<_>>());
    Ok(Setting {
        threads,
        profiles,
        mixes: Vec::new(),
        rounds: count("--rounds", args.rounds.as_deref(), defaults.rounds, 1)?,
        time_ms: millis(time),
        latency_rounds: count("--latency-rounds", latency_rounds, defaults.latency_rounds, 0)?,
        latency_time_ms: millis(latency_time),
        events_time_ms: millis(time.min(EVENTS_TIME)),
        uncontended_rounds: defaults.uncontended_rounds,
        uncontended_time_ms: millis(time.min(UNCONTENDED_TIME)),
        drain_ms: millis(duration("--drain", args.drain.as_deref(), defaults.drain, SHORTEST)?),
        seed: seed(args.seed.as_deref())?,
        quick: args.quick,
        sort: args.sort.clone(),
        cpus,
    })
}

/// The CPUs a `--cpus` list names, each of which this process must be allowed to use.
pub(crate) fn cpus(list: &str) -> Result<Vec<usize>, String> {
    let allowed = machine::available_cpus();
    let mut cpus = Vec::new();
    for word in list.split(',').map(str::trim) {
        let (first, last) = word.split_once('-').unwrap_or((word, word));
        let number = |text: &str| {
            text.parse::<usize>().map_err(|_| format!("--cpus: '{word}' is no CPU: write for example 0-3,8"))
        };
        let (first, last) = (number(first)?, number(last)?);
        // Checked before the range is walked, so that an absurd one costs nothing.
        for end in [first, last] {
            if !allowed.contains(&end) {
                let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
                return Err(format!(
                    "--cpus: this process may not use CPU {end}, only {}",
                    allowed.join(" ")
                ));
            }
        }
        cpus.extend((first..=last).filter(|cpu| allowed.contains(cpu)));
    }
    cpus.sort_unstable();
    cpus.dedup();
    if cpus.is_empty() { Err(format!("--cpus: '{list}' names no CPU")) } else { Ok(cpus) }
}

/// The CPU limits of a list, each once.
fn cpu_limits(list: &str) -> Result<Vec<f64>, String> {
    let mut limits = Vec::new();
    for word in list.split(',').map(str::trim) {
        let cpus = word.parse().ok().filter(|cpus| (LEAST_CPUS..=MOST_CPUS).contains(cpus));
        let cpus: f64 = cpus.ok_or_else(|| {
            format!("--cpu-limit: '{word}' is no number of CPUs from {LEAST_CPUS} to {MOST_CPUS}: write for example 1,0.5")
        })?;
        if !limits.contains(&cpus) {
            limits.push(cpus);
        }
    }
    Ok(limits)
}

/// The priority `--nice` asks for.
pub(crate) fn nice(text: &str) -> Result<i32, String> {
    let value = text.parse().ok().filter(|value| (-20..=19).contains(value));
    value.ok_or_else(|| format!("--nice: '{text}' is not a number from -20 to 19"))
}

/// A lock to run: its row of the registry, its name with what that sets, and whether it was named.
#[derive(Clone)]
struct Chosen {
    entry: &'static Entry,
    name: String,
    named: bool,
}

impl Chosen {
    /// As the report tells it.
    fn info(self) -> LockInfo {
        LockInfo {
            name: self.name,
            kind: self.entry.kind,
            about: self.entry.about.to_owned(),
            bytes: self.entry.bytes,
            counts_events: self.entry.run_counting.is_some(),
            memory: self.entry.memory,
            chosen: self.named,
        }
    }
}

/// The locks to run, in the order of the registry; one with several settings in the order typed.
fn locks(args: &Args, defaults: &Defaults, registry: &[&'static Entry]) -> Result<Vec<Chosen>, String> {
    // Not every C library has all of them.
    let there = |list: &str| {
        let names = list.split(',').filter(|name| registry.iter().any(|entry| entry.name == *name));
        names.collect::<Vec<_>>().join(",")
    };
    let typed = args.lock.clone().unwrap_or_else(|| there(defaults.locks));
    let everything = typed.split(',').any(|word| word.trim() == "all");
    let peers = if everything { "all".to_owned() } else { there(defaults.peers) };
    let mut chosen = names("--lock", &typed, Kind::Stanchion, registry)?;
    let of_peers: Vec<_> = registry.iter().copied().filter(|entry| entry.kind == Kind::Peer).collect();
    chosen.extend(names("--peers", args.peers.as_ref().unwrap_or(&peers), Kind::Peer, &of_peers)?);
    let mut locks: Vec<Chosen> = Vec::new();
    for entry in registry {
        for lock in chosen.iter().filter(|lock| lock.entry.name == entry.name) {
            match locks.iter_mut().find(|other| other.name == lock.name) {
                Some(other) => other.named |= lock.named,
                None => locks.push(lock.clone()),
            }
        }
    }
    if locks.is_empty() {
        return Err("no lock is left to measure: --lock and --peers are both empty".to_owned());
    }
    Ok(locks)
}

/// The locks of one list, of those that it may name; `all` means those of `kind`.
fn names(flag: &str, list: &str, kind: Kind, may: &[&'static Entry]) -> Result<Vec<Chosen>, String> {
    let mut chosen = Vec::new();
    let all = |variant| {
        let of_kind = move |entry: &&&'static Entry| entry.kind == kind && entry.variant == variant;
        may.iter().filter(of_kind).map(|&entry| Chosen { entry, name: entry.name.to_owned(), named: false })
    };
    for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let base = stanchion_core::tuned(word).0;
        match (word, may.iter().copied().find(|entry| entry.name == base)) {
            ("all", _) => chosen.extend(all(false)),
            ("variants", _) => chosen.extend(all(true)),
            ("none", _) => {}
            (_, Some(entry)) => {
                tuned::read(word).map_err(|error| format!("{flag}: {error} (--list shows all)"))?;
                chosen.push(Chosen { entry, name: word.to_owned(), named: true });
            }
            (_, None) => {
                let valid = may.iter().filter(|entry| entry.kind != Kind::Hidden);
                let near = nearest(base, valid.map(|entry| entry.name)).join(", ");
                let what = if kind == Kind::Peer { "peer" } else { "lock" };
                return Err(format!(
                    "{flag}: unknown {what} '{base}': nearest are {near} (--list shows all)"
                ));
            }
        }
    }
    Ok(chosen)
}

fn duration(flag: &str, text: Option<&str>, default: Duration, least: Duration) -> Result<Duration, String> {
    let Some(text) = text else { return Ok(default) };
    let time = parse_time(text).map_err(|error| format!("{flag}: {error}"))?;
    if time < least {
        return Err(format!("{flag}: {text} is too short, the least is {} ms", millis(least)));
    }
    Ok(time)
}

fn count(flag: &str, text: Option<&str>, default: usize, least: usize) -> Result<usize, String> {
    let Some(text) = text else { return Ok(default) };
    let value = text.parse().ok().filter(|value| (least..=MOST_ROUNDS).contains(value));
    value.ok_or_else(|| format!("{flag}: '{text}' is not a number from {least} to {MOST_ROUNDS}"))
}

fn seed(text: Option<&str>) -> Result<u64, String> {
    match text {
        Some(text) => {
            text.parse().map_err(|_| format!("--seed: '{text}' is not a number from 0 to {}", u64::MAX))
        }
        None => Ok(crate::seed::fresh()),
    }
}

fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(change: impl FnOnce(&mut Args)) -> Result<Config, String> {
        let mut args = Args::default();
        change(&mut args);
        Config::resolve(&args, None, vec![0, 1])
    }

    fn resolve_rw(change: impl FnOnce(&mut RwArgs)) -> Result<Config, String> {
        let mut args = RwArgs::default();
        change(&mut args);
        Config::resolve(&args.common, Some(&args), vec![0, 1])
    }

    fn names(config: &Config) -> Vec<&str> {
        config.locks.iter().map(|lock| lock.name.as_str()).collect()
    }

    #[test]
    fn the_default_is_what_a_user_decides_between() {
        let config = resolve(|_| ()).expect("valid");
        assert_eq!(config.setting.threads, [1, 2, 4, 8, 16, 32]);
        assert_eq!(config.setting.profiles.len(), 4);
        let peers = ["std", "parking_lot", "pthread"];
        assert_eq!(names(&config)[..6], [&["stanchion", "ticket", "qspin"][..], &peers].concat());
        assert!(config.locks.len() <= 7 && config.locks.iter().all(|lock| lock.chosen));
        let config = resolve_rw(|_| ()).expect("valid");
        assert_eq!(names(&config)[..5], ["qrw", "percpu-rw", "rw-simple", "std", "parking_lot"]);
        let mixes: Vec<_> = config.setting.mixes.iter().map(|mix| mix.name()).collect();
        assert_eq!(mixes, ["100 % reads", "99.9 % reads", "99 % reads", "90 % reads", "50 % reads"]);
    }

    #[test]
    fn all_is_everything_but_the_hidden_lock_and_chosen_is_what_is_named() {
        let config = resolve(|args| args.lock = Some("all,cna".into())).expect("valid");
        assert!(names(&config).contains(&"usync") && !names(&config).contains(&"busted-none"));
        let chosen = config.locks.iter().filter(|lock| lock.chosen).map(|lock| lock.name.as_str());
        assert_eq!(chosen.collect::<Vec<_>>(), ["cna"]);
        let config = resolve_rw(|args| args.common.lock = Some("all".into())).expect("valid");
        assert!(names(&config).contains(&"usync") && !names(&config).contains(&"percpu-rw-fenced"));
    }

    #[test]
    fn readers_and_writers_take_the_place_of_shares() {
        let config = resolve_rw(|args| {
            args.readers = Some("1,2x".into());
            args.writers = Some("0,1".into());
        });
        let setting = config.expect("valid").setting;
        assert_eq!(setting.threads, [1, 4]);
        assert_eq!(setting.mixes.iter().map(|mix| mix.name()).collect::<Vec<_>>(), ["0 writers", "1 writer"]);
    }

    #[test]
    fn mistakes_of_readers_and_writers_name_the_flag() {
        type Mistake = fn(&mut RwArgs);
        let mistakes: [(Mistake, &str); 5] = [
            (
                |args| args.common.lock = Some("pecpu-rw".into()),
                "unknown lock 'pecpu-rw': nearest are percpu-rw",
            ),
            (|args| args.common.peers = Some("qrw".into()), "--peers: unknown peer 'qrw'"),
            (|args| args.reads = Some("101".into()), "--reads: '101' is no share"),
            (
                |args| (args.readers, args.writers) = (Some("0".into()), Some("1".into())),
                "--readers: '0' threads",
            ),
            (
                |args| (args.readers, args.writers) = (Some("4000".into()), Some("4000".into())),
                "too many threads together",
            ),
        ];
        for (mistake, text) in mistakes {
            let error = resolve_rw(mistake).err().expect(text);
            assert!(error.contains(text) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn locks_and_peers_are_chosen_by_name() {
        let config = resolve(|args| {
            args.lock = Some("busted-none".into());
            args.peers = Some("usync,std".into());
        });
        assert_eq!(names(&config.expect("valid")), ["std", "usync", "busted-none"]);
        let none = resolve(|args| {
            args.lock = Some("none".into());
            args.peers = Some("none".into());
        });
        assert!(none.err().is_some_and(|error| error.contains("no lock is left")));
    }

    #[test]
    fn every_profile_is_there_once_more_for_each_limit() {
        let config = resolve(|args| {
            args.profile = vec!["empty,short".into()];
            args.cpu_limit = Some("1,0.5,1".into());
        });
        let profiles = config.expect("valid").setting.profiles;
        let names: Vec<&str> = profiles.iter().map(|profile| profile.name.as_str()).collect();
        assert_eq!(names, ["empty", "short", "empty@1", "short@1", "empty@0.5", "short@0.5"]);
        let limits: Vec<_> = profiles.iter().map(|profile| profile.cpu_limit).collect();
        assert_eq!(limits, [None, None, Some(1.0), Some(1.0), Some(0.5), Some(0.5)]);
        assert_eq!(profiles[5].critical_ns, profiles[1].critical_ns);
    }

    #[test]
    fn a_lock_with_other_tunables_is_one_of_its_own_beside_it() {
        let config = resolve(|args| {
            args.lock = Some(
                "cna,stanchion:turns=0,stanchion,stanchion:turns=0,stanchion:turn_us=200:hand_over=0".into(),
            );
            args.peers = Some("none".into());
        });
        let tuned = ["stanchion:turns=0", "stanchion", "stanchion:turn_us=200:hand_over=0", "cna"];
        assert_eq!(names(&config.expect("valid")), tuned);
    }

    #[test]
    fn mistakes_are_refused_in_one_line_that_names_the_flag() {
        type Mistake = fn(&mut Args);
        let mistakes: [(Mistake, &str); 16] = [
            (
                |args| args.lock = Some("parkinglot".into()),
                "--lock: unknown lock 'parkinglot': nearest are parking_lot",
            ),
            (
                |args| args.lock = Some("stanchin:turns=0".into()),
                "--lock: unknown lock 'stanchin': nearest are stanchion",
            ),
            (
                |args| args.lock = Some("stanchion:truns=0".into()),
                "--lock: lock 'stanchion' has no tunable 'truns'",
            ),
            (
                |args| args.lock = Some("cna:turns=0".into()),
                "--lock: tunable 'turns' does not belong to lock 'cna'",
            ),
            (
                |args| args.lock = Some("stanchion:turns=no".into()),
                "--lock: stanchion:turns: 'no' is no number",
            ),
            (
                |args| args.cpu_limit = Some("1,half".into()),
                "--cpu-limit: 'half' is no number of CPUs from 0.01",
            ),
            (|args| args.cpu_limit = Some("NaN".into()), "--cpu-limit: 'NaN' is no number"),
            (
                |args| {
                    args.cpu_limit = Some("1".into());
                    args.time = Some("199ms".into());
                },
                "--cpu-limit: a limit counts in periods of 100 ms; give --time and --latency-time of 200 ms",
            ),
            (|args| args.peers = Some("usinc".into()), "--peers: unknown peer 'usinc': nearest are usync"),
            (|args| args.threads = Some("0".into()), "--threads: '0' threads cannot be run"),
            (|args| args.time = Some("0s".into()), "--time: 0s is too short"),
            (|args| args.rounds = Some("0".into()), "--rounds: '0' is not a number from 1"),
            (|args| args.seed = Some("abc".into()), "--seed: 'abc'"),
            (
                |args| args.profile = vec!["sort".into()],
                "--profile: unknown profile 'sort': nearest are short",
            ),
            (|args| args.drain = Some("1".into()), "--drain: the time '1' has no unit"),
            (|args| args.latency_time = Some("1y".into()), "--latency-time: 'y' is not a unit"),
        ];
        for (mistake, text) in mistakes {
            let error = resolve(mistake).err().expect(text);
            assert!(error.contains(text) && !error.contains('\n'), "{error}");
        }
    }

    #[test]
    fn cpus_and_priorities_are_checked() {
        let first = machine::available_cpus()[0];
        assert_eq!(cpus(&first.to_string()), Ok(vec![first]));
        assert!(cpus("100000").is_err_and(|error| error.contains("may not use CPU 100000")));
        assert!(cpus("x").is_err() && cpus("").is_err());
        assert!(nice("-20") == Ok(-20) && nice("20").is_err() && nice("low").is_err());
    }
}
