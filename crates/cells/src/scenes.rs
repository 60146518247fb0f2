//! Where something can be simulated: a machine, a workload, and how many vCPUs; everything about them that
//! can be refused.
use crate::published::fingerprint::of_bytes;
use crate::{threads, tuned};
use stanchion_core::Tunable;
use stanchion_family::tunables;
use stanchion_sim::machine::file::field_table;
use stanchion_sim::machine::{self, Machine, SchedulerKind};
use stanchion_sim::workload::{self, Takes, Workload};
use stanchion_sim::{Failure, Spec, check, names_locks, unknown};
use std::sync::Arc;

/// A machine, a workload and the counts that are simulated there.
#[derive(Clone)]
pub struct Scene {
    /// The machine.
    pub machine: Arc<Machine>,
    /// The workload.
    pub workload: Arc<Workload>,
    /// Counts of vCPUs, ascending.
    pub counts: Vec<usize>,
    /// What is set differently for all locks.
    pub tunings: Vec<(Tunable, u32)>,
}

/// What was typed about scenes.
pub struct Typed<'a> {
    /// Machines, by name or path, separated by commas.
    pub machines: &'a str,
    /// Workloads, likewise.
    pub workloads: &'a str,
    /// What counts of vCPUs are called where they were typed, and these.
    pub counts: Option<(&'static str, &'a str)>,
    /// More of them, as multiples of the CPUs.
    pub overcommit: Option<&'a str>,
    /// Fields replaced, each `KEY=VALUE`.
    pub sets: &'a [String],
    /// Texts of files by their paths, which then are not read: they may be on another computer.
    pub files: &'a [(String, String)],
}

/// Fields of workloads are told from those of machines by this.
const WORKLOAD: &str = "workload.";
/// Tunables of locks by this.
const TUNABLE: &str = "tunable.";
/// What runs vCPUs may be called by what it mostly is.
const HYPERVISOR: &str = "hypervisor.";
/// If no count is asked for, no more than this, so that the first impression comes soon.
const MOST_BY_DEFAULT: usize = 64;

/// All scenes, machine by machine.
pub fn resolve(typed: &Typed) -> Result<Vec<Scene>, String> {
    let begins = |set: &String, with: &str| set.trim_start().starts_with(with);
    let (of_locks, of_scenes): (Vec<&String>, Vec<&String>) =
        typed.sets.iter().partition(|set| begins(set, TUNABLE));
    let (of_workload, of_machine): (Vec<&String>, Vec<&String>) =
        of_scenes.into_iter().partition(|set| begins(set, WORKLOAD));
    if let Some(set) = typed.sets.iter().find(|set| !set.contains('=')) {
        return Err(format!("set: '{set}' is no KEY=VALUE: write for example host.fair-share.slice=3ms"));
    }
    let tunings = of_locks.into_iter().map(|set| tuning(set)).collect::<Result<Vec<_>, _>>()?;
    let mut all_workloads: Vec<Arc<Workload>> = Vec::new();
    for name in words("workload", typed.workloads)? {
        let file = match text_in(typed.files, name) {
            Some(text) => workload::read_with(text, name, &of_workload).map_err(|error| error.to_string()),
            None => workload::load_with(name, &of_workload),
        };
        let workload = file.map_err(|error| format!("workload {name}: {error}"))?.workload;
        if all_workloads.iter().any(|other| other.name == workload.name) {
            return Err(format!("workload: two of them are called {}", workload.name));
        }
        all_workloads.push(Arc::new(workload));
    }
    let mut scenes: Vec<Scene> = Vec::new();
    for name in words("machine", typed.machines)? {
        let machine = Arc::new(load_machine(name, &of_machine, typed.files)?);
        if scenes.iter().any(|scene| scene.machine.name == machine.name) {
            return Err(format!("machine: two of them are called {}", machine.name));
        }
        let counts = counts(typed, &machine)?;
        for workload in &all_workloads {
            let scene = Scene {
                machine: Arc::clone(&machine),
                workload: Arc::clone(workload),
                counts: counts.clone(),
                tunings: tunings.clone(),
            };
            scenes.push(scene);
        }
    }
    Ok(scenes)
}

