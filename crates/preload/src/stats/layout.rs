//! What the file of `stats` looks like: a header, processes, modules, records, each at a fixed place.
//! `stanchion run` has the same table on its side (`run/stats/file.rs`), and refuses a file whose version or
//! sizes are others.
//!
//! | bytes | what |
//! |---|---|
//! | 0–4095 | [`Header`] |
//! | 4096–8191 | 64 [`Process`]es |
//! | 8192–335 871 | 1024 [`Module`]s: pieces of the address space in which call sites are |
//! | from 335 872 | 8192 [`Record`]s; the first is for locks that have none of their own |
//!
//! All of it is zero at first, and stays so where nothing happens. Whoever reads while a program runs sees
//! counters that may be one apart.
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"STANCSTA");
pub(super) const VERSION: u32 = 1;
pub(super) const PROCESSES: usize = 64;
pub(super) const MODULES: usize = 1024;
pub(super) const RECORDS: usize = 8192;
/// Return addresses kept of the first use of a lock.
pub(super) const FRAMES: usize = 5;
/// Bytes of a module's path, of which longer ones lose their end.
pub(super) const PATH: usize = 288;
/// Buckets of a histogram: four for each power of two nanoseconds (`bucket`).
pub(super) const BUCKETS: usize = 128;

/// What is left to libc, in the order of the counters.
#[derive(Clone, Copy)]
pub(crate) enum Left {
    Robust,
    Protocol,
    SharedMutex,
    SharedRwLock,
    SharedCondition,
    SharedSpin,
}

#[repr(C, align(4096))]
pub(super) struct Header {
    pub(super) magic: AtomicU64,
    pub(super) version: AtomicU32,
    pub(super) record_size: AtomicU32,
    pub(super) records: AtomicU32,
    pub(super) processes: AtomicU32,
    pub(super) modules: AtomicU32,
    pub(super) processes_used: AtomicU32,
    pub(super) modules_used: AtomicU32,
    pub(super) _rest: AtomicU32,
    /// Initialisations that were left to libc, by [`Left`].
    pub(super) left: [AtomicU64; 6],
}

#[repr(C, align(64))]
pub(super) struct Process {
    pub(super) pid: AtomicU32,
    /// Of its name; plus one, once it is written.
    pub(super) length: AtomicU32,
    pub(super) name: [AtomicU8; 56],
}

#[repr(C, align(64))]
pub(super) struct Module {
    /// The process's index plus one.
    pub(super) process: AtomicU32,
    /// Of the path; plus one, once all is written.
    pub(super) length: AtomicU32,
    pub(super) start: AtomicU64,
    pub(super) end: AtomicU64,
    /// Of `start` in the file.
    pub(super) offset: AtomicU64,
    pub(super) path: [AtomicU8; PATH],
}

/// One lock, or one side of a reader-writer lock. The first line is written once; the rest by holders, and
/// counters of those who do not hold the lock by read-modify-writes.
#[repr(C, align(64))]
pub(super) struct Record {
    pub(super) address: AtomicU64,
    /// The process's index plus one.
    pub(super) process: AtomicU32,
    /// Kind (`KINDS` in the other side's table) and, in the upper half, the number of frames; 0 until all of
    /// the line is written.
    pub(super) kind: AtomicU32,
    pub(super) frames: [AtomicU64; FRAMES],
    /// Objects that were at this address one after another, and first used from the same place.
    pub(super) lives: AtomicU32,
    /// How many acquisitions of a mutex are added at once (`tally.rs`).
    pub(super) limit: AtomicU32,

    pub(super) acquisitions: AtomicU64,
    /// `count.rs` says which are.
    pub(super) contended: AtomicU64,
    /// The number of acquisitions at which the next hold is timed.
    pub(super) next_sample: AtomicU64,
    /// When the hold began that is timed.
    pub(super) held_since: AtomicU64,
    /// Try forms that found it held, and timed ones whose time came.
    pub(super) failed: AtomicU64,
    pub(super) steals: AtomicU64,
    pub(super) parks: AtomicU64,
    pub(super) kicks: AtomicU64,

    pub(super) waits: Times,
    pub(super) holds: Times,
    _pad: [u64; 2],
}

/// Times in nanoseconds.
#[repr(C)]
pub(super) struct Times {
    pub(super) number: AtomicU64,
    pub(super) sum: AtomicU64,
    pub(super) most: AtomicU64,
    pub(super) buckets: [AtomicU32; BUCKETS],
}

#[repr(C)]
pub(super) struct File {
    pub(super) header: Header,
    pub(super) processes: [Process; PROCESSES],
    pub(super) modules: [Module; MODULES],
    pub(super) records: [Record; RECORDS],
}

const _: () = assert!(core::mem::offset_of!(File, processes) == 4096);
const _: () = assert!(core::mem::offset_of!(File, modules) == 8192);
const _: () = assert!(core::mem::offset_of!(File, records) == 335_872);
const _: () = assert!(core::mem::offset_of!(Record, acquisitions) == 64 && size_of::<Record>() == 1216);

/// The bucket of a time: four for each power of two from 16 up, of equal width within it; those below 16 by
/// quarters.
pub(super) fn bucket(nanos: u64) -> usize {
    if nanos < 16 {
        return nanos as usize / 4;
    }
    let power = nanos.ilog2() as usize;
    ((power - 3) * 4 + (nanos >> (power - 2)) as usize % 4).min(BUCKETS - 1)
}
