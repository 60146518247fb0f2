//! Threads of a process that open and close files of their own (will-it-scale's open1): the table of
//! descriptors is all they share.
//!
//! What an operation does to the table, as recalled from `fs/file.c` and `linux/fdtable.h` of Linux 5.x: it
//! allocates the lowest free descriptor under the lock, looks at its entry there, fills the entry later
//! without the lock, and clears it under the lock again. A table of 64 entries lies in one piece with its
//! lock: the bitmap and the first four entries share the lock's line, and each further line has eight
//! entries. A process that ever had more descriptors at once, or whose parent had a descriptor above 63 when
//! it was made, has entries and bitmap elsewhere, for ever. Threads begin with a file of their own each, all
//! at the same time.
use super::Lives;
use super::parameters::parameters;
use crate::here::Here;
use crate::time::{MS, Time};
use core::cell::RefCell;
use core::cmp::Reverse;
use std::collections::BinaryHeap;

parameters! {
    /// Parameters of opening and closing.
    OpenClose {
        /// Work inside of each of the two sections of an operation.
        critical: Time = "critical" Span(0, MS);
        /// Work outside of sections in an operation.
        think: Time = "think" Span(0, 100 * MS);
        /// How much of that lies between the allocation of the descriptor and its entry, the rest behind the
        /// close.
        opening_percent: u32 = "opening-percent" Percent(100), or 50;
        /// How much longer or shorter each piece of that work may be.
        varies_percent: u32 = "varies-percent" Percent(100), or 0;
        /// How many descriptors the process has open otherwise.
        open_files: u32 = "open-files" Count(0, 1000), or 5;
        /// How many descriptors fit into a table that lies in one piece with its lock; 0: the process never
        /// had such a table.
        beside_lock: u32 = "beside-lock" Count(0, 1_000_000), or 64;
        /// How many entries share a line.
        entries: u32 = "entries" Count(1, 64), or 8;
        /// How many of the first entries are in the lock's line, if the table is.
        in_lock_line: u32 = "in-lock-line" Count(0, 63), or 4;
        /// How often an operation changes a shared reference count outside of sections.
        counts: u32 = "counts" Count(0, 64), or 0;
    }
}

/// The line of reference counts.
const COUNT: usize = 0;
/// The line of the bitmap, if it is not the lock's.
const BITMAP: usize = 1;
/// The first line of entries.
const ENTRIES: usize = 2;

impl OpenClose {
    /// Whether bitmap and entries have lines of their own, with `contexts` threads.
    fn is_apart(&self, contexts: usize) -> bool {
        contexts + self.open_files as usize > self.beside_lock as usize
    }

    /// The line of a descriptor's entry.
    fn entry(&self, descriptor: u32, is_apart: bool) -> usize {
        // Behind the entries in the lock's line, whole lines of them follow.
        let shift = if is_apart { 0 } else { self.entries - self.in_lock_line % self.entries };
        ENTRIES + ((descriptor + shift) / self.entries) as usize
    }
}

/// A process under way.
pub(super) struct Running {
    with: OpenClose,
    /// The free descriptors, the lowest first. Changed by the lock's holder only.
    free: RefCell<BinaryHeap<Reverse<u32>>>,
}

impl Running {
    pub(super) fn new(with: OpenClose) -> Self {
        Self { with, free: RefCell::new(BinaryHeap::new()) }
    }

    /// The lowest free descriptor.
    fn take(&self, contexts: usize) -> u32 {
        let mut free = self.free.borrow_mut();
        if free.is_empty() {
            // Before the first operation; later there is one for each thread.
            let first = self.with.open_files;
            free.extend((first..first + contexts as u32).map(Reverse));
        }
        let Reverse(lowest) = free.pop().expect("one for each thread");
        lowest
    }
}

impl Lives for OpenClose {
    fn locks(&self, _contexts: usize) -> usize {
        1
    }

    fn lines(&self, contexts: usize) -> usize {
        self.entry(self.open_files + contexts as u32, false) + 1
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
        let is_apart = with.is_apart(here.contexts());
        let opening = with.think * Time::from(with.opening_percent) / 100;
        let work = |span| here.compute(here.about(span, u64::from(with.varies_percent)));
        loop {
            here.acquire(0);
            if is_apart {
                here.touch(BITMAP..BITMAP + 1, true); // else it came with the lock
            }
            let descriptor = self.take(here.contexts());
            let entry = with.entry(descriptor, is_apart);
            here.touch(entry..entry + 1, false);
            here.compute(with.critical);
            here.release(0);

            for _ in 0..with.counts {
                here.touch(COUNT..COUNT + 1, true);
            }
            work(opening);
            here.touch(entry..entry + 1, true);

            here.acquire(0);
            let written = [entry, BITMAP];
            here.touch_each(if is_apart { &written } else { &written[..1] }, true);
            here.compute(with.critical);
            self.free.borrow_mut().push(Reverse(descriptor));
            here.release(0);
            work(with.think - opening);
            here.op();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_lie_where_the_kernel_has_them() {
        let with =
            OpenClose { entries: 8, in_lock_line: 4, beside_lock: 64, open_files: 5, ..OpenClose::BLANK };
        let line = |descriptor, is_apart| with.entry(descriptor, is_apart) - ENTRIES;
        assert_eq!([3, 4, 11, 12].map(|descriptor| line(descriptor, false)), [0, 1, 1, 2]);
        assert_eq!([7, 8, 15, 16].map(|descriptor| line(descriptor, true)), [0, 1, 1, 2]);
        assert!(!with.is_apart(59) && with.is_apart(60));
        assert!(
            with.entry(5 + 142 - 1, true) < with.lines(142) && with.entry(5 + 59 - 1, false) < with.lines(59)
        );
    }

    #[test]
    fn the_lowest_free_descriptor_is_taken() {
        let table = Running::new(OpenClose { open_files: 5, ..OpenClose::BLANK });
        assert_eq!([table.take(4), table.take(4), table.take(4)], [5, 6, 7]);
        table.free.borrow_mut().push(Reverse(6));
        assert_eq!([table.take(4), table.take(4)], [6, 8]);
    }
}
