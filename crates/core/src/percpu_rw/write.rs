//! The writer's side: sending readers to the base lock, and waiting for those that are in.
use super::{In, PerCpuRwLock};
use crate::events::Event;
use crate::machine::Atomic;
use crate::numbers::CpuId;
use crate::order::{Acquire, Relaxed};
use crate::platform::Platform;
use crate::readers::{IN, ReaderCell, ReaderClass};
use crate::rw::{Downgrade, RawRwLock};
use crate::tunables::Tunable;

impl<P: Platform, B: RawRwLock<Platform = P>> PerCpuRwLock<P, B> {
    /// See [`RawRwLock::acquire_write`].
    pub fn acquire_write_in(&self, class: &impl ReaderClass<P>) {
        self.check_class(class);
        let me = P::this_cpu();
        self.base.acquire_write();
        while !self.fast_path.close() {
            // Without the barrier nobody can be let in. A system that refuses it has let the process
            // register, so it will have it again.
            P::yield_slice();
        }
        // After the barrier: until then what this context last stored may not be where a look that is no
        // access sees it.
        if cfg!(debug_assertions) && class.own().is_some_and(|cell| cell.reads.peek() == self.address() | IN)
        {
            self.release_write_in(class);
            panic!("a context that reads a lock would wait for itself if it wrote to it");
        }
        let mut looked_at = 0;
        class.each(|_, cell| {
            looked_at += 1;
            self.wait_for(me, cell);
        });
        P::count(Event::PercpuSweep);
        P::count_many(Event::PercpuSwept, looked_at);
    }

    /// Waits until the context of `cell` does not read this lock.
    fn wait_for(&self, me: Option<CpuId>, cell: &ReaderCell<P>) {
        let here = |reads: usize| reads & !IN == self.address();
        loop {
            let polls = P::tunable(Tunable::RwSweepPolls);
            // ord: D9 pairs D1, D3, D4, D27: the reader's section comes before ours
            if cell.reads.wait_until_polls(polls, Acquire, |reads| !here(reads)).is_ok() {
                return;
            }
            let code = me.filter(|_| P::paravirt()).map_or(0, |me| me.index() + 1);
            // ord: D11 alone: the barrier makes it visible; another lock's writer may wait here, too, and is
            // left alone (I4)
            if code == 0 || cell.waiter.compare_exchange(0, code, Relaxed, Relaxed).is_err() {
                // Dozes, as a yield leaves the CPU to nobody that is less urgent.
                // ord: D47 alone: what we find is looked at again above
                cell.reads.wait_briefly::<P>(Relaxed, |reads| !here(reads));
                continue;
            }
            // ord: D10 pairs D4: either the reader sees us waiting, or we see it gone
            if P::heavy_barrier() {
                // ord: D12 alone: what we find is looked at again above
                let reads = cell.reads.load(Relaxed);
                if here(reads) {
                    P::count(Event::PercpuWriterHalt);
                    P::halt_while(&cell.reads, reads);
                }
            } else {
                P::yield_slice();
            }
            debug_assert_eq!(cell.waiter.peek(), code, "nobody else takes the sleeper's number out (I4)");
            // ord: D13 alone: nobody else changes it while it is ours (I4); a kick that comes later ends
            // another halt
            cell.waiter.store(0, Relaxed);
        }
    }

    /// See [`RawRwLock::try_acquire_write`].
    pub fn try_acquire_write_in(&self, class: &impl ReaderClass<P>) -> bool {
        self.check_class(class);
        if !self.base.try_acquire_write() {
            return false;
        }
        if !self.fast_path.close() {
            self.base.release_write();
            return false;
        }
        let mut readers = false;
        class.each(|_, cell| {
            // ord: D14 pairs D1, D3, D4, D27: as D9, the reader's section comes before ours
            readers |= cell.reads.load(Acquire) & !IN == self.address();
        });
        if readers {
            self.release_write_in(class);
        }
        !readers
    }

    /// See [`RawRwLock::release_write`].
    #[inline]
    pub fn release_write_in(&self, class: &impl ReaderClass<P>) {
        self.check_class(class);
        debug_assert!(self.fast_path.is_closed(), "released a write lock that nobody holds");
        self.fast_path.open();
        self.base.release_write();
    }
}

impl<P: Platform, B: Downgrade<Platform = P>> PerCpuRwLock<P, B> {
    /// See [`Downgrade::downgrade`].
    pub fn downgrade_in<'c>(&self, class: &'c impl ReaderClass<P>) -> In<'c, P> {
        self.check_class(class);
        self.fast_path.open();
        self.base.downgrade();
        In(None)
    }
}
