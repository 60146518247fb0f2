//! From a recording to what the simulator replays.
//!
//! Events come in the order of releases, thread by thread. Locks that were taken before an event that ends
//! first have a negative time before them; so each thread is read twice: once for those, once to merge all.
use super::causes::{self, Causes, Happened};
use super::telling;
use crate::run::record::codec::{Event, Item, Kind, What};
use crate::run::record::cost::Costs;
use crate::run::record::file::{self, Meta, Totals};
use crate::run::record::raw::Chunk;
use stanchion_sim::replay::{Class, Recorded, Script};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

/// A thread is a worker if it took locks at least this part as often as the busiest one.
const WORKER: u64 = 10;

/// A lock of the program.
#[derive(Clone, Debug)]
pub(super) struct Lock {
    pub address: u64,
    pub class: Class,
    pub threads: usize,
    pub acquisitions: u64,
    pub waited_ns: f64,
    pub held_ns: f64,
    /// Functions of its first use, if they are known.
    pub places: Vec<String>,
}

/// What is known of a recording besides what is replayed.
#[derive(Debug)]
pub(super) struct Facts {
    pub meta: Meta,
    pub totals: Totals,
    /// Shared locks, in the replay's order.
    pub locks: Vec<Lock>,
    /// Locks that one thread took.
    pub private: usize,
    pub threads: usize,
    pub workers: usize,
    /// How many workers there were at a time.
    pub at_once: usize,
    pub span_ns: f64,
    pub acquisitions: u64,
    /// Of the workers' time, what went into waiting for locks.
    pub waiting: f64,
    /// Of the process that is replayed.
    pub pid: u32,
    /// Processes that are left out.
    pub other_processes: usize,
    /// Waits for conditions, and those of them whose notification was not found.
    pub waits: usize,
    pub unexplained: usize,
}

#[derive(Default)]
struct Seen {
    threads: BTreeSet<u64>,
    events: u64,
    waited: u64,
    held: u64,
}

pub(super) type Identity = (u64, bool);

pub(super) fn identity(event: &Event) -> Identity {
    (event.key.address(), event.key.kind() != Kind::Mutex)
}

/// Reads a recording.
pub(super) fn load(path: &Path) -> Result<(Recorded, Facts), String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let mut processes: BTreeMap<u32, BTreeMap<u64, Vec<Chunk>>> = BTreeMap::new();
    let whole = file::read(BufReader::new(file), length, |chunk| {
        processes.entry(chunk.process).or_default().entry(chunk.thread).or_default().push(chunk.clone());
        Some(())
    })?;
    let events = |threads: &BTreeMap<u64, Vec<Chunk>>| -> u64 {
        threads.values().flatten().map(|chunk| u64::from(chunk.number)).sum()
    };
    let other_processes = processes.len().saturating_sub(1);
    let busiest = processes.into_values().max_by_key(|threads| events(threads));
    let threads: Vec<Vec<Chunk>> = busiest
        .ok_or("has no events: the program took no lock that is ours to replace")?
        .into_values()
        .collect();
    let program = Program::survey(&threads, &whole.meta).ok_or("is damaged")?;
    let scripts: Vec<Script> = threads
        .iter()
        .enumerate()
        .map(|(index, chunks)| telling::script(&program, index, chunks))
        .collect::<Option<_>>()
        .ok_or("is damaged")?;
    let pid = threads.first().and_then(|chunks| chunks.first()).map_or(0, |chunk| chunk.pid);
    Ok(program.finish(scripts, whole.meta, whole.totals, pid, other_processes))
}

/// What has to be known of all threads before the script of any can be written.
pub(super) struct Program {
    pub ticks_per_ns: f64,
    pub cost: Option<Costs>,
    pub begins: u64,
    ends: u64,
    seen: HashMap<Identity, Seen>,
    /// Numbers of shared locks.
    pub numbers: HashMap<Identity, u32>,
    pub causes: Causes,
    /// Where each thread stands among those that were given numbers in the scripts.
    pub number_of: Vec<u32>,
    workers: usize,
    acquisitions: Vec<u64>,
}

