//! One face for every lock under test: mutexes have only writers, under reader-writer locks some only read.
use stanchion_core::transitions::Word;
use stanchion_core::{RawLock, RawRwLock, TooManyReaders};

/// What a context wants to do under a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// Be alone.
    Writes,
    /// Be without writers.
    Reads,
}

/// What a lock can do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Skills {
    /// Readers share it.
    pub(crate) shares: bool,
    /// Interrupt handlers may write under it.
    pub(crate) handlers_write: bool,
    /// Who reads may read again, and a handler may read what the context reads that it has interrupted.
    pub(crate) reads_again: bool,
}

/// A lock under test.
pub(crate) trait Subject: Send + Sync + 'static {
    /// What it can do.
    const SKILLS: Skills;
    /// A free one.
    fn new() -> Self;
    /// Waits until the calling context has it. Who only reads is alone, too, where readers do not share.
    fn acquire(&self, side: Side);
    /// Reads where the calling context, or the one that it has interrupted, may read already.
    fn acquire_again(&self);
    /// Takes it if that needs no waiting.
    fn try_acquire(&self, side: Side) -> bool;
    /// Gives it back.
    fn release(&self, side: Side);
    /// The word, for reports.
    fn word(&self) -> Word;
}

/// A mutex.
pub(crate) struct Alone<L>(L);

impl<L: RawLock> Subject for Alone<L> {
    const SKILLS: Skills = Skills { shares: false, handlers_write: true, reads_again: false };

    fn new() -> Self {
        Self(L::new())
    }

    #[inline(always)]
    fn acquire(&self, _side: Side) {
        self.0.acquire();
    }

    fn acquire_again(&self) {
        unreachable!("nobody reads again under a mutex");
    }

    #[inline(always)]
    fn try_acquire(&self, _side: Side) -> bool {
        self.0.try_acquire()
    }

    #[inline(always)]
    fn release(&self, _side: Side) {
        self.0.release();
    }

    fn word(&self) -> Word {
        self.0.word()
    }
}

/// A reader-writer lock. A per-CPU one is not written in handlers; and over a base lock that lets nobody pass
/// a writer, it is not read again.
pub(crate) struct Together<L, const HANDLERS_WRITE: bool = true, const READS_AGAIN: bool = true>(L);

/// No run has so many vCPUs.
fn counted(acquired: Result<(), TooManyReaders>) {
    acquired.expect("a run has far fewer readers than a lock can count");
}

impl<L: RawRwLock, const HANDLERS_WRITE: bool, const READS_AGAIN: bool> Subject
    for Together<L, HANDLERS_WRITE, READS_AGAIN>
{
    const SKILLS: Skills = Skills { shares: true, handlers_write: HANDLERS_WRITE, reads_again: READS_AGAIN };

    fn new() -> Self {
        Self(L::new())
    }

    #[inline(always)]
    fn acquire(&self, side: Side) {
        match side {
            Side::Writes => self.0.acquire_write(),
            Side::Reads => counted(self.0.acquire_read()),
        }
    }

    fn acquire_again(&self) {
        counted(self.0.acquire_read_again());
    }

    #[inline(always)]
    fn try_acquire(&self, side: Side) -> bool {
        match side {
            Side::Writes => self.0.try_acquire_write(),
            Side::Reads => self.0.try_acquire_read(),
        }
    }

    #[inline(always)]
    fn release(&self, side: Side) {
        match side {
            Side::Writes => self.0.release_write(),
            Side::Reads => self.0.release_read(),
        }
    }

    fn word(&self) -> Word {
        self.0.word()
    }
}
