//! What is counted at a record, and when the clock is read.
//!
//! Every acquisition is counted. One is contended if it found the lock held, or free with others waiting and
//! did not get ahead of them. Timed are: contended ones, the first 256 at each lock and one in eight from
//! there on; and one hold in 64, at irregular distances. An acquisition that found the lock free and nobody
//! waiting, but was overtaken, counts as uncontended.
use super::records::Found;
use crate::locks::{Meets, World};
use crate::thread::id;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use stanchion::native::watch::Seen;
use stanchion_core::Machine;
use stanchion_wire::stats::{Times, bucket};

/// As many waits are timed without exception.
const ALL_WAITS: u64 = 256;
/// From there on one in so many.
const ONE_WAIT_IN: u64 = 8;
/// As many acquisitions of a mutex are added to its record one by one.
const EACH: u64 = 1024;
/// Holds are timed at distances of half of this to one and a half.
const ONE_HOLD_IN: u64 = 64;

/// What somebody found who came for a lock.
#[derive(Clone, Copy)]
pub(crate) enum Arrival {
    Free,
    /// `since` is when that was, if it is timed.
    Busy {
        met: Meets,
        since: Option<u64>,
    },
}

impl Arrival {
    /// Whether it had to wait, by what it met and what it did.
    #[inline(always)]
    pub(super) fn waited(self, seen: Seen) -> bool {
        matches!(self, Self::Busy { met, .. } if met == Meets::Holder || seen.steals == 0)
    }
}

/// Nanoseconds.
pub(super) fn now() -> u64 {
    World::now()
}

/// Adds to a counter that nobody else writes if `alone`.
#[inline(always)]
pub(super) fn add(counter: &AtomicU64, by: u64, alone: bool) -> u64 {
    if alone {
        // ord: F33 alone: a statistic orders nothing; who holds the lock is the only one to write
        let before = counter.load(Ordering::Relaxed);
        // ord: F34 alone: as F33, a count orders nothing
        counter.store(before + by, Ordering::Relaxed);
        return before;
    }
    // ord: F35 alone: a statistic orders nothing
    counter.fetch_add(by, Ordering::Relaxed)
}

fn add_if_any(counter: &AtomicU64, by: u32, alone: bool) {
    if by != 0 {
        add(counter, by.into(), alone);
    }
}

fn add_time(times: &Times, nanos: u64, alone: bool) {
    add(&times.number, 1, alone);
    add(&times.sum, nanos, alone);
    // ord: F36 alone: a statistic orders nothing
    times.most.fetch_max(nanos, Ordering::Relaxed);
    let cell: &AtomicU32 = &times.buckets[bucket(nanos)];
    // ord: F37 alone: a statistic orders nothing
    cell.fetch_add(1, Ordering::Relaxed);
}

impl Found {
    /// Somebody came, and will wait if there is reason to.
    #[inline(always)]
    pub(super) fn arrive(self, met: Meets) -> Arrival {
        if met == Meets::Nobody {
            return Arrival::Free;
        }
        // ord: F38 alone: any number will do to choose by
        let number = self.record.contended.load(Ordering::Relaxed);
        // Threads that take turns must not be told apart by it.
        let chosen = number < ALL_WAITS || (number + u64::from(id())).is_multiple_of(ONE_WAIT_IN);
        Arrival::Busy { met, since: chosen.then(now) }
    }

    /// The lock was taken, once and as often as `more` says; whether this hold is to be timed. `excludes`
    /// says that no other holder is there.
    pub(super) fn enter(self, arrival: Arrival, seen: Seen, more: u32, excludes: bool) -> bool {
        let (record, alone) = (self.record, excludes && self.is_own);
        let before = add(&record.acquisitions, u64::from(more) + 1, alone) + u64::from(more);
        if arrival.waited(seen) {
            if let Arrival::Busy { since: Some(since), .. } = arrival {
                add_time(&record.waits, now().saturating_sub(since), alone);
            }
            add(&record.contended, 1, alone);
        }
        if seen != Seen::default() {
            add_if_any(&record.steals, seen.steals, alone);
            add_if_any(&record.parks, seen.parks, alone);
            // A waiter may kick another on its way, and so may one that releases, who holds nothing.
            add_if_any(&record.kicks, seen.kicks, false);
        }
        // ord: F39 alone: a statistic orders nothing
        let due = self.is_own && before >= record.next_sample.load(Ordering::Relaxed);
        if due {
            let jitter = (before ^ before >> 5).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
            let distance = ONE_HOLD_IN / 2 + jitter;
            // ord: F40 alone: a statistic orders nothing
            record.next_sample.store(before + distance, Ordering::Relaxed);
            if before >= EACH {
                // ord: F50 alone: a statistic orders nothing
                record.limit.store(distance as u32, Ordering::Relaxed);
            }
        }
        due
    }

    /// A try form found it held, or a timed form's time came.
    #[cold]
    pub(super) fn fail(self) {
        add(&self.record.failed, 1, false);
    }

    /// The hold of who excludes all others is over, and was timed.
    #[cold]
    pub(super) fn held_since(self, since: u64, excludes: bool) {
        add_time(&self.record.holds, now().saturating_sub(since), excludes && self.is_own);
    }

    /// A release that kicked somebody is over.
    #[inline(always)]
    pub(super) fn kicked(self, seen: Seen) {
        add_if_any(&self.record.kicks, seen.kicks, false);
    }
}
