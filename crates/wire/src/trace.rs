//! What the file of `record` looks like while programs write it. `stanchion run` makes a file of its own
//! from it.
//!
//! | bytes | what |
//! |---|---|
//! | 0–4095 | [`Header`] |
//! | from 4096 | [`Chunk`]s of one page or more, one after another as threads took them |
//!
//! All of it is zero at first. A thread that ended between taking pages and writing the chunk's first line
//! leaves zeros.
//!
//! An event is a byte (bit 0: the lock is new in its slot; bits 1–5: the slot; bit 6: nobody was waited for),
//! the lock (`key`) if it is new, then as ticks: from the thread's last release to the arrival, which is
//! negative for who came to an outer lock before that (zigzag), the wait unless there was none, the hold. All
//! numbers are in groups of seven bits, the lowest first. A chunk starts with empty slots.
use core::sync::atomic::{AtomicU32, AtomicU64};

pub const MAGIC: u64 = u64::from_le_bytes(*b"STANCREC");
pub const VERSION: u32 = 1;
pub const PAGE: usize = 4096;
/// The file's length unless whoever made it has set another: 256 MiB.
pub const PAGES: u64 = 1 << 16;
pub const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"CHNK");
/// A thread's first chunk has one page, and each further one twice as many up to this: threads may be many
/// and do little.
pub const MOST_PAGES: u32 = 16;
/// Locks that a thread may hold; of more, the one taken first is forgotten.
pub const DEPTH: usize = 16;
/// Locks that an event can name by a number.
pub const SLOTS: usize = 32;
/// The longest event: a byte, and four numbers of up to ten.
pub const LONGEST: usize = 41;

/// The lock's address and kind.
pub fn key(address: usize, kind: u64) -> u64 {
    (address as u64) << 2 | kind
}

pub fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as usize
}

#[repr(C)]
pub struct Header {
    pub magic: AtomicU64,
    pub version: AtomicU32,
    /// 1: time stamps are the processor's ticks; 2: nanoseconds. Whoever comes first chooses.
    pub clock: AtomicU32,
    /// Of the whole file.
    pub pages: AtomicU64,
    /// Pages that were asked for, behind the first; may be more than there are.
    pub taken: AtomicU64,
    /// Releases without an event, by threads that have no chunk.
    pub dropped: AtomicU64,
    /// Numbers given to processes.
    pub processes: AtomicU32,
    _rest: AtomicU32,
    /// Both clocks at one moment.
    pub ticks: AtomicU64,
    pub nanos: AtomicU64,
}

/// A lock that a thread holds.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Held {
    pub key: u64,
    pub came: u64,
    pub got: u64,
}

/// Written by one thread; read by others when that has ended, except for `filled`.
#[repr(C)]
pub struct Chunk {
    pub magic: AtomicU32,
    pub pages: u32,
    pub process: u32,
    pub pid: u32,
    pub thread: u64,
    /// The time from which the first event counts.
    pub base: u64,
    /// Bytes of events, and in the upper half their number.
    pub filled: AtomicU64,
    /// Releases without an event.
    pub dropped: u64,
    /// From here on, what only the thread itself reads: when it last released something,
    pub last: u64,
    /// how many locks it holds, and whether it is in the middle of a change (a signal handler finds that
    /// out).
    pub depth: u32,
    pub is_inside: u32,
    pub held: [Held; DEPTH],
    pub slots: [u64; SLOTS],
}

const _: () = assert!(size_of::<Header>() <= PAGE);
const _: () = assert!(core::mem::offset_of!(Chunk, filled) == 32 && size_of::<Chunk>() == 704);
