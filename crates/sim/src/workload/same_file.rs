//! Every CPU opens and closes the same file: path walks meet at one directory entry, its lock and its
//! reference count.
use super::Lives;
use super::parameters::parameters;
use crate::here::Here;
use crate::time::{MS, Time};

parameters! {
    /// Parameters of same-file open and close.
    SameFile {
        /// Sections on the file's lock in an operation: one open and one close.
        sections: u32 = "sections" Count(1, 64);
        /// Work inside of each.
        critical: Time = "critical" Span(0, MS);
        /// Lines that each of them writes.
        lines: u32 = "lines" Count(0, 16);
        /// Reference counts that an operation changes outside of sections, one line each.
        counts: u32 = "counts" Count(0, 16), or 0;
        /// Work of an operation outside of sections: entering the kernel, the path walk, the file's object.
        think: Time = "think" Span(0, 100 * MS);
        /// How much longer or shorter that work may be, each time.
        varies_percent: u32 = "varies-percent" Percent(100), or 0;
    }
}

impl Lives for SameFile {
    fn locks(&self, _contexts: usize) -> usize {
        1
    }

    fn lines(&self, _contexts: usize) -> usize {
        (self.lines + self.counts) as usize
    }

    fn live(&self, here: &Here) {
        let lines = self.lines as usize;
        let think = self.think / Time::from(self.sections);
        loop {
            for _ in 0..self.sections {
                here.compute(here.about(think, u64::from(self.varies_percent)));
                here.acquire(0);
                here.touch(0..lines, true);
                here.compute(self.critical);
                here.release(0);
            }
            for count in lines..lines + self.counts as usize {
                here.touch(count..count + 1, true);
            }
            here.op();
        }
    }
}
