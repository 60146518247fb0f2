//! Mutexes: operations that are counted.
//!
//! A counter in the record would be a second cache line that goes from holder to holder. So the holder counts
//! in the mutex itself, whose line it has, and adds that to the record now and then. As long as the record
//! has fewer than 1024 acquisitions, it does so each time. After that it does so at every hold that is timed,
//! whenever it had to wait, and when the mutex is destroyed. A program that ends leaves at most 95 uncounted
//! for each lock that has more than a thousand.
//!
//! | bits of the tally | what |
//! |---|---|
//! | 0 | this hold is timed |
//! | 1–7 | acquisitions to be added, 96 at most |
//! | 8–15 | steals to be added |
use super::count::{Arrival, add, now};
use super::{MUTEX, is_on, records, seen};
use crate::locks::{Choice, Meets};
use crate::object::Mutex;
use core::ptr;
use core::sync::atomic::Ordering;
use records::Found;
use stanchion::deadline::Deadline;
use stanchion::native::watch::Seen;

const TIMED: u16 = 1;
const ONE: u16 = 1 << 1;
const STEAL: u16 = 1 << 8;

/// Acquisitions that are to be added.
#[inline(always)]
fn acquisitions(tally: u16) -> u32 {
    u32::from(tally >> 1 & 0x7f)
}

/// Steals that are to be added.
fn steals(tally: u16) -> u32 {
    u32::from(tally >> 8)
}

/// How a try form is meant.
#[derive(Clone, Copy)]
pub(crate) enum Attempt {
    /// As such.
    Once,
    /// As the beginning of a timed form.
    First,
    /// As the rest of a timed form, which waits; and when that began, if it is recorded.
    Waiting(Arrival, Deadline, u64),
}

#[inline(always)]
fn of(this: &Mutex) -> Option<Found> {
    records::of(&this.record, ptr::from_ref(this).addr(), MUTEX)
}

fn again(this: &Mutex) -> Option<Found> {
    records::again(&this.record, ptr::from_ref(this).addr(), MUTEX)
}

/// # Safety
///
/// As [`Choice::acquire`].
#[inline(always)]
pub(crate) unsafe fn acquire(this: &Mutex, choice: Choice) {
    let word = &raw const this.word;
    // SAFETY: the caller's promise, which is that of `Choice`.
    unsafe {
        let Some(found) = of(this) else { return choice.acquire(word) };
        let met = choice.meets(word);
        // Where nobody is, this is the beginning of `acquire` and no other way in; and there is nothing to be
        // seen of a slow path.
        if met == Meets::Nobody && choice.try_acquire(word) {
            return enter(this, found, Arrival::Free, Seen::default());
        }
        let (before, arrival) = (seen(), found.arrive(met));
        choice.acquire(word);
        enter(this, found, arrival, seen().since(before));
    }
}

/// # Safety
///
/// As [`Choice::try_acquire`].
#[inline(always)]
pub(crate) unsafe fn try_acquire(this: &Mutex, choice: Choice, attempt: Attempt) -> bool {
    // SAFETY: the caller's promise, which is that of `Choice`.
    unsafe {
        let (word, mut arrival, mut did) = (&raw const this.word, Arrival::Free, Seen::default());
        let taken = if let Attempt::Waiting(came, until, _) = attempt {
            let seen = || if is_on() { seen() } else { Seen::default() };
            let before = seen();
            let taken = choice.acquire_until(word, &until);
            (arrival, did) = (came, seen().since(before));
            taken
        } else {
            choice.try_acquire(word)
        };
        let Some(found) = of(this) else { return taken };
        if taken {
            enter(this, found, arrival, did);
        } else if matches!(attempt, Attempt::Once) {
            found.fail();
        }
        taken
    }
}

