//! System calls of will-it-scale (open1, open2, lock2): a hot lock of the process, often a second one, and
//! work of its own.
//!
//! An operation is a few sections on the first lock with the rest of the work between them, and some sections
//! on the second.
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
        /// Lines that each of them writes, all at once.
        lines: u32 = "lines" Count(0, 16);
        /// Further lines that each of them writes one after the other, because where one is depends on what
        /// stands in the one before.
        chained_lines: u32 = "chained-lines" Count(0, 16), or 0;
        /// Sections on the second lock in an operation; they come after those on the first.
        second_sections: u32 = "second-sections" Count(0, 64), or 0;
        /// Work inside of each.
        second_critical: Time = "second-critical" Span(0, MS), or 0;
        /// Lines that each of them writes.
        second_lines: u32 = "second-lines" Count(0, 16), or 0;
        /// How often an operation changes a shared reference count outside of sections.
        counts: u32 = "counts" Count(0, 64), or 0;
        /// How many threads share each line of data that belongs to one thread and is written once an
        /// operation; 0: none does.
        sharing: u32 = "sharing" Count(0, 64), or 0;
        /// Work outside of sections in an operation, spread evenly between them.
        think: Time = "think" Span(0, 100 * MS);
        /// How much longer or shorter that work may be, each time.
        varies_percent: u32 = "varies-percent" Percent(100), or 0;
    }
}

impl WillItScale {
    /// The lines that sections on the first lock write.
    fn first_lines(&self) -> usize {
        (self.lines + self.chained_lines) as usize
    }

    /// With those of the second lock; behind them is the reference count.
    fn both_lines(&self) -> usize {
        self.first_lines() + self.second_lines as usize
    }

    fn first_section(&self, here: &Here) {
        here.acquire(0);
        here.touch(0..self.lines as usize, true);
        for line in self.lines as usize..self.first_lines() {
            here.touch(line..line + 1, true);
        }
        here.compute(self.critical);
        here.release(0);
    }

    fn second_section(&self, here: &Here) {
        here.acquire(1);
        here.touch(self.first_lines()..self.both_lines(), true);
        here.compute(self.second_critical);
        here.release(1);
    }
}

impl Lives for WillItScale {
    fn locks(&self, _contexts: usize) -> usize {
        1 + usize::from(self.second_sections > 0)
    }

    fn lines(&self, contexts: usize) -> usize {
        let own = if self.sharing == 0 { 0 } else { contexts.div_ceil(self.sharing as usize) };
        self.both_lines() + 1 + own
    }

    fn live(&self, here: &Here) {
        let breaks = Time::from(self.sections + self.second_sections);
        let think = || here.compute(here.about(self.think / breaks, u64::from(self.varies_percent)));
        let count = self.both_lines();
        loop {
            for section in 0..self.sections {
                self.first_section(here);
                if section == 0 && self.sharing > 0 {
                    let own = count + 1 + here.index() / self.sharing as usize;
                    here.touch(own..own + 1, true);
                }
                think();
            }
            for _ in 0..self.second_sections {
                self.second_section(here);
                think();
            }
            for _ in 0..self.counts {
                here.touch(count..count + 1, true);
            }
            here.op();
        }
    }
}
