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
//!
//! A *mark* is a byte with bit 7 set (bits 0–2: what happened, as in [`mark`]), the ticks from the thread's
//! last release to when it was over (zigzag), and the numbers that are named there.
use core::sync::atomic::{AtomicU32, AtomicU64};

pub const MAGIC: u64 = u64::from_le_bytes(*b"STANCREC");
pub const VERSION: u32 = 3;
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
/// The longest mark: a byte, and four numbers of up to ten. An event is no longer.
pub const LONGEST: usize = 41;

/// What marks say of the time between events, and the numbers that follow.
pub mod mark {
    /// The bit of a mark's first byte.
    pub const BIT: u8 = 0x80;
    /// Much time has passed since the thread last took or released something, and it slept: nobody took its
    /// CPU, or it gave that up and waited for nothing. Ticks since the system was last asked, how many of
    /// them it waited for locks and conditions, and for how many nanoseconds it ran.
    pub const SLEPT: u8 = 0;
    /// The same of a thread that was put aside.
    pub const PREEMPTED: u8 = 1;
    /// It waited for a condition and was notified: for how long, and the condition's address.
    pub const WAITED: u8 = 2;
    /// Its time was over before: for how long, and the condition's address.
    pub const TIMED_OUT: u8 = 3;
    /// It notified one waiter: 0, and the condition's address.
    pub const NOTIFIED: u8 = 4;
    /// It notified all: 0, and the condition's address.
    pub const NOTIFIED_ALL: u8 = 5;
    /// The recorder kept it, to take pages or to ask the system: for how long.
    pub const KEPT: u8 = 6;
}

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
    /// When it last took or released something,
    pub last_step: u64,
    /// how long it waited since it was last asked for the time that it has run,
    pub waited: u64,
    /// and what the answer was: when, nanoseconds of running, how often its CPU was taken from it, and how
    /// often it gave it up.
    pub asked: u64,
    pub ran: u64,
    pub put_aside: u32,
    pub gave_up: u32,
}

const _: () = assert!(size_of::<Header>() <= PAGE);
const _: () = assert!(core::mem::offset_of!(Chunk, filled) == 32 && size_of::<Chunk>() == 744);
