//! Something like AIM7: many tasks on all CPUs, each a mix of computing, sections on a hot lock and waiting
//! for the disk.
use super::Lives;
use super::parameters::parameters;
use super::pool::Pool;
use crate::here::Here;
use crate::time::{MS, Time};
use core::cell::OnceCell;

parameters! {
    /// Parameters of something like AIM7.
    Aim7 {
        /// Tasks (the load); 0: one for each CPU.
        tasks: u32 = "tasks" Count(0, 100_000), or 0;
        /// Steps of a job; after each the task waits for the disk.
        steps: u32 = "steps" Count(1, 10_000);
        /// Sections on the lock in a step.
        sections: u32 = "sections" Count(1, 100_000);
        /// Sections in a step of a single task besides; several tasks share them.
        pool_sections: u32 = "pool-sections" Count(0, 1_000_000), or 0;
        /// Work inside of each.
        critical: Time = "critical" Span(0, MS);
        /// Lines that each of them writes.
        lines: u32 = "lines" Count(0, 16);
        /// Work of a step outside of its own sections, spread evenly between them.
        think: Time = "think" Span(0, 1000 * MS);
        /// How much longer or shorter each piece of that work may be.
        varies_percent: u32 = "varies-percent" Percent(100), or 50;
        /// How long a task waits for the disk after a step.
        disk: Time = "disk" Span(0, 10_000 * MS), or 0;
    }
}

/// A load under way.
pub(super) struct Running {
    with: Aim7,
    pool: OnceCell<Pool>,
}

impl Running {
    pub(super) fn new(with: Aim7) -> Self {
        Self { with, pool: OnceCell::new() }
    }
}

impl Lives for Aim7 {
    fn locks(&self, _contexts: usize) -> usize {
        1
    }

    fn lines(&self, _contexts: usize) -> usize {
        self.lines as usize
    }

    fn live(&self, here: &Here) {
        Running::new(self.clone()).live(here);
    }
}

impl Lives for Running {
    fn locks(&self, contexts: usize) -> usize {
        self.with.locks(contexts)
    }

    fn lines(&self, contexts: usize) -> usize {
        self.with.lines(contexts)
    }

    fn live(&self, here: &Here) {
        let with = &self.with;
        let tasks = if with.tasks == 0 { here.contexts() as u32 } else { with.tasks };
        // Each section has its piece of work outside, shared ones, too.
        let think = with.think / Time::from(with.sections);
        let sections = with.sections + with.pool_sections / tasks;
        self.pool.get_or_init(|| Pool::new(tasks)).run(here, |_| {
            for _ in 0..sections {
                here.compute(here.about(think, u64::from(with.varies_percent)));
                here.acquire(0);
                here.touch(0..with.lines as usize, true);
                here.compute(with.critical);
                here.release(0);
            }
            // A job ends with any of its steps: counted in the mean, so that short windows see jobs, too.
            if here.random(u64::from(with.steps)) == 0 {
                here.op();
            }
            here.about(with.disk, 50)
        });
    }
}
