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
use super::cell::{CellOutcome, CellSpec, Ending, Pass};
use super::clock;
use super::contender::Contender;
use super::machine::pin_to_one_cpu;
use super::window::{Course, MEASURING, STOPPED, Used};
use super::window::{alone, drain, gained, longest_wait, new_histogram, start_thread, waits};
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

/// What a thread shows while it runs.
#[derive(Default)]
struct Slot {
    acquisitions: AtomicU64,
    /// When the wait in progress began, or zero; written in latency passes only.
    waiting_since: AtomicU64,
}

/// What the threads of a cell share beside the lock, which lies alone on its lines: what is measured is the
/// hand-over of the lock, not of its neighbours.
struct Shared {
    /// Protected by the lock. Loaded and stored separately and without ordering, which costs what a plain
    /// counter costs, loses updates when exclusion fails, and is still defined behaviour then.
    counter: CachePadded<AtomicU64>,
    slots: Box<[CachePadded<Slot>]>,
    course: Course,
}

/// One acquisition with the critical section of the cell; returns when it was granted, in ticks.
#[inline]
fn acquire<const TIMED: bool>(
    lock: &impl Contender,
    counter: &AtomicU64,
    steps: Steps,
    state: &mut u64,
) -> u64 {
    lock.with(|| {
        let granted = if TIMED { clock::ticks() } else { 0 };
        let before = counter.load(Relaxed);
        *state = steps.section(*state);
        counter.store(before + 1, Relaxed);
        granted
    })
}

/// What is compiled for each lock. All else is compiled once.
trait Loops: Send + Sync {
    /// See [`Contender::settle`].
    fn settle(&self);
    /// A thread of a throughput pass.
    fn run_untimed(&self, shared: &Shared, index: usize, steps: Steps, random: Random) -> ThreadEnd;
    /// A thread of a latency pass.
    fn run_timed(&self, shared: &Shared, index: usize, steps: Steps, random: Random) -> ThreadEnd;
    /// One acquisition with this section.
    fn hold(&self, section: &mut dyn FnMut());
    /// Acquisitions of one thread with nothing in them.
    fn alone(&self, time: Duration) -> (u64, Used);
}

impl<C: Contender> Loops for CachePadded<C> {
    fn settle(&self) {
        C::settle(self);
    }

    fn run_untimed(&self, shared: &Shared, index: usize, steps: Steps, mut random: Random) -> ThreadEnd {
        let slot = &shared.slots[index];
        let (mut acquisitions, mut state) = (0, random.next());
        shared.course.meet();
        while shared.course.phase() != STOPPED {
            acquire::<false>(&**self, &shared.counter, steps, &mut state);
            acquisitions += 1;
            slot.acquisitions.store(acquisitions, Relaxed);
            state = steps.think(&mut random, state);
        }
        black_box(state);
        ThreadEnd { acquisitions, waits: None }
    }

