//! Finding the record of a lock, and making it at the first use.
//!
//! A record belongs to a process, an address, a kind and the stack of the first use. A lock that is
//! destroyed, made again at the same address and used from the same place first goes on with the same record
//! (`lives` counts them). Objects hold the index plus one, and an index that is not the object's own is
//! noticed: a copied object has another address, one inherited by the child of a `fork` another process.
//! Where there is no room, or while the calling thread is in here already, the first record takes what there
//! is, together with all others.
use super::{file_if_on, turn_off, whence};
use crate::descriptor::Descriptor;
use crate::descriptor::keeping_errno;
use core::cell::Cell;
use core::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use stanchion_wire::stats::{File, PROCESSES, RECORDS, Record};

/// Records looked at for one.
const PROBES: usize = 64;

/// The calling process's index in the file plus one; 0 before it has one.
static PROCESS: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The thread makes a record: a lock that it takes meanwhile (the unwinder has one for code that was
    /// registered by hand) gets none.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// The child of a fork needs a place of its own.
pub(super) fn forked() {
    // ord: F14 alone: the process has one thread
    PROCESS.store(0, Ordering::Relaxed);
    INSIDE.set(false);
}

/// A record, and whether it is for one lock alone.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) record: &'static Record,
    pub(super) is_own: bool,
    /// The object has it from now on.
    pub(super) is_new: bool,
}

/// The record of the object at `address`, whose index is in `index`. None if nothing is counted.
#[inline(always)]
pub(super) fn of(index: &AtomicU16, address: usize, kind: u32) -> Option<Found> {
    let file = file_if_on()?;
    // ord: F15 alone: what hangs on it is compared below
    let known = usize::from(index.load(Ordering::Relaxed));
    if known > 1 && known <= RECORDS {
        let record = &file.records[known - 1];
        if is(record, address, kind) {
            return Some(Found { record, is_own: true, is_new: false });
        }
    }
    find(file, index, address, kind)
}

/// The record that was found before, for who leaves. None if there is none.
#[inline(always)]
pub(super) fn again(index: &AtomicU16, address: usize, kind: u32) -> Option<Found> {
    let file = file_if_on()?;
    // ord: F16 alone: what hangs on it is compared below
    let known = usize::from(index.load(Ordering::Relaxed));
    let record = file.records.get(known.checked_sub(1)?)?;
    (known == 1 || is(record, address, kind)).then_some(Found { record, is_own: known != 1, is_new: false })
}

#[inline(always)]
fn is(record: &Record, address: usize, kind: u32) -> bool {
    // ord: F17 alone: whoever has the index has it from who wrote the line, in this process
    record.address.load(Ordering::Relaxed) == address as u64
        && record.process.load(Ordering::Relaxed) == PROCESS.load(Ordering::Relaxed)
        && record.kind.load(Ordering::Relaxed) as u16 == kind as u16
}

#[cold]
#[inline(never)]
fn find(file: &'static File, index: &AtomicU16, address: usize, kind: u32) -> Option<Found> {
    // ord: F18 alone: a hint that is compared
    let before = index.load(Ordering::Relaxed);
    let others = Found { record: &file.records[0], is_own: false, is_new: false };
    if before == 1 || INSIDE.get() {
        return Some(others);
    }
    INSIDE.set(true);
    let made = keeping_errno(|| process(file).map(|process| make(file, process, address, kind)));
    INSIDE.set(false);
    let found = made?;
    const { assert!(RECORDS < 1 << 16) };
    let number = found.map_or(0, |number| number) as u16 + 1;
    // ord: F19 pairs F20: whoever takes the index finds the record's first line written
    // ord: F20 pairs F19: a failed exchange finds the first line of the record of the one that was faster
    match index.compare_exchange(before, number, Ordering::AcqRel, Ordering::Acquire) {
        // Two came at once; there is one record for both.
        Err(now) if now > 1 && usize::from(now) <= RECORDS => {
            Some(Found { record: &file.records[usize::from(now) - 1], is_own: true, is_new: false })
        }
        Ok(_) if number > 1 => {
            let record = &file.records[usize::from(number) - 1];
            // ord: F21 alone: a statistic orders nothing
            record.lives.fetch_add(1, Ordering::Relaxed);
            Some(Found { record, is_own: true, is_new: true })
        }
        _ => Some(others),
    }
}

/// The number of a record for the object. None if there is no room.
fn make(file: &File, process: u32, address: usize, kind: u32) -> Option<usize> {
    let stack = whence::stack();
    let kind = kind | (stack.depth as u32) << 16;
    let spread = (address as u64 ^ u64::from(process) << 48 ^ u64::from(kind) << 32)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        >> 40;
    let places = (0..PROBES).map(|step| 1 + (spread as usize + step) % (RECORDS - 1));
    for number in places {
        let record = &file.records[number];
        // ord: F22 alone: a free record is taken by this, and one that is taken stays so
        let taken =
            record.address.compare_exchange(0, address as u64, Ordering::Relaxed, Ordering::Relaxed).err();
        if taken.is_none() {
            // ord: F23 alone: published by F24
            record.process.store(process, Ordering::Relaxed);
            for (cell, frame) in record.frames.iter().zip(stack.frames) {
                // ord: F25 alone: published by F24
                cell.store(frame, Ordering::Relaxed);
            }
            // ord: F24 pairs F26: the rest of the line comes first
            record.kind.store(kind, Ordering::Release);
            whence::note(file, process, &stack);
            return Some(number);
        }
        // ord: F26 pairs F24: a line that is whole is compared
        // ord: F27 alone: after F26, written before
        let same = taken == Some(address as u64)
            && record.kind.load(Ordering::Acquire) == kind
            && record.process.load(Ordering::Relaxed) == process
            && record.frames.iter().zip(stack.frames).all(|(a, b)| a.load(Ordering::Relaxed) == b);
        if same {
            return Some(number);
        }
    }
    None
}

/// The index plus one of the calling process, which takes a place if it has none. Without one, nothing is
/// counted.
fn process(file: &File) -> Option<u32> {
    // ord: F28 alone: what hangs on it was written by this process
    let known = PROCESS.load(Ordering::Relaxed);
    if known != 0 {
        return Some(known);
    }
    // ord: F29 alone: a number of one's own is all that is needed
    let taken = file.header.processes_used.fetch_add(1, Ordering::Relaxed);
    let Some(place) = file.processes.get(taken as usize) else {
        // Another process of the program may be the 65th again; the count says how many were left out.
        turn_off();
        return None;
    };
    const { assert!(PROCESSES < 1 << 16) };
    // Two threads at once take two places; the second stays empty.
    // ord: F30 alone: threads of a process agree by this
    if let Err(known) = PROCESS.compare_exchange(0, taken + 1, Ordering::Relaxed, Ordering::Relaxed) {
        return Some(known);
    }
    // SAFETY: a call without arguments, which cannot fail.
    let pid = unsafe { libc::getpid() } as u32;
    // ord: F31 alone: published by F32
    place.pid.store(pid, Ordering::Relaxed);
    let mut name = [0; 56];
    let length =
        Descriptor::open(b"/proc/self/comm\0", libc::O_RDONLY).map_or(0, |comm| comm.read(&mut name));
    let written = whence::write_text(&place.name, name[..length].trim_ascii());
    // ord: F32 alone: read by another process, of which the kernel knows that this one ended, or that may
    // miss a name
    place.length.store(written + 1, Ordering::Release);
    Some(taken + 1)
}
