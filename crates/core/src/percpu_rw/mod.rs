//! `percpu-rw`: the reader-writer lock whose readers write to nothing that they share.
//!
//! # Motivation
//!
//! A counter of readers is a line that every reader writes to, so readers on many CPUs slow each other down
//! though they exclude nobody. Here a reader says in a cell of its own context that it reads this lock. A
//! writer, which is rare, looks at the cells of all contexts.
//!
//! # Provenance
//!
//! The per-CPU reader-writer lock of Xen, version 6 of the announcement (Malcolm Crossley, 2016). A *class*
//! ([`ReaderClass`]) has one cell for each context, which says which one lock of the class the context reads;
//! further locks of the class go through their base locks. What differs, and why:
//!
//! - **The reader's fence is a compiler barrier** where the world has an asymmetric one, as long as writers
//!   are rare (`fast_path.rs`).
//! - **Leaving releases by the store that clears the cell.** In the announcement a store barrier follows it,
//!   which is too weak on weakly ordered CPUs.
//! - **The writer's last look acquires.** There, a control dependency had to do.
//! - **A writer halts** when a reader does not leave: it puts its number beside the reader's cell, and the
//!   reader, leaving, looks at its own line, not at the lock. So a reader touches nothing of a lock once it
//!   has left. (A writer does: when it has opened the fast path it still has the base lock to release.
//!   Whoever comes next must not destroy the lock; qrw alone allows that.)
//! - **Interrupts may read.** The cell says whether its context is *in* or has only *announced* itself. A
//!   handler takes an announcement back, and the interrupted reader notices (I3). A handler that finds its
//!   context in nests for free.
//! - **Locks may be released in any order**, as in the announcement, whose debug assertion misfired at it.
//!
//! # Properties
//!
//! - Fairness: once a writer has the base lock, no new reader passes it. Who waits does so at the base lock,
//!   and has its fairness.
//! - Progress: readers wait for writers only, a writer for readers that are in when it comes, and for its
//!   base lock.
//! - Memory: 20 bytes over `qrw`; one cell, on a line of its own, for each context and class.
//! - Cost: reading takes three stores to a private line and one load of a line that only writers write to; a
//!   fence in addition while writers are frequent. Writing takes a heavy barrier, or a fence while writers
//!   are frequent, two or three looks at the clock, and a load for each context that may have a cell.
//! - `acquire_write` must not be called in an interrupt handler, nor while the context reads the lock: it
//!   would wait for itself. Debug builds notice if the context reads through its cell and no other writer is
//!   there.
//! - Without its heavy barrier no writer gets in. Where the system has one and then takes it away (a filter
//!   of system calls), writers wait for ever, and tries fail.
//!
//! # Invariants
//!
//! - **I1** A reader is in through its cell (the lock's address with `IN`), or counted by the base lock.
//! - **I2** A writer is in once it has the base lock, the fast path is closed, its barrier or fence has
//!   passed, and each cell was seen without the lock. Only a reader that saw the fast path open after its
//!   announcement (and after a fence, if it was a fenced fast path), or that holds the base lock, puts `IN`.
//! - **I3** A context is in while `IN` is in its cell and `taken_back` is 0. A handler leaves the cell as it
//!   found it, except that it takes back what is not in: it sets `taken_back` and goes through base locks, as
//!   do further handlers. The interrupted reader, which may write over the cell before it knows, looks at
//!   `taken_back` once it has put `IN`, and tidies up.
//! - **I4** `waiter` is set from zero by one writer that waits for this cell, and cleared by that writer
//!   only. Whoever leaves and finds it kicks. A reader that cleared it first would be the only one to know of
//!   the sleeper: a handler that interrupted it before its kick, and waited for that writer, would wait for
//!   itself.
//!
//! - **I5** A reader that fenced nothing is seen by each writer that passes no heavy barrier. Such a writer
//!   changed the fast path from fenced to closed in one step, and before that a writer closed it when it was
//!   light, passed a heavy barrier, and left it fenced. A reader that saw it light before that barrier can be
//!   seen by all later writers. One that saw it light later saw it made light once more, and then the step
//!   would not have found it fenced.
//!
//! ## Memory orderings
//!
//! Two store-buffering pairs: announcement and fast path (D1 against D8, or D32 against D33), clearing and
//! `waiter` (D4 against D10). A reader's section before the next writer's: D4 with D9, or what the reader
//! stored after D4, which all releases. A writer's before the next reader's: D7 with D2, or through the base
//! lock.
mod fast_path;
mod write;

