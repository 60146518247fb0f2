//! What is counted besides acquisitions: violations, what handlers did, and what readers did that share.
use serde::{Deserialize, Serialize};

/// Counted slot by slot, and summed up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts<T> {
    /// Violations: two were inside at once, the protected words did not agree.
    pub(crate) exclusion: T,
    pub(crate) torn: T,
    /// Handler runs, and handlers that found no level left.
    pub(crate) handler_runs: T,
    pub(crate) handler_refused: T,
    /// Waits as the fifth context that queues on one thread, for which a lock with four nodes has none.
    pub(crate) handler_fifth: T,
    /// Acquisitions made while holding another lock.
    pub(crate) nested: T,
    pub(crate) tries: T,
    pub(crate) tries_won: T,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shared<T> {
    /// How often a worker found another thread's reader inside.
    pub(crate) together: T,
    /// How often a thread took a read lock that it had, or was about to have.
    pub(crate) again: T,
    /// …of these, in handlers. Only sums have these in both.
    pub(crate) handler_again: T,
    /// Chains of read locks that were given back in a random order.
    pub(crate) any_order: T,
    pub(crate) downgrades: T,
    pub(crate) upgrades: T,
}

impl Shared<u64> {
    pub(crate) fn line(&self) -> String {
        let Self { together, again, handler_again, any_order, downgrades, upgrades } = self;
        format!(
            "{together} readers met another, {again} read again ({handler_again} in handlers), {any_order} chains of readers \
             released in any order, {downgrades} downgrades, {upgrades} upgrades"
        )
    }
}
