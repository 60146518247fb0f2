//! From what was typed to what will be run. Everything that can be refused is refused here, in one line.
use super::args::Args;
use super::contender::{Kind, LockInfo};
use super::contenders::registry;
use super::mix::{self, Mix, Profile, words};
use super::profiles;
use super::report::Setting;
use core::time::Duration;
use lab_kit::cgroup::PERIOD_MS;
use lab_kit::names::unknown;
use stanchion_cells::scenes::{self, once};
use stanchion_cells::threads;
use stanchion_cells::tuned::read;
use stanchion_family::tuned::tuned;

/// What is measured if nothing is asked for.
struct Defaults {
    locks: &'static str,
    peers: &'static str,
    profiles: &'static str,
    time_ms: u64,
    latency_rounds: usize,
    /// Of reads, in per cent; none if nobody reads.
    shares: &'static [f64],
}

/// What a user decides between; and two that show why: one collapses at once, that of kernels later.
const MUTEXES: Defaults = Defaults {
    locks: "stanchion,ticket,qspin",
    peers: "std,parking_lot,pthread,pthread-adaptive",
    profiles: "all",
    time_ms: 300,
    latency_rounds: 3,
    shares: &[],
};

const RW: Defaults = Defaults {
    locks: "qrw,percpu-rw,rw-simple",
    peers: "std,parking_lot,pthread-readers,pthread-writers",
    time_ms: 200,
    latency_rounds: 2,
    shares: &[100.0, 99.9, 99.0, 90.0, 50.0],
    ..MUTEXES
};

/// Of a quick run, too, or no interval would say anything.
const ROUNDS: usize = 5;
const EVENTS_MS: u64 = 50;
const UNCONTENDED_MS: u64 = 20;

/// Setting and locks of these arguments with these CPUs.
pub(crate) fn resolve(args: &Args, cpus: Vec<usize>) -> Result<(Setting, Vec<LockInfo>), String> {
    let rw = is_rw(args);
    let defaults = match (rw, args.quick) {
        (false, false) => MUTEXES,
        (false, true) => Defaults { profiles: "empty,short", time_ms: 50, latency_rounds: 1, ..MUTEXES },
        (true, false) => RW,
        (true, true) => {
            Defaults { profiles: "short", time_ms: 40, latency_rounds: 1, shares: &[99.9, 90.0], ..RW }
        }
    };
    Ok((setting(args, cpus, &defaults)?, locks(args, &defaults, rw)?))
}

/// Whether reader-writer locks are meant: a flag says so, or a name that no mutex has.
fn is_rw(args: &Args) -> bool {
    let names = [&args.lock, &args.peers].into_iter().flatten().flat_map(|list| words(list));
    let mut bases = names.map(|name| tuned(name).0);
    let is = |base: &str, rw| registry(rw).any(|entry| entry.name == base);
    args.rw
        || args.reads.is_some()
        || args.readers.is_some()
        || bases.any(|base| is(base, true) && !is(base, false))
}

/// Counts of threads, or of readers, and who writes beside them.
fn load(args: &Args, cpus: usize, defaults: &Defaults) -> Result<(Vec<usize>, Vec<Mix>), String> {
    let (Some(readers), Some(writers)) = (&args.readers, &args.writers) else {
        let threads = match &args.measure.threads {
            Some(list) => threads::parse(list, cpus).map_err(|error| format!("--threads: {error}"))?,
            None => threads::default_counts(cpus, args.quick),
        };
        let shares = || defaults.shares.iter().map(|&reads_percent| Mix::Drawn { reads_percent }).collect();
        return Ok((threads, args.reads.clone().unwrap_or_else(shares)));
    };
    let readers = threads::parse(readers, cpus).map_err(|error| format!("--readers: {error}"))?;
    let mixes = mix::writers(writers, cpus).map_err(|error| format!("--writers: {error}"))?;
    let writers = mixes.iter().map(|mix| mix.writers()).max().unwrap_or(0);
    let most = threads::MOST;
    if readers.iter().max().unwrap_or(&0) + writers > most {
        return Err(format!("--readers and --writers are too many threads together: the most is {most}"));
    }
    Ok((readers, mixes))
}

