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
//!
//! # The check
//!
//! A mutex protects a counter, which is read before the work of a section and written after it. A
//! reader-writer lock protects two counters. A writer raises the one before its work and the other after it;
//! a reader looks at the one before its work and at the other after it. If a writer was in meanwhile the
//! reader saw two different numbers; if two writers were, the counters miss some of their work at the end.
use super::cell::{Accesses, CellOutcome, CellSpec, Pass, State};
use super::clock;
use super::contender::Contender;
use super::machine::pin_to_one_cpu;
use super::mix::Mix;
use super::window::{Course, MEASURING, STOPPED};
use super::window::{alone, drain, new_histogram, start_thread, waits};
use super::work::{Random, Steps};
use core::hint::black_box;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::Instant;

/// Index of a side in pairs of what both have. Of a mutex all is writes.
const READ: usize = 0;
const WRITE: usize = 1;

/// What a thread shows while it runs, by side.
#[derive(Default)]
struct Slot {
    acquisitions: [AtomicU64; 2],
    /// When the wait in progress began, or zero; written in latency passes only.
    waiting_since: [AtomicU64; 2],
}

/// What the threads of a cell share beside the lock, which lies alone on its lines: what is measured is the
/// hand-over of the lock, not of its neighbours.
struct Shared {
    /// Protected by the lock; a mutex has the first only. Loaded and stored separately and without ordering,
    /// which costs what plain counters cost, loses updates when exclusion fails, and is still defined
    /// behaviour then.
    pair: CachePadded<[AtomicU64; 2]>,
    slots: Box<[CachePadded<Slot>]>,
    course: Course,
}

/// One thread's part in a cell. Loops take it apart, so that all of it is in registers.
struct Part {
    index: usize,
    steps: Steps,
    random: Random,
    /// A draw below this is a read.
    reads_below: u64,
}

/// What a thread did.
#[derive(Default)]
struct ThreadEnd {
    acquisitions: [u64; 2],
    /// Reads that saw two different numbers.
    torn: u64,
    /// By side; none but in a latency pass.
    waits: Vec<Histogram<u64>>,
}

/// A lock, and whether it is a reader-writer lock: what is left of `RW` in the loops is what its kind needs.
struct Lock<C, const RW: bool>(CachePadded<C>);

