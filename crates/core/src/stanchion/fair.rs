//! The fair release: the lock goes to the first waiter in line, and is not free in between.
//!
//! The owner says so in the waiter's node (I6). That may be the heir, which looks at its node between two
//! looks at the lock, or a waiter that sleeps; each wait for a change of the node. The flags stay as they
//! are: whom they ask to be roused, the next release finds.
use super::StanchionLock;
use super::queue::Queue;
use crate::events::Event;
use crate::machine::Atomic;
use crate::nodes::{State, Tag};
use crate::numbers::NodeId;
use crate::order::Relaxed;
use crate::platform::Platform;

impl<P: Platform, const IN_ORDER: bool> StanchionLock<P, IN_ORDER> {
    /// For the owner: hands the lock to the first waiter. Whether there was one; then the lock is not ours
    /// any more.
    #[cold]
    #[inline(never)]
    pub(super) fn hand_over(&self) -> bool {
        let first = P::with_domain(|domain| self.grant(domain));
        if let Some(first) = first {
            P::count(Event::PvKickUnlock);
            P::wake(first);
        }
        first.is_some()
    }

    fn grant(&self, domain: &P::Domain) -> Option<NodeId> {
        let queue = Queue::of(self, domain);
        loop {
            let first = queue.link()?.oldest;
            let tag = queue.node(first).tag();
            match tag.state() {
                State::Waiting | State::Roused => {
                    if queue.node(first).change(tag, State::Granted) {
                        return Some(first);
                    }
                }
                _ => queue.remove_if_gone(first, tag),
            }
        }
    }

    /// Whether the waiter with this node owns the lock by a grant. If so, it counts the release and its
    /// acquisition.
    pub(super) fn was_granted(&self, tag: Tag) -> bool {
        let granted = tag.state() == State::Granted;
        if granted {
            // ord: ST19 alone: the owner alone changes it
            let count = self.count.load(Relaxed);
            // ord: ST20 alone: for those who spin; claims read what releases store
            self.count.store(count.wrapping_add(2), Relaxed);
            P::keep(&self.count, count.wrapping_add(2));
        }
        granted
    }
}
