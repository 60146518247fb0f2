//! Waits that have a limit: which ones for reader-writer locks, and that none ends too early.
use super::engine::with;
use super::fault::Fault;
use super::plan::{Coin, Plan};
use super::platform::{STEP_NANOS, Stepped};
use super::{CONTEXTS, Ctx};
use core::cell::Cell;
use stanchion_core::Machine;

/// Who waits for a limited time waits for less than so many nanoseconds, of which a step takes 100.
const LONGEST: u64 = 16_000;

/// Who gives up a mutual exclusion lock does so within so many steps: as many as a few contexts take until
/// one of them has queued, slept and been roused. Mostly sooner.
const LONGEST_TIMEOUT: u64 = 768;

/// How often each context had a chance to wait for a limited time.
#[derive(Default)]
pub(super) struct Limits([Cell<u32>; CONTEXTS]);

impl Limits {
    /// When the next wait of `me` is to be given up, if it is one of those.
    pub(super) fn next(&self, plan: &Plan, me: Ctx) -> Option<u64> {
        if !plan.faults.has(Fault::Tries) {
            return None;
        }
        let chances = self.0[me].get() + 1;
        self.0[me].set(chances);
        let dice = plan.coin(Coin::Timed, me, chances, 1 << 16);
        dice.is_multiple_of(3).then(|| Stepped::after(dice / 3 % LONGEST))
    }
}

/// For how many nanoseconds the current context waits for a mutual exclusion lock.
pub(super) fn timeout() -> u64 {
    with(|engine| {
        let most = LONGEST_TIMEOUT >> engine.coin(Coin::Timeout, 6);
        STEP_NANOS * engine.coin(Coin::Timeout, most)
    })
}

/// The current context waits until `until` at most, unless it `acquired`.
pub(super) fn limited<R>(until: u64, acquired: impl FnOnce(&R) -> bool, waits: impl FnOnce() -> R) -> R {
    with(|engine| engine.waits_until(until));
    let done = waits();
    with(|engine| engine.ends_wait(acquired(&done)));
    done
}
