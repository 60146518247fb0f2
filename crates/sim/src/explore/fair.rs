//! Releases, some of which are fair: whoever waits in line has the lock next.
use super::engine::with;
use super::plan::Plan;
use super::run::watch;
use crate::locks::AnyLock;

/// The current context releases a lock, in the way that the plan says.
pub(super) fn release(plan: &Plan, held: &dyn AnyLock, lock: usize) {
    if plan.releases_fairly(with(|engine| engine.current), lock) {
        watch(|watch| watch.must_be_handed_over(lock));
        held.release_fair();
    } else {
        held.release();
    }
}
