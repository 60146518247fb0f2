//! Which waits for reader-writer locks have a limit, and when it is reached.
use super::fault::Fault;
use super::plan::{Coin, Plan};
use super::platform::Stepped;
use super::{CONTEXTS, Ctx};
use core::cell::Cell;
use stanchion_core::Machine;

/// Who waits for a limited time waits for less than so many nanoseconds, of which a step takes 100.
const LONGEST: u64 = 16_000;

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
