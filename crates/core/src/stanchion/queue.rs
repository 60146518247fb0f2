//! The queue: a list of nodes that anybody adds to, and only the owner of the lock changes otherwise.
//!
//! ```text
//!   newest, in the lock ─────────────────────────────────────────────┐
//!                                                                    ▼
//!            ┌─────────┐  older  ┌─────────┐  older  ┌─────────┐  older  ┌─────────┐
//!            │    a    │◀────────│    b    │◀────────│    c    │◀────────│    d    │
//!            │ ROUSED  │────────▶│ WAITING │────────▶│ WAITING │         │ WAITING │
//!            └─────────┘  newer  └─────────┘  newer  └─────────┘         └─────────┘
//!                 ▲                                       │               came after the
//!                 └──────────── oldest ───────────────────┘               last owner linked
//! ```
//!
//! A waiter adds itself by one compare-exchange of `newest`; its own node says who came before. Nobody has to
//! wait for anybody's link. The owner that needs the queue follows `older` from the newest node to the one
//! that an owner has linked before, which knows the oldest, and leaves the links the other way round. So each
//! node is passed once, and taking one out of the middle is four stores.
//!
//! Invariants:
//! - **IQ1** `older` of a node is written by its waiter before it is added, and by owners after that. `newer`
//!   and `oldest` are the owners'.
//! - **IQ2** Between two owners exactly one node of a queue that was ever linked has `oldest` set: the newest
//!   of that time.
//! - **IQ3** A node leaves the queue only by an owner's hands: its own waiter's that acquired the lock, or
//!   another's that found it abandoned.
//! - **IQ4** Nodes stand in the order in which they were added, but for one that an owner has put to the
//!   front to rouse it (rule 5).
use super::StanchionLock;
use super::word::TRANSITIONS;
use crate::machine::Atomic;
use crate::nodes::{State, Tag, WaitNode};
use crate::numbers::NodeId;
use crate::order::{AcqRel, Acquire, Relaxed};
use crate::platform::Domain;
use crate::platform::Platform;
use crate::transitions::Field;

/// A waiter with a deadline looks at so many of the newest nodes for abandoned ones: as many as threads may
/// be that try one lock again and again. That takes some microseconds, and it sleeps then.
const PLACES: usize = 256;
/// In order, so many of them may be abandoned: more than threads whose tries end between those of others.
const MOST_ABANDONED: usize = 32;

/// The two ends of a queue that is linked.
#[derive(Clone, Copy)]
pub(super) struct Ends {
    pub(super) oldest: NodeId,
    pub(super) newest: NodeId,
}

/// The queue of one lock, for a waiter that adds itself, or for the owner.
pub(super) struct Queue<'a, P: Platform> {
    pub(super) domain: &'a P::Domain,
    /// The address of the lock.
    lock: usize,
    newest: &'a P::U16,
}

/// Follows a cell of a node. The owners' own writes, and what waiters wrote before they were added (SQ1),
/// come with the lock.
#[inline(always)]
fn follow<P: Platform>(cell: &P::U16) -> Option<NodeId> {
    // ord: SQ2 alone: written by owners, whose sections the lock orders, or published by SQ1
    NodeId::new(cell.load(Relaxed))
}

#[inline(always)]
fn put<P: Platform>(cell: &P::U16, node: Option<NodeId>) {
    // ord: SQ3 alone: read by owners, whose sections the lock orders; or published by SQ1
    cell.store(node.map_or(NodeId::NONE, NodeId::raw), Relaxed);
}

impl<'a, P: Platform> Queue<'a, P> {
    pub(super) fn of<const IN_ORDER: bool>(
        lock: &'a StanchionLock<P, IN_ORDER>,
        domain: &'a P::Domain,
    ) -> Self {
        Self { domain, lock: core::ptr::from_ref(lock).addr(), newest: &lock.newest }
    }

