//! Runs one cell once, in a process of its own.
//!
//! # Why a process per cell
//!
//! A lock under test may stall (thirty-two threads behind each other in a FIFO spin lock on two CPUs), may
//! corrupt memory or crash. In a process of its own it can be killed, its spinning threads do not burn the
//! CPUs of the next cell, and CPU time and context switches of the process are those of the cell, also when
//! it stalls. Starting it costs about two milliseconds, outside of the measured window. Every round also
//! gets fresh addresses, so that no lock profits from a lucky cache layout in all of them.
//!
//! # The window
//!
//! Threads meet at a barrier, run a short warm-up, and publish their counts on cache lines of their own. The
//! window lies between two readings of all counts, so neither thread start nor drain is in the rates.
use super::cell::{CellOutcome, CellSpec, Ending, Pass, Waits};
use super::clock;
use super::contender::Contender;
use super::work::{Random, Steps, spend};
use core::hint::black_box;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicU32, AtomicU64};
use core::time::Duration;
use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Barrier};
use std::time::Instant;

const WARMING: u32 = 0;
const MEASURING: u32 = 1;
const STOPPED: u32 = 2;

/// Enough for every thread to have run at least once at 16 threads a CPU; never more than a fifth of the cell.
const WARM_UP: Duration = Duration::from_millis(20);
/// Waits are recorded to within one per cent, in ticks, up to a minute.
const DIGITS: u8 = 2;
const LONGEST_WAIT_TICKS: u64 = 600_000_000_000;
/// Room for any lock's slow path; the default of 8 MiB would be address space for thousands of threads.
const STACK_BYTES: usize = 256 * 1024;
/// Acquisitions between two looks at the clock in the uncontended pass.
const BATCH: u32 = 1000;

/// What a thread shows while it runs.
#[derive(Default)]
struct Slot {
    acquisitions: AtomicU64,
    /// When the wait in progress began, or zero; written in latency passes only.
    waiting_since: AtomicU64,
}

struct Shared<C> {
    /// The lock alone on its lines: what is measured is the hand-over of the lock, not of its neighbours.
    lock: CachePadded<C>,
    /// Protected by the lock. Loaded and stored separately and without ordering, which costs what a plain
    /// counter costs, loses updates when exclusion fails, and is still defined behaviour then.
    counter: CachePadded<AtomicU64>,
    phase: CachePadded<AtomicU32>,
    slots: Box<[CachePadded<Slot>]>,
    barrier: Barrier,
}

impl<C: Contender> Shared<C> {
    /// One acquisition with the critical section of the cell; returns when it was granted, in ticks.
    #[inline]
    fn acquire<const TIMED: bool>(&self, critical: u64, state: &mut u64) -> u64 {
        self.lock.with(|| {
            let granted = if TIMED { clock::ticks() } else { 0 };
            let before = self.counter.load(Relaxed);
            *state = spend(*state, critical);
            self.counter.store(before + 1, Relaxed);
            granted
        })
    }

    /// A thread of a throughput pass.
    fn run_untimed(&self, index: usize, steps: Steps, mut random: Random) -> ThreadEnd {
        let slot = &self.slots[index];
        let (mut acquisitions, mut state) = (0, random.next());
        self.barrier.wait();
        while self.phase.load(Relaxed) != STOPPED {
            self.acquire::<false>(steps.critical, &mut state);
            acquisitions += 1;
            slot.acquisitions.store(acquisitions, Relaxed);
            state = steps.think(&mut random, state);
        }
        black_box(state);
        ThreadEnd { acquisitions, waits: None }
    }

    /// A thread of a latency pass.
    fn run_timed(&self, index: usize, steps: Steps, mut random: Random) -> ThreadEnd {
        let slot = &self.slots[index];
        let (mut acquisitions, mut state) = (0, random.next());
        let mut waits = new_histogram();
        self.barrier.wait();
        loop {
            let asked = clock::ticks();
            slot.waiting_since.store(asked, Relaxed);
            let granted = self.acquire::<true>(steps.critical, &mut state);
            slot.waiting_since.store(0, Relaxed);
            acquisitions += 1;
            slot.acquisitions.store(acquisitions, Relaxed);
            match self.phase.load(Relaxed) {
                // This wait was under way at the stop, where it was seen and counted; it ended in the
                // drain, where fewer and fewer threads compete.
                STOPPED => break,
                MEASURING => waits.saturating_record(granted.saturating_sub(asked)),
                _ => {}
            }
            state = steps.think(&mut random, state);
        }
        black_box(state);
        ThreadEnd { acquisitions, waits: Some(waits) }
    }

    fn counts(&self) -> Vec<u64> {
        self.slots.iter().map(|slot| slot.acquisitions.load(Relaxed)).collect()
    }

    /// The longest wait in progress, in ticks.
    fn longest_wait_in_progress(&self) -> u64 {
        let now = clock::ticks();
        let since = self.slots.iter().map(|slot| slot.waiting_since.load(Relaxed));
        since.filter(|&since| since != 0).map(|since| now.saturating_sub(since)).max().unwrap_or(0)
    }
}

struct ThreadEnd {
    acquisitions: u64,
    waits: Option<Histogram<u64>>,
}

fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST_WAIT_TICKS, DIGITS).expect("constant bounds are valid")
}

/// What the process has used so far.
struct Usage {
    at: Instant,
    cpu: Duration,
    voluntary: u64,
    involuntary: u64,
}

impl Usage {
    fn now() -> Self {
        let cpu = clock_gettime(ClockId::ProcessCPUTime);
        let (voluntary, involuntary) = super::usage::context_switches();
        Self {
            at: Instant::now(),
            cpu: Duration::new(cpu.tv_sec as u64, cpu.tv_nsec as u32),
            voluntary,
            involuntary,
        }
    }
}

