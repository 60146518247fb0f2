//! `record=PATH`: a trace of the locks. At each release the thread writes an event into pages of a shared
//! mapping that are its own: how long after its last release it came, which lock, how long it waited and
//! held. Marks between events say what else counts: notifications, waits for conditions, and time off the CPU
//! (`off_cpu.rs`).
//!
//! The file outlives the program, however it ends; nothing is allocated, and there is no exit handler (IW1).
//! `stanchion-wire` says what is in it, `file.rs` how it comes to be, `ticks.rs` what time it is, `thread.rs`
//! what a thread writes.
//!
//! Where no room is left an event is dropped, and counted. So is one whose lock the releasing thread did not
//! take, or took before it forked, and one of a signal handler that came while the thread was writing. Every
//! release is an event or counted as dropped. Spin locks are not recorded, nor are tries that fail and
//! recursive acquisitions that only count up.
mod file;
mod off_cpu;
mod thread;
mod ticks;

use crate::locks::{Choice, Meets};
use crate::object::Mutex;
use crate::stats::{self, Attempt};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering};
use stanchion_wire::trace::{Header, mark};

pub(crate) const MUTEX: u64 = 1;
pub(crate) const READ: u64 = 2;
pub(crate) const WRITE: u64 = 3;

/// Null, or the file.
static FILE: AtomicPtr<Header> = AtomicPtr::new(ptr::null_mut());
/// 0 while nothing is recorded, else what gives the time.
static CLOCK: AtomicU8 = AtomicU8::new(0);
/// The calling process's number in the file.
static PROCESS: AtomicU32 = AtomicU32::new(0);
/// Whether pages get their room on the disk as they are taken.
static IS_LAZY: AtomicBool = AtomicBool::new(false);

/// Records in the file at `path` from now on.
pub(crate) fn start(path: &[u8]) -> Result<(), &'static str> {
    if path.is_empty() {
        return Err("no path");
    }
    let (header, is_lazy) = file::map(path)?;
    thread::find_place();
    // ord: AA9 alone: published by AA11
    IS_LAZY.store(is_lazy, Ordering::Relaxed);
    number_process(header);
    // ord: AA10 alone: written under the file's lock, which this thread had after that
    let clock = header.clock.load(Ordering::Relaxed) as u8;
    // ord: AA11 pairs AA13: all that belongs to it comes first
    FILE.store(ptr::from_ref(header).cast_mut(), Ordering::Release);
    // ord: AA12 pairs AA16: all that belongs to it comes first
    CLOCK.store(clock, Ordering::Release);
    Ok(())
}

fn number_process(header: &Header) {
    // ord: AA14 alone: a number of one's own is all that is needed
    let number = header.processes.fetch_add(1, Ordering::Relaxed);
    // ord: AA15 alone: published by AA11, or the process has one thread
    PROCESS.store(number, Ordering::Relaxed);
}

fn header() -> Option<&'static Header> {
    // ord: AA13 pairs AA11: who finds it finds it mapped
    // SAFETY: null, or mapped for good.
    unsafe { FILE.load(Ordering::Acquire).as_ref() }
}

/// See `fork.rs`: the child's chunk is its parent's.
pub(crate) fn forked() {
    if let Some(header) = header() {
        number_process(header);
        thread::forget();
    }
}

/// The time, if anything is recorded; else 0.
#[inline(always)]
pub(crate) fn now() -> u64 {
    // ord: AA16 pairs AA12: who finds a clock finds all of it
    match CLOCK.load(Ordering::Acquire) {
        0 => 0,
        clock => ticks::now(clock),
    }
}

/// # Safety
///
/// As [`Choice::acquire`].
#[inline(always)]
pub(crate) unsafe fn acquire(this: &Mutex, choice: Choice) {
    // SAFETY: the caller's promise, which is that of `Choice`.
    unsafe {
        match now() {
            0 => stats::acquire(this, choice),
            came => acquire_recorded(this, choice, came),
        }
    }
}

/// # Safety
///
/// As [`Choice::acquire`].
#[inline(never)]
unsafe fn acquire_recorded(this: &Mutex, choice: Choice, came: u64) {
    let (address, came) = (ptr::from_ref(this).addr(), thread::ready(came));
    // SAFETY: the caller's promise, which is that of `Choice`.
    unsafe {
        // Where nobody is, this is the beginning of `acquire` and no other way in; and the clock need not be
        // read twice.
        if choice.meets(&raw const this.word) == Meets::Nobody
            && stats::try_acquire(this, choice, Attempt::First)
        {
            return thread::enter(address, MUTEX, came, came);
        }
        // What it waits from here on is not what it did before.
        thread::comes(came);
        stats::acquire(this, choice);
    }
    thread::enter(address, MUTEX, came, now());
}

/// The time, if anything is recorded, at which the thread comes for a lock that it may have to wait for; else
/// 0.
#[inline(always)]
pub(crate) fn come() -> u64 {
    let mut came = now();
    if came != 0 {
        came = thread::ready(came);
        thread::comes(came);
    }
    came
}

/// A lock was taken by who came at `came`, which is 0 if nothing is recorded.
#[inline(always)]
pub(crate) fn enter(address: usize, kind: u64, came: u64) {
    if came != 0 {
        thread::enter(address, kind, came, now());
    }
}

/// The same at once.
#[inline(always)]
pub(crate) fn enter_at_once(address: usize, kind: u64) {
    match now() {
        0 => {}
        now => thread::enter(address, kind, now, now),
    }
}

/// A lock was released at `at`, which is 0 if nothing is recorded. The lock itself is not touched (IW3).
#[inline(always)]
pub(crate) fn left(address: usize, kind: u64, at: u64) {
    if at != 0 {
        thread::left(address, kind, at);
    }
}

/// A wait for the condition at `address` is over that began at `since`, which is 0 if nothing is recorded.
pub(crate) fn waited_for(address: usize, since: u64, was_notified: bool) {
    if since != 0 {
        let at = now();
        let what = if was_notified { mark::WAITED } else { mark::TIMED_OUT };
        thread::at_condition(what, address, at.saturating_sub(since), at);
    }
}

/// One waiter for the condition at `address` is notified, or all.
pub(crate) fn notifies(address: usize, all: bool) {
    match now() {
        0 => {}
        at => thread::at_condition(if all { mark::NOTIFIED_ALL } else { mark::NOTIFIED }, address, 0, at),
    }
}
