//! Patience: how long a context spins for a lock, by how its last spins ended.
//!
//! To spin is right while holders run and hold for less time than it takes to sleep and to be woken. Where they do not (they wait for
//! something, yield, or are long at work), each spin is lost, and the CPU with it that the holder may need. A waiter cannot see which it is, but
//! it can remember: each spin in vain at a line that did not move halves the next one; one that ended with the lock makes the next at least twice
//! as long as it took, and longer than it was. Once in a while one has its full length again, so that a context that has given up finds out when
//! times have changed.
//!
//! A spin that lost to others (the line moved) says nothing: there the lock changes hands, and somebody's spin was not in vain.
use crate::order::Relaxed;
use crate::percpu::PerCpu;
use crate::platform::{Atomic, Platform};

/// After so many spins in vain they do not become shorter: of 20 us, a few looks are left.
const MOST_HALVINGS: u32 = 8;
/// In nanoseconds, no spin becomes shorter than this: a few looks. The small constants of models and explorers stay as they are.
const SHORTEST: u32 = 75;
/// How many of these there are between two of full length: which cost about as much as these, then.
const BETWEEN_TRIALS: u32 = 256;
/// The next spin is a trial.
const TRIAL: u32 = MOST_HALVINGS + BETWEEN_TRIALS;

/// How many of the last spins of one context were in vain.
pub(super) struct Patience<'a, P: Platform> {
    in_vain: &'a P::U32,
}

impl<'a, P: Platform> Patience<'a, P> {
    pub(super) fn of(percpu: &'a PerCpu<P>) -> Self {
        Self { in_vain: &percpu.spins_in_vain }
    }

    /// How long to spin where the most is `full` nanoseconds.
    pub(super) fn within(&self, full: u32) -> u32 {
        // ord: W19 alone: private to this context
        match self.in_vain.load(Relaxed) {
            TRIAL.. => full,
            in_vain => (full >> in_vain.min(MOST_HALVINGS)).max(full.min(SHORTEST)),
        }
    }

    /// A spin has ended in vain. `moved`: others had the lock meanwhile.
    pub(super) fn was_in_vain(&self, moved: bool) {
        // ord: W20 alone: private to this context
        match self.in_vain.load(Relaxed) {
            _ if moved => {}
            TRIAL.. => self.set(MOST_HALVINGS),
            in_vain => self.set(in_vain + 1),
        }
    }

    /// A spin has ended with the lock, after `spent` of at most `full` nanoseconds.
    pub(super) fn paid_off(&self, spent: u32, full: u32) {
        // ord: W22 alone: private to this context
        let in_vain = self.in_vain.load(Relaxed);
        if in_vain > 0 && spent > 0 {
            let enough = (full / spent.saturating_mul(2)).checked_ilog2().unwrap_or(0);
            self.set(enough.min(in_vain.min(MOST_HALVINGS) - 1));
        }
    }

    fn set(&self, in_vain: u32) {
        // ord: W21 alone: private to this context; a handler that spins in between is one spin that is not counted
        self.in_vain.store(in_vain, Relaxed);
    }
}
