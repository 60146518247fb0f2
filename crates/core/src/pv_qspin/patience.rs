//! Patience: how long a context spins for a lock, by how its last spins ended.
//!
//! To spin is right while holders run and hold for less time than it takes to sleep and to be woken. Where they do not (they wait for
//! something, yield, or are long at work), each spin is lost, and the CPU with it that the holder may need. A waiter cannot see which it is, but
//! it can remember: each spin in vain at a line that did not move halves the next one, each that ended with the lock doubles it. Once in a while
//! one has its full length again, so that a context that has given up finds out when times have changed.
//!
//! A spin that lost to others (the line moved) says nothing: there the lock changes hands, and somebody's spin was not in vain.
use crate::order::Relaxed;
use crate::percpu::PerCpu;
use crate::platform::{Atomic, Platform};

/// After so many spins in vain they do not become shorter: a sixty-fourth is left.
const MOST_HALVINGS: u32 = 6;
/// How many of these there are between two of full length.
const BETWEEN_TRIALS: u32 = 32;
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
            in_vain => full >> in_vain.min(MOST_HALVINGS),
        }
    }

    /// A spin has ended. `acquired`: with the lock; `moved`: others had it meanwhile.
    pub(super) fn learn(&self, acquired: bool, moved: bool) {
        // ord: W20 alone: private to this context
        let in_vain = self.in_vain.load(Relaxed);
        let next = match (acquired, in_vain) {
            (true, _) => in_vain.min(MOST_HALVINGS).saturating_sub(1),
            (false, _) if moved => return,
            (false, TRIAL..) => MOST_HALVINGS,
            (false, _) => in_vain + 1,
        };
        // ord: W21 alone: private to this context; a handler that spins in between is one spin that is not counted
        self.in_vain.store(next, Relaxed);
    }
}