/// Runs the cell with the lock `C`. Threads that never get the lock are left behind: the caller reports and exits.
pub(crate) fn run<C: Contender>(spec: &CellSpec) -> CellOutcome {
    let shared = Arc::new(Shared {
        lock: CachePadded::new(C::new()),
        counter: CachePadded::default(),
        phase: CachePadded::new(AtomicU32::new(WARMING)),
        slots: (0..spec.threads).map(|_| CachePadded::default()).collect(),
        barrier: Barrier::new(spec.threads + 1),
    });
    shared.lock.settle();
    if spec.pass == Pass::Uncontended {
        return run_uncontended(&*shared.lock, spec);
    }

    let (sender, ends) = channel();
    for index in 0..spec.threads {
        start_thread(&shared, index, spec, sender.clone());
    }
    drop(sender);

    let time = Duration::from_millis(spec.time_ms);
    shared.barrier.wait();
    std::thread::sleep(WARM_UP.min(time / 5));
    let (counts, usage) = (shared.counts(), Usage::now());
    shared.phase.store(MEASURING, Relaxed);
    std::thread::sleep(time);
    let (last_counts, last_usage) = (shared.counts(), Usage::now());
    shared.phase.store(STOPPED, Relaxed);
    let unfinished = shared.longest_wait_in_progress();

    let (finished, acquisitions, histogram) = drain(&ends, spec);
    let counter = shared.counter.load(Relaxed);
    let ending = if finished < spec.threads {
        Ending::Stalled { finished }
    } else if counter != acquisitions {
        Ending::Broken { acquisitions, counter }
    } else {
        Ending::Sound
    };
    // Lock events cannot be read per window, so that pass reports what belongs to them: everything.
    let (last_counts, counts) = match spec.pass {
        Pass::Events => (shared.counts(), vec![0; spec.threads]),
        _ => (last_counts, counts),
    };
    let ns = |ticks: u64| (ticks as f64 / spec.calibration.ticks_per_ns) as u64;
    CellOutcome {
        ending,
        elapsed_ns: (last_usage.at - usage.at).as_nanos() as u64,
        acquisitions: last_counts.iter().zip(counts).map(|(last, first)| last - first).collect(),
        cpu_ns: last_usage.cpu.saturating_sub(usage.cpu).as_nanos() as u64,
        voluntary_switches: last_usage.voluntary - usage.voluntary,
        involuntary_switches: last_usage.involuntary - usage.involuntary,
        waits: (spec.pass == Pass::Latency).then(|| Waits {
            buckets: histogram
                .iter_recorded()
                .map(|bucket| (ns(bucket.value_iterated_to()), bucket.count_at_value()))
                .collect(),
            worst_ns: ns(histogram.max().max(unfinished)),
            unfinished_ns: ns(unfinished),
        }),
        events: C::events().into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
    }
}

fn start_thread<C: Contender>(
    shared: &Arc<Shared<C>>,
    index: usize,
    spec: &CellSpec,
    ends: Sender<ThreadEnd>,
) {
    let shared = Arc::clone(shared);
    let steps = spec.calibration.steps(&spec.profile);
    let random = Random::new(spec.seed, index as u64);
    let timed = spec.pass == Pass::Latency;
    let body = move || {
        let end = if timed {
            shared.run_timed(index, steps, random)
        } else {
            shared.run_untimed(index, steps, random)
        };
        // The receiver is gone only when the cell has been given up.
        let _ = ends.send(end);
    };
    if let Err(error) = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(body) {
        // The barrier can no longer be reached; the parent reads this line.
        eprintln!("cannot start thread {} of {}: {error}", index + 1, spec.threads);
        std::process::exit(1);
    }
}

/// Waits for the threads to end: how many did, their acquisitions, and their waits.
fn drain(ends: &Receiver<ThreadEnd>, spec: &CellSpec) -> (usize, u64, Histogram<u64>) {
    let deadline = Instant::now() + Duration::from_millis(spec.drain_ms);
    let (mut finished, mut acquisitions, mut waits) = (0, 0, new_histogram());
    while finished < spec.threads {
        match ends.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(end) => {
                finished += 1;
                acquisitions += end.acquisitions;
                if let Some(recorded) = end.waits {
                    waits.add(recorded).expect("all histograms have the same bounds");
                }
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    (finished, acquisitions, waits)
}

/// Acquire and release, and nothing else, on one CPU.
fn run_uncontended<C: Contender>(lock: &C, spec: &CellSpec) -> CellOutcome {
    // A second thread, asleep: glibc leaves the atomic instructions out of its mutex while a process has only
    // one, which would flatter it (2.8 ns instead of 10) by a case in which nobody needs a lock.
    let (_keep, asleep) = channel::<()>();
    std::thread::spawn(move || asleep.recv());
    let time = Duration::from_millis(spec.time_ms);
    let batch = || {
        for _ in 0..BATCH {
            lock.with(|| black_box(()));
        }
    };
    let warm = Instant::now();
    while warm.elapsed() < time / 5 {
        batch();
    }
    let usage = Usage::now();
    let mut acquisitions = 0;
    while usage.at.elapsed() < time {
        batch();
        acquisitions += u64::from(BATCH);
    }
    let last = Usage::now();
    CellOutcome {
        ending: Ending::Sound,
        elapsed_ns: (last.at - usage.at).as_nanos() as u64,
        acquisitions: vec![acquisitions],
        cpu_ns: last.cpu.saturating_sub(usage.cpu).as_nanos() as u64,
        voluntary_switches: last.voluntary - usage.voluntary,
        involuntary_switches: last.involuntary - usage.involuntary,
        waits: None,
        events: Vec::new(),
    }
}