/// The lock was taken.
#[inline(always)]
fn enter(this: &Mutex, found: Found, arrival: Arrival, seen: Seen) {
    let steal = if seen.steals == 0 { 0 } else { STEAL };
    // What is there belongs to the record that the object had before: that of a parent, or of an object that
    // was copied.
    // ord: F51 alone: the holder's own
    let before = if found.is_new { 0 } else { this.tally.load(Ordering::Relaxed) & !TIMED };
    let tally = before + ONE + steal;
    let is_quiet = seen.parks | seen.kicks == 0 && !arrival.waited(seen);
    // ord: F52 alone: a statistic orders nothing
    if is_quiet && found.is_own && acquisitions(tally) < found.record.limit.load(Ordering::Relaxed) {
        // ord: F53 alone: the holder's own
        return this.tally.store(tally, Ordering::Relaxed);
    }
    enter_slow(this, found, arrival, seen, tally);
}

#[inline(never)]
fn enter_slow(this: &Mutex, found: Found, arrival: Arrival, seen: Seen, tally: u16) {
    let steals = Seen { steals: steals(tally), ..seen };
    let more = acquisitions(tally) - 1;
    // Whether this one waited is told by its own steals, and those that are added are all.
    let waited = if arrival.waited(seen) { arrival } else { Arrival::Free };
    let is_timed = found.enter(waited, Seen { steals: 0, ..steals }, more, true);
    if steals.steals != 0 {
        add(&found.record.steals, steals.steals.into(), found.is_own);
    }
    if is_timed {
        // ord: F54 alone: the holder's own
        found.record.held_since.store(now(), Ordering::Relaxed);
    }
    // ord: F55 alone: the holder's own
    this.tally.store(if is_timed { TIMED } else { 0 }, Ordering::Relaxed);
}

/// Somebody begins to wait in a timed form.
pub(crate) fn arrive(this: &Mutex) -> Arrival {
    if !is_on() {
        return Arrival::Free;
    }
    of(this).map_or(Arrival::Free, |found| found.arrive(Meets::Holder))
}

/// A timed form's time came.
pub(crate) fn gave_up(this: &Mutex) {
    if let Some(found) = again(this) {
        found.fail();
    }
}

/// # Safety
///
/// As [`Choice::release`].
#[inline(always)]
pub(crate) unsafe fn release(this: &Mutex, choice: Choice) {
    let word = &raw const this.word;
    // SAFETY: the caller's promise. After the release only the record is touched (IW3).
    unsafe {
        // ord: F56 alone: the holder's own
        if is_on() && (this.tally.load(Ordering::Relaxed) & TIMED != 0 || choice.is_waited_for(word)) {
            release_seen(this, choice);
        } else {
            choice.release(word);
        }
    }
}

/// # Safety
///
/// As [`Choice::release`].
#[inline(never)]
unsafe fn release_seen(this: &Mutex, choice: Choice) {
    // SAFETY: the caller's promise. After the release only the record is touched (IW3).
    unsafe {
        let Some(found) = again(this) else { return choice.release(&raw const this.word) };
        // ord: F57 alone: the holder's own
        let tally = this.tally.load(Ordering::Relaxed);
        if tally & TIMED != 0 {
            // ord: F58 alone: the holder's own
            this.tally.store(tally & !TIMED, Ordering::Relaxed);
            // ord: F59 alone: the holder's own
            found.held_since(found.record.held_since.load(Ordering::Relaxed), true);
        }
        let before = seen();
        choice.release(&raw const this.word);
        found.kicked(seen().since(before));
    }
}

/// Nobody uses the mutex any more.
pub(crate) fn destroyed(this: &Mutex) {
    // ord: F60 alone: nobody uses it
    let tally = this.tally.load(Ordering::Relaxed);
    if acquisitions(tally) != 0
        && let Some(found) = again(this)
    {
        add(&found.record.acquisitions, acquisitions(tally).into(), found.is_own);
        add(&found.record.steals, steals(tally).into(), found.is_own);
    }
}
