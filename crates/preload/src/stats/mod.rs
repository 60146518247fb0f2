//! `stats=PATH`: what happens at each lock, counted in a file that is mapped into the program. `stats` alone counts in memory that nobody
//! reads, to see what counting costs.
//!
//! The file outlives the program, however it ends, and can be read while it runs: there is no exit handler, no signal handler, no thread. Nothing
//! is allocated (W1). `layout.rs` says what is in it, `records.rs` which lock counts where, `count.rs` what is counted and when the clock is
//! read, `whence.rs` how a place in the program is noted, `file.rs` how the file comes to be. Here is what the exported functions call.
//!
//! Programs that the program starts, and its forked children, count in the same file as processes of their own, up to 64. Spin locks are not counted:
//! their four bytes have no room for an index. Recursive acquisitions that only count up are not counted either.
//!
//! Without the word, mutexes of the default lock do not come here: `config::is_plain` is false while this is on. Everywhere else it costs one
//! load and a branch.
mod count;
mod file;
mod layout;
mod records;
pub(crate) mod rw;
mod whence;

use crate::locks::{Choice, Meets};
use crate::object::{Mutex, RwLock};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
pub(crate) use count::Arrival;
use layout::File;
pub(crate) use layout::Left;
use stanchion::native::watch::{self, seen};

const MUTEX: u32 = 1;
const READ: u32 = 2;
const WRITE: u32 = 3;

/// The file, while there is one to count in.
static FILE: AtomicPtr<File> = AtomicPtr::new(ptr::null_mut());

#[inline(always)]
fn file_if_on() -> Option<&'static File> {
    // ord: F41 pairs F42: who finds it finds it mapped
    let file = FILE.load(Ordering::Acquire);
    // SAFETY: null, or mapped for good.
    unsafe { file.as_ref() }
}

#[inline(always)]
pub(crate) fn is_on() -> bool {
    // ord: F43 alone: who goes on looks again
    !FILE.load(Ordering::Relaxed).is_null()
}

fn turn_off() {
    // ord: F44 alone: the file stays mapped for who still counts
    FILE.store(ptr::null_mut(), Ordering::Relaxed);
}

/// The longest path.
const LONGEST: usize = 1024;

/// Counts in the file at `path` from now on; in memory that nobody reads if there is none.
pub(crate) fn start(path: &[u8]) -> Result<(), &'static str> {
    let mut terminated = [0_u8; LONGEST + 1];
    if path.len() > LONGEST {
        return Err("a longer path than 1024 bytes");
    }
    terminated[..path.len()].copy_from_slice(path);
    let file = if path.is_empty() { file::map_nothing() } else { file::map(&terminated[..=path.len()]) }?;
    watch::start();
    // ord: F42 pairs F41: mapped before anybody finds it
    FILE.store(ptr::from_ref(file).cast_mut(), Ordering::Release);
    Ok(())
}

/// See `fork.rs`.
pub(crate) fn forked() {
    records::forked();
}

/// An object was left to libc.
pub(crate) fn left_to_libc(why: Left) {
    if let Some(file) = file_if_on() {
        count::add(&file.header.left[why as usize], 1, false);
    }
}

/// How a try form is meant.
#[derive(Clone, Copy)]
pub(crate) enum Attempt {
    /// As such.
    Once,
    /// As the beginning of a timed form.
    First,
    /// As a part of a timed form that waits.
    Waiting(Arrival),
}

/// # Safety
///
/// As [`Choice::acquire`].
#[inline(always)]
pub(crate) unsafe fn acquire(this: &Mutex, choice: Choice) {
    // SAFETY: the caller's promise.
    unsafe {
        match records::of(&this.record, ptr::from_ref(this).addr(), MUTEX) {
            None => choice.acquire(&raw const this.word),
            Some(found) => {
                let before = seen();
                let arrival = found.arrive(choice.meets(&raw const this.word));
                choice.acquire(&raw const this.word);
                if found.enter(arrival, seen().since(before), true) {
                    begin_hold(&this.timed, &found.record.held_since);
                }
            }
        }
    }
}

/// # Safety
///
/// As [`Choice::try_acquire`].
#[inline(always)]
pub(crate) unsafe fn try_acquire(this: &Mutex, choice: Choice, attempt: Attempt) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let Some(found) = records::of(&this.record, ptr::from_ref(this).addr(), MUTEX) else {
            return choice.try_acquire(&raw const this.word);
        };
        let before = seen();
        let taken = choice.try_acquire(&raw const this.word);
        let arrival = match attempt {
            Attempt::Waiting(arrival) => arrival,
            Attempt::Once | Attempt::First => Arrival::Free,
        };
        if taken && found.enter(arrival, seen().since(before), true) {
            begin_hold(&this.timed, &found.record.held_since);
        }
        if !taken && matches!(attempt, Attempt::Once) {
            found.fail();
        }
        taken
    }
}

/// Somebody begins to wait in a timed form.
pub(crate) fn arrive(this: &Mutex) -> Arrival {
    records::of(&this.record, ptr::from_ref(this).addr(), MUTEX)
        .map_or(Arrival::Free, |found| found.arrive(Meets::Holder))
}

/// A timed form's time came.
pub(crate) fn gave_up(this: &Mutex) {
    if let Some(found) = records::again(&this.record, ptr::from_ref(this).addr(), MUTEX) {
        found.fail();
    }
}

/// # Safety
///
/// As [`Choice::release`].
#[inline(always)]
pub(crate) unsafe fn release(this: &Mutex, choice: Choice) {
    // SAFETY: the caller's promise. After the release only the record is touched (W3).
    unsafe {
        match records::again(&this.record, ptr::from_ref(this).addr(), MUTEX) {
            None => choice.release(&raw const this.word),
            Some(found) => {
                if let Some(since) = end_hold(&this.timed, &found.record.held_since) {
                    found.held_since(since, true);
                }
                let before = seen();
                choice.release(&raw const this.word);
                found.kicked(seen().since(before));
            }
        }
    }
}

/// A hold that excludes all others is timed from here on.
#[cold]
fn begin_hold(timed: &AtomicU32, held_since: &core::sync::atomic::AtomicU64) {
    // ord: F45 alone: the holder's own
    held_since.store(count::now(), Ordering::Relaxed);
    // ord: F46 alone: the holder's own
    timed.store(1, Ordering::Relaxed);
}

#[inline(always)]
fn end_hold(timed: &AtomicU32, held_since: &core::sync::atomic::AtomicU64) -> Option<u64> {
    // ord: F47 alone: the holder's own
    if timed.load(Ordering::Relaxed) == 0 {
        return None;
    }
    // ord: F48 alone: the holder's own
    timed.store(0, Ordering::Relaxed);
    // ord: F49 alone: the holder's own
    Some(held_since.load(Ordering::Relaxed))
}
