//! A kernel build in a guest: compilers compute in bursts, enter the kernel for short sections on a few hot
//! locks, and block now and then.
//!
//! Jobs that block make room for others if there are more jobs than vCPUs; with fewer, the other vCPUs idle.
use super::Lives;
use super::parameters::parameters;
use super::pool::Pool;
use crate::here::Here;
use crate::time::{MS, Time};
use core::cell::OnceCell;

parameters! {
    /// Parameters of a build.
    Build {
        /// Jobs at the same time (make -j); 0: one for each vCPU.
        jobs: u32 = "jobs" Count(0, 16_383), or 0;
        /// Work between two sections; one unit of work is this and a section.
        burst: Time = "burst" Span(1_000, 1000 * MS);
        /// Work inside of a section.
        critical: Time = "critical" Span(0, 100 * MS);
        /// How much longer or shorter a burst may be, each time.
        varies_percent: u32 = "varies-percent" Percent(100), or 50;
        /// How many locks there are.
        locks: u32 = "locks" Count(1, 4096);
        /// How many of a hundred sections are on the first lock; the others are drawn evenly from the rest.
        hot_percent: u32 = "hot-percent" Percent(100), or 0;
        /// Lines that a section writes.
        lines: u32 = "lines" Count(0, 16), or 1;
        /// A job blocks after so much work on average; 0: never.
        blocks_after: Time = "blocks-after" Span(0, 100_000 * MS), or 0;
        /// For how long it blocks.
        blocks_for: Time = "blocks-for" Span(0, 100_000 * MS), or 0;
    }
}

impl Lives for Build {
    fn locks(&self, _contexts: usize) -> usize {
        self.locks as usize
    }

    fn lines(&self, _contexts: usize) -> usize {
        (self.locks * self.lines) as usize
    }

    fn live(&self, here: &Here) {
        Running::new(self.clone()).live(here);
    }
}

/// A build under way.
pub(super) struct Running {
    build: Build,
    pool: OnceCell<Pool>,
}

impl Running {
    pub(super) fn new(build: Build) -> Self {
        Self { build, pool: OnceCell::new() }
    }

    fn section(&self, here: &Here) {
        let (locks, lines) = (u64::from(self.build.locks), self.build.lines as usize);
        let lock = match locks {
            1 => 0,
            _ if here.random(100) < u64::from(self.build.hot_percent) => 0,
            _ if self.build.hot_percent > 0 => 1 + here.random(locks - 1) as usize,
            _ => here.random(locks) as usize,
        };
        here.acquire(lock);
        here.touch(lock * lines..(lock + 1) * lines, true);
        here.compute(self.build.critical);
        here.release(lock);
    }
}

impl Lives for Running {
    fn locks(&self, contexts: usize) -> usize {
        self.build.locks(contexts)
    }

    fn lines(&self, contexts: usize) -> usize {
        self.build.lines(contexts)
    }

    fn live(&self, here: &Here) {
        let build = &self.build;
        let jobs = if build.jobs == 0 { here.contexts() as u32 } else { build.jobs };
        self.pool.get_or_init(|| Pool::new(jobs)).run(here, |_| {
            // Work until the next block varies widely, as it does between source files.
            let until_blocks = match build.blocks_after {
                0 => Time::MAX,
                after => here.about(after, 100),
            };
            let mut worked = 0;
            while worked < until_blocks {
                let burst = here.about(build.burst, u64::from(build.varies_percent));
                here.compute(burst);
                self.section(here);
                here.op();
                worked += burst + build.critical;
            }
            here.about(build.blocks_for, 50)
        });
    }
}
