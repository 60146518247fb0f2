//! Cells that contexts share beside the locks: statistics, switches, and the data that the locks under test
//! protect.
//!
//! None of them orders anything but [`EventCount`]: what a lock under test protects must be ordered by that
//! lock alone.
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A number that one context at a time writes, and any may read: a statistic, or a word that a lock protects.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// A cell that holds `value`.
    pub const fn new(value: u64) -> Self {
        Self(AtomicU64::new(value))
    }

    /// What it holds.
    #[inline]
    pub fn get(&self) -> u64 {
        // ord: AC1 alone: a statistic, or a word whose lock orders it
        self.0.load(Ordering::Relaxed)
    }

    /// Writes it.
    #[inline]
    pub fn set(&self, value: u64) {
        // ord: AC2 alone: a statistic, or a word whose lock orders it
        self.0.store(value, Ordering::Relaxed);
    }

    /// Adds to it in two steps, which others that write at the same time would spoil: that is how a broken
    /// lock shows.
    #[inline]
    pub fn add(&self, value: u64) {
        self.set(self.get().wrapping_add(value));
    }

    /// Adds to it in one step and returns what was there; for cells that many contexts write.
    #[inline]
    pub fn take(&self, value: u64) -> u64 {
        // ord: AC3 alone: a ticket or a statistic, which orders nothing else
        self.0.fetch_add(value, Ordering::Relaxed)
    }

    /// Sets it to zero in one step and returns what was there.
    #[inline]
    pub fn drain(&self) -> u64 {
        // ord: AC21 alone: a statistic, which orders nothing else
        self.0.swap(0, Ordering::Relaxed)
    }

    /// Replaces `seen` by `next` in one step, unless it holds something else by now; whether it did.
    #[inline]
    pub fn claim(&self, seen: u64, next: u64) -> bool {
        // ord: AC20 alone: decides who goes on, and orders nothing
        self.0.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Makes it the greater of what it holds and `value`; for cells that one context writes.
    #[inline]
    pub fn raise(&self, value: u64) {
        if value > self.get() {
            self.set(value);
        }
    }
}

/// An eventcount (Reed and Kanodia 1979): a number that only grows, and tells who reads it what was written
/// before it grew.
#[derive(Debug, Default)]
pub struct EventCount(AtomicU32);

impl EventCount {
    /// One that nobody has advanced.
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// How far it has come.
    #[inline]
    pub fn read(&self) -> u32 {
        // ord: AC4 pairs AC5: what was written before the count moved can be read
        self.0.load(Ordering::Acquire)
    }

    /// Moves it by one, and returns where it was.
    #[inline]
    pub fn advance(&self) -> u32 {
        // ord: AC5 pairs AC4: what was written before can be read by who sees it moved
        self.0.fetch_add(1, Ordering::AcqRel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_adds_raises_and_hands_out_tickets() {
        let count = Count::new(5);
        count.add(2);
        count.raise(3);
        assert_eq!(count.get(), 7);
        count.raise(9);
        assert_eq!((count.take(1), count.get()), (9, 10));
        assert_eq!((count.claim(9, 1), count.claim(10, 1), count.get()), (false, true, 1));
        assert_eq!((count.drain(), count.get()), (1, 0));
    }

    #[test]
    fn an_event_count_counts_advances() {
        let count = EventCount::default();
        assert_eq!((count.read(), count.advance(), count.advance(), count.read()), (0, 0, 1, 2));
    }
}
