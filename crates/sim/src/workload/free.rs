//! The free form: a loop of critical section and think time over some locks.
use super::parameters::parameters;
use super::{Lives, Takes};
use crate::here::Here;
use crate::time::{MS, Time};

parameters! {
    /// Parameters of the free form.
    Free {
        /// Work inside of a section.
        critical: Time = "critical" Span(0, 100 * MS);
        /// Work outside of it.
        think: Time = "think" Span(0, 1000 * MS);
        /// How much longer or shorter the work inside may be, each time.
        critical_varies_percent: u32 = "critical-varies-percent" Percent(100), or 0;
        /// How much longer or shorter the work outside may be, each time.
        think_varies_percent: u32 = "think-varies-percent" Percent(100), or 0;
        /// How many locks there are.
        locks: u32 = "locks" Count(1, 4096), or 1;
        /// How many of a hundred sections are on the first lock; the others are drawn evenly from the rest.
        hot_percent: u32 = "hot-percent" Percent(100), or 0;
        /// Lines of data that each lock protects; a section writes all of them, or reads them if it only
        /// reads.
        lines: u32 = "lines" Count(0, 64), or 1;
        /// How many of a hundred sections only read. A mutex, which knows no readers, treats them as writers.
        readers_percent: u32 = "readers-percent" Percent(100), or 0;
        /// Contexts, from the first, that only write whatever the share of readers is.
        writers: u32 = "writers" Count(0, 16_383), or 0;
        /// Work outside of their sections, which does not vary; 0: as of the others.
        writers_think: Time = "writers-think" Span(0, 1000 * MS), or 0;
    }
}

impl Lives for Free {
    fn locks(&self, _contexts: usize) -> usize {
        self.locks as usize
    }

    fn lines(&self, _contexts: usize) -> usize {
        (self.locks * self.lines) as usize
    }

    fn takes(&self) -> Takes {
        if self.readers_percent > 0 { Takes::Either } else { Takes::Mutexes }
    }

    fn live(&self, here: &Here) {
        let (locks, lines) = (u64::from(self.locks), self.lines as usize);
        let writes_only = here.index() < self.writers as usize;
        loop {
            let lock = match locks {
                1 => 0,
                _ if here.random(100) < u64::from(self.hot_percent) => 0,
                _ if self.hot_percent > 0 => 1 + here.random(locks - 1) as usize,
                _ => here.random(locks) as usize,
            };
            let reads = self.readers_percent > 0
                && !writes_only
                && here.random(100) < u64::from(self.readers_percent);
            if reads {
                here.acquire_read(lock);
            } else {
                here.acquire(lock);
            }
            // The update of the data depends on nothing that is computed: its miss overlaps with the work.
            let data = lock * lines..(lock + 1) * lines;
            if !reads {
                here.fetch(data.clone());
            }
            here.compute(here.about(self.critical, u64::from(self.critical_varies_percent)));
            here.touch(data, !reads);
            if reads {
                here.release_read(lock);
            } else {
                here.release(lock);
            }
            here.op();
            if writes_only && self.writers_think > 0 {
                here.compute(self.writers_think);
            } else {
                here.compute(here.about(self.think, u64::from(self.think_varies_percent)));
            }
        }
    }
}