/// What is called `machine NAME` in results: the digest of its file, or that it is shipped.
pub fn digest_of_machine(name_or_path: &str) -> Result<(String, String), String> {
    Ok((format!("machine {}", machine::load(name_or_path)?.machine.name), digest(name_or_path)?))
}

/// The same of a workload.
pub fn digest_of_workload(name_or_path: &str) -> Result<(String, String), String> {
    Ok((format!("workload {}", workload::load(name_or_path)?.workload.name), digest(name_or_path)?))
}

fn digest(name_or_path: &str) -> Result<String, String> {
    let text = stanchion_sim::text_of(name_or_path)?;
    Ok(text.map_or("shipped".to_owned(), |text| of_bytes(text.as_bytes())))
}

/// Reads `tunable.NAME=VALUE`.
fn tuning(set: &str) -> Result<(Tunable, u32), String> {
    let (name, value) = set.trim_start().trim_start_matches(TUNABLE).split_once('=').unwrap_or((set, ""));
    let (name, value) = (name.trim(), value.trim());
    let Some(&tunable) = tunables::ALL.iter().find(|tunable| tunable.name() == name) else {
        let names = tunables::ALL.iter().map(|tunable| tunable.name());
        return Err(format!("set: {}", unknown("tunable", name, names)));
    };
    let value = value
        .parse()
        .map_err(|_| format!("set: tunable.{name}: '{value}' is no number from 0 to {}", u32::MAX))?;
    Ok((tunable, value))
}

/// The words of a list, each once.
pub fn words<'a>(flag: &str, list: &'a str) -> Result<Vec<&'a str>, String> {
    let words = once(list.split(',').map(str::trim).filter(|word| !word.is_empty()));
    if words.is_empty() { Err(format!("{flag}: '{list}' names nothing")) } else { Ok(words) }
}

/// Each thing once, in the order given.
pub fn once<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for thing in all {
        if !once.contains(&thing) {
            once.push(thing);
        }
    }
    once
}

fn load_machine(name: &str, sets: &[&String], files: &[(String, String)]) -> Result<Machine, String> {
    let (aliased, plain): (Vec<&String>, Vec<&String>) =
        sets.iter().copied().partition(|set| set.trim_start().starts_with(HYPERVISOR));
    let mut sets: Vec<String> = plain.into_iter().cloned().collect();
    if !aliased.is_empty() {
        // Which scheduler it is may itself have been set.
        let scheduler = &load_with(name, &sets, files)?.host.scheduler;
        sets.extend(aliased.iter().map(|set| unaliased(set.trim_start(), scheduler)));
    }
    load_with(name, &sets, files)
}

fn load_with(name: &str, sets: &[String], files: &[(String, String)]) -> Result<Machine, String> {
    let file = match text_in(files, name) {
        Some(text) => machine::file::read_with(text, name, sets).map_err(|error| error.to_string()),
        None => machine::load_with(name, sets),
    };
    Ok(file.map_err(|error| format!("machine {name}: {error}"))?.machine)
}

/// The text of the file that has this path, if it is among those that are known.
fn text_in<'a>(files: &'a [(String, String)], path: &str) -> Option<&'a str> {
    files.iter().find(|(known, _)| known == path).map(|(_, text)| text.as_str())
}

/// `hypervisor.slice` is `host.slice` if there is such a field, else that of the machine's scheduler.
fn unaliased(set: &str, scheduler: &SchedulerKind) -> String {
    let rest = &set[HYPERVISOR.len()..];
    let key = rest.split('=').next().unwrap_or_default().trim();
    // The table in the documentation is made of the fields that the reader knows.
    let of_host = field_table().contains(&format!("| `host.{key}` |"));
    let table = match scheduler {
        SchedulerKind::FairShare(_) if !of_host => "fair-share.",
        SchedulerKind::RoundRobin(_) if !of_host => "round-robin.",
        _ => "",
    };
    format!("host.{table}{rest}")
}

