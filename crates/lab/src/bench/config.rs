//! From what was typed to what will be run. Everything that can be refused is refused here, in one line.
use super::args::{Args, RwArgs};
use super::cell::Profile;
use super::cgroup::PERIOD_MS;
use super::contender::{Entry, Kind};
use super::contenders::registry;
use super::mix::{self, Mix};
use super::report::{LockInfo, Setting};
use super::{machine, profiles, threads};
use lab_kit::names::unknown;
use lab_kit::units::parse_time;
use stanchion_cells::tuned::read;
use stanchion_family::tuned::tuned;

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
    time_ms: u64,
    rounds: usize,
    latency_rounds: usize,
    drain_ms: u64,
    uncontended_rounds: usize,
    shares: &'static str,
}

/// What a user decides between, and two locks that show why it matters: one collapses at once, and the one
/// that kernels have collapses later.
const MUTEXES: Defaults = Defaults {
    locks: "stanchion,ticket,qspin",
    peers: "std,parking_lot,pthread,pthread-adaptive",
    profiles: "all",
    time_ms: 300,
    rounds: 5,
    latency_rounds: 3,
    drain_ms: 5000,
    uncontended_rounds: 9,
    shares: "",
};

const RW: Defaults = Defaults {
    locks: "qrw,percpu-rw,rw-simple",
    peers: "std,parking_lot,pthread-readers,pthread-writers",
    time_ms: 200,
    latency_rounds: 2,
    shares: "100,99.9,99,90,50",
    ..MUTEXES
};

impl Defaults {
    /// As many rounds as an ordinary run, or no interval would say anything; but short ones.
    fn quick(self, profiles: &'static str, time_ms: u64, shares: &'static str) -> Self {
        let (latency_rounds, drain_ms, uncontended_rounds) = (1, 500, 5);
        Self { profiles, time_ms, latency_rounds, drain_ms, uncontended_rounds, shares, ..self }
    }
}

/// Rounds beyond this are a typing error.
const MOST_ROUNDS: usize = 1000;
/// The kernel takes no shorter quota than a millisecond in each period.
const LEAST_CPUS: f64 = 1.0 / PERIOD_MS as f64;
/// More CPUs than Linux runs on.
const MOST_CPUS: f64 = 8192.0;
/// Shorter rounds than this are all start-up.
const SHORTEST_MS: u64 = 1;
const EVENTS_MS: u64 = 50;
const UNCONTENDED_MS: u64 = 20;

