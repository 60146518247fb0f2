//! The state of the readers' fast path, as in the kernel's `rcu_sync`: whether a writer is there, and who
//! pays for the fence between announcements and it.
//!
//! A reader stores its announcement and then looks at the fast path; a writer closes the fast path and then
//! looks at the cells. Between the two steps each side needs a fence. While writers are rare the fast path is
//! *light*: the reader's fence is a compiler barrier, and the writer passes a heavy barrier, which interrupts
//! every CPU that runs a context. While they are frequent the fast path is *fenced*: readers fence, which
//! takes them some nanoseconds, and closing interrupts nobody. (A writer that halts for a reader that does
//! not leave passes a heavy barrier in either case.)
//!
//! A writer leaves the fast path fenced if it left within `rw_fence_ratio` times what a heavy barrier takes,
//! counted from when the writer before it left: so at most two closings interrupt in that time. It is made
//! light again by a writer that came later than that, or by a reader: each looks at the clock once in
//! `rw_calm_reads` fenced reads. What a barrier takes is measured whenever there is one. One that took long
//! because its writer was preempted is forgotten little by little, so that the fast path does not stay fenced
//! for its sake.
use crate::events::Event;
use crate::machine::{Atomic, ConstAtomic, micros};
use crate::order::{Acquire, Relaxed, Release, SeqCst};
use crate::platform::Platform;
use crate::tunables::Tunable;

/// No writer is there; the next one passes a heavy barrier.
const LIGHT: u8 = 0;
/// A writer is in or about to be: readers go to the base lock.
const CLOSED: u8 = 1;
/// No writer is there; readers fence.
const FENCED: u8 = 2;

/// See the [module](self).
#[repr(C)]
pub(super) struct FastPath<P: Platform> {
    state: P::U8,
    /// What a heavy barrier takes, in microseconds, and at least one once there was one.
    barrier: P::U16,
    /// When the last writer left, in microseconds.
    left: P::U32,
}

/// What a reader finds that has announced itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Passage {
    Open,
    /// Open for those that fence, and then look again.
    Fenced,
    Closed,
}

impl<P: Platform> FastPath<P> {
    pub(super) fn new() -> Self {
        Self { state: P::U8::new(LIGHT), barrier: P::U16::new(0), left: P::U32::new(0) }
    }

    /// Stores the announcement of a reader and looks whether it may go in.
    #[inline(always)]
    pub(super) fn announce(&self, cell: &P::Usize, lock: usize) -> Passage {
        // ord: D1 pairs D8, D9, D14: either we see the fast path closed, or its writer sees our announcement;
        // as D3, a writer of a lock that we read before may find this in the place of D4's store
        let state = P::store_then_load(cell, lock, &self.state);
        // ord: D2 pairs D7, D42: the last writer's section comes before ours
        P::fence(Acquire);
        match state {
            LIGHT => Passage::Open,
            FENCED => Passage::Fenced,
            _ => Passage::Closed,
        }
    }

    /// A reader, announced, that found the fast path fenced: fences, and looks again whether it is open.
    #[inline]
    pub(super) fn is_open_after_fence(&self) -> bool {
        // ord: D32 pairs D33: either we see the fast path closed, or its writer sees our announcement
        P::fence(SeqCst);
        // ord: D34 pairs D7: the last writer's section comes before ours. If it is light by now, our
        // announcement came before that, and so before the next writer's barrier
        self.state.load(Acquire) != CLOSED
    }

    /// Makes the fast path light if writers have become rare. For readers that are in.
    #[cold]
    pub(super) fn calm(&self) {
        // ord: D36 alone: a time, and the compare-exchange decides; read before the clock
        let left = self.left.load(Relaxed);
        if micros::<P>().wrapping_sub(left) >= self.busy_for() {
            // ord: D35 pairs D31: whoever is light from here on comes after the last writer that needed no
            // barrier, or we fail
            if self.state.compare_exchange(FENCED, LIGHT, Relaxed, Relaxed).is_ok() {
                P::count(Event::PercpuCalmed);
            }
        }
    }

    /// For how long after a writer the fast path stays fenced.
    fn busy_for(&self) -> u32 {
        // ord: D37 alone: a duration, of which an old one does as well
        u32::from(self.barrier.load(Relaxed)).saturating_mul(P::tunable(Tunable::RwFenceRatio))
    }

    /// The holder of the base lock sends readers there from now on, and makes sure that it sees those who do
    /// not know. `false`: the heavy barrier for it was not to be had.
    #[must_use]
    pub(super) fn close(&self) -> bool {
        // ord: D31 pairs D35: that we need no barrier is decided in the one order of the fast path's changes
        if self.state.swap(CLOSED, Relaxed) == FENCED {
            // ord: D33 pairs D32: either a reader sees the fast path closed, or we see its announcement
            P::fence(SeqCst);
            return true;
        }
        let start = P::now();
        // ord: D8 pairs D1: either a reader sees the fast path closed, or we see its announcement
        if !P::heavy_barrier() {
            // ord: D42 pairs D2: the last writer's section, which is over since we have the base lock, comes
            // before the next reader's
            self.state.store(LIGHT, Release);
            return false;
        }
        let took = (P::now().saturating_sub(start) / 1_000).clamp(1, u16::MAX.into());
        // ord: D38 alone: a duration, see D37
        self.barrier.store(took as u16, Relaxed);
        true
    }

    /// The holder of the base lock lets readers in again.
    #[inline]
    pub(super) fn open(&self) {
        let now = micros::<P>();
        // ord: D39 alone: changed under the base lock only
        let since = now.wrapping_sub(self.left.load(Relaxed));
        // ord: D40 alone: a time, for D36 and D39
        self.left.store(now, Relaxed);
        let mut state = LIGHT;
        if since < self.busy_for() {
            state = FENCED;
            P::count(Event::PercpuFenced);
            // ord: D43 alone: changed under the base lock only
            let barrier = self.barrier.load(Relaxed);
            // ord: D44 alone: a duration, see D37
            self.barrier.store(a_little_forgotten(barrier), Relaxed);
        }
        // ord: D7 pairs D2, D34: our section comes before the next reader's
        self.state.store(state, Release);
    }

    /// Whether a writer is there. No access; for checks.
    pub(super) fn is_closed(&self) -> bool {
        self.state.peek() == CLOSED
    }
}

/// What a heavy barrier takes as far as one knows that has not had one for another write.
fn a_little_forgotten(barrier: u16) -> u16 {
    barrier - barrier / 64
}

impl<P: Platform> FastPath<P>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
    P::U32: ConstAtomic<u32>,
{
    /// As `new`.
    pub(super) const OPEN: Self = Self { state: P::U8::ZERO, barrier: P::U16::ZERO, left: P::U32::ZERO };
}

#[cfg(test)]
mod tests {
    use super::a_little_forgotten;

    #[test]
    fn a_barrier_that_took_very_long_is_forgotten_and_a_usual_one_is_not() {
        let after = |writes: usize, barrier: u16| (0..writes).fold(barrier, |now, _| a_little_forgotten(now));
        assert!(
            after(100, 20_000) < 20_000 / 4,
            "a write every 100 ms makes the fast path light again in ten seconds"
        );
        assert!(after(500, u16::MAX) < 64);
        assert_eq!(after(1_000_000, 11), 11);
    }
}
