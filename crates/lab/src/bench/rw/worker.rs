//! Runs one cell of reader-writer locks once, in a process of its own. See the worker of the mutexes for why.
//!
//! # The check
//!
//! The lock protects two counters. A writer raises the one before its work and the other after it; a reader
//! looks at the one before its work and at the other after it. If a writer was in meanwhile the reader saw
//! two different numbers; if two writers were, the counters miss some of their work at the end.
use super::contender::RwContender;
use crate::bench::cell::{CellOutcome, CellSpec, Ending, Pass, Sides, Waits};
use crate::bench::clock;
use crate::bench::mix::Mix;
use crate::bench::window::{Course, MEASURING, STOPPED, Used};
use crate::bench::window::{alone, drain, gained, longest_wait, new_histogram, start_thread, waits};
use crate::bench::work::{Random, Steps};
use core::hint::black_box;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use std::sync::Arc;
use std::sync::mpsc::channel;

/// Index of a side in pairs of what both have.
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
    /// Protected by the lock. Loaded and stored separately and without ordering, which costs what plain
    /// counters cost, loses updates when exclusion fails, and is still defined behaviour then.
    pair: CachePadded<[AtomicU64; 2]>,
    slots: Box<[CachePadded<Slot>]>,
    course: Course,
}

/// One thread's part in a cell.
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
    waits: Option<[Histogram<u64>; 2]>,
}

/// One read: when it was granted, in ticks, and whether it saw a write half done.
#[inline]
fn read<const TIMED: bool>(
    lock: &impl RwContender,
    pair: &[AtomicU64; 2],
    steps: Steps,
    state: &mut u64,
) -> (u64, bool) {
    lock.read(|| {
        let granted = if TIMED { clock::ticks() } else { 0 };
        let before = pair[0].load(Relaxed);
        *state = steps.section(*state);
        (granted, pair[1].load(Relaxed) != before)
    })
}

/// One write; returns when it was granted, in ticks.
#[inline]
fn write<const TIMED: bool>(
    lock: &impl RwContender,
    pair: &[AtomicU64; 2],
    steps: Steps,
    state: &mut u64,
) -> u64 {
    lock.write(|| {
        let granted = if TIMED { clock::ticks() } else { 0 };
        pair[0].store(pair[0].load(Relaxed) + 1, Relaxed);
        *state = steps.section(*state);
        pair[1].store(pair[1].load(Relaxed) + 1, Relaxed);
        granted
    })
}

/// What is compiled for each lock. All else is compiled once.
trait Loops: Send + Sync {
    /// See [`RwContender::settle`].
    fn settle(&self);
    /// A thread of a throughput pass.
    fn run_untimed(&self, shared: &Shared, part: Part) -> ThreadEnd;
    /// A thread of a latency pass.
    fn run_timed(&self, shared: &Shared, part: Part) -> ThreadEnd;
    /// Reads, or else writes, of one thread with nothing in them.
    fn alone(&self, time: Duration, reads: bool) -> (u64, Used);
}

impl<C: RwContender> Loops for CachePadded<C> {
    fn settle(&self) {
        C::settle(self);
    }

    fn run_untimed(&self, shared: &Shared, mut part: Part) -> ThreadEnd {
        let slot = &shared.slots[part.index];
        let (mut end, mut state) = (ThreadEnd::default(), part.random.next());
        shared.course.meet();
        while shared.course.phase() != STOPPED {
            let side = part.draw();
            if side == READ {
                let (_, torn) = read::<false>(&**self, &shared.pair, part.steps, &mut state);
                end.torn += u64::from(torn);
            } else {
                write::<false>(&**self, &shared.pair, part.steps, &mut state);
            }
            end.acquisitions[side] += 1;
            slot.acquisitions[side].store(end.acquisitions[side], Relaxed);
            state = part.steps.think(&mut part.random, state);
        }
        black_box(state);
        end
    }