    fn run_timed(&self, shared: &Shared, index: usize, steps: Steps, mut random: Random) -> ThreadEnd {
        let slot = &shared.slots[index];
        let (mut acquisitions, mut state) = (0, random.next());
        let mut waits = new_histogram();
        shared.course.meet();
        loop {
            let asked = clock::ticks();
            slot.waiting_since.store(asked, Relaxed);
            let granted = acquire::<true>(&**self, &shared.counter, steps, &mut state);
            slot.waiting_since.store(0, Relaxed);
            acquisitions += 1;
            slot.acquisitions.store(acquisitions, Relaxed);
            match shared.course.phase() {
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

    fn hold(&self, section: &mut dyn FnMut()) {
        self.with(section);
    }

    fn alone(&self, time: Duration) -> (u64, Used) {
        alone(time, || self.with(|| black_box(())))
    }
}

impl Shared {
    fn counts(&self) -> Vec<u64> {
        self.slots.iter().map(|slot| slot.acquisitions.load(Relaxed)).collect()
    }
}

struct ThreadEnd {
    acquisitions: u64,
    waits: Option<Histogram<u64>>,
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
pub(crate) fn run<C: Contender>(spec: &CellSpec) -> CellOutcome {
    run_with(spec, &(Arc::new(CachePadded::new(C::new())) as Arc<dyn Loops>), C::events)
}

fn run_with(spec: &CellSpec, lock: &Arc<dyn Loops>, events: fn() -> Vec<(&'static str, u64)>) -> CellOutcome {
    let shared = Arc::new(Shared {
        counter: CachePadded::default(),
        slots: (0..spec.threads).map(|_| CachePadded::default()).collect(),
        course: Course::new(spec.threads),
    });
    lock.settle();
    let time = Duration::from_millis(spec.time_ms);
    if matches!(spec.pass, Pass::Uncontended | Pass::AfterContention) {
        if spec.pass == Pass::AfterContention {
            contend(&**lock);
            // As the executor does for the other pass; not before, or no two threads would run at the same
            // time.
            let _ = pin_to_one_cpu();
        }
        let (acquisitions, used) = lock.alone(time);
        return used.into(CellOutcome { acquisitions: vec![acquisitions], ..CellOutcome::nothing() });
    }

    let (sender, ends) = channel();
    for index in 0..spec.threads {
        let (lock, shared, sender) = (Arc::clone(lock), Arc::clone(&shared), sender.clone());
        let steps = spec.calibration.steps(&spec.profile);
        let random = Random::new(spec.seed, index as u64);
        let timed = spec.pass == Pass::Latency;
        start_thread(index, spec.threads, move || {
            let end = if timed {
                lock.run_timed(&shared, index, steps, random)
            } else {
                lock.run_untimed(&shared, index, steps, random)
            };
            // The receiver is gone only when the cell has been given up.
            let _ = sender.send(end);
        });
    }
    drop(sender);

    let window = shared.course.run(time, || shared.counts());
    let unfinished = longest_wait(shared.slots.iter().map(|slot| &slot.waiting_since));
    let (mut acquisitions, mut histogram) = (0, new_histogram());
    let finished = drain(&ends, spec.threads, spec.drain_ms, |end: ThreadEnd| {
        acquisitions += end.acquisitions;
        if let Some(recorded) = end.waits {
            histogram.add(recorded).expect("all histograms have the same bounds");
        }
    });
    let counter = shared.counter.load(Relaxed);
    let ending = if finished < spec.threads {
        Ending::Stalled { finished }
    } else if counter != acquisitions {
        Ending::Broken { acquisitions, counter }
    } else {
        Ending::Sound
    };
    window.used.into(CellOutcome {
        ending,
        // Lock events cannot be read per window, so that pass reports what belongs to them: everything.
        acquisitions: match spec.pass {
            Pass::Events => shared.counts(),
            _ => gained(&window.first, &window.last),
        },
        waits: (spec.pass == Pass::Latency).then(|| waits(&histogram, unfinished, &spec.calibration)),
        events: events().into_iter().map(|(name, count)| (name.to_owned(), count)).collect(),
        ..CellOutcome::nothing()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contender::Kind;
    use std::sync::Mutex;

    /// Knows whether anybody found it taken.
    struct Watched(Mutex<()>, AtomicU64);

    impl Contender for Watched {
        const NAME: &'static str = "watched";
        const KIND: Kind = Kind::Hidden;
        const ABOUT: &'static str = "std, watched";
        const BYTES: usize = 0;

        fn new() -> Self {
            Self(Mutex::new(()), AtomicU64::new(0))
        }

        fn with<R>(&self, critical: impl FnOnce() -> R) -> R {
            self.1.fetch_add(u64::from(self.0.try_lock().is_err()), Relaxed);
            let _guard = self.0.lock();
            critical()
        }
    }

    #[test]
    fn two_threads_meet_at_a_lock_that_is_contended() {
        let lock = CachePadded::new(Watched::new());
        // Once, where two CPUs are free for five milliseconds.
        let met = || {
            contend(&lock);
            lock.1.load(Relaxed) > 0
        };
        assert!((0..1000).any(|_| met()));
    }
}
