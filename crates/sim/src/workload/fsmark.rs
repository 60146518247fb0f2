//! Something like fsmark: threads create, write and close files of their own, and meet at a lock of the file
//! system very often.
use super::Lives;
use super::parameters::parameters;
use crate::here::Here;
use crate::time::{MS, Time};

parameters! {
    /// Parameters of something like fsmark.
    Fsmark {
        /// Sections on the file system's lock for a file.
        sections: u32 = "sections" Count(1, 100_000);
        /// Work inside of each.
        critical: Time = "critical" Span(0, MS);
        /// Lines that each of them writes.
        lines: u32 = "lines" Count(0, 16);
        /// Work for a file outside of sections, spread evenly between them.
        think: Time = "think" Span(0, 1000 * MS);
        /// How much longer or shorter each piece of that work may be.
        varies_percent: u32 = "varies-percent" Percent(100), or 50;
        /// How long a thread waits for the disk before a file is closed.
        sync: Time = "sync" Span(0, 10_000 * MS), or 0;
    }
}

impl Lives for Fsmark {
    fn locks(&self, _contexts: usize) -> usize {
        1
    }

    fn lines(&self, _contexts: usize) -> usize {
        self.lines as usize
    }

    fn live(&self, here: &Here) {
        let think = self.think / Time::from(self.sections);
        // Threads are anywhere in their files when they are first looked at.
        let mut section = here.random(u64::from(self.sections)) as u32;
        loop {
            while section < self.sections {
                here.compute(here.about(think, u64::from(self.varies_percent)));
                here.acquire(0);
                here.touch(0..self.lines as usize, true);
                here.compute(self.critical);
                here.release(0);
                section += 1;
            }
            if self.sync > 0 {
                here.sleep(here.about(self.sync, 50));
            }
            here.op();
            section = 0;
        }
    }
}
