//! The tasks of one vCPU that wait for their turn: a queue behind a lock of the kind under test, as a
//! kernel's run queue is.
//!
//! All that matters of a task is when it is ready. Tasks are few (make -j), so the queue is an array that is
//! searched.
use super::stress::Line;
use crate::cells::Count;
use crate::subject::Subject;
use alloc::boxed::Box;

/// Never.
pub(super) const NEVER: u64 = u64::MAX;

/// A run queue.
#[repr(align(128))]
pub(super) struct Queue<S> {
    pub(super) lock: S,
    /// When the first task is ready, for a look without the lock; [`NEVER`] if there is none.
    first: Line,
    /// How many tasks there are.
    length: Count,
    /// When each is ready.
    ready: Box<[Count]>,
}

impl<S: Subject> Queue<S> {
    /// An empty one with room for so many tasks.
    pub(super) fn new(room: usize) -> Self {
        Self {
            lock: S::new(),
            first: Line(Count::new(NEVER)),
            length: Count::default(),
            ready: (0..room).map(|_| Count::default()).collect(),
        }
    }

    /// When the first task is ready, as far as one can see without the lock.
    pub(super) fn first(&self) -> u64 {
        self.first.0.get()
    }

    /// Puts a task in. The caller holds the lock.
    pub(super) fn put(&self, ready: u64) {
        let length = self.length.get();
        self.ready[length as usize].set(ready);
        self.length.set(length + 1);
        self.first.0.set(ready.min(self.first()));
    }

    /// Takes the task that has been ready for longest, if one is ready at `now`. The caller holds the lock.
    pub(super) fn take(&self, now: u64) -> bool {
        let tasks = &self.ready[..self.length.get() as usize];
        let Some(at) = (0..tasks.len()).min_by_key(|&at| tasks[at].get()) else { return false };
        if tasks[at].get() > now {
            return false;
        }
        tasks[at].set(tasks[tasks.len() - 1].get());
        let left = &tasks[..tasks.len() - 1];
        self.length.set(left.len() as u64);
        self.first.0.set(left.iter().map(Count::get).min().unwrap_or(NEVER));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subject::{Side, Skills};
    use stanchion_core::transitions::Word;

    struct NoLock;

    impl Subject for NoLock {
        const SKILLS: Skills = Skills { shares: false, handlers_write: false, reads_again: false };
        fn new() -> Self {
            Self
        }
        fn acquire(&self, _side: Side) {}
        fn acquire_again(&self) {}
        fn try_acquire(&self, _side: Side) -> bool {
            true
        }
        fn release(&self, _side: Side) {}
        fn word(&self) -> Word {
            Word { tail: 0, pending: 0, locked: 0 }
        }
    }

    #[test]
    fn tasks_come_out_by_the_time_they_are_ready() {
        let queue = Queue::<NoLock>::new(3);
        assert!(!queue.take(NEVER - 1) && queue.first() == NEVER);
        for ready in [30, 10, 20] {
            queue.put(ready);
        }
        assert!(!queue.take(9), "none is ready yet");
        for (now, next) in [(25, 20), (25, 30), (30, NEVER)] {
            assert!(queue.take(now), "one is ready at {now}");
            assert_eq!(queue.first(), next);
        }
        assert!(!queue.take(NEVER - 1), "all are gone");
    }
}
