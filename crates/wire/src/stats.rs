//! What the file of `stats` looks like: a header, processes, modules, records, each at a fixed place.
//! The header names version and sizes.
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

pub const MAGIC: u64 = u64::from_le_bytes(*b"STANCSTA");
pub const VERSION: u32 = 1;
pub const PROCESSES: usize = 64;
pub const MODULES: usize = 1024;
pub const RECORDS: usize = 8192;
/// Return addresses kept of the first use of a lock.
pub const FRAMES: usize = 5;
/// Bytes of a module's path, of which longer ones lose their end.
pub const PATH: usize = 288;
/// Buckets of a histogram: four for each power of two nanoseconds (`bucket`).
pub const BUCKETS: usize = 128;

/// What is left to libc, in the order of the counters.
#[derive(Clone, Copy)]
pub enum Left {
    Robust,
    Protocol,
    SharedMutex,
    SharedRwLock,
    SharedCondition,
}

#[repr(C, align(4096))]
pub struct Header {
    pub magic: AtomicU64,
    pub version: AtomicU32,
    pub record_size: AtomicU32,
    pub records: AtomicU32,
    pub processes: AtomicU32,
    pub modules: AtomicU32,
    pub processes_used: AtomicU32,
    pub modules_used: AtomicU32,
    _rest: AtomicU32,
    /// Initialisations that were left to libc, by [`Left`].
    pub left: [AtomicU64; 5],
}

#[repr(C, align(64))]
pub struct Process {
    pub pid: AtomicU32,
    /// Of its name; plus one, once it is written.
    pub length: AtomicU32,
    pub name: [AtomicU8; 56],
}

#[repr(C, align(64))]
pub struct Module {
    /// The process's index plus one.
    pub process: AtomicU32,
    /// Of the path; plus one, once all is written.
    pub length: AtomicU32,
    pub start: AtomicU64,
    pub end: AtomicU64,
    /// Of `start` in the file.
    pub offset: AtomicU64,
    pub path: [AtomicU8; PATH],
}

/// One lock, or one side of a reader-writer lock. The first line is written once; the rest by holders, and
/// counters of those who do not hold the lock by read-modify-writes.
#[repr(C, align(64))]
pub struct Record {
    pub address: AtomicU64,
    /// The process's index plus one.
    pub process: AtomicU32,
    /// 1 for a mutex, 2 for readers, 3 for writers; in the upper half, the number of frames. 0 until all of
    /// the line is written.
    pub kind: AtomicU32,
    pub frames: [AtomicU64; FRAMES],
    /// Objects that were at this address one after another, and first used from the same place.
    pub lives: AtomicU32,
    /// How many acquisitions of a mutex are added at once (the interposer's `tally.rs`).
    pub limit: AtomicU32,

    pub acquisitions: AtomicU64,
    /// The interposer's `count.rs` says which are.
    pub contended: AtomicU64,
    /// The number of acquisitions at which the next hold is timed.
    pub next_sample: AtomicU64,
    /// When the hold began that is timed.
    pub held_since: AtomicU64,
    /// Try forms that found it held, and timed ones whose time came.
    pub failed: AtomicU64,
    pub steals: AtomicU64,
    pub parks: AtomicU64,
    pub kicks: AtomicU64,

    pub waits: Times,
    pub holds: Times,
    _pad: [u64; 2],
}

/// Times in nanoseconds.
#[repr(C)]
pub struct Times {
    pub number: AtomicU64,
    pub sum: AtomicU64,
    pub most: AtomicU64,
    pub buckets: [AtomicU32; BUCKETS],
}

#[repr(C)]
pub struct File {
    pub header: Header,
    pub processes: [Process; PROCESSES],
    pub modules: [Module; MODULES],
    pub records: [Record; RECORDS],
}

const _: () = assert!(core::mem::offset_of!(File, processes) == 4096);
const _: () = assert!(core::mem::offset_of!(File, modules) == 8192);
const _: () = assert!(core::mem::offset_of!(File, records) == 335_872);
const _: () = assert!(core::mem::offset_of!(Record, acquisitions) == 64 && size_of::<Record>() == 1216);

/// The bucket of a time: four for each power of two from 16 up, of equal width within it; those below 16 by
/// quarters.
pub fn bucket(nanos: u64) -> usize {
    if nanos < 16 {
        return nanos as usize / 4;
    }
    let power = nanos.ilog2() as usize;
    ((power - 3) * 4 + (nanos >> (power - 2)) as usize % 4).min(BUCKETS - 1)
}

/// The least time of a bucket.
pub fn lower(bucket: usize) -> u64 {
    if bucket < 4 {
        return bucket as u64 * 4;
    }
    (4 + bucket as u64 % 4) << (bucket / 4 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_lie_side_by_side_and_hold_what_is_put_into_them() {
        let lowers: [u64; 12] = core::array::from_fn(lower);
        assert_eq!(lowers, [0, 4, 8, 12, 16, 20, 24, 28, 32, 40, 48, 56]);
        for bucket_of in 0..BUCKETS - 1 {
            assert_eq!(bucket(lower(bucket_of)), bucket_of);
            assert_eq!(bucket(lower(bucket_of + 1) - 1), bucket_of);
        }
    }
}
