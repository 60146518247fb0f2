//! A reader-writer lock whose readers write to a cell of their own, and what may be wrong with that.
//!
//! The reader has a compiler barrier only, for which the writer's heavy one makes up.
use super::{BROKEN, PERCPU_RW};
use alloc::boxed::Box;
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Platform, RawRwLock, TooManyReaders};

/// So many contexts have numbers.
const CELLS: usize = 1 << 14;

/// What shares its lines with nothing else.
#[repr(align(128))]
struct Apart<T>(T);

/// The lock.
pub struct Cells<P: Platform, const FLAW: usize> {
    writes: Apart<P::U8>,
    /// Writers exclude each other.
    writers: Apart<P::U8>,
    own: Box<[Apart<P::U8>]>,
    /// One more than the greatest number of a context that has read.
    numbers: Apart<P::Usize>,
    /// Who came last, in several copies. Stores to lines that somebody else has keep the stores after them in
    /// the buffer for a while, as other work of a busy program does.
    last: [Apart<P::U16>; 8],
}

impl<P: Platform, const FLAW: usize> Cells<P, FLAW> {
    fn mine(&self) -> &P::U8 {
        let number = usize::from(P::this_cpu().expect("there are far fewer contexts than numbers").index());
        let mut known = self.numbers.0.load(Relaxed);
        while number >= known {
            known = match self.numbers.0.compare_exchange(known, number + 1, Release, Relaxed) {
                Ok(_) => break,
                Err(found) => found,
            };
        }
        &self.own[number].0
    }

    fn work(&self, who: u16) {
        self.last.iter().for_each(|copy| copy.0.store(who, Relaxed));
    }

    fn try_read(&self) -> bool {
        let cell = self.mine();
        self.work(core::ptr::from_ref(cell).addr() as u16);
        cell.store(1, Relaxed);
        P::compiler_barrier();
        if self.writes.0.load(Acquire) == 0 {
            return true;
        }
        cell.store(0, Release);
        false
    }

    /// The calling context is the only writer.
    fn announce(&self) {
        self.work(0);
        self.writes.0.store(1, Release);
        if FLAW == PERCPU_RW {
            // BUG: the flag may still be in the store buffer when we look at the cells; so may a reader's.
            P::compiler_barrier();
            return;
        }
        while !P::heavy_barrier() {
            P::yield_slice();
        }
    }

    fn cells(&self) -> impl Iterator<Item = &P::U8> {
        self.own[..self.numbers.0.load(Acquire)].iter().map(|cell| &cell.0)
    }
}

impl<P: Platform, const FLAW: usize> RawRwLock for Cells<P, FLAW> {
    type Platform = P;
    const NAME: &'static str = BROKEN[FLAW].name;
    const TRANSITIONS: Table = Table(&[]);
    const MOST_READERS: u32 = CELLS as u32;

    fn new() -> Self {
        Self {
            writes: Apart(P::U8::new(0)),
            writers: Apart(P::U8::new(0)),
            own: (0..CELLS).map(|_| Apart(P::U8::new(0))).collect(),
            numbers: Apart(P::Usize::new(0)),
            last: core::array::from_fn(|_| Apart(P::U16::new(0))),
        }
    }

    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        while !self.try_read() {
            self.writes.0.wait_briefly::<P>(Relaxed, |writes| writes == 0);
        }
        Ok(())
    }

    fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
        unreachable!("a cell tells one reader from none");
    }

    fn try_acquire_read(&self) -> bool {
        self.try_read()
    }

    fn release_read(&self) {
        self.mine().store(0, Release);
    }

    fn acquire_write(&self) {
        while self.writers.0.swap(1, Acquire) == 1 {
            self.writers.0.wait_briefly::<P>(Relaxed, |writers| writers == 0);
        }
        self.announce();
        for cell in self.cells() {
            cell.wait_briefly::<P>(Acquire, |reads| reads == 0);
        }
    }

    fn try_acquire_write(&self) -> bool {
        if self.writers.0.swap(1, Acquire) == 1 {
            return false;
        }
        self.announce();
        let free = self.cells().all(|cell| cell.load(Acquire) == 0);
        if !free {
            self.release_write();
        }
        free
    }

    fn release_write(&self) {
        self.writes.0.store(0, Release);
        self.writers.0.store(0, Release);
    }

    fn word(&self) -> Word {
        let readers = self.cells().filter(|cell| cell.peek() == 1).count();
        Word { tail: readers as u16, pending: 0, locked: self.writes.0.peek() }
    }
}