impl<C: Contender, const RW: bool> Lock<C, RW> {
    /// One acquisition with the section of the cell: when it was granted, in ticks, and whether it saw a
    /// write half done.
    #[inline]
    fn acquire<const TIMED: bool>(
        &self,
        side: usize,
        pair: &[AtomicU64; 2],
        steps: Steps,
        state: &mut u64,
    ) -> (u64, bool) {
        let now = || if TIMED { clock::ticks() } else { 0 };
        if RW && side == READ {
            return self.0.read(|| {
                let granted = now();
                let before = pair[0].load(Relaxed);
                *state = steps.section(*state);
                (granted, pair[1].load(Relaxed) != before)
            });
        }
        self.0.write(|| {
            let granted = now();
            if RW {
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
}

/// What is compiled for each lock. All else is compiled once.
trait Loops: Send + Sync {
    /// See [`Contender::settle`].
    fn settle(&self);
    /// A thread of a throughput pass.
    fn run_untimed(&self, shared: &Shared, part: Part) -> ThreadEnd;
    /// A thread of a latency pass.
    fn run_timed(&self, shared: &Shared, part: Part) -> ThreadEnd;
    /// One write lock with this section.
    fn hold(&self, section: &mut dyn FnMut());
    /// Reads, or else writes, of one thread with nothing in them.
    fn alone(&self, time: Duration, reads: bool) -> CellOutcome;
}

impl<C: Contender, const RW: bool> Loops for Lock<C, RW> {
    fn settle(&self) {
        self.0.settle();
    }

    fn run_untimed(&self, shared: &Shared, part: Part) -> ThreadEnd {
        let Part { index, steps, mut random, reads_below } = part;
        let slot = &shared.slots[index];
        let (mut end, mut state) = (ThreadEnd::default(), random.next());
        shared.course.meet();
        while shared.course.phase() != STOPPED {
            let side = draw::<RW>(&mut random, reads_below);
            let (_, torn) = self.acquire::<false>(side, &shared.pair, steps, &mut state);
            end.torn += u64::from(torn);
            end.acquisitions[side] += 1;
            slot.acquisitions[side].store(end.acquisitions[side], Relaxed);
            state = steps.think(&mut random, state);
        }
        black_box(state);
        end
    }

    fn run_timed(&self, shared: &Shared, part: Part) -> ThreadEnd {
        let Part { index, steps, mut random, reads_below } = part;
        let slot = &shared.slots[index];
        let (mut end, mut state) = (ThreadEnd::default(), random.next());
        let mut waits = vec![new_histogram(), new_histogram()];
        shared.course.meet();
        loop {
            let side = draw::<RW>(&mut random, reads_below);
            let asked = clock::ticks();
            slot.waiting_since[side].store(asked, Relaxed);
            let (granted, torn) = self.acquire::<true>(side, &shared.pair, steps, &mut state);
            slot.waiting_since[side].store(0, Relaxed);
            end.torn += u64::from(torn);
            end.acquisitions[side] += 1;
            slot.acquisitions[side].store(end.acquisitions[side], Relaxed);
            match shared.course.phase() {
                // This wait was under way at the stop, where it was seen and counted; it ended in the
                // drain, where fewer and fewer threads compete.
                STOPPED => break,
                MEASURING => waits[side].saturating_record(granted.saturating_sub(asked)),
                _ => {}
            }
            state = steps.think(&mut random, state);
        }
        black_box(state);
        ThreadEnd { waits, ..end }
    }

    fn hold(&self, section: &mut dyn FnMut()) {
        self.0.write(section);
    }

    fn alone(&self, time: Duration, reads: bool) -> CellOutcome {
        if RW && reads {
            alone(time, || self.0.read(|| black_box(())))
        } else {
            alone(time, || self.0.write(|| black_box(())))
        }
    }
}

impl Shared {
    /// What each thread has done so far, by side.
    fn counts(&self) -> [Vec<u64>; 2] {
        [READ, WRITE]
            .map(|side| self.slots.iter().map(|slot| slot.acquisitions[side].load(Relaxed)).collect())
    }

    /// The longest wait of a side that is in progress, in ticks; zero if there is none.
    fn longest_wait(&self, side: usize) -> u64 {
        let now = clock::ticks();
        let since = self.slots.iter().map(|slot| slot.waiting_since[side].load(Relaxed));
        since.filter(|&since| since != 0).map(|since| now.saturating_sub(since)).max().unwrap_or(0)
    }
}

/// Which side is next. Threads of a mutex draw nothing.
#[inline]
fn draw<const RW: bool>(random: &mut Random, reads_below: u64) -> usize {
    if RW { usize::from(random.next() >> 32 >= reads_below) } else { WRITE }
}

impl ThreadEnd {
    /// Adds what another thread did.
    fn add(&mut self, other: Self) {
        for side in [READ, WRITE] {
            self.acquisitions[side] += other.acquisitions[side];
        }
        self.torn += other.torn;
        if self.waits.is_empty() {
            self.waits = other.waits;
        } else {
            for (all, waits) in self.waits.iter_mut().zip(other.waits) {
                all.add(waits).expect("all histograms have the same bounds");
            }
        }
    }
}

/// How long two threads contend for a lock that is measured alone afterwards: a hundred sections.
const CONTENTION: Duration = Duration::from_millis(5);
/// Longer than the default lock, and most others, spin before they sleep, so that their waiters do.
const LONG_SECTION: Duration = Duration::from_micros(50);

/// Lets two threads contend for the lock, until both have gone.
fn contend(lock: &dyn Loops) {
    let meeting = Barrier::new(2);
    let body = || {
        meeting.wait();
        let start = Instant::now();
        while start.elapsed() < CONTENTION {
            lock.hold(&mut || {
                let granted = Instant::now();
                while granted.elapsed() < LONG_SECTION {
                    core::hint::spin_loop();
                }
            });
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(body);
        body();
    });
}

/// Runs the cell with the lock `C`. Threads that never get the lock are left behind: the caller reports and
/// exits.
pub(crate) fn run<C: Contender, const RW: bool>(cell: &CellSpec) -> CellOutcome {
    run_with(cell, &(Arc::new(Lock::<C, RW>(CachePadded::new(C::new()))) as Arc<dyn Loops>))
}

fn run_with(cell: &CellSpec, lock: &Arc<dyn Loops>) -> CellOutcome {
    let mix = cell.mix.unwrap_or(Mix::WRITES);
    let shared = Arc::new(Shared {
        pair: CachePadded::default(),
        slots: (0..cell.threads).map(|_| CachePadded::default()).collect(),
        course: Course::new(cell.threads),
    });
    lock.settle();
    let time = Duration::from_millis(cell.time_ms);
    if matches!(cell.pass, Pass::Uncontended | Pass::AfterContention) {
        if cell.pass == Pass::AfterContention {
            contend(&**lock);
            // As the executor does for the other pass; not before, or no two threads would run at the same
            // time.
            let _ = pin_to_one_cpu();
        }
        return lock.alone(time, mix.sides().0);
    }

    let (sender, ends) = channel();
    for index in 0..cell.threads {
        let part = Part {
            index,
            steps: cell.calibration.steps(&cell.profile),
            random: Random::new(cell.seed, index as u64),
            reads_below: mix.reads_below(index, cell.threads),
        };
        let (lock, shared, sender) = (Arc::clone(lock), Arc::clone(&shared), sender.clone());
        let timed = cell.pass == Pass::Latency;
        start_thread(index, cell.threads, move || {
            let end = if timed { lock.run_timed(&shared, part) } else { lock.run_untimed(&shared, part) };
            // The receiver is gone only when the cell has been given up.
            let _ = sender.send(end);
        });
    }
    drop(sender);

    let (first, last, used) = shared.course.run(time, || shared.counts());
    let unfinished = [READ, WRITE].map(|side| shared.longest_wait(side));
    let mut all = ThreadEnd::default();
    let finished = drain(&ends, cell.threads, cell.drain_ms, |end| all.add(end));
    let mut pair = [0, 1].map(|counter| shared.pair[counter].load(Relaxed));
    if cell.mix.is_none() {
        pair[1] = pair[0];
    }
    // Lock events cannot be read per window, so that pass reports what belongs to them: everything.
    let everything = (cell.pass == Pass::Events).then(|| shared.counts());
    let accesses = |side: usize| Accesses {
        counts: match &everything {
            Some(counts) => counts[side].clone(),
            None => last[side].iter().zip(&first[side]).map(|(last, first)| last - first).collect(),
        },
        waits: (cell.pass == Pass::Latency).then(|| {
            let empty = new_histogram();
            waits(all.waits.get(side).unwrap_or(&empty), unfinished[side], &cell.calibration)
        }),
    };
    let events = stanchion::events::snapshot();
    let events = events.iter().map(|line| (line.event.name().to_owned(), line.count));
    CellOutcome {
        state: state(&all, finished < cell.threads, pair),
        reads: accesses(READ),
        writes: accesses(WRITE),
        events: if everything.is_some() { events.collect() } else { Vec::new() },
        ..used
    }
}

/// What the threads that finished and the counters say together. What a reader saw counts even if others
/// stalled.
fn state(all: &ThreadEnd, stalled: bool, pair: [u64; 2]) -> State {
    let [reads, writes] = all.acquisitions;
    if all.torn > 0 {
        State::Torn { of_reads: reads, torn: all.torn }
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
