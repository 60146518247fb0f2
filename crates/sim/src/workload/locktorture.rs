//! The kernel's locktorture with spin locks: every thread acquires one lock again and again, and rarely holds
//! it for long.
//!
//! What the loop of `lock_torture_writer` does beside the lock, as recalled from
//! `kernel/locking/locktorture.c` of Linux 5.x: it draws from a random state that is `static`, so one line
//! for all threads, once outside of the section and three times inside; it sets and clears
//! `lock_is_write_held`; it counts in an array whose elements of 16 bytes share lines between four threads.
//! The draws inside decide about the two delays, each by a 64-bit division.
use super::Lives;
use super::parameters::parameters;
use crate::here::Here;
use crate::time::{MS, Time};

parameters! {
    /// Parameters of locktorture.
    Locktorture {
        /// Work inside of the section without the delays.
        critical: Time = "critical" Span(0, MS);
        /// Work between a release and the next acquisition.
        outside: Time = "outside" Span(0, MS);
        /// Lines that every thread writes inside of the section.
        lines: u32 = "lines" Count(0, 16);
        /// How many of these lines are written outside of the section, too.
        lines_outside: u32 = "lines-outside" Count(0, 16), or 0;
        /// How many threads share a line of statistics, written inside of the section; 0: there are no
        /// statistics.
        sharing_statistics: u32 = "sharing-statistics" Count(0, 64), or 0;
        /// The short delay. It waits by the clock, however fast the CPU is.
        short_delay: Time = "short-delay" Span(0, MS);
        /// The short delay comes once in so many sections, times the number of threads.
        short_delay_every: u32 = "short-delay-every" Count(1, 1_000_000);
        /// The long delay. It is not simulated but added to the result: a window of milliseconds would hardly
        /// ever see one.
        long_delay: Time = "long-delay" Span(0, 1000 * MS);
        /// The long delay comes once in so many sections, times the number of threads.
        long_delay_every: u32 = "long-delay-every" Count(1, 1_000_000_000);
    }
}

impl Lives for Locktorture {
    fn locks(&self, _contexts: usize) -> usize {
        1
    }

    fn lines(&self, contexts: usize) -> usize {
        let statistics = match self.sharing_statistics {
            0 => 0,
            sharing => contexts.div_ceil(sharing as usize),
        };
        self.lines.max(self.lines_outside) as usize + statistics
    }

    fn live(&self, here: &Here) {
        let shared = self.lines.max(self.lines_outside) as usize;
        let mut written: Vec<usize> = (0..self.lines as usize).collect();
        if self.sharing_statistics > 0 {
            written.push(shared + here.index() / self.sharing_statistics as usize);
        }
        let every = u64::from(self.short_delay_every) * here.contexts() as u64;
        loop {
            here.touch(0..self.lines_outside as usize, true);
            here.compute(self.outside);
            here.acquire(0);
            here.touch_each(&written, true);
            here.compute(self.critical);
            if here.random(every) == 0 {
                here.delay(self.short_delay);
            }
            here.release(0);
            here.op();
        }
    }

    fn corrected(&self, per_second: f64, contexts: usize) -> f64 {
        // All wait while one of them holds the lock for long, so each section is longer by its share of that.
        let share = self.long_delay as f64 / 1e12 / (f64::from(self.long_delay_every) * contexts as f64);
        if per_second > 0.0 { 1.0 / (1.0 / per_second + share) } else { 0.0 }
    }
}