impl Config {
    /// Resolves the arguments for these CPUs: those of mutexes, or with `rw` those of reader-writer locks.
    pub(crate) fn resolve(args: &Args, rw: Option<&RwArgs>, cpus: Vec<usize>) -> Result<Self, String> {
        let defaults = match (rw, args.quick) {
            (None, false) => MUTEXES,
            (None, true) => MUTEXES.quick("empty,short", 50, ""),
            (Some(_), false) => RW,
            (Some(_), true) => RW.quick("short", 40, "99.9,90"),
        };
        let mut setting = setting(args, cpus, &defaults)?;
        if let Some(rw) = rw {
            read_and_write(&mut setting, rw, &defaults)?;
        }
        let locks = locks(args, &defaults, rw.is_some())?;
        Ok(Self { setting, locks, uncontended_only: args.uncontended })
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
    let time_ms = time("--time", args.measure.time.as_deref(), defaults.time_ms)?;
    let latency_time_ms = time("--latency-time", args.measure.latency_time.as_deref(), time_ms)?;
    let latency_rounds = args.measure.latency_rounds.as_deref();
    let default_profiles = [defaults.profiles.to_owned()];
    let typed: &[String] =
        if args.measure.profile.is_empty() { &default_profiles } else { &args.measure.profile };
    let mut profiles = profiles::parse(typed).map_err(|error| format!("--profile: {error}"))?;
    let limits = args.cpu_limit.as_deref().map_or(Ok(Vec::new()), cpu_limits)?;
    let least = 2 * PERIOD_MS;
    if !limits.is_empty() && time_ms.min(latency_time_ms) < least {
        return Err(format!(
            "--cpu-limit: a limit counts in periods of {PERIOD_MS} ms; give --time and --latency-time of {least} ms or more"
        ));
    }
    let unlimited = profiles.clone();
    for cpus in limits {
        let name = |of: &Profile| format!("{}@{cpus}", of.name);
        let limited = |of: &Profile| Profile { name: name(of), cpu_limit: Some(cpus), ..of.clone() };
        profiles.extend(unlimited.iter().map(limited));
    }
    Ok(Setting {
        threads: match &args.measure.threads {
            Some(list) => threads::parse(list, cpus.len()).map_err(|error| format!("--threads: {error}"))?,
            None => threads::default_counts(cpus.len(), args.quick),
        },
        profiles,
        mixes: Vec::new(),
        rounds: count("--rounds", args.measure.rounds.as_deref(), defaults.rounds, 1)?,
        time_ms,
        latency_rounds: count("--latency-rounds", latency_rounds, defaults.latency_rounds, 0)?,
        latency_time_ms,
        events_time_ms: time_ms.min(EVENTS_MS),
        uncontended_rounds: defaults.uncontended_rounds,
        uncontended_time_ms: time_ms.min(UNCONTENDED_MS),
        drain_ms: time("--drain", args.drain.as_deref(), defaults.drain_ms)?,
        seed: match &args.measure.seed {
            Some(text) => text
                .parse()
                .map_err(|_| format!("--seed: '{text}' is not a number from 0 to {}", u64::MAX))?,
            None => lab_kit::seed::fresh(),
        },
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
        let (Ok(first), Ok(last)) = (first.parse(), last.parse()) else {
            return Err(format!("--cpus: '{word}' is no CPU: write for example 0-3,8"));
        };
        if let Some(end) = [first, last].iter().find(|end| !allowed.contains(end)) {
            let allowed: Vec<String> = allowed.iter().map(ToString::to_string).collect();
            return Err(format!("--cpus: this process may not use CPU {end}, only {}", allowed.join(" ")));
        }
        cpus.extend(allowed.iter().filter(|cpu| (first..=last).contains(cpu)));
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

/// The locks to run, in the order of the registry; one with several settings in the order typed.
fn locks(args: &Args, defaults: &Defaults, rw: bool) -> Result<Vec<LockInfo>, String> {
    let typed = args.lock.as_deref().unwrap_or(defaults.locks);
    let everything = typed.split(',').any(|word| word.trim() == "all");
    let peers = args.peers.as_deref().unwrap_or(if everything { "all" } else { defaults.peers });
    let all: Vec<&Entry> = registry(rw).collect();
    let of_peers: Vec<&Entry> = registry(rw).filter(|entry| entry.kind == Kind::Peer).collect();
    let mut chosen = names("--lock", typed, Kind::Stanchion, &all)?;
    chosen.extend(names("--peers", peers, Kind::Peer, &of_peers)?);
    chosen.sort_by_key(|lock| all.iter().position(|entry| entry.name == tuned(&lock.name).0));
    let mut locks: Vec<LockInfo> = Vec::new();
    for lock in chosen {
        match locks.iter_mut().find(|other| other.name == lock.name) {
            Some(other) => other.chosen |= lock.chosen,
            None => locks.push(lock),
        }
    }
    if locks.is_empty() {
        return Err("no lock is left to measure: --lock and --peers are both empty".to_owned());
    }
    Ok(locks)
}

/// The locks of one list, of those that it may name; `all` means those of `kind`.
fn names(flag: &str, list: &str, kind: Kind, may: &[&Entry]) -> Result<Vec<LockInfo>, String> {
    let mut chosen = Vec::new();
    let all = |variant| {
        let of_kind = move |entry: &&&Entry| entry.kind == kind && entry.variant == variant;
        may.iter().filter(of_kind).map(|entry| entry.info(entry.name, false))
    };
    for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let base = tuned(word).0;
        match (word, may.iter().find(|entry| entry.name == base)) {
            ("all", _) => chosen.extend(all(false)),
            ("variants", _) => chosen.extend(all(true)),
            ("none", _) => {}
            (_, Some(entry)) => {
                read(word).map_err(|error| format!("{flag}: {error} (--list shows all)"))?;
                chosen.push(entry.info(word, true));
            }
            (_, None) => {
                let valid = may.iter().filter(|entry| entry.kind != Kind::Hidden);
                let valid = valid.map(|entry| entry.name);
                let what = if kind == Kind::Peer { "peer" } else { "lock" };
                return Err(format!("{flag}: {} (--list shows all)", unknown(what, base, valid)));
            }
        }
    }
    Ok(chosen)
}

/// A time of a flag, or else its default, in milliseconds.
fn time(flag: &str, text: Option<&str>, default_ms: u64) -> Result<u64, String> {
    let Some(text) = text else { return Ok(default_ms) };
    let ms = parse_time(text).map_err(|error| format!("{flag}: {error}"))?.as_millis() as u64;
    if ms < SHORTEST_MS {
        return Err(format!("{flag}: {text} is too short, the least is {SHORTEST_MS} ms"));
    }
    Ok(ms)
}

/// So many rounds of a flag, or else its default.
fn count(flag: &str, text: Option<&str>, default: usize, least: usize) -> Result<usize, String> {
    let Some(text) = text else { return Ok(default) };
    let rounds = text.parse().ok().filter(|rounds| (least..=MOST_ROUNDS).contains(rounds));
    rounds.ok_or_else(|| format!("{flag}: '{text}' is not a number from {least} to {MOST_ROUNDS}"))
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
