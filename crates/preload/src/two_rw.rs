//! Reader-writer locks that libc's functions use beside ours, as `two.rs` has it for mutexes.
//!
//! libc finds one of ours free whoever holds it, takes it, and looks at nothing else: it is we who find out.
//!
//! | libc's word | ours | what we do |
//! |---|---|---|
//! | held | free | the lock is libc's, from now on and for good: it says so |
//! | read | read | both go on |
//! | held, and one of both writes | held | we end the process, with a line, as soon as a thread of ours acquires or releases it |
//! | released more often than acquired | held | the same |
use crate::object::RwLock;
use crate::two::{LOOKS, PAUSE, die_of_two};
use core::sync::atomic::Ordering;
use stanchion::deadline::sleep;
use stanchion_core::RawRwLock;

/// A lock that is libc's for good.
const LIBCS: u8 = 1;

/// libc's first word: a bit that says nothing while nobody holds the lock, the one of a writer, and the one
/// that is set if there were less than no readers.
const PHASE: u32 = 1;
const WRITER: u32 = 2;
const NEGATIVE: u32 = 1 << 31;

impl RwLock {
    fn libcs_word(&self) -> u32 {
        // ord: TW10 alone: libc releases it by a read-modify-write, whose section comes before ours
        self.libcs_words[0].load(Ordering::Acquire)
    }

    /// Whether libc's functions hold it.
    #[inline(always)]
    pub(crate) fn is_held_by_libc(&self) -> bool {
        self.libcs_word() & !PHASE != 0
    }

    /// Whether it is libc's for good, though it was ours at first.
    #[inline(always)]
    pub(crate) fn was_handed_over(&self) -> bool {
        // ord: TW11 alone: whoever misses it finds it under our lock, where it was written
        self.whose.load(Ordering::Relaxed) == LIBCS
    }

    /// Whether a lock that the calling thread has just acquired is libc's, or is to be: libc holds it, or it
    /// was handed over meanwhile.
    #[inline(always)]
    pub(crate) fn is_disputed(&self) -> bool {
        self.is_held_by_libc() || self.was_handed_over()
    }

    /// Ends the process if libc has unlocked what a thread of ours has locked.
    #[cold]
    pub(crate) fn look(&self) {
        if self.libcs_word() & NEGATIVE != 0 {
            die_of_two(b"a reader-writer lock that the program holds");
        }
    }

    fn hand_over(&self) {
        // ord: TW12 alone: published by the release that follows, to those who wait for it
        self.whose.store(LIBCS, Ordering::Relaxed);
        self.lock().release_write();
    }

    /// For a thread that has acquired a lock that is disputed. Whether it keeps it; if not, the lock is
    /// libc's.
    #[cold]
    #[inline(never)]
    pub(crate) fn keeps(&self, write: bool) -> bool {
        self.look();
        if write {
            self.hand_over();
            return false;
        }
        self.lock().release_read();
        for _ in 0..LOOKS {
            if self.was_handed_over() {
                return false;
            }
            if self.lock().try_acquire_write() {
                self.hand_over();
                return false;
            }
            // Other threads of ours read.
            if self.libcs_word() & WRITER == 0 && self.lock().try_acquire_read_again() == Ok(true) {
                return true;
            }
            sleep(PAUSE);
        }
        die_of_two(b"a reader-writer lock that the program holds")
    }

    /// For a thread that unlocks a lock that libc holds. Whether it is a reader of ours; if not, libc unlocks
    /// it.
    #[cold]
    #[inline(never)]
    pub(crate) fn is_read_by_ours(&self, is_writer: bool) -> bool {
        self.look();
        let is_read = self.lock().word().tail != 0;
        if is_writer || is_read && self.libcs_word() & WRITER != 0 {
            die_of_two(b"a reader-writer lock that the program holds");
        }
        is_read
    }
}