    pub(super) fn node(&self, id: NodeId) -> &'a WaitNode<P> {
        self.domain.wait_node(id)
    }

    /// Adds the node of the calling context, which `prepare` gets ready: it is told whether it is the only
    /// one.
    pub(super) fn add(&self, me: NodeId, mut prepare: impl FnMut(bool)) {
        let node = self.node(me);
        put::<P>(&node.newer, None);
        put::<P>(&node.oldest, None);
        // ord: SQ4 alone: the compare-exchange decides
        let mut before = self.newest.load(Relaxed);
        loop {
            put::<P>(&node.older, NodeId::new(before));
            prepare(before == NodeId::NONE);
            // o,f,* -> n,f,*
            // ord: SQ1 pairs SQ5, SQ6: our node is ready before an owner finds it, and those that were added
            // before it stay so
            match self.newest.compare_exchange(before, me.raw(), AcqRel, Relaxed) {
                Ok(_) => {
                    return TRANSITIONS.check(Field::Tail, || before, me.raw());
                }
                Err(now) => before = now,
            }
        }
    }

    /// A node for a waiter that comes, and whether it stands in the queue already. One with a deadline takes
    /// over a node that a waiter of the same lock has abandoned, and waits in its place. An owner may rouse
    /// it before it has said who it is. So waits that are given up and begun anew, while the lock is held, do
    /// not use up all nodes. In order, only the last place may be taken over, as nobody came after it; where
    /// there are many more, there is no node for anybody with a deadline.
    pub(super) fn place(&self, in_order: bool, has_deadline: bool) -> Option<(NodeId, bool)> {
        match self.take_over(in_order, if has_deadline { PLACES } else { 0 }) {
            Ok(id) => Some((id, true)),
            Err(abandoned) if abandoned >= MOST_ABANDONED => None,
            Err(_) => self.domain.lease().map(|id| (id, false)),
        }
    }

    /// Takes over one of the `newest` nodes. The error says how many of them are abandoned.
    fn take_over(&self, in_order: bool, newest: usize) -> Result<NodeId, usize> {
        // ord: SQ6 pairs SQ1: the node is ready; those behind it may not be in this queue any more, which the
        // tag decides
        let mut next = NodeId::new(self.newest.load(Acquire));
        let mut abandoned = 0;
        for place in 0..newest {
            let Some(id) = next else { break };
            let node = self.node(id);
            let tag = node.tag();
            // ord: SQ7 alone: of the wait that the tag is of, or the exchange fails (IN1)
            if tag.state() == State::Abandoned && node.lock.load(Relaxed) == self.lock {
                if (place == 0 || !in_order) && node.change(tag, State::Waiting) {
                    return Ok(id);
                }
                abandoned += 1;
            }
            next = follow::<P>(&node.older);
        }
        Err(abandoned)
    }

    /// For the owner: links those who came, and returns both ends; `None` if nobody is there.
    pub(super) fn link(&self) -> Option<Ends> {
        // ord: SQ5 pairs SQ1: all nodes of the queue are ready
        let newest = NodeId::new(self.newest.load(Acquire))?;
        if !self.is_ours(newest) {
            // ord: SQ11 alone: nobody who waited exists
            let _ = self.newest.compare_exchange(newest.raw(), NodeId::NONE, Relaxed, Relaxed);
            return self.link();
        }
        let mut at = newest;
        let oldest = loop {
            let node = self.node(at);
            if let Some(oldest) = follow::<P>(&node.oldest) {
                put::<P>(&node.oldest, None);
                break oldest;
            }
            let Some(older) = follow::<P>(&node.older).filter(|&older| self.is_ours(older)) else {
                put::<P>(&node.older, None);
                break at;
            };
            put::<P>(&self.node(older).newer, Some(at));
            at = older;
        };
        put::<P>(&self.node(newest).oldest, Some(oldest));
        Some(Ends { oldest, newest })
    }

    /// Whether `id` waits for this lock. It does, but in the child of a `fork`, where those who waited do not
    /// exist, and their nodes may be other waits' by now.
    fn is_ours(&self, id: NodeId) -> bool {
        // ord: SQ10 alone: published by SQ1
        self.node(id).lock.load(Relaxed) == self.lock
    }

    /// For the owner: the node behind `id`.
    pub(super) fn newer(&self, id: NodeId) -> Option<NodeId> {
        follow::<P>(&self.node(id).newer)
    }

    /// For the owner: takes `id` out. The ends of what is left, if anything is.
    pub(super) fn remove(&self, id: NodeId) -> Option<Ends> {
        let node = self.node(id);
        loop {
            let ends = self.link()?;
            let older = follow::<P>(&node.older);
            if ends.newest == id {
                let raw = older.map_or(NodeId::NONE, NodeId::raw);
                // n,f,held -> o,f,held
                // ord: SQ9 alone: a read-modify-write carries SQ1 of those that stay on to whoever looks next
                if self.newest.compare_exchange(id.raw(), raw, Relaxed, Relaxed).is_err() {
                    continue; // somebody came
                }
                TRANSITIONS.check(Field::Tail, || id.raw(), raw);
                let older = older?;
                put::<P>(&self.node(older).newer, None);
                put::<P>(&self.node(older).oldest, Some(ends.oldest));
                return Some(Ends { newest: older, ..ends });
            }
            let newer = self.newer(id);
            if let Some(newer) = newer {
                put::<P>(&self.node(newer).older, older);
            }
            let Some(older) = older else {
                let oldest = newer.unwrap_or(ends.newest);
                put::<P>(&self.node(ends.newest).oldest, Some(oldest));
                return Some(Ends { oldest, ..ends });
            };
            put::<P>(&self.node(older).newer, newer);
            return Some(ends);
        }
    }

    /// For the owner: takes `id` out if its waiter has given up. It may have been taken over since.
    pub(super) fn remove_if_gone(&self, id: NodeId, tag: Tag) {
        match tag.state() {
            State::Abandoned if self.node(id).change(tag, State::Leased) => {
                self.remove(id);
                self.domain.give_back(id);
            }
            // Its node was wiped.
            State::Free => {
                self.remove(id);
            }
            _ => {}
        }
    }

    /// For the owner: puts `id` in front of all others. The queue has others. It counts as having come with
    /// the one that was first.
    pub(super) fn to_front(&self, id: NodeId) {
        let Some(ends) = self.remove(id) else { return };
        // ord: SQ12 alone: a hint, written by owners, or by waiters before SQ1 or as they take the place over
        let since = self.node(ends.oldest).since.load(Relaxed);
        // ord: SQ13 alone: as SQ12, a hint for owners
        self.node(id).since.store(since, Relaxed);
        put::<P>(&self.node(id).older, None);
        put::<P>(&self.node(id).newer, Some(ends.oldest));
        put::<P>(&self.node(id).oldest, None);
        put::<P>(&self.node(ends.oldest).older, Some(id));
        put::<P>(&self.node(ends.newest).oldest, Some(id));
    }
}
