//! System calls of will-it-scale (open1, open2, lock2): a hot lock of the process, often a second one, and work of its own.
//!
//! An operation is a few sections on the first lock with the rest of the work between them, and some sections on the second.
use super::Lives;
use super::parameters::parameters;
use crate::here::Here;
use crate::time::{MS, Time};

parameters! {
    /// Parameters of will-it-scale.
    WillItScale {
        /// Sections on the first lock in an operation.
        sections: u32 = "sections" Count(1, 64);
        /// Work inside of each.
        critical: Time = "critical" Span(0, MS);
        /// Lines that each of them writes.
        lines: u32 = "lines" Count(0, 16);
        /// Sections on the second lock in an operation; they come after those on the first.
        second_sections: u32 = "second-sections" Count(0, 64), or 0;
        /// Work inside of each.
        second_critical: Time = "second-critical" Span(0, MS), or 0;
        /// Lines that each of them writes.
        second_lines: u32 = "second-lines" Count(0, 16), or 0;
        /// Shared lines that an operation writes outside of sections (reference counts), one after the other.
        counts: u32 = "counts" Count(0, 16), or 0;
        /// How many threads share each line of data that belongs to one thread and is written once an operation; 0: none does.
        sharing: u32 = "sharing" Count(0, 64), or 0;
        /// Work outside of sections in an operation, spread evenly between them.
        think: Time = "think" Span(0, 100 * MS);
        /// How much longer or shorter that work may be, each time.
        varies_percent: u32 = "varies-percent" Percent(100), or 0;
    }
}

impl WillItScale {
    fn common_lines(&self) -> usize {
        (self.lines + self.second_lines + self.counts) as usize
    }
}

impl Lives for WillItScale {
    fn locks(&self, _contexts: usize) -> usize {
        1 + usize::from(self.second_sections > 0)
    }

    fn lines(&self, contexts: usize) -> usize {
        let own = if self.sharing == 0 { 0 } else { contexts.div_ceil(self.sharing as usize) };
        self.common_lines() + own
    }

    fn live(&self, here: &Here) {
        let (first, second) = (self.lines as usize, (self.lines + self.second_lines) as usize);
        let breaks = Time::from(self.sections + self.second_sections);
        let think = || here.compute(here.about(self.think / breaks, u64::from(self.varies_percent)));
        loop {
            for section in 0..self.sections {
                here.acquire(0);
                here.touch(0..first, true);
                here.compute(self.critical);
                here.release(0);
                if section == 0 && self.sharing > 0 {
                    let own = self.common_lines() + here.index() / self.sharing as usize;
                    here.touch(own..own + 1, true);
                }
                think();
            }
            for count in 0..self.counts as usize {
                here.touch(second + count..second + count + 1, true);
            }
            for _ in 0..self.second_sections {
                here.acquire(1);
                here.touch(first..second, true);
                here.compute(self.second_critical);
                here.release(1);
                think();
            }
            here.op();
        }
    }
}
