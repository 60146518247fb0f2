//! What the file of `record` looks like while programs write it. `stanchion run` has the same table on its
//! side (`run/record/raw.rs`), and makes a file of its own from it.
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

pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"STANCREC");
pub(super) const VERSION: u32 = 1;
pub(super) const PAGE: usize = 4096;
/// The file's length unless whoever made it has set another: 256 MiB.
pub(super) const PAGES: u64 = 1 << 16;
pub(super) const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"CHNK");
/// A thread's first chunk has one page, and each further one twice as many up to this: threads may be many
/// and do little.
pub(super) const MOST_PAGES: u32 = 16;
/// Locks that a thread may hold; of more, the one taken first is forgotten.
pub(super) const DEPTH: usize = 16;
/// Locks that an event can name by a number.
pub(super) const SLOTS: usize = 32;
/// The longest event: a byte, and four numbers of up to ten.
pub(super) const LONGEST: usize = 41;

/// The lock's address and kind.
pub(super) fn key(address: usize, kind: u64) -> u64 {
    (address as u64) << 2 | kind
}

pub(super) fn slot(key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 59) as usize
}

#[repr(C)]
pub(super) struct Header {
    pub(super) magic: AtomicU64,
    pub(super) version: AtomicU32,
    /// 1: time stamps are the processor's ticks; 2: nanoseconds. Whoever comes first chooses.
    pub(super) clock: AtomicU32,
    /// Of the whole file.
    pub(super) pages: AtomicU64,
    /// Pages that were asked for, behind the first; may be more than there are.
    pub(super) taken: AtomicU64,
    /// Releases without an event, by threads that have no chunk.
    pub(super) dropped: AtomicU64,
    /// Numbers given to processes.
    pub(super) processes: AtomicU32,
    pub(super) _rest: AtomicU32,
    /// Both clocks at one moment.
    pub(super) ticks: AtomicU64,
    pub(super) nanos: AtomicU64,
}

/// A lock that a thread holds.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Held {
    pub(super) key: u64,
    pub(super) came: u64,
    pub(super) got: u64,
}

/// Written by one thread; read by others when that has ended, except for `filled`.
#[repr(C)]
pub(super) struct Chunk {
    pub(super) magic: AtomicU32,
    pub(super) pages: u32,
    pub(super) process: u32,
    pub(super) pid: u32,
    pub(super) thread: u64,
    /// The time from which the first event counts.
    pub(super) base: u64,
    /// Bytes of events, and in the upper half their number.
    pub(super) filled: AtomicU64,
    /// Releases without an event.
    pub(super) dropped: u64,
    /// From here on, what only the thread itself reads: when it last released something,
    pub(super) last: u64,
    /// how many locks it holds, and whether it is in the middle of a change (a signal handler finds that
    /// out).
    pub(super) depth: u32,
    pub(super) is_inside: u32,
    pub(super) held: [Held; DEPTH],
    pub(super) slots: [u64; SLOTS],
}

const _: () = assert!(size_of::<Header>() <= PAGE);
const _: () = assert!(core::mem::offset_of!(Chunk, filled) == 32 && size_of::<Chunk>() == 704);
