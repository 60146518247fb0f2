//! Locks that are broken on purpose, each in one way, to show that torture in the guest would notice.
//!
//! | lock | what is wrong | what must notice |
//! |---|---|---|
//! | `busted-none` | excludes nobody | two are inside at once |
//! | `busted-check-then-set` | looks and takes in two steps | two are inside at once |
//! | `busted-lost-kick` | has one place for sleepers; the second one takes the first one's | a vCPU waits for a lock that nobody holds |
//! | `busted-rw-count` | readers are not counted | a writer is in beside readers |
use core::marker::PhantomData;
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, CpuId, Platform, RawLock, RawRwLock, TooManyReaders};

/// They keep no rules.
const ANYTHING: Table = Table(&[]);

/// A lock that lets everybody in.
pub(crate) struct NoExclusion<P>(PhantomData<fn() -> P>);

impl<P: Platform> RawLock for NoExclusion<P> {
    type Platform = P;
    const NAME: &'static str = "busted-none";
    const TRANSITIONS: Table = ANYTHING;

    fn new() -> Self {
        Self(PhantomData)
    }
    fn acquire(&self) {}
    fn try_acquire(&self) -> bool {
        true
    }
    fn release(&self) {}
    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: 0 }
    }
}

/// A lock that looks, and then takes.
pub(crate) struct CheckThenSet<P: Platform>(P::U8);

impl<P: Platform> RawLock for CheckThenSet<P> {
    type Platform = P;
    const NAME: &'static str = "busted-check-then-set";
    const TRANSITIONS: Table = ANYTHING;

    fn new() -> Self {
        Self(P::U8::new(0))
    }

    fn acquire(&self) {
        while !self.try_acquire() {
            // ord: AC6 alone: a broken lock's hint
            self.0.wait_until(Relaxed, |locked| locked == 0);
        }
    }

    fn try_acquire(&self) -> bool {
        // BUG: between the load and the store anybody else may do the same.
        // ord: AC7 pairs AC9: the previous holder's section, if there is one holder
        if self.0.load(Acquire) != 0 {
            return false;
        }
        // The window is a few instructions wide, and few vCPUs run at a time: hold it open.
        P::relax(200);
        // ord: AC8 alone: the bug is that this is no exchange
        self.0.store(1, Relaxed);
        true
    }

    fn release(&self) {
        // ord: AC9 pairs AC7: the section comes before the next holder's
        self.0.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}

/// A byte whose waiters sleep, with one place for them all.
pub(crate) struct LostKick<P: Platform> {
    locked: P::U8,
    /// Who sleeps, its number plus one.
    sleeper: P::U16,
}

impl<P: Platform> RawLock for LostKick<P> {
    type Platform = P;
    const NAME: &'static str = "busted-lost-kick";
    const TRANSITIONS: Table = ANYTHING;

    fn new() -> Self {
        Self { locked: P::U8::new(0), sleeper: P::U16::new(0) }
    }

    fn acquire(&self) {
        while !self.try_acquire() {
            let Some(me) = P::this_cpu().map(|cpu| cpu.index() + 1) else { continue };
            // BUG: whoever slept here before is forgotten, and no release will kick it.
            // ord: AC10 pairs AC12: either the release sees the sleeper, or the sleeper the release
            self.sleeper.swap(me, SeqCst);
            // ord: AC11 pairs AC12: the other half of what AC10 says
            if self.locked.load(SeqCst) != 0 {
                P::halt_while(&self.sleeper, me);
            }
        }
    }

    fn try_acquire(&self) -> bool {
        // ord: AC13 pairs AC12: the previous holder's section comes before ours
        self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    fn release(&self) {
        // ord: AC12 pairs AC10, AC11, AC13: the section comes before the next holder's
        self.locked.swap(0, SeqCst);
        // ord: AC14 alone: takes the sleeper out, which orders nothing
        let sleeper = self.sleeper.swap(0, SeqCst);
        if let Some(cpu) = sleeper.checked_sub(1).and_then(CpuId::new) {
            P::kick(cpu);
        }
    }

    fn word(&self) -> Word {
        Word { tail: self.sleeper.peek(), pending: 0, locked: self.locked.peek() }
    }
}

/// A flag of writers; readers only look at it.
pub(crate) struct BustedCount<P: Platform>(P::U8);

impl<P: Platform> RawRwLock for BustedCount<P> {
    type Platform = P;
    const NAME: &'static str = "busted-rw-count";
    const TRANSITIONS: Table = ANYTHING;
    const MOST_READERS: u32 = 1 << 14;

    fn new() -> Self {
        Self(P::U8::new(0))
    }

    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        // BUG: nothing tells writers that a reader is in.
        // ord: AC15 pairs AC17: the last writer's section comes before ours
        self.0.wait_until(Acquire, |writes| writes == 0);
        Ok(())
    }

    fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
        Ok(())
    }

    fn try_acquire_read(&self) -> bool {
        // ord: AC18 pairs AC17: the last writer's section comes before ours
        self.0.load(Acquire) == 0
    }

    fn release_read(&self) {}

    fn acquire_write(&self) {
        while !self.try_acquire_write() {
            // ord: AC19 alone: a hint, the try decides
            self.0.wait_until(Relaxed, |writes| writes == 0);
        }
    }

    fn try_acquire_write(&self) -> bool {
        // ord: AC16 pairs AC17: the last writer's section comes before ours
        self.0.compare_exchange(0, 1, AcqRel, Relaxed).is_ok()
    }

    fn release_write(&self) {
        // ord: AC17 pairs AC15, AC16, AC18: the section comes before the next holder's
        self.0.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.0.peek() }
    }
}
