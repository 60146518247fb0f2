//! Runs one cell once, in a process of its own.
//!
//! A lock under test may stall (thirty-two threads behind each other in a FIFO spin lock on two CPUs),
//! corrupt memory or crash. In a process of its own it can be killed, its spinning threads do not burn the
//! CPUs of the next cell, and CPU time and context switches of the process are those of the cell, also when
//! it stalls. Starting it costs about two milliseconds, outside of the window. Every round also gets fresh
//! addresses, so that no lock profits from a lucky cache layout in all of them.
//!
//! Threads meet at a barrier, run a short warm-up, and publish their counts on cache lines of their own. The
//! window lies between two readings of all counts, so neither thread start nor drain is in the rates.
//!
//! A mutex protects a counter, which is read before the work of a section and written after it. A
//! reader-writer lock protects two counters. A writer raises the one before its work and the other after it;
//! a reader looks at the one before its work and at the other after it. If a writer was in meanwhile the
//! reader saw two different numbers; if two writers were, the counters miss some of their work at the end.
use super::cell::{Accesses, CellOutcome, CellSpec, Pass, READ, State, WRITE};
use super::contender::Contender;
use super::machine::pin_to_one_cpu;
use super::mix::Profile;
use super::work::{Steps, alone, drain, new_histogram, random, used};
use core::hint::black_box;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use fastrand::Rng;
use hdrhistogram::Histogram;
use lab_kit::output::tell;
use stanchion::native::ticks;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};

/// Phases of a cell, the first before its window.
const WARMING: u32 = 0;
/// Waits that end now are recorded.
const MEASURING: u32 = 1;
/// Threads end after the acquisition under way.
const STOPPED: u32 = 2;
/// Enough for every thread to have run at least once at 16 threads a CPU; a fifth of the cell at most.
const WARM_UP: Duration = Duration::from_millis(20);
/// Room for any lock's slow path; the default of 8 MiB would be address space for thousands of threads.
const STACK_BYTES: usize = 256 * 1024;

/// What a thread shows while it runs, by side.
#[derive(Default)]
struct Slot {
    acquisitions: [AtomicU64; 2],
    /// When the wait in progress began, or zero; written in latency passes only.
    waiting_since: [AtomicU64; 2],
    /// Reads that saw two different numbers, of both sides; written at the end.
    torn: AtomicU64,
}

/// What the threads of a cell share beside the lock, which lies alone on its lines: what is measured is the
/// hand-over of the lock, not of its neighbours.
struct Shared {
    cell: CellSpec,
    /// Protected by the lock; a mutex has the first only. Loaded and stored separately and without ordering,
    /// which costs what plain counters cost, loses updates when exclusion fails, and is still defined
    /// behaviour then.
    pair: CachePadded<[AtomicU64; 2]>,
    slots: Box<[CachePadded<Slot>]>,
    phase: CachePadded<AtomicU32>,
    barrier: Barrier,
}

/// The waits of a thread by side; none but in a latency pass.
type ThreadWaits = Vec<Histogram<u64>>;

/// One acquisition with the section of the cell: when it was granted, in ticks, and whether it saw a
/// write half done. What is left of `RW` here and in the loops is what the kind of lock needs.
#[inline]
fn acquire<C: Contender, const TIMED: bool>(
    lock: &C,
    side: usize,
    pair: &[AtomicU64; 2],
    steps: Steps,
    state: &mut u64,
) -> (u64, bool) {
    let now = || if TIMED { ticks::now() } else { 0 };
    if C::RW && side == READ {
        return lock.read(|| {
            let granted = now();
            let before = pair[0].load(Relaxed);
            *state = steps.section(*state);
            (granted, pair[1].load(Relaxed) != before)
        });
    }
    lock.write(|| {
        let granted = now();
        if C::RW {
            pair[0].store(pair[0].load(Relaxed) + 1, Relaxed);
            *state = steps.section(*state);
            pair[1].store(pair[1].load(Relaxed) + 1, Relaxed);
        } else {
            let before = pair[0].load(Relaxed);
            *state = steps.section(*state);
            pair[0].store(before + 1, Relaxed);
        }
        (granted, false)
    })
}

