//! What readers did beyond reading: counted by each slot, summed up at the end.
use core::ops::AddAssign;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use serde::{Deserialize, Serialize};

/// One slot's counts, all but the last the worker's alone.
#[derive(Default)]
pub(crate) struct Sharing {
    pub(crate) together: AtomicU64,
    pub(crate) again: AtomicU64,
    pub(crate) any_order: AtomicU64,
    pub(crate) downgrades: AtomicU64,
    pub(crate) upgrades: AtomicU64,
    /// A handler may interrupt a handler, so they count in one step.
    pub(crate) handler_again: AtomicU64,
}

/// The sums over all slots of a reader-writer lock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shared {
    /// How often a worker found another thread's reader inside.
    pub(crate) together: u64,
    /// How often a thread took a read lock that it had, or was about to have.
    pub(crate) again: u64,
    /// …of these, in handlers.
    pub(crate) handler_again: u64,
    /// Chains of read locks that were given back in a random order.
    pub(crate) any_order: u64,
    pub(crate) downgrades: u64,
    pub(crate) upgrades: u64,
}

/// Counts one more, where only the calling context writes.
pub(crate) fn one_more(count: &AtomicU64) {
    count.store(count.load(Relaxed) + 1, Relaxed);
}

impl AddAssign<&Sharing> for Shared {
    fn add_assign(&mut self, slot: &Sharing) {
        let handler_again = slot.handler_again.load(Relaxed);
        self.together += slot.together.load(Relaxed);
        self.again += slot.again.load(Relaxed) + handler_again;
        self.handler_again += handler_again;
        self.any_order += slot.any_order.load(Relaxed);
        self.downgrades += slot.downgrades.load(Relaxed);
        self.upgrades += slot.upgrades.load(Relaxed);
    }
}

impl Shared {
    /// A line about it.
    pub(crate) fn line(&self) -> String {
        let Self { together, again, handler_again, any_order, downgrades, upgrades } = self;
        format!(
            "{together} readers met another, {again} read again ({handler_again} in handlers), {any_order} chains of readers \
             released in any order, {downgrades} downgrades, {upgrades} upgrades"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_all_slots() {
        let (first, second) = (Sharing::default(), Sharing::default());
        one_more(&first.together);
        one_more(&second.together);
        one_more(&first.again);
        second.handler_again.fetch_add(2, Relaxed);
        let mut sum = Shared::default();
        sum += &first;
        sum += &second;
        assert_eq!(sum, Shared { together: 2, again: 3, handler_again: 2, ..Shared::default() });
        assert!(
            sum.line().starts_with("2 readers met another, 3 read again (2 in handlers)"),
            "{}",
            sum.line()
        );
    }
}