fn setting(args: &Args, cpus: Vec<usize>, defaults: &Defaults) -> Result<Setting, String> {
    let measure = &args.measure;
    let (drain_ms, uncontended_rounds) = if args.quick { (500, 5) } else { (5000, 9) };
    let time_ms = ms("--time", measure.time, defaults.time_ms)?;
    let latency_time_ms = ms("--latency-time", measure.latency_time, time_ms)?;
    let least = 2 * PERIOD_MS;
    if !args.cpu_limit.is_empty() && time_ms.min(latency_time_ms) < least {
        return Err(format!(
            "--cpu-limit: a limit counts in periods of {PERIOD_MS} ms; give --time and --latency-time of {least} ms or more"
        ));
    }
    let default = measure.profile.is_empty().then_some(defaults.profiles);
    let typed = measure.profile.iter().map(String::as_str).chain(default);
    let mut profiles = profiles::parse(typed).map_err(|error| format!("--profile: {error}"))?;
    let unlimited = profiles.clone();
    for cpus in once(args.cpu_limit.iter().copied()) {
        let name = |of: &Profile| format!("{}@{cpus}", of.name);
        let limited = |of: &Profile| Profile { name: name(of), cpu_limit: Some(cpus), ..of.clone() };
        profiles.extend(unlimited.iter().map(limited));
    }
    let (threads, mixes) = load(args, cpus.len(), defaults)?;
    Ok(Setting {
        cpus,
        threads,
        profiles,
        mixes,
        rounds: measure.rounds.unwrap_or(ROUNDS),
        time_ms,
        latency_rounds: measure.latency_rounds.unwrap_or(defaults.latency_rounds),
        latency_time_ms,
        events_time_ms: time_ms.min(EVENTS_MS),
        uncontended_rounds,
        uncontended_time_ms: time_ms.min(UNCONTENDED_MS),
        drain_ms: ms("--drain", args.drain, drain_ms)?,
        seed: measure.seed.unwrap_or_else(lab_kit::seed::fresh),
        quick: args.quick,
        sort: args.sort.clone(),
    })
}

/// A time of a flag, or else its default, in milliseconds. Shorter rounds than one are all start-up.
fn ms(flag: &str, time: Option<Duration>, default_ms: u64) -> Result<u64, String> {
    let ms = time.map_or(default_ms, |time| time.as_millis() as u64);
    let seconds = time.unwrap_or_default().as_secs_f64();
    (ms > 0).then_some(ms).ok_or_else(|| format!("{flag}: {seconds}s is too short, the least is 1 ms"))
}

/// The locks to run, in the order of the registry; one with several settings in the order typed.
fn locks(args: &Args, defaults: &Defaults, rw: bool) -> Result<Vec<LockInfo>, String> {
    let typed = args.lock.as_deref().unwrap_or(defaults.locks);
    let everything = words(typed).any(|word| word == "all");
    let peers = args.peers.as_deref().unwrap_or(if everything { "all" } else { defaults.peers });
    let mut chosen = names("--lock", typed, Kind::Stanchion, rw)?;
    chosen.extend(names("--peers", peers, Kind::Peer, rw)?);
    chosen.sort_by_key(|lock| registry(rw).position(|entry| entry.name == tuned(&lock.name).0));
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

/// The locks of one list: peers, or all; `all` means those of `kind`.
fn names(flag: &str, list: &str, kind: Kind, rw: bool) -> Result<Vec<LockInfo>, String> {
    let mut chosen = Vec::new();
    let may = |rw| registry(rw).filter(move |entry| kind != Kind::Peer || entry.kind == kind);
    let refused = |error: String| format!("{flag}: {error} (--list shows all)");
    for word in scenes::words(flag, list)?.into_iter().filter(|word| *word != "none") {
        let base = tuned(word).0;
        if word == "all" || word == "variants" {
            let variant = word == "variants";
            let meant = may(rw).filter(|entry| entry.kind == kind && entry.variant == variant);
            chosen.extend(meant.map(|entry| entry.info(entry.name, false)));
        } else if let Some(entry) = may(rw).find(|entry| entry.name == base) {
            read(word).map_err(refused)?;
            chosen.push(entry.info(word, true));
        } else if rw && may(false).any(|entry| entry.name == base) {
            return Err(refused(format!(
                "'{base}' is a mutex, and is not measured beside reader-writer locks: type 'stanchion bench {flag} {word}'"
            )));
        } else {
            // What is no name says nothing about the kind of lock.
            let valid = may(rw).chain(may(true)).filter(|entry| entry.kind != Kind::Hidden);
            let what = if kind == Kind::Peer { "peer" } else { "lock" };
            return Err(refused(unknown(what, base, once(valid.map(|entry| entry.name)))));
        }
    }
    Ok(chosen)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
