//! A count of readers and a writer's flag, and what may be wrong with them.
use super::{BROKEN, RW_CHECK_THEN_ACT, RW_COUNT, RW_LOST_WAKEUP, RW_NO_WAIT, RW_NONE, RW_SERIAL, RW_TRY};
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Downgrade, Platform, RawRwLock, TooManyReaders};

const WRITER: u32 = 1 << 31;

/// The lock.
pub struct Counted<P: Platform, const FLAW: usize> {
    /// The readers, and [`WRITER`].
    count: P::U32,
    /// Picks the moments of what happens rarely.
    rarely: P::U32,
}

impl<P: Platform, const FLAW: usize> Counted<P, FLAW> {
    fn now(&self, one_in: u32) -> bool {
        self.rarely.fetch_add(1, Relaxed) % one_in == one_in - 1
    }

    fn try_read(&self) -> bool {
        let seen = self.count.load(Relaxed);
        if seen & WRITER != 0 {
            return false;
        }
        if FLAW == RW_CHECK_THEN_ACT {
            if self.now(16) {
                P::yield_slice(); // gives the bug below a fair chance
            }
            // BUG: a writer may have come since, and seen nobody.
            self.count.fetch_add(1, Acquire);
            return true;
        }
        self.count.compare_exchange(seen, seen + 1, Acquire, Relaxed).is_ok()
    }

    /// The flag is ours; readers may still be in.
    fn try_flag(&self) -> bool {
        let seen = self.count.load(Relaxed);
        seen & WRITER == 0 && self.count.compare_exchange(seen, seen | WRITER, Acquire, Relaxed).is_ok()
    }

    /// These locks are to be caught, not to burn time: gives the CPU away after a while.
    fn wait(&self, done: impl Fn(u32) -> bool) {
        self.count.wait_briefly::<P>(Acquire, done);
    }

    fn wait_for_readers(&self) {
        if FLAW == RW_NO_WAIT {
            return; // BUG: they may be in.
        }
        if FLAW == RW_LOST_WAKEUP {
            loop {
                let seen = self.count.load(Acquire);
                if seen == WRITER {
                    return;
                }
                P::halt_while(&self.count, seen); // BUG: nobody will kick us.
            }
        }
        self.wait(|count| count == WRITER);
    }

    fn leave_read(&self) {
        // BUG: with two, another one is still in.
        let wanted = if FLAW == RW_COUNT && self.now(16) { 2 } else { 1 };
        loop {
            let seen = self.count.load(Relaxed);
            let left = wanted.min(seen & !WRITER);
            if self.count.compare_exchange(seen, seen - left, Release, Relaxed).is_ok() {
                return;
            }
        }
    }
}

impl<P: Platform, const FLAW: usize> RawRwLock for Counted<P, FLAW> {
    type Platform = P;
    const NAME: &'static str = BROKEN[FLAW].name;
    const TRANSITIONS: Table = Table(&[]);
    const MOST_READERS: u32 = WRITER - 1;

    fn new() -> Self {
        Self { count: P::U32::new(0), rarely: P::U32::new(0) }
    }

    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        match FLAW {
            RW_NONE => self.count.store(1, Relaxed),
            RW_SERIAL => self.acquire_write(), // BUG: there may be others who only read.
            _ if P::is_priority() => return self.acquire_read_again(),
            _ => {
                while !self.try_read() {
                    self.wait(|count| count & WRITER == 0);
                }
            }
        }
        Ok(())
    }

    fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
        match FLAW {
            RW_NONE | RW_SERIAL => self.acquire_read(),
            _ => loop {
                let seen = self.count.load(Relaxed);
                // A writer's flag beside readers is that of one that waits for them, unless a flaw let them
                // meet.
                if seen == WRITER {
                    self.wait(|count| count != WRITER);
                } else if self.count.compare_exchange(seen, seen + 1, Acquire, Relaxed).is_ok() {
                    return Ok(());
                }
            },
        }
    }

    fn try_acquire_read(&self) -> bool {
        match FLAW {
            RW_NONE => self.acquire_read().is_ok(),
            RW_SERIAL => self.try_acquire_write(),
            RW_TRY if self.count.load(Relaxed) == WRITER => {
                self.count.fetch_add(1, Acquire); // BUG: somebody writes.
                true
            }
            _ => self.try_read(),
        }
    }

    fn release_read(&self) {
        match FLAW {
            RW_NONE | RW_SERIAL => self.release_write(),
            _ => self.leave_read(),
        }
    }

    fn acquire_write(&self) {
        if FLAW == RW_NONE {
            return self.count.store(1, Relaxed); // BUG: nobody is kept out.
        }
        while !self.try_flag() {
            self.wait(|count| count & WRITER == 0);
        }
        self.wait_for_readers();
    }

    fn try_acquire_write(&self) -> bool {
        if FLAW == RW_NONE {
            self.acquire_write();
            return true;
        }
        self.count.compare_exchange(0, WRITER, Acquire, Relaxed).is_ok()
    }

    fn release_write(&self) {
        if FLAW == RW_NONE {
            return self.count.store(0, Relaxed);
        }
        self.count.fetch_add(WRITER, Release); // the flag is the highest bit, so this takes it away
    }

    fn word(&self) -> Word {
        let count = self.count.peek();
        Word { tail: count as u16, pending: 0, locked: u8::from(count & WRITER != 0) }
    }
}

impl<P: Platform, const FLAW: usize> Downgrade for Counted<P, FLAW> {
    fn downgrade(&self) {
        if !matches!(FLAW, RW_NONE | RW_SERIAL) {
            self.count.fetch_add(WRITER + 1, Release);
        }
    }
}
