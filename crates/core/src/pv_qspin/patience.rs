//! Patience: how long a context spins for a lock, by how its last spins ended.
//!
//! To spin is right while holders run and hold for less time than it takes to sleep and to be woken. Where they do not (they wait for
//! something, yield, or are long at work), each spin is lost, and the CPU with it that the holder may need. A waiter cannot see which it is, but
//! it can remember: each spin in vain at a line that did not move halves the next one; one that ended with the lock makes the next at least twice
//! as long as it took, and longer than it was. Once in a while one has its full length again, so that a context that has given up finds out when
//! times have changed.
//!
//! A spin that lost to others (the line moved) says nothing: there the lock changes hands, and somebody's spin was not in vain.
//!
//! A new context knows nothing, and many never wait again: threads that live for one task, a thousand that come while whoever makes them holds
//! the lock. Its first spins are short, each four times as long as the one before, however they end; then it has patience to spin for as long
//! as is right, unless the last of them was in vain at a line that did not move, after which it goes on with halves of that one.
//!
//! All of this is about spins of microseconds. Where the longest is but a few looks, as in [`super::Brief`], newness is not asked for and not used
//! up.
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
/// So many spins a context is new: of 20 us, these are of 0.3, 1.25 and 5.
const NEW: u32 = 3;
/// By so many halvings each of them is shorter than the next, and the last than the longest.
const STEP: u32 = 2;
/// In nanoseconds, spins that are shorter are so few looks that a new context has them whole.
const WORTH_CARE: u32 = 1_000;

/// What one context has learned of its spins.
pub(super) struct Patience<'a, P: Platform> {
    /// Below [`NEW`], how often it spun; from there on, how many of its last spins were in vain.
    learned: &'a P::U32,
}

enum Learned {
    New { spins: u32 },
    InVain(u32),
}
use Learned::{InVain, New};

impl<'a, P: Platform> Patience<'a, P> {
    pub(super) fn of(percpu: &'a PerCpu<P>) -> Self {
        Self { learned: &percpu.patience }
    }

    /// How long to spin where the most is `full` nanoseconds.
    pub(super) fn within(&self, full: u32) -> u32 {
        let halvings = match self.learned() {
            New { .. } if full < WORTH_CARE => 0,
            New { spins } => STEP * (NEW - spins),
            InVain(TRIAL..) => 0,
            InVain(in_vain) => in_vain.min(MOST_HALVINGS),
        };
        (full >> halvings).max(full.min(SHORTEST))
    }

    /// A spin of at most `full` nanoseconds has ended in vain. `moved`: others had the lock meanwhile.
    pub(super) fn was_in_vain(&self, moved: bool, full: u32) {
        match self.learned() {
            New { spins } if spins + 1 == NEW && !moved => self.was_new(NEW + STEP + 1, full),
            New { spins } => self.was_new(spins + 1, full),
            InVain(_) if moved => {}
            InVain(TRIAL..) => self.remember(NEW + MOST_HALVINGS),
            InVain(in_vain) => self.remember(NEW + in_vain + 1),
        }
    }

    /// A spin has ended with the lock, after `spent` of at most `full` nanoseconds.
    pub(super) fn paid_off(&self, spent: u32, full: u32) {
        if spent == 0 {
            return; // it was no spin
        }
        match self.learned() {
            New { spins } => self.was_new(spins + 1, full),
            InVain(0) => {}
            InVain(in_vain) => {
                let enough = (full / spent.saturating_mul(2)).checked_ilog2().unwrap_or(0);
                self.remember(NEW + enough.min(in_vain.min(MOST_HALVINGS) - 1));
            }
        }
    }

    fn was_new(&self, learned: u32, full: u32) {
        if full >= WORTH_CARE {
            self.remember(learned);
        }
    }

    fn learned(&self) -> Learned {
        // ord: W19 alone: private to this context
        let learned = self.learned.load(Relaxed);
        learned.checked_sub(NEW).map_or(New { spins: learned }, InVain)
    }

    fn remember(&self, learned: u32) {
        // ord: W21 alone: private to this context; a handler that spins in between is one spin that is not counted
        self.learned.store(learned, Relaxed);
    }
}
