//! One worker as the others see it: what it is doing, what it has done, and how to reach its thread.
//!
//! A slot outlives the threads that sit in it, one after the other. Everything here is written by the thread
//! in the slot and by its signal handlers, and read by the watchdog. All is `Relaxed`: an ordering borrowed
//! from torture's own bookkeeping would hide the very ordering that the lock under torture forgot, from the
//! weak machine and from ThreadSanitizer alike.
use super::claims::Claims;
use super::counts::{Counts, Shared};
use super::test_locks::{HANDLER_LEVELS, TASK_LOCKS, TEST_LOCKS, lock_name};
use core::fmt;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};
use spin::mutex::SpinMutex;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Activity {
    Vacant,
    Thinking,
    Sleeping,
    Paused,
    Waiting,
    Trying,
    Holding,
    HoldingLong,
    Releasing,
}

impl Activity {
    const ALL: [(Self, &str); 9] = [
        (Self::Vacant, "no thread in the slot"),
        (Self::Thinking, "thinking"),
        (Self::Sleeping, "sleeping between acquisitions"),
        (Self::Paused, "paused by the stutter"),
        (Self::Waiting, "waiting for {lock}"),
        (Self::Trying, "trying {lock}"),
        (Self::Holding, "holding {lock}"),
        (Self::HoldingLong, "holding {lock} for long"),
        (Self::Releasing, "releasing {lock}"),
    ];

    /// Whether a context that stays like this keeps or wants a lock, whose fault it then is.
    pub(crate) fn involves_lock(self) -> bool {
        matches!(self, Self::Waiting | Self::Trying | Self::Holding | Self::HoldingLong | Self::Releasing)
    }
}

/// What every context stacked on one thread is doing: the worker, then the handlers by depth. Of each byte,
/// the upper half is the activity and the lower one the test lock.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Doing([u8; HANDLER_LEVELS + 1]);

impl Doing {
    /// What the context at `depth` does, and at which test lock.
    pub(crate) fn at(self, depth: usize) -> (Activity, usize) {
        let byte = self.0[depth];
        (Activity::ALL[usize::from(byte >> 4)].0, usize::from(byte & 0xf))
    }

    /// How many handlers are stacked on the worker.
    pub(crate) fn depth(self) -> usize {
        (1..=HANDLER_LEVELS).rev().find(|&depth| self.at(depth).0 != Activity::Vacant).unwrap_or(0)
    }

    /// The stacked contexts, the innermost, which alone is running, last.
    pub(crate) fn contexts(self) -> impl DoubleEndedIterator<Item = (Activity, usize)> {
        (0..=self.depth()).map(move |depth| self.at(depth))
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, (activity, test_lock)) in self.contexts().enumerate() {
            if depth > 0 {
                write!(f, "; interrupted, in handler depth {depth}: ")?;
            }
            f.write_str(&Activity::ALL[activity as usize].1.replace("{lock}", &lock_name(test_lock)))?;
        }
        Ok(())
    }
}

/// Where only the calling context writes.
pub(crate) fn one_more(count: &AtomicU64) {
    count.store(count.load(Relaxed) + 1, Relaxed);
}

/// One worker's place, on cache lines of its own. Handlers count in one step, because a handler may interrupt
/// a handler.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct Slot {
    doing: [AtomicU8; HANDLER_LEVELS + 1],
    /// Acquisitions to write per test lock: the worker's at the first ones, its handlers' at the others.
    pub(crate) written: [AtomicU64; TEST_LOCKS],
    read: AtomicU64,
    handler_read: AtomicU64,
    pub(crate) claims: Claims,
    pub(crate) counts: Counts<AtomicU64>,
    pub(crate) shared: Shared<AtomicU64>,
    pub(crate) handler_deepest: AtomicU64,
    /// While set, no signals are sent here: they might wake a waiter whose wake-up the lock lost.
    pub(crate) spared: AtomicBool,
    /// How many are on their way.
    pub(crate) signals: AtomicU32,
    pub(crate) thread: Reach,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Breaches {
    pub(crate) exclusion: u64,
    pub(crate) torn: u64,
}

impl Slot {
    pub(crate) fn does(&self, depth: usize, activity: Activity, test_lock: usize) {
        debug_assert!(test_lock < TEST_LOCKS);
        self.doing[depth].store((activity as u8) << 4 | test_lock as u8, Relaxed);
    }

    pub(crate) fn doing(&self) -> Doing {
        Doing(self.doing.each_ref().map(|context| context.load(Relaxed)))
    }

    /// Counts an acquisition. The worker writes at the first test locks only, everybody else at the others.
    pub(crate) fn count(&self, depth: usize, test_lock: usize, writes: bool) {
        match (writes, depth) {
            (true, _) if test_lock < TASK_LOCKS => one_more(&self.written[test_lock]),
            (true, _) => drop(self.written[test_lock].fetch_add(1, Relaxed)),
            (false, 0) => one_more(&self.read),
            (false, _) => drop(self.handler_read.fetch_add(1, Relaxed)),
        }
    }

