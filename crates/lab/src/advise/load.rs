//! From a recording to what the simulator replays.
use super::program::{Identity, Program};
use super::telling::{self, Beside, Told};
use super::window::Window;
use crate::run::Places;
use crate::run::record::cost::Waited;
use crate::run::record::file::{self, CpuTime, Totals};
use crate::run::record::raw::Chunk;
use core::cmp::Reverse;
use lab_kit::units::{format_ns, percent, plural};
use serde::Serialize;
use stanchion_sim::replay::{Class, Recorded, Script};
use std::collections::BTreeMap;
use std::path::Path;

/// A worker computes or waits for locks for at least one part in so many of the time for which the thread
/// computes that does so longest. memcached's maintainer computes a seventh of what its workers do, no worker
/// of the programs in `docs/advise.md` less than half.
const WORKS: f64 = 4.0;
/// Of those that do, a worker takes locks at least one time in so many of the busiest: copies of a thread
/// that hardly takes any would only use CPUs.
const TAKES: u64 = 10;

/// Sections shorter than this on few CPUs are where the simulator is wrong (`docs/simulator.md`).
const SHORT_NS: f64 = 60.0;
/// A smaller part of the CPU time that other processes use is an accident.
const OTHERS: f64 = 0.05;
const NO_EVENTS: &str =
    "has no events: no pthread lock that can be replaced was taken, so that no lock helps";
/// Locks that are told of.
const TOLD: usize = 100;

/// A lock that is no thread's own.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Lock {
    pub address: String,
    pub kind: &'static str,
    pub threads: usize,
    pub acquisitions: u64,
    pub waited_ns: f64,
    pub held_ns: f64,
    /// Functions of its first use, if they are known.
    pub places: Vec<String>,
}

impl Lock {
    /// The function that people know it by.
    pub(super) fn name(&self) -> String {
        match self.places.first() {
            Some(place) => format!("the {} of {place}", self.kind),
            None => format!("the {} at {}", self.kind, self.address),
        }
    }
}

/// What is known of a recording besides what is replayed.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Recording {
    pub program: Vec<String>,
    pub threads: usize,
    pub workers: usize,
    pub at_once: usize,
    pub acquisitions: u64,
    pub span_ns: f64,
    /// Nanoseconds at the beginning and the end that are left out, because hardly anything was taken.
    pub left_out_ns: [f64; 2],
    /// Acquisitions in a second.
    pub rate: f64,
    /// Of the workers' time, what went into waiting for locks.
    pub waiting: f64,
    /// Shared locks, in the replay's order.
    pub locks: Vec<Lock>,
    pub private_locks: usize,
    /// What is missing or doubtful.
    pub limits: Vec<String>,
}

