//! Reader-writer locks: a record for each side.
//!
//! Readers are several, so a read hold is timed by who reads: a thread notes the first of its reads that is
//! to be timed, and no other until that one is over.
use super::count::{Arrival, now};
use super::records::{self, Found};
use super::{READ, RwLock, WRITE, is_on, seen};
use crate::locks::Meets;
use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU64, Ordering};
use stanchion::native::watch::Seen;
use stanchion_core::RawRwLock;

thread_local! {
    /// The read lock whose hold is timed, and since when.
    static READING: Cell<(usize, u64)> = const { Cell::new((0, 0)) };
}

/// The child of a fork has no record of what it holds.
pub(super) fn forked() {
    READING.set((0, 0));
}

/// Somebody who came for a side of a lock, if it is counted.
pub(crate) struct Comer(Option<(Found, Arrival, Seen)>);

/// Where a side of a lock notes its record, and what it is there.
fn side(this: &RwLock, write: bool) -> (&AtomicU16, u32) {
    if write { (&this.write_record, WRITE) } else { (&this.read_record, READ) }
}

/// Before a side is asked for. `waits` says whether the caller would wait.
#[inline(always)]
pub(crate) fn come(this: &RwLock, write: bool, waits: bool) -> Comer {
    Comer(if is_on() { come_counted(this, write, waits) } else { None })
}

#[inline(never)]
fn come_counted(this: &RwLock, write: bool, waits: bool) -> Option<(Found, Arrival, Seen)> {
    let (index, kind) = side(this, write);
    let found = records::of(index, ptr::from_ref(this).addr(), kind)?;
    let word = this.lock().word();
    // Readers meet a writer, or a queue that lets nobody pass (2, as the word is told) unless they go past
    // it.
    let held = word.locked != 0
        || if write { word.tail != 0 } else { word.pending & 2 != 0 && !this.prefers_readers() };
    let met = if waits && held { Meets::Holder } else { Meets::Nobody };
    Some((found, found.arrive(met), seen()))
}

impl Comer {
    /// It had to wait after all, in a timed form: the clock runs from here.
    pub(crate) fn waits(&mut self) {
        if let Some((found, arrival, _)) = &mut self.0 {
            *arrival = found.arrive(Meets::Holder);
        }
    }

    /// It got in.
    #[inline(always)]
    pub(crate) fn enter(self, this: &RwLock, write: bool) {
        if let Some((found, arrival, before)) = self.0 {
            enter_counted(this, write, found, arrival, before);
        }
    }

    /// It did not.
    #[inline(always)]
    pub(crate) fn fail(self) {
        if let Some((found, ..)) = self.0 {
            found.fail();
        }
    }
}

#[inline(never)]
fn enter_counted(this: &RwLock, write: bool, found: Found, arrival: Arrival, before: Seen) {
    if !found.enter(arrival, seen().since(before), 0, write) {
    } else if write {
        begin_hold(&this.timed, &found.record.held_since);
    } else if READING.get().0 == 0 {
        READING.set((ptr::from_ref(this).addr(), now()));
    }
}

/// Calls `release`, after which the lock may be gone (IW3).
#[inline(always)]
pub(crate) fn leave(this: &RwLock, write: bool, release: impl FnOnce()) {
    if !is_on() {
        return release();
    }
    let (index, kind) = side(this, write);
    let address = ptr::from_ref(this).addr();
    let Some(found) = records::again(index, address, kind) else { return release() };
    if write {
        if let Some(since) = end_hold(&this.timed, &found.record.held_since) {
            found.held_since(since, true);
        }
    } else if READING.get().0 == address {
        found.held_since(READING.replace((0, 0)).1, false);
    }
    let before = seen();
    release();
    found.kicked(seen().since(before));
}

/// A write hold is timed from here on.
#[cold]
fn begin_hold(timed: &AtomicU8, held_since: &AtomicU64) {
    // ord: F45 alone: the holder's own
    held_since.store(now(), Ordering::Relaxed);
    // ord: F46 alone: the holder's own
    timed.store(1, Ordering::Relaxed);
}

#[inline(always)]
fn end_hold(timed: &AtomicU8, held_since: &AtomicU64) -> Option<u64> {
    // ord: F47 alone: the holder's own
    if timed.load(Ordering::Relaxed) == 0 {
        return None;
    }
    // ord: F48 alone: the holder's own
    timed.store(0, Ordering::Relaxed);
    // ord: F49 alone: the holder's own
    Some(held_since.load(Ordering::Relaxed))
}