    pub(crate) fn charge(&self, seen: Breaches) {
        if seen != Breaches::default() {
            self.counts.exclusion.fetch_add(seen.exclusion, Relaxed);
            self.counts.torn.fetch_add(seen.torn, Relaxed);
        }
    }

    pub(crate) fn breaches(&self) -> u64 {
        self.counts.exclusion.load(Relaxed) + self.counts.torn.load(Relaxed)
    }

    /// By the worker, without its handlers'.
    pub(crate) fn written(&self) -> u64 {
        sum(&self.written[..TASK_LOCKS])
    }

    pub(crate) fn read(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// By handlers on the slot's threads.
    pub(crate) fn handled(&self) -> u64 {
        sum(&self.written[TASK_LOCKS..]) + self.handler_read.load(Relaxed)
    }

    /// Every acquisition on this slot's threads, also in handlers: what the watchdog calls progress.
    pub(crate) fn progress(&self) -> u64 {
        self.written() + self.read() + self.handled()
    }
}

fn sum(counts: &[AtomicU64]) -> u64 {
    counts.iter().map(|count| count.load(Relaxed)).sum()
}

/// A thread that may be signalled or moved, until it says goodbye: the kernel's id of it, or 0.
///
/// A leaving thread may be interrupted while it owns the mutex, by a handler that waits for a lock whose
/// holder waits for the mutex. So all only ever *try*.
#[derive(Default)]
pub(crate) struct Reach(SpinMutex<i32>);

impl Reach {
    /// The calling thread, whose id is `tid`, can be reached from now on. With 0 it is about to leave: waits
    /// out whoever is using it, after which nobody will again.
    pub(crate) fn set(&self, tid: i32) {
        while self.0.try_lock().map(|mut known| *known = tid).is_none() {
            std::thread::yield_now();
        }
    }

    /// Runs `act` with the thread's id while the thread is sure to exist; `None` if it is gone or leaving.
    pub(crate) fn with<R>(&self, act: impl FnOnce(i32) -> R) -> Option<R> {
        let tid = self.0.try_lock()?;
        (*tid != 0).then(|| act(*tid))
    }
}

#[cfg(test)]
impl Doing {
    /// The same with the context at `depth` doing `activity` at `test_lock`.
    pub(crate) fn with(self, depth: usize, activity: Activity, test_lock: usize) -> Self {
        let slot = Slot { doing: self.0.map(AtomicU8::new), ..Slot::default() };
        slot.does(depth, activity, test_lock);
        slot.doing()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_locks::handler_lock;
    use super::*;

    #[test]
    fn a_word_keeps_every_stacked_context() {
        let word = Doing::default().with(0, Activity::Waiting, 0).with(1, Activity::Holding, 4).with(
            2,
            Activity::Waiting,
            5,
        );
        assert_eq!(word.depth(), 2);
        assert_eq!(word.contexts().last(), Some((Activity::Waiting, 5)));
        assert_eq!(
            word.to_string(),
            "waiting for the lock; interrupted, in handler depth 1: holding handler lock 1; \
             interrupted, in handler depth 2: waiting for handler lock 2"
        );
        let back = word.with(2, Activity::Vacant, 0);
        assert_eq!((back.depth(), back.contexts().last()), (1, Some((Activity::Holding, 4))));
    }

    #[test]
    fn every_activity_survives_the_word() {
        for (index, (activity, _)) in Activity::ALL.into_iter().enumerate() {
            assert_eq!(activity as usize, index);
            for test_lock in 0..TEST_LOCKS {
                assert_eq!(Doing::default().with(0, activity, test_lock).at(0), (activity, test_lock));
            }
        }
    }

    #[test]
    fn progress_counts_handlers_and_the_line_does_not() {
        let slot = Slot::default();
        slot.count(0, 0, true);
        slot.count(0, 2, true);
        slot.count(0, 1, false);
        slot.count(1, handler_lock(1), true);
        slot.count(1, 0, false);
        assert_eq!((slot.written(), slot.read()), (2, 1));
        assert_eq!(slot.progress(), 5);
        let written = [0, 1].map(|test_lock| slot.written[test_lock].load(Relaxed));
        assert_eq!(written, [1, 0], "the counter of a test_lock is its writers'");
        slot.charge(Breaches { exclusion: 2, torn: 0 });
        slot.charge(Breaches { exclusion: 0, torn: 1 });
        assert_eq!((slot.counts.exclusion.load(Relaxed), slot.counts.torn.load(Relaxed)), (2, 1));
    }

    #[test]
    fn a_thread_that_left_is_out_of_reach() {
        let reach = Reach::default();
        assert_eq!(reach.with(|tid| tid), None);
        reach.set(5);
        assert_eq!(reach.with(|tid| tid), Some(5));
        assert_eq!(reach.with(|_| reach.with(|_| ())), Some(None), "outsiders only try");
        reach.set(0);
        assert_eq!(reach.with(|tid| tid), None);
    }
}