/// With `alone`, other processes run elsewhere: what they computed meanwhile is left out, and taken out of
/// what threads seem to have computed.
pub(crate) fn load(path: &Path, places: &Places, alone: bool) -> Result<(Recorded, Recording), String> {
    let mut processes: BTreeMap<u32, BTreeMap<u64, Vec<Chunk>>> = BTreeMap::new();
    let mut whole = file::read_path(path, |chunk| {
        processes.entry(chunk.process).or_default().entry(chunk.thread).or_default().push(chunk.clone());
        Some(())
    })?;
    let other_processes = processes.len().saturating_sub(1);
    let events = |chunks: &Vec<Chunk>| -> u64 { chunks.iter().map(|chunk| u64::from(chunk.number)).sum() };
    let busiest = processes.into_values().max_by_key(|threads| threads.values().map(events).sum::<u64>());
    let busiest = busiest.ok_or(NO_EVENTS)?;
    let window = Window::of(busiest.values().flatten()).ok_or("is damaged")?;
    let mut threads: Vec<Vec<Chunk>> = busiest.into_values().collect();
    threads.sort_by_key(|chunks| Reverse(events(chunks))); // workers are in front then, mostly
    if let Some(costs) = &mut whole.meta.cost {
        let mut waited = Waited::default();
        for chunk in threads.iter().flatten() {
            let mut events = Vec::new();
            chunk.events(|event| events.push(*event)).ok_or("is damaged")?;
            waited.see(events);
        }
        costs.fit(&waited);
    }
    let survey = |threads: &[_]| Program::survey(threads, &whole.meta, window).ok_or("is damaged");
    let mut program = survey(&threads)?;
    if program.seen.is_empty() {
        return Err(NO_EVENTS.to_owned());
    }
    let mut told = tell(&program, &threads, 0, Beside::NOTHING)?;
    let is_worker = are_workers(&told);
    let workers = is_worker.iter().filter(|is_worker| **is_worker).count();
    let are_first = is_worker.is_sorted_by_key(|is_worker| !is_worker);
    if !are_first {
        // Workers come first in the replay.
        let mut sorted: Vec<_> = is_worker.into_iter().zip(threads.into_iter().zip(told)).collect();
        sorted.sort_by_key(|(is_worker, _)| !is_worker);
        (threads, told) = sorted.into_iter().map(|(_, both)| both).unzip();
        program = survey(&threads)?;
    }
    let others = Others::of(&program, &told, workers).filter(|_| other_processes == 0);
    if !are_first || others.is_some() {
        drop(told);
        let beside = |others: &Others| if alone { others.gone } else { others.there };
        told = tell(&program, &threads, workers, others.as_ref().map_or(Beside::NOTHING, beside))?;
    }
    let free = told.iter().map(|told| told.free).sum();
    let waited = told[..workers].iter().map(|told| told.waited).sum();
    let scripts = told.into_iter().map(|told| told.script).collect();
    let (recorded, mut recording) = program.finish(scripts, workers, waited);
    recording.limits = program.limits(&recording, &whole.totals, free, other_processes);
    recording.limits.extend(others.map(|Others { share, .. }| {
        let share = percent(share);
        let how = if alone {
            "will run elsewhere"
        } else {
            "compute for this one, on the same CPUs (not so: --alone)"
        };
        format!("other processes used {share} of the CPU time that was used; it is assumed that they {how}")
    }));
    recording.locks.truncate(TOLD);
    for lock in &mut recording.locks {
        let place = (threads[0][0].pid, lock.address.clone());
        lock.places = places.get(&place).cloned().unwrap_or_default();
    }
    Ok((recorded, recording))
}

/// Which threads are workers.
fn are_workers(told: &[Told]) -> Vec<bool> {
    let takes = |it: &Told| it.script.acquisitions();
    let longest = told.iter().filter(|it| takes(it) > 0).map(|it| it.computed).fold(0.0, f64::max);
    let is_long = |it: &Told| (it.computed + it.waited) * WORKS >= longest;
    let most = told.iter().filter(|it| is_long(it)).map(takes).max().unwrap_or(0);
    told.iter().map(|it| is_long(it) && takes(it) * TAKES >= most).collect()
}

/// What each thread did. Beside the first ones, the workers, other processes compute.
fn tell(
    program: &Program,
    threads: &[Vec<Chunk>],
    workers: usize,
    beside: Beside,
) -> Result<Vec<Told>, &'static str> {
    let told = |(index, chunks): (usize, &Vec<Chunk>)| {
        let beside = if index < workers { beside } else { Beside::NOTHING };
        telling::script(program, index, chunks, beside)
    };
    threads.iter().enumerate().map(told).collect::<Option<_>>().ok_or("is damaged")
}

/// What other processes compute while a program runs.
struct Others {
    /// Of the CPU time that is used.
    share: f64,
    /// If they compute on the same CPUs. For each nanosecond that a worker is off its CPU they compute one at
    /// most, so that what was recorded takes as long.
    there: Beside,
    /// If they do not.
    gone: Beside,
}

impl Others {
    /// None if it is little, or not known. Where more computing is recorded than the program had CPU time, it
    /// was off its CPU for moments that the recording does not show. That much is in the scripts already, and
    /// is taken out of them if the others are gone.
    fn of(program: &Program, told: &[Told], workers: usize) -> Option<Self> {
        let CpuTime { wall, own, others, cpus } = program.meta.cpu?;
        let computed: f64 = told.iter().map(|told| told.computed).sum();
        // What the recording covers of all that. Where an end is left out, all else is taken to be within: as
        // far as the CPUs have time for it.
        let span = program.meta.ns(program.ends - program.begins);
        let (own, others) = if program.window.left_out == [0; 2] {
            let covered = (span / wall).min(1.0);
            (own * covered, others * covered)
        } else {
            let own = own.min(computed);
            let most = cpus.map_or(f64::INFINITY, |cpus| span * f64::from(cpus) - own);
            (own, others.min(most.max(0.0)))
        };
        let off: f64 = told[..workers].iter().map(|told| told.off).sum();
        let unseen = (others - (computed - own).max(0.0)).max(0.0);
        let share = others / (own + others);
        let busy = if off > 0.0 { (unseen / off).min(1.0) } else { 0.0 };
        let there = Beside { busy, ..Beside::NOTHING };
        let gone = Beside { own: (own / computed).min(1.0), ..Beside::NOTHING };
        (share > OTHERS).then_some(Self { share, there, gone })
    }
}