use crate::events::Event;
use crate::machine::{Atomic, ConstAtomic};
use crate::order::Release;
use crate::platform::Domain;
use crate::platform::Platform;
use crate::qrw::QueuedRwLock;
use crate::readers::{IDLE, IN, ReaderCell, ReaderClass};
use crate::rw::{ConstRwLock, Downgrade, RawRwLock, TooManyReaders};
use crate::transitions::{Table, Word};
use fast_path::{FastPath, Passage};

/// How a context holds a read lock: through its cell, or counted by the base lock. It stays with the context.
pub struct In<'c, P: Platform>(Option<&'c ReaderCell<P>>);

impl<P: Platform> Clone for In<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: Platform> Copy for In<'_, P> {}

/// The per-CPU reader-writer lock; see the [module](self).
///
/// [`RawRwLock`] uses the world's own class ([`Domain::readers`]). The functions that take a class are for
/// users that have several; one lock must always be used with the same one.
#[repr(C, align(8))]
pub struct PerCpuRwLock<P: Platform, B: RawRwLock<Platform = P> = QueuedRwLock<P>> {
    base: B,
    fast_path: FastPath<P>,
    /// The number of its class. Looked at in debug builds only.
    class: P::Usize,
}

impl<P: Platform, B: RawRwLock<Platform = P>> PerCpuRwLock<P, B> {
    #[inline(always)]
    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// A free lock of a class, to be used with that class only.
    pub fn new_in(class: &impl ReaderClass<P>) -> Self {
        Self { class: P::Usize::new(class.id()), ..Self::new() }
    }

    /// In debug builds, panics if the lock is one of another class.
    #[inline(always)]
    fn check_class(&self, class: &impl ReaderClass<P>) {
        debug_assert_eq!(
            self.class.peek(),
            class.id(),
            "a per-CPU lock was used with another class than it was made for: its readers would not be seen"
        );
    }

    /// See [`RawRwLock::acquire_read`]. What is returned goes to [`PerCpuRwLock::release_read_of`], or
    /// nowhere.
    #[inline(always)]
    pub fn acquire_read_in<'c>(&self, class: &'c impl ReaderClass<P>) -> Result<In<'c, P>, TooManyReaders> {
        self.acquire_read_or(class, B::acquire_read)
    }

    /// See [`RawRwLock::acquire_read_again`].
    #[inline]
    pub fn acquire_read_again_in<'c>(
        &self,
        class: &'c impl ReaderClass<P>,
    ) -> Result<In<'c, P>, TooManyReaders> {
        self.acquire_read_or(class, B::acquire_read_again)
    }

    /// Goes in through the cell if that needs no waiting, else by way of the base lock.
    #[inline(always)]
    fn acquire_read_or<'c>(
        &self,
        class: &'c impl ReaderClass<P>,
        acquire_base: impl FnOnce(&B) -> Result<(), TooManyReaders>,
    ) -> Result<In<'c, P>, TooManyReaders> {
        self.check_class(class);
        match class.own() {
            Some(cell) if self.announce(cell) => Ok(In(Some(cell))),
            cell => self.acquire_read_slow(cell, acquire_base),
        }
    }

    /// See [`RawRwLock::try_acquire_read`].
    #[inline]
    pub fn try_acquire_read_in<'c>(&self, class: &'c impl ReaderClass<P>) -> Option<In<'c, P>> {
        self.check_class(class);
        match class.own() {
            Some(cell) if self.announce(cell) => Some(In(Some(cell))),
            cell => match cell.and_then(|cell| self.nest(cell)) {
                Some(nested) => nested.ok(),
                None => self.base.try_acquire_read().then_some(In(None)),
            },
        }
    }

    /// Goes in through an idle cell, unless a writer is there.
    #[inline(always)]
    fn announce(&self, cell: &ReaderCell<P>) -> bool {
        if cell.now() != IDLE {
            if !cell.is_in() {
                cell.take_back();
            }
            return false;
        }
        let is_in = match self.fast_path.announce(&cell.reads, self.address()) {
            Passage::Open => cell.go_in(self.address()),
            Passage::Fenced => self.go_in_fenced(cell),
            Passage::Closed => false,
        };
        if !is_in {
            cell.give_up();
        }
        is_in
    }

    /// Goes in while writers are frequent.
    #[inline(never)]
    fn go_in_fenced(&self, cell: &ReaderCell<P>) -> bool {
        let is_in = self.fast_path.is_open_after_fence() && cell.go_in(self.address());
        if is_in && cell.is_time_to_calm() {
            self.fast_path.calm();
        }
        is_in
    }

    /// Is in once more, if the context is in already; `None` if it is not.
    fn nest<'c>(&self, cell: &'c ReaderCell<P>) -> Option<Result<In<'c, P>, TooManyReaders>> {
        if cell.now() != self.address() | IN || !cell.is_in() {
            return None;
        }
        let again = cell.again.get();
        if again == u16::MAX {
            return Some(Err(TooManyReaders)); // the base lock's writer waits for us, so we cannot go there
        }
        cell.again.set(again + 1);
        Some(Ok(In(Some(cell))))
    }

    #[cold]
    #[inline(never)]
    fn acquire_read_slow<'c>(
        &self,
        cell: Option<&'c ReaderCell<P>>,
        acquire_base: impl FnOnce(&B) -> Result<(), TooManyReaders>,
    ) -> Result<In<'c, P>, TooManyReaders> {
        P::count(Event::PercpuReadSlow);
        if let Some(nested) = cell.and_then(|cell| self.nest(cell)) {
            return nested;
        }
        acquire_base(&self.base)?;
        let Some(cell) = cell else { return Ok(In(None)) };
        // No writer is there while we hold the base lock, and whoever comes next finds us in the cell (I2).
        if cell.now() == IDLE {
            // ord: D27 pairs D9, D14: as D3; to the next writer of this lock the release of the base lock
            // shows it
            cell.reads.store(self.address() | IN, Release);
            self.base.release_read();
            return Ok(In(Some(cell)));
        }
        Ok(In(None))
    }

    /// See [`RawRwLock::release_read`].
    #[inline(always)]
    pub fn release_read_in(&self, class: &impl ReaderClass<P>) {
        self.check_class(class);
        let cell = class.own().filter(|cell| cell.now() == self.address() | IN);
        self.release_read_of(In(cell));
    }

    /// Gives up the read lock that `of` came from. Which of several read locks that one context has of the
    /// same lock it is makes no difference.
    #[inline(always)]
    pub fn release_read_of(&self, of: In<'_, P>) {
        match of.0 {
            Some(cell) => {
                let again: u16 = cell.again.get();
                if again == 0 {
                    cell.leave(IDLE);
                } else {
                    cell.again.set(again - 1);
                }
            }
            None => self.base.release_read(),
        }
    }
}

