//! `rw-simple`: a count of readers and a writer's flag.
//!
//! # Motivation
//!
//! The smallest reader-writer lock: one word, no queue. It is the yardstick for the others, and what the
//! per-CPU lock of Xen stood on when it was announced.
//!
//! # Provenance
//!
//! Xen's `rwlock_t` of 2015: a reader adds itself unless
//! the flag is set; a writer sets the flag and then waits for the readers to leave. A reader that must not
//! wait joins others that a writer waits for.
//!
//! # Properties
//!
//! - Fairness: writers go before readers, who can be starved by them without bound. Among writers none.
//! - Progress: none while a holder is preempted. All waiters spin.
//! - Memory: 4 bytes; nothing per context. 2^30 readers at once; one more is an error.
//!
//! # The word, `(readers, writer)`
//!
//! | from | to | by |
//! |---|---|---|
//! | `r,0` | `r+1,0` | a reader |
//! | `r,1` with `r > 0` | `r+1,1` | a reader that must not wait |
//! | `r,w` | `r-1,w` | a reader leaves |
//! | `r,0` | `r,1` | a writer; it holds the lock once `r` is 0 |
//! | `r,1` | `r,0` | a writer leaves, or a try gives up |
//! | `0,1` | `1,0` | a writer becomes a reader |
//!
//! # Invariants
//!
//! - **I1** `readers` is the number of read locks; it grows only while there is no flag, or with the flag's
//!   fall, or from above zero, where the flag's writer still waits.
//! - **I2** The flag is set exactly while one writer has it: it waits for readers, or is in its section.
//!
//! ## Memory orderings
//!
//! Everything is one cell, changed by read-modify-write only, so releases form release sequences. A writer
//! that sees no readers (E4, E6) has synchronised with each reader's leaving (E2), and a reader (E1, E14)
//! with the last writer's (E5, E8).
use stanchion_core::events::Event;
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::platform::Platform;
use stanchion_core::rw::{ConstRwLock, Downgrade, RawRwLock, TooManyReaders};
use stanchion_core::transitions::{Is, Row, Table, Word};

/// The counting reader-writer lock, for `MOST` readers, which are 2^30 at most; see the [module](self).
#[repr(C, align(4))]
pub struct CountRwLock<P: Platform, const MOST: u32 = 0x4000_0000> {
    count: P::U32,
}

/// A writer has it, or waits for the readers to leave.
const WRITER: u32 = 1 << 31;

const TRANSITIONS: Table = Table(&[
    Row::named("a reader comes: r,0 -> r+1,0").tail(Is::Any, Is::NonZero).locked(Is::Value(0), Is::Value(0)),
    Row::named("a reader that must not wait: r,1 -> r+1,1").tail(Is::NonZero, Is::NonZero),
    Row::named("a reader leaves: r,w -> r-1,w").tail(Is::NonZero, Is::Any),
    Row::claim("a writer: r,0 -> r,1"),
    Row::release("a writer leaves: r,1 -> r,0"),
    Row::named("a writer becomes a reader: 0,1 -> 1,0")
        .tail(Is::Value(0), Is::Value(1))
        .locked(Is::Value(1), Is::Value(0)),
]);

impl<P: Platform, const MOST: u32> RawRwLock for CountRwLock<P, MOST> {
    type Platform = P;
    const NAME: &'static str = "rw-simple";
    const TRANSITIONS: Table = TRANSITIONS;
    const MOST_READERS: u32 = {
        assert!(MOST <= 1 << 30, "the count has room for the flag");
        MOST
    };

    fn new() -> Self {
        Self { count: P::U32::new(0) }
    }