impl Program {
    fn survey(threads: &[Vec<Chunk>], meta: &Meta) -> Option<Self> {
        let mut seen: HashMap<Identity, Seen> = HashMap::new();
        let (mut begins, mut ends) = (u64::MAX, 0);
        let mut happened = Vec::new();
        for (thread, chunks) in threads.iter().enumerate() {
            let mut notices = 0;
            for chunk in chunks {
                begins = begins.min(chunk.base);
                chunk.items(|item| match item {
                    Item::Event(event) => {
                        let lock = seen.entry(identity(&event)).or_default();
                        lock.threads.insert(chunk.thread);
                        lock.events += 1;
                        lock.waited += event.wait;
                        lock.held += event.hold;
                        begins = begins.min(event.came);
                        ends = ends.max(event.came + event.wait + event.hold);
                    }
                    Item::Mark(at, What::Notified { condition, all }) => {
                        happened.push((condition, Happened::Notice { at, thread, number: notices, all }));
                        notices += 1;
                    }
                    Item::Mark(at, What::Waited { condition, span, was_notified: true }) => {
                        happened
                            .push((condition, Happened::Wait { from: at.saturating_sub(span), at, thread }));
                    }
                    Item::Mark(..) => {}
                })?;
            }
        }
        let acquisitions: Vec<u64> =
            threads.iter().map(|chunks| chunks.iter().map(|chunk| u64::from(chunk.number)).sum()).collect();
        let busiest = acquisitions.iter().copied().max().unwrap_or(0);
        let is_worker = |events: u64| events > 0 && events * WORKER >= busiest;
        let workers = acquisitions.iter().filter(|&&events| is_worker(events)).count();
        let (mut worker, mut other) = (0, workers as u32);
        let number_of = acquisitions
            .iter()
            .map(|&events| {
                let next = if is_worker(events) { &mut worker } else { &mut other };
                *next += 1;
                *next - 1
            })
            .collect();
        let mut shared: Vec<(&Identity, u64)> = seen
            .iter()
            .filter(|(_, lock)| lock.threads.len() > 1)
            .map(|(id, lock)| (id, lock.events))
            .collect();
        shared.sort_by_key(|&(id, events)| (core::cmp::Reverse(events), *id));
        let numbers = shared.into_iter().zip(0..).map(|((id, _), number)| (*id, number)).collect();
        Some(Self {
            ticks_per_ns: meta.ticks_per_ns,
            cost: meta.cost,
            begins: begins.min(ends),
            ends,
            seen,
            numbers,
            causes: causes::find(happened),
            number_of,
            workers,
            acquisitions,
        })
    }

    pub(super) fn ns(&self, ticks: u64) -> f64 {
        ticks as f64 / self.ticks_per_ns
    }

    fn finish(
        self,
        scripts: Vec<Script>,
        meta: Meta,
        totals: Totals,
        pid: u32,
        other_processes: usize,
    ) -> (Recorded, Facts) {
        let ns = |ticks: u64| ticks as f64 / self.ticks_per_ns;
        let mut locks: Vec<(u32, Lock)> = Vec::new();
        let mut waited = 0;
        for (&id, seen) in &self.seen {
            waited += seen.waited;
            if let Some(&number) = self.numbers.get(&id) {
                let lock = Lock {
                    address: id.0,
                    class: if id.1 { Class::Rw } else { Class::Mutex },
                    threads: seen.threads.len(),
                    acquisitions: seen.events,
                    waited_ns: ns(seen.waited),
                    held_ns: ns(seen.held),
                    places: Vec::new(),
                };
                locks.push((number, lock));
            }
        }
        locks.sort_by_key(|&(number, _)| number);
        let locks: Vec<Lock> = locks.into_iter().map(|(_, lock)| lock).collect();
        let threads = scripts.len();
        let mut placed: Vec<(u32, Script)> = self.number_of.iter().copied().zip(scripts).collect();
        placed.sort_by_key(|&(number, _)| number);
        let mut all = placed.into_iter().map(|(_, script)| script);
        let workers: Vec<Script> = all.by_ref().take(self.workers).collect();
        let others: Vec<Script> = all.collect();
        let spans = || workers.iter().map(Script::span);
        let together: u64 = spans().map(|(from, to)| to.saturating_sub(from)).sum();
        let first = spans().map(|(from, _)| from).min().unwrap_or(0);
        let union = spans().map(|(_, to)| to).max().unwrap_or(0).saturating_sub(first);
        let at_once = (together as f64 / union.max(1) as f64).round().max(1.0) as usize;
        let facts = Facts {
            private: self.seen.len() - locks.len(),
            threads,
            workers: workers.len(),
            at_once: at_once.min(workers.len()),
            span_ns: ns(self.ends - self.begins),
            acquisitions: self.acquisitions.iter().sum(),
            waiting: ns(waited) / (together as f64).max(1.0),
            pid,
            other_processes,
            waits: self.causes.waits,
            unexplained: self.causes.unexplained,
            meta,
            totals,
            locks,
        };
        let classes = facts.locks.iter().map(|lock| lock.class).collect();
        (Recorded { workers, others, locks: classes, once: false }, facts)
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