/// A thread of a pass. A function for each kind of pass: what times waits is in one of them only.
#[inline(never)]
fn run_loop<C: Contender, const TIMED: bool>(lock: &C, shared: &Shared, index: usize) -> ThreadWaits {
    let (cell, slot) = (&shared.cell, &shared.slots[index]);
    let (steps, reads_below, mut random, mut waits) = outset(cell, index);
    let (mut acquisitions, mut all_torn, mut state) = ([0; 2], 0, random.u64(..));
    shared.barrier.wait();
    while TIMED || shared.phase.load(Relaxed) != STOPPED {
        let side = draw(C::RW, &mut random, reads_below);
        let asked = if TIMED { ticks::now() } else { 0 };
        if TIMED {
            slot.waiting_since[side].store(asked, Relaxed);
        }
        let (granted, torn) = acquire::<C, TIMED>(lock, side, &shared.pair, steps, &mut state);
        if TIMED {
            slot.waiting_since[side].store(0, Relaxed);
        }
        all_torn += u64::from(torn);
        acquisitions[side] += 1;
        slot.acquisitions[side].store(acquisitions[side], Relaxed);
        if TIMED {
            match shared.phase.load(Relaxed) {
                // This wait was seen and counted at the stop; it ended when fewer and fewer competed.
                STOPPED => break,
                MEASURING => waits[side].saturating_record(granted.saturating_sub(asked)),
                _ => {}
            }
        }
        state = steps.think(&mut random, state);
    }
    black_box(state);
    slot.torn.store(all_torn, Relaxed);
    waits
}

/// What is compiled for each lock. All else is compiled once.
trait Loops: Send + Sync {
    fn run(&self, shared: &Shared, index: usize) -> ThreadWaits;
    /// Reads, or else writes, of one thread with nothing in them.
    fn alone(&self, time: Duration, reads: bool) -> CellOutcome;
}

impl<C: Contender> Loops for CachePadded<C> {
    fn run(&self, shared: &Shared, index: usize) -> ThreadWaits {
        match shared.cell.pass {
            Pass::Latency => run_loop::<C, true>(self, shared, index),
            _ => run_loop::<C, false>(self, shared, index),
        }
    }

    fn alone(&self, time: Duration, reads: bool) -> CellOutcome {
        if C::RW && reads {
            alone(time, || self.read(|| black_box(())))
        } else {
            alone(time, || self.write(|| black_box(())))
        }
    }
}

/// Two threads that contend for a lock before it is measured alone: about a hundred sections, and each is
/// longer than the default lock, and most others, spin before they sleep, so that their waiters do. If one
/// never gets it, this does not end, and the executor finds that the worker hangs.
fn contention(cell: &CellSpec) -> CellSpec {
    let profile = Profile { critical_ns: 50_000, ..Profile::default() };
    let pass = Pass::Throughput;
    CellSpec { threads: 2, profile, pass, mix: None, time_ms: 5, drain_ms: u32::MAX.into(), ..cell.clone() }
}

/// What a thread begins with: compiled once, not for each lock.
#[inline(never)]
fn outset(cell: &CellSpec, index: usize) -> (Steps, u64, Rng, ThreadWaits) {
    let reads_below = cell.mix.map_or(0, |mix| mix.reads_below(index, cell.threads));
    let waits = if cell.pass == Pass::Latency { vec![new_histogram(), new_histogram()] } else { Vec::new() };
    (cell.calibration.steps(&cell.profile), reads_below, random(cell.seed, index as u64), waits)
}

impl Shared {
    /// What each thread has done so far, by side.
    fn counts(&self) -> [Vec<u64>; 2] {
        [READ, WRITE]
            .map(|side| self.slots.iter().map(|slot| slot.acquisitions[side].load(Relaxed)).collect())
    }

    /// The longest wait of a side that is in progress, in ticks; zero if there is none.
    fn longest_wait(&self, side: usize) -> u64 {
        let now = ticks::now();
        let since = self.slots.iter().map(|slot| slot.waiting_since[side].load(Relaxed));
        since.filter(|&since| since != 0).map(|since| now.saturating_sub(since)).max().unwrap_or(0)
    }
}

/// Which side is next. Threads of a mutex draw nothing.
#[inline]
fn draw(rw: bool, random: &mut Rng, reads_below: u64) -> usize {
    if rw { usize::from(u64::from(random.u32(..)) >= reads_below) } else { WRITE }
}

/// The waits of all threads, by side.
fn add_up(ends: Vec<ThreadWaits>) -> [Histogram<u64>; 2] {
    let mut sums = [new_histogram(), new_histogram()];
    for waits in ends {
        for (sum, waits) in sums.iter_mut().zip(waits) {
            sum.add(waits).expect("all histograms have the same bounds");
        }
    }
    sums
}

