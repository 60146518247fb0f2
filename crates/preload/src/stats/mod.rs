//! `stats=PATH`: what happens at each lock, counted in a file that is mapped into the program. `stats` alone
//! counts in memory that nobody reads, to see what counting costs.
//!
//! The file outlives the program, however it ends, and can be read while it runs: there is no exit handler,
//! no signal handler, no thread. Nothing is allocated (IW1). `stanchion-wire` says what is in it.
//! `records.rs` has which lock counts where, and `count.rs` what is counted and when the clock is read.
//! `tally.rs` and `rw.rs` have what the operations do, `whence.rs` how a place in the program is noted, and
//! `file.rs` how the file comes to be.
//!
//! Programs that the program starts, and its forked children, count in the same file as processes of their
//! own, up to 64. Spin locks are not counted: their four bytes have no room for an index. Recursive
//! acquisitions that only count up are not counted either.
//!
//! Without the word, mutexes of the default lock do not come here: `config::is_plain` is false while this is
//! on. Everywhere else it costs one load and a branch.
mod count;
pub(crate) mod file;
mod records;
pub(crate) mod rw;
mod tally;
mod whence;

use crate::object::RwLock;
use crate::thread::Place;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use stanchion::native::watch::{self, Seen};
use stanchion_wire::stats::File;
pub(crate) use stanchion_wire::stats::Left;
pub(crate) use tally::{Attempt, acquire, arrive, destroyed, gave_up, release, try_acquire};
pub(crate) use whence::stack;

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

/// Where a thread keeps what it has seen.
static SEEN: Place<Seen> = Place::new();

/// What the calling thread has done in slow paths so far.
#[inline(always)]
fn seen() -> Seen {
    // SAFETY: the thread's own storage, which lies there as long as it runs, and which no other touches. The
    // place is found: who counts has found the file, by F41.
    unsafe { SEEN.mine().read() }
}

/// Counts in the file at `path` from now on; in memory that nobody reads if there is none.
pub(crate) fn start(path: &[u8]) -> Result<(), &'static str> {
    let file = if path.is_empty() { file::map_nothing() } else { file::map(path) }?;
    watch::start();
    SEEN.find(watch::place()); // published by F42
    // ord: F42 pairs F41: mapped before anybody finds it
    FILE.store(ptr::from_ref(file).cast_mut(), Ordering::Release);
    Ok(())
}

/// See `fork.rs`.
pub(crate) fn forked() {
    records::forked();
    rw::forked();
}

/// An object was left to libc.
pub(crate) fn left_to_libc(why: Left) {
    if let Some(file) = file_if_on() {
        count::add(&file.header.left[why as usize], 1, false);
    }
}