    #[inline]
    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        if self.try_acquire_read() { Ok(()) } else { self.acquire_read_slow() }
    }

    fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
        loop {
            // ord: E13 alone: waits until going in has a chance, the compare-exchange decides
            let seen = self.count.wait_until(Relaxed, |count| count & WRITER == 0 || count & !WRITER != 0);
            if seen & !WRITER >= MOST {
                return Err(TooManyReaders);
            }
            // ord: E14 pairs E5, E8: the last writer's section comes before ours
            if self.count.compare_exchange(seen, seen + 1, Acquire, Relaxed).is_ok() {
                return Ok(());
            }
        }
    }

    #[inline]
    fn try_acquire_read(&self) -> bool {
        // ord: E3 alone: a guess, the compare-exchange decides
        let mut seen = self.count.load(Relaxed);
        while seen & WRITER == 0 && seen < MOST {
            // ord: E1 pairs E5, E8: the last writer's section comes before ours
            match self.count.compare_exchange(seen, seen + 1, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }

    #[inline]
    fn release_read(&self) {
        // ord: E2 pairs E4, E6, E7: our section comes before the next writer's
        let before = self.count.fetch_add(1u32.wrapping_neg(), Release);
        debug_assert_ne!(before & !WRITER, 0, "released a read lock that nobody holds (I1)");
    }

    #[inline]
    fn acquire_write(&self) {
        // ord: E4 pairs E2, E5, E8: the sections of the last readers and the last writer come before ours
        if self.count.compare_exchange(0, WRITER, Acquire, Relaxed).is_err() {
            self.acquire_write_slow();
        }
    }

    #[inline]
    fn try_acquire_write(&self) -> bool {
        // ord: E7 pairs E2, E5, E8: as E4; the read before it keeps a failing try from owning the line
        self.count.load(Relaxed) == 0 && self.count.compare_exchange(0, WRITER, Acquire, Relaxed).is_ok()
    }

    #[inline]
    fn release_write(&self) {
        // ord: E5 pairs E1, E4, E6, E7, E14: our section comes before those of the next holders
        let before = self.count.fetch_add(WRITER, Release); // the flag wraps away
        debug_assert_ne!(before & WRITER, 0, "released a write lock that nobody holds (I2)");
    }

    fn word(&self) -> Word {
        let count = self.count.peek();
        Word {
            tail: (count & !WRITER).min(u16::MAX.into()) as u16,
            pending: 0,
            locked: u8::from(count & WRITER != 0),
        }
    }
}

impl<P: Platform, const MOST: u32> CountRwLock<P, MOST> {
    #[cold]
    #[inline(never)]
    fn acquire_read_slow(&self) -> Result<(), TooManyReaders> {
        if P::is_priority() {
            P::count(Event::RwBypass);
            return self.acquire_read_again();
        }
        P::count(Event::RwReadSlow);
        loop {
            // ord: E11 alone: waits until a try has a chance, the try decides
            if self.count.wait_until(Relaxed, |count| count & WRITER == 0) >= MOST {
                return Err(TooManyReaders);
            }
            if self.try_acquire_read() {
                return Ok(());
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn acquire_write_slow(&self) {
        P::count(Event::RwWriteSlow);
        loop {
            // ord: E12 alone: waits until a claim has a chance, the claim decides
            let seen = self.count.wait_until(Relaxed, |count| count & WRITER == 0);
            // ord: E10 alone: what the wait below reads is this change or a later one, and continues what was
            // released before
            if self.count.compare_exchange(seen, seen | WRITER, Relaxed, Relaxed).is_ok() {
                break;
            }
        }
        // ord: E6 pairs E2, E5, E8: the sections of the last writer and of the readers that leave come before
        // ours
        self.count.wait_until(Acquire, |count| count == WRITER);
    }
}

impl<P: Platform, const MOST: u32> Downgrade for CountRwLock<P, MOST> {
    #[inline]
    fn downgrade(&self) {
        // ord: E8 pairs E1, E4, E6, E7, E14: our section as a writer comes before those of the next holders
        self.count.fetch_add(WRITER + 1, Release);
    }
}

impl<P: Platform, const MOST: u32> ConstRwLock for CountRwLock<P, MOST>
where
    P::U32: ConstAtomic<u32>,
{
    const NEW: Self = Self { count: P::U32::ZERO };
}
