//! Tasks of a guest that take turns on its vCPUs: whoever has slept long enough runs next.
//!
//! A stand-in for the guest's scheduler with one queue for all: what matters for locks is how many vCPUs are
//! busy, when they sleep, and that a task that blocks makes room for another.
use crate::here::Here;
use crate::time::Time;
use core::cell::RefCell;
use core::cmp::Reverse;
use std::collections::BinaryHeap;

/// The tasks that no vCPU runs, with when each is ready.
pub(super) struct Pool {
    waiting: RefCell<BinaryHeap<Reverse<(Time, u32)>>>,
}

impl Pool {
    /// `tasks` tasks, all of them ready.
    pub(super) fn new(tasks: u32) -> Self {
        Self { waiting: RefCell::new((0..tasks).map(|task| Reverse((0, task))).collect()) }
    }

    /// Runs tasks on the calling vCPU for ever, or not at all if there are fewer of them than vCPUs. `turn`
    /// runs a task until it blocks, and returns for how long.
    pub(super) fn run(&self, here: &Here, turn: impl Fn(u32) -> Time) {
        loop {
            let Some(Reverse((ready, task))) = self.waiting.borrow_mut().pop() else { return };
            let now = here.now();
            if ready > now {
                here.sleep(ready - now);
            }
            let blocked = turn(task);
            self.waiting.borrow_mut().push(Reverse((here.now() + blocked, task)));
        }
    }
}