/// Runs the cell with the lock `C`. Threads that never get it are left behind: the caller reports and exits.
pub(crate) fn run<C: Contender>(cell: &CellSpec) -> CellOutcome {
    let lock = Arc::new(CachePadded::new(C::new()));
    lock.settle();
    run_with(cell, &(lock as Arc<dyn Loops>))
}

fn run_with(cell: &CellSpec, lock: &Arc<dyn Loops>) -> CellOutcome {
    match cell.pass {
        Pass::Throughput | Pass::Latency | Pass::Events => return run_threads(cell, lock),
        Pass::Uncontended => {}
        Pass::AfterContention => {
            run_threads(&contention(cell), lock);
            // As the executor does for the other pass. Before, no two threads would run at the same time.
            let _ = pin_to_one_cpu();
        }
    }
    lock.alone(Duration::from_millis(cell.time_ms), cell.mix.is_some_and(|mix| mix.sides().0))
}

fn run_threads(cell: &CellSpec, lock: &Arc<dyn Loops>) -> CellOutcome {
    let shared = Arc::new(Shared {
        cell: cell.clone(),
        pair: CachePadded::default(),
        slots: (0..cell.threads).map(|_| CachePadded::default()).collect(),
        phase: CachePadded::new(AtomicU32::new(WARMING)),
        barrier: Barrier::new(cell.threads + 1),
    });
    let time = Duration::from_millis(cell.time_ms);
    let (sender, ends) = channel();
    for index in 0..cell.threads {
        let (lock, shared, sender) = (Arc::clone(lock), Arc::clone(&shared), sender.clone());
        let body = move || {
            // The receiver is gone only when the cell has been given up.
            let _ = sender.send(lock.run(&shared, index));
        };
        if let Err(error) = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(body) {
            // The barrier can no longer be reached; the parent reads this line.
            tell!("cannot start thread {} of {}: {error}", index + 1, cell.threads);
            std::process::exit(1);
        }
    }
    drop(sender);

    shared.barrier.wait();
    std::thread::sleep(WARM_UP.min(time / 5));
    let (mut first, before) = (shared.counts(), used(&CellOutcome::default()));
    shared.phase.store(MEASURING, Relaxed);
    std::thread::sleep(time);
    let (mut last, used) = (shared.counts(), used(&before));
    shared.phase.store(STOPPED, Relaxed);
    let unfinished = [READ, WRITE].map(|side| shared.longest_wait(side));
    let ends = drain(&ends, cell.threads, cell.drain_ms);
    let stalled = ends.len() < cell.threads;
    let mut pair = [0, 1].map(|counter| shared.pair[counter].load(Relaxed));
    if cell.mix.is_none() {
        pair[1] = pair[0];
    }
    let (done, all_waits) = (shared.counts(), add_up(ends));
    let torn = shared.slots.iter().map(|slot| slot.torn.load(Relaxed)).sum();
    let state = state(done.each_ref().map(|counts| counts.iter().sum()), torn, stalled, pair);
    if cell.pass == Pass::Events {
        // Lock events cannot be read per window, so that pass reports what belongs to them: everything.
        first = first.map(|counts| vec![0; counts.len()]);
        last = done;
    }
    let ns = |ticks: u64| (ticks as f64 / cell.calibration.ticks_per_ns) as u64;
    let accesses = |side: usize| {
        let (waits, unfinished): (&Histogram<u64>, u64) = (&all_waits[side], unfinished[side]);
        let buckets = waits.iter_recorded();
        Accesses {
            counts: last[side].iter().zip(&first[side]).map(|(last, first)| last - first).collect(),
            waits: buckets.map(|of| (ns(of.value_iterated_to()), of.count_at_value())).collect(),
            worst_ns: ns(waits.max().max(unfinished)),
            unfinished_ns: ns(unfinished),
        }
    };
    let events = stanchion::events::snapshot().into_iter().filter(|line| line.count > 0);
    CellOutcome {
        state,
        sides: [READ, WRITE].map(accesses),
        events: events.map(|line| (line.event.name().to_owned(), line.count)).collect(),
        ..used
    }
}

/// What the threads and the counters say together. What a reader saw counts even if others stalled.
fn state([reads, writes]: [u64; 2], torn: u64, stalled: bool, pair: [u64; 2]) -> State {
    if torn > 0 {
        State::Torn { of_reads: reads, torn }
    } else if stalled {
        State::Stalled
    } else if pair != [writes; 2] {
        let counter = if pair[0] == writes { pair[1] } else { pair[0] };
        State::Broken { acquisitions: writes, counter }
    } else {
        State::Measured
    }
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