    fn run_timed(&self, shared: &Shared, mut part: Part) -> ThreadEnd {
        let slot = &shared.slots[part.index];
        let (mut end, mut state) = (ThreadEnd::default(), part.random.next());
        let mut waits = [new_histogram(), new_histogram()];
        shared.course.meet();
        loop {
            let side = part.draw();
            let asked = clock::ticks();
            slot.waiting_since[side].store(asked, Relaxed);
            let granted = if side == READ {
                let (granted, torn) = read::<true>(&**self, &shared.pair, part.steps, &mut state);
                end.torn += u64::from(torn);
                granted
            } else {
                write::<true>(&**self, &shared.pair, part.steps, &mut state)
            };
            slot.waiting_since[side].store(0, Relaxed);
            end.acquisitions[side] += 1;
            slot.acquisitions[side].store(end.acquisitions[side], Relaxed);
            match shared.course.phase() {
                // This wait was under way at the stop, where it was seen and counted.
                STOPPED => break,
                MEASURING => waits[side].saturating_record(granted.saturating_sub(asked)),
                _ => {}
            }
            state = part.steps.think(&mut part.random, state);
        }
        black_box(state);
        ThreadEnd { waits: Some(waits), ..end }
    }

    fn alone(&self, time: Duration, reads: bool) -> (u64, Used) {
        if reads {
            alone(time, || self.read(|| black_box(())))
        } else {
            alone(time, || self.write(|| black_box(())))
        }
    }
}

impl Shared {
    /// What each thread has done so far, by side.
    fn counts(&self) -> [Vec<u64>; 2] {
        [READ, WRITE]
            .map(|side| self.slots.iter().map(|slot| slot.acquisitions[side].load(Relaxed)).collect())
    }

    /// The longest wait of a side that is in progress, in ticks.
    fn longest_wait(&self, side: usize) -> u64 {
        longest_wait(self.slots.iter().map(|slot| &slot.waiting_since[side]))
    }
}

impl Part {
    #[inline]
    fn draw(&mut self) -> usize {
        usize::from(self.random.next() >> 32 >= self.reads_below)
    }
}

impl ThreadEnd {
    /// Adds what another thread did.
    fn add(&mut self, other: Self) {
        for side in [READ, WRITE] {
            self.acquisitions[side] += other.acquisitions[side];
        }
        self.torn += other.torn;
        match (&mut self.waits, other.waits) {
            (Some(all), Some(waits)) => {
                for (all, waits) in all.iter_mut().zip(waits) {
                    all.add(waits).expect("all histograms have the same bounds");
                }
            }
            (all, waits) => *all = all.take().or(waits),
        }
    }
}

/// Runs the cell with the lock `C`. Threads that never get the lock are left behind: the caller reports and
/// exits.
pub(crate) fn run<C: RwContender>(cell: &CellSpec) -> CellOutcome {
    run_with(cell, &(Arc::new(CachePadded::new(C::new())) as Arc<dyn Loops>), C::events)
}

