//! The measured window of a worker: warm-up, the two readings of all counts, drain, usage, and how waits are
//! recorded.
use super::cell::{Accesses, Calibration, CellOutcome, Waits};
use super::machine::context_switches;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use std::sync::Barrier;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

const WARMING: u32 = 0;
/// Waits that end now are recorded.
pub(crate) const MEASURING: u32 = 1;
/// Threads end after the acquisition under way.
pub(crate) const STOPPED: u32 = 2;

/// Enough for every thread to have run at least once at 16 threads a CPU; never more than a fifth of the
/// cell.
const WARM_UP: Duration = Duration::from_millis(20);
/// Waits are recorded to within one per cent, in ticks, up to a minute.
const DIGITS: u8 = 2;
const LONGEST_WAIT_TICKS: u64 = 600_000_000_000;
/// Room for any lock's slow path; the default of 8 MiB would be address space for thousands of threads.
const STACK_BYTES: usize = 256 * 1024;
/// Acquisitions between two looks at the clock in the uncontended pass.
const BATCH: u32 = 1000;

/// Where the threads meet, and what they are told.
pub(crate) struct Course {
    phase: CachePadded<AtomicU32>,
    barrier: Barrier,
}

impl Course {
    pub(crate) fn new(threads: usize) -> Self {
        Self { phase: CachePadded::new(AtomicU32::new(WARMING)), barrier: Barrier::new(threads + 1) }
    }

    /// A thread waits for the others.
    pub(crate) fn meet(&self) {
        self.barrier.wait();
    }

    #[inline]
    pub(crate) fn phase(&self) -> u32 {
        self.phase.load(Relaxed)
    }

    /// Lets the threads run, and reads `counts` at both ends of the window: the two, and what was used in
    /// between. The threads have been told to stop afterwards.
    pub(crate) fn run<T>(&self, time: Duration, counts: impl Fn() -> T) -> (T, T, CellOutcome) {
        self.barrier.wait();
        std::thread::sleep(WARM_UP.min(time / 5));
        let (first, usage) = (counts(), Usage::now());
        self.phase.store(MEASURING, Relaxed);
        std::thread::sleep(time);
        let (last, last_usage) = (counts(), Usage::now());
        self.phase.store(STOPPED, Relaxed);
        (first, last, last_usage.since(&usage))
    }
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
        let cpu = Duration::new(cpu.tv_sec as u64, cpu.tv_nsec as u32);
        let (voluntary, involuntary) = context_switches();
        Self { at: Instant::now(), cpu, voluntary, involuntary }
    }

    /// An outcome that tells what was used since then, and nothing else.
    fn since(&self, first: &Self) -> CellOutcome {
        CellOutcome {
            elapsed_ns: (self.at - first.at).as_nanos() as u64,
            cpu_ns: self.cpu.saturating_sub(first.cpu).as_nanos() as u64,
            voluntary_switches: self.voluntary - first.voluntary,
            involuntary_switches: self.involuntary - first.involuntary,
            ..CellOutcome::default()
        }
    }
}

pub(crate) fn start_thread(index: usize, threads: usize, body: impl FnOnce() + Send + 'static) {
    if let Err(error) = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(body) {
        // The barrier can no longer be reached; the parent reads this line.
        eprintln!("cannot start thread {} of {threads}: {error}", index + 1);
        std::process::exit(1);
    }
}

/// Waits for the threads to end and hands what they say to `each`; how many did.
pub(crate) fn drain<E>(ends: &Receiver<E>, threads: usize, drain_ms: u64, mut each: impl FnMut(E)) -> usize {
    let deadline = Instant::now() + Duration::from_millis(drain_ms);
    let mut finished = 0;
    while finished < threads {
        match ends.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(end) => {
                finished += 1;
                each(end);
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    finished
}

/// One operation over and over, and nothing else, on one CPU: how often, and what that used. Only the loop of
/// a batch is compiled for each operation.
pub(crate) fn alone(time: Duration, mut operation: impl FnMut()) -> CellOutcome {
    batches(time, &mut || {
        for _ in 0..BATCH {
            operation();
        }
    })
}

fn batches(time: Duration, batch: &mut dyn FnMut()) -> CellOutcome {
    // A second thread, asleep: glibc leaves the atomic instructions out of its mutex while a process has only
    // one, which would flatter it (2.8 ns instead of 10) by a case in which nobody needs a lock.
    let (_keep, asleep) = channel::<()>();
    std::thread::spawn(move || asleep.recv());
    let warm = Instant::now();
    while warm.elapsed() < time / 5 {
        batch();
    }
    let usage = Usage::now();
    let mut count = 0;
    while usage.at.elapsed() < time {
        batch();
        count += u64::from(BATCH);
    }
    let outcome = Usage::now().since(&usage);
    CellOutcome { writes: Accesses { counts: vec![count], waits: None }, ..outcome }
}

/// Where waits are recorded, in ticks.
pub(crate) fn new_histogram() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST_WAIT_TICKS, DIGITS).expect("constant bounds are valid")
}

/// The waits recorded, and the longest that was still in progress, in nanoseconds.
pub(crate) fn waits(recorded: &Histogram<u64>, unfinished: u64, calibration: &Calibration) -> Waits {
    let ns = |ticks: u64| (ticks as f64 / calibration.ticks_per_ns) as u64;
    Waits {
        buckets: recorded
            .iter_recorded()
            .map(|bucket| (ns(bucket.value_iterated_to()), bucket.count_at_value()))
            .collect(),
        worst_ns: ns(recorded.max().max(unfinished)),
        unfinished_ns: ns(unfinished),
    }
}