/// The counts for one machine.
fn counts(typed: &Typed, machine: &Machine) -> Result<Vec<usize>, String> {
    let cpus = machine.topology.cpu_count();
    let mut counts = Vec::new();
    if let Some((called, list)) = typed.counts {
        counts.extend(threads::parse(list, cpus).map_err(|error| format!("{called}: {}", of_vcpus(&error)))?);
    }
    if let Some(list) = typed.overcommit {
        counts.extend(overcommitted(list, cpus)?);
    }
    if counts.is_empty() {
        counts = default_counts(machine);
    }
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

/// Counts as multiples of the CPUs, such as `1,1.5,2`.
pub fn overcommitted(list: &str, cpus: usize) -> Result<Vec<usize>, String> {
    let multiple = |word: &str| {
        let word = word.trim_end_matches('x');
        threads::parse(&format!("{word}x"), cpus).map_err(|_| {
            format!("overcommit: '{word}' is no multiple of the {cpus} CPUs that can be run: write for example 1,1.5,2")
        })
    };
    Ok(words("overcommit", list)?.into_iter().map(multiple).collect::<Result<Vec<_>, _>>()?.concat())
}

/// The parser's words are those of the benchmark, which has threads.
fn of_vcpus(error: &str) -> String {
    error.replace("thread count", "vCPU count").replace("threads", "vCPUs")
}

/// Powers of two up to the CPUs, and beyond them where vCPUs take turns.
fn default_counts(machine: &Machine) -> Vec<usize> {
    let cpus = machine.topology.cpu_count();
    let mut counts: Vec<usize> =
        core::iter::successors(Some(1), |count| Some(count * 2)).take_while(|&count| count < cpus).collect();
    counts.push(cpus);
    if machine.host.scheduler != SchedulerKind::Pinned {
        counts.extend([cpus * 2, cpus * 4]);
    }
    counts.retain(|&count| count <= MOST_BY_DEFAULT);
    counts
}

/// Asks the simulator itself whether it would run each lock with each count, without running it.
pub fn probe(scene: &Scene, locks: &[String]) -> Result<(), String> {
    for lock in locks {
        for &contexts in &scene.counts {
            let spec = Spec {
                machine: &scene.machine,
                workload: &scene.workload,
                lock,
                tunings: &scene.tunings,
                contexts,
                seed: 0,
                time: 0,
                warm_up: 0,
                record: None,
                most_events: 0,
            };
            if let Err(Failure::Refused(why) | Failure::Broken(why)) = check(&spec) {
                return Err(why);
            }
        }
    }
    Ok(())
}

/// The locks of a list, in the order typed: the first is what others are compared with. `all` and `variants`
/// are those that `scenes` take: reader-writer locks where somebody only reads, mutexes elsewhere.
pub fn locks(list: &str, scenes: &[Scene]) -> Result<Vec<String>, String> {
    let mutexes = scenes.iter().all(|scene| scene.workload.takes() == Takes::Mutexes);
    let rw_locks = scenes.iter().all(|scene| scene.workload.takes() != Takes::Mutexes);
    let (all, variants) = if mutexes {
        (stanchion_sim::lock_names(), stanchion_sim::variant_names())
    } else {
        (stanchion_sim::rw_lock_names(), stanchion_sim::rw_variant_names())
    };
    let owned = |name: &&str| (*name).to_owned();
    let mut locks: Vec<String> = Vec::new();
    for word in words("lock", list)? {
        if matches!(word, "all" | "variants") && !mutexes && !rw_locks {
            return Err(format!(
                "lock: '{word}' of workloads with readers are other locks than of those without; simulate them one by one"
            ));
        }
        match word {
            "all" => locks.extend(all.iter().filter(|name| !variants.contains(name)).map(owned)),
            "variants" => locks.extend(variants.iter().map(owned)),
            _ if names_locks(word) => locks.push(word.to_owned()),
            _ => {
                let known = [stanchion_sim::lock_names(), stanchion_sim::rw_lock_names()].concat();
                let base = |name| stanchion_family::tuned::tuned(name).0;
                let Some(wrong) = word.split('+').map(base).find(|name| !known.contains(name)) else {
                    let bad = word.split('+').find_map(|name| tuned::read(name).err()).unwrap_or_default();
                    return Err(format!("lock: {bad}"));
                };
                return Err(format!("lock: {}", unknown("lock", wrong, known)));
            }
        }
    }
    Ok(once(locks))
}