impl Program<'_> {
    /// What is replayed, and what is known besides; what is doubtful about it is not. The workers come first,
    /// and `waited` for so many nanoseconds.
    fn finish(&self, scripts: Vec<Script>, number: usize, waited: f64) -> (Recorded, Recording) {
        let classes = self.shared.iter().map(|id| if id.1 { Class::Rw } else { Class::Mutex }).collect();
        let lock = |id: &Identity| {
            let seen = &self.seen[id];
            Lock {
                address: format!("{:#x}", id.0),
                kind: if id.1 { "reader-writer lock" } else { "mutex" },
                threads: seen.threads.len(),
                acquisitions: seen.events,
                waited_ns: self.meta.ns(seen.waited),
                held_ns: self.meta.ns(seen.held),
                places: Vec::new(),
            }
        };
        let locks: Vec<Lock> = self.shared.iter().map(lock).collect();
        let (threads, mut workers) = (scripts.len(), scripts);
        let others = workers.split_off(number);
        let spans = || workers.iter().map(Script::span);
        let together: f64 = spans().map(|(from, to)| to.saturating_sub(from) as f64).sum();
        let first = spans().map(|(from, _)| from).min().unwrap_or(0);
        let union = spans().map(|(_, to)| to).max().unwrap_or(0).saturating_sub(first);
        let at_once = (together / union.max(1) as f64).round().max(1.0) as usize;
        let acquisitions = self.seen.values().map(|lock| lock.events).sum();
        let span_ns = self.meta.ns(self.ends - self.begins);
        let recording = Recording {
            program: self.meta.program.clone(),
            threads,
            workers: workers.len(),
            at_once: at_once.min(workers.len()),
            acquisitions,
            span_ns,
            left_out_ns: self.window.left_out.map(|ticks| self.meta.ns(ticks)),
            rate: acquisitions as f64 * 1e9 / span_ns.max(1.0),
            waiting: waited / together.max(1.0),
            private_locks: self.seen.len() - locks.len(),
            locks,
            limits: Vec::new(),
        };
        (Recorded { workers, others, locks: classes, once: false }, recording)
    }

    fn limits(
        &self,
        recording: &Recording,
        totals: &Totals,
        free: u64,
        other_processes: usize,
    ) -> Vec<String> {
        let (waits, unexplained) = (self.waits, self.waits - self.causes.len());
        let is_small = recording.acquisitions < 1000 || recording.span_ns < 1e8;
        let held: f64 = recording.locks.iter().map(|lock| lock.held_ns).sum();
        let taken: u64 = recording.locks.iter().map(|lock| lock.acquisitions).sum();
        let limits = [
            totals.missing().map(|line| format!("the recording is not whole: {line}")),
            (recording.at_once < 2).then(|| {
                "one thread at a time was recorded: which locks others would share is not known".to_owned()
            }),
            (other_processes > 0).then(|| format!("{other_processes} further processes are left out")),
            (free * 100 > recording.acquisitions).then(|| {
                let share = percent(free as f64 / recording.acquisitions as f64);
                let pairs = plural(self.rare.len(), "pair");
                format!("locks are taken in both orders ({pairs}): in the rarer one the second is taken as free, {share} of all acquisitions")
            }),
            (unexplained * 10 > waits).then(|| {
                format!(
                    "{unexplained} of {waits} waits for conditions have no notification in the recording, and last as long as there"
                )
            }),
            is_small.then(|| {
                format!(
                    "little was recorded, {} acquisitions in {}: record a second at least, and some thousands",
                    recording.acquisitions,
                    format_ns(recording.span_ns)
                )
            }),
            (held < SHORT_NS * taken as f64).then(|| {
                "sections are very short: on few CPUs the simulator is kind to locks that are taken again at once".to_owned()
            }),
        ];
        limits.into_iter().flatten().collect()
    }
}

#[cfg(test)]
#[path = "load_tests.rs"]
mod tests;