fn run_with(cell: &CellSpec, lock: &Arc<dyn Loops>, events: fn() -> Vec<(&'static str, u64)>) -> CellOutcome {
    let mix = cell.mix.unwrap_or(Mix::WRITES);
    let shared = Arc::new(Shared {
        pair: CachePadded::default(),
        slots: (0..cell.threads).map(|_| CachePadded::default()).collect(),
        course: Course::new(cell.threads),
    });
    lock.settle();
    let time = Duration::from_millis(cell.time_ms);
    if cell.pass == Pass::Uncontended {
        let (count, used) = lock.alone(time, mix.sides().0);
        return used.into(CellOutcome { acquisitions: vec![count], ..CellOutcome::nothing() });
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

    let window = shared.course.run(time, || shared.counts());
    let unfinished = [READ, WRITE].map(|side| shared.longest_wait(side));
    let mut all = ThreadEnd::default();
    let finished = drain(&ends, cell.threads, cell.drain_ms, |end| all.add(end));
    let pair = [0, 1].map(|counter| shared.pair[counter].load(Relaxed));
    // Lock events cannot be read per window, so that pass reports what belongs to them: everything.
    let [reads, writes] = match cell.pass {
        Pass::Events => shared.counts(),
        _ => [READ, WRITE].map(|side| gained(&window.first[side], &window.last[side])),
    };
    let mut side_waits = [READ, WRITE].map(|side| {
        let recorded = all.waits.as_ref().map(|waits| &waits[side]);
        let empty = new_histogram();
        (cell.pass == Pass::Latency)
            .then(|| waits(recorded.unwrap_or(&empty), unfinished[side], &cell.calibration))
    });
    window.used.into(CellOutcome {
        ending: ending(&all, finished < cell.threads, finished, pair),
        acquisitions: reads.iter().zip(&writes).map(|(reads, writes)| reads + writes).collect(),
        waits: together(&side_waits),
        events: events().into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
        sides: Some(Sides {
            writes,
            read_waits: side_waits[READ].take(),
            write_waits: side_waits[WRITE].take(),
        }),
        ..CellOutcome::nothing()
    })
}

/// What the threads that finished and the counters say together. What a reader saw counts even if others
/// stalled.
fn ending(all: &ThreadEnd, stalled: bool, finished: usize, pair: [u64; 2]) -> Ending {
    let [reads, writes] = all.acquisitions;
    if all.torn > 0 {
        Ending::Torn { of_reads: reads, torn: all.torn }
    } else if stalled {
        Ending::Stalled { finished }
    } else if pair != [writes; 2] {
        let counter = if pair[0] == writes { pair[1] } else { pair[0] };
        Ending::Broken { acquisitions: writes, counter }
    } else {
        Ending::Sound
    }
}

/// The waits of both sides as those of one.
fn together(sides: &[Option<Waits>; 2]) -> Option<Waits> {
    let (reads, writes) = (sides[READ].as_ref()?, sides[WRITE].as_ref()?);
    Some(Waits {
        buckets: reads.buckets.iter().chain(&writes.buckets).copied().collect(),
        worst_ns: reads.worst_ns.max(writes.worst_ns),
        unfinished_ns: reads.unfinished_ns.max(writes.unfinished_ns),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(reads: u64, writes: u64, torn: u64) -> ThreadEnd {
        ThreadEnd { acquisitions: [reads, writes], torn, waits: None }
    }

    #[test]
    fn what_does_not_add_up_is_noticed() {
        assert_eq!(ending(&end(5, 3, 0), false, 2, [3, 3]), Ending::Sound);
        assert_eq!(ending(&end(5, 3, 0), true, 1, [3, 3]), Ending::Stalled { finished: 1 });
        assert_eq!(ending(&end(5, 3, 0), false, 2, [3, 2]), Ending::Broken { acquisitions: 3, counter: 2 });
        assert_eq!(ending(&end(5, 3, 0), false, 2, [2, 3]), Ending::Broken { acquisitions: 3, counter: 2 });
        assert_eq!(ending(&end(5, 3, 1), true, 1, [3, 3]), Ending::Torn { of_reads: 5, torn: 1 });
    }

    #[test]
    fn draws_follow_the_share() {
        let mut part = Part {
            index: 0,
            steps: Steps { critical: 0, think: 0, yields: false },
            random: Random::new(7, 0),
            reads_below: (1 << 32) / 10 * 9,
        };
        let writes: usize = (0..10_000).map(|_| part.draw()).sum();
        assert!((850..1150).contains(&writes), "{writes}");
        part.reads_below = 1 << 32;
        assert_eq!((0..1000).map(|_| part.draw()).sum::<usize>(), 0);
    }

    #[test]
    fn ends_add_up_with_their_waits() {
        let mut waits = [new_histogram(), new_histogram()];
        waits[WRITE].saturating_record(100);
        let mut all = end(1, 2, 0);
        all.add(ThreadEnd { waits: Some(waits.clone()), ..end(10, 20, 3) });
        all.add(ThreadEnd { waits: Some(waits), ..end(0, 1, 0) });
        assert_eq!((all.acquisitions, all.torn), ([11, 23], 3));
        assert_eq!(all.waits.map(|waits| waits.map(|side| side.len())), Some([0, 2]));
    }
}