impl<P: Platform, B: RawRwLock<Platform = P>> RawRwLock for PerCpuRwLock<P, B> {
    type Platform = P;
    const NAME: &'static str = "percpu-rw";
    const TRANSITIONS: Table = B::TRANSITIONS;
    const QUEUE: Table = B::QUEUE;
    const MOST_READERS: u32 = B::MOST_READERS;

    fn new() -> Self {
        Self { base: B::new(), fast_path: FastPath::new(), class: P::Usize::new(0) }
    }

    #[inline]
    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        P::with_domain(|domain| self.acquire_read_in(domain.readers()).map(drop))
    }

    #[inline]
    fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
        P::with_domain(|domain| self.acquire_read_again_in(domain.readers()).map(drop))
    }

    #[inline]
    fn try_acquire_read(&self) -> bool {
        P::with_domain(|domain| self.try_acquire_read_in(domain.readers()).is_some())
    }

    #[inline]
    fn release_read(&self) {
        P::with_domain(|domain| self.release_read_in(domain.readers()));
    }

    fn acquire_write(&self) {
        P::with_domain(|domain| self.acquire_write_in(domain.readers()));
    }

    fn try_acquire_write(&self) -> bool {
        P::with_domain(|domain| self.try_acquire_write_in(domain.readers()))
    }

    #[inline]
    fn release_write(&self) {
        P::with_domain(|domain| self.release_write_in(domain.readers()));
    }

    /// The base lock's word: readers in cells are not counted.
    fn word(&self) -> Word {
        self.base.word()
    }

    fn queue_word(&self) -> Option<Word> {
        self.base.queue_word()
    }
}

impl<P: Platform, B: Downgrade<Platform = P>> Downgrade for PerCpuRwLock<P, B> {
    fn downgrade(&self) {
        P::with_domain(|domain| {
            self.downgrade_in(domain.readers());
        });
    }
}

impl<P: Platform, B: ConstRwLock<Platform = P>> ConstRwLock for PerCpuRwLock<P, B>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
    P::U32: ConstAtomic<u32>,
    P::Usize: ConstAtomic<usize>,
{
    const NEW: Self = Self { base: B::NEW, fast_path: FastPath::OPEN, class: P::Usize::ZERO };
}
