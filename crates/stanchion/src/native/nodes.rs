//! Queue nodes of the native world: leased for a wait, 64 bytes each, in a table that grows and is never
//! unmapped.
//!
//! A thread that waits tries the node that it had last. If another thread has that one by now, it tries some
//! others, and then takes one that nobody ever had. So there are hardly more nodes than threads that ever
//! waited at the same time.
//!
//! The child of a `fork` begins with free nodes: it does not have the threads that wait in its parent.
//! (Before Linux 4.14 their nodes stay taken.)
use super::chunks::{Chunks, Zeroed};
use super::kinds::{Native, Silent};
use crate::os;
use core::cell::Cell;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use stanchion_core::NodeId;
use stanchion_core::nodes::WaitNode;

/// A node as the table holds it. Locks on any [`Native`] platform share it: they wait with one node each,
/// whatever the lock.
#[repr(transparent)]
struct Entry(WaitNode<Native<Silent>>);

// SAFETY: a node is made of integer atomics, for which zero is valid and means that it is free; it is `Sync`
// by composition.
unsafe impl Zeroed for Entry {
    const WIPED: bool = true;
}

static NODES: Chunks<Entry> = Chunks::new();
/// How many numbers were ever handed out.
static USED: AtomicU32 = AtomicU32::new(0);
/// How many there may be; fewer in a test.
static MOST: AtomicU32 = AtomicU32::new(NodeId::LAST as u32);
/// Threads that nap because there was no node.
static NAPPING: AtomicU32 = AtomicU32::new(0);
/// Changes when a node is given back while somebody naps.
static GIVEN_BACK: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// The raw number of the node that the thread had last. Constant and without a destructor: reading it
    /// never runs code, so it is safe in a signal handler and while the thread exits.
    static LAST: Cell<u16> = const { Cell::new(NodeId::NONE) };
}

/// Of so many nodes that others had, one is tried each before a new one is taken.
const TRIES: u32 = 8;

/// The node with this number, which was leased at some time.
#[inline(always)]
pub(super) fn node(id: NodeId) -> &'static WaitNode<Native<Silent>> {
    &NODES.get(id.index()).expect("a number is handed out after its storage is mapped").0
}

/// Leases a node.
pub(super) fn lease() -> Option<NodeId> {
    let last = NodeId::new(LAST.get()).filter(|&last| node(last).lease());
    last.or_else(lease_another)
}

#[cold]
fn lease_another() -> Option<NodeId> {
    // ord: NN1 alone: a number counts once its storage is mapped (NN2), and is only tried here
    let used = USED.load(Ordering::Acquire);
    let start = (core::ptr::from_ref(&used).addr() >> 8) as u32; // differs from thread to thread
    let nth = |n: u32| NodeId::new(u16::try_from((start.wrapping_add(n)) % used.max(1) + 1).ok()?);
    let found = (0..TRIES.min(used)).filter_map(nth).find(|&id| node(id).lease());
    let found = found.or_else(lease_new).or_else(|| (0..used).filter_map(nth).find(|&id| node(id).lease()));
    LAST.set(found.map_or(NodeId::NONE, NodeId::raw));
    found
}

/// Takes a number that nobody ever had.
fn lease_new() -> Option<NodeId> {
    // ord: NN3 alone: a guess, the exchange decides
    let mut used = USED.load(Ordering::Relaxed);
    // ord: NN4 alone: a setting of tests
    while used < MOST.load(Ordering::Relaxed) {
        NODES.get_or_map(used as usize)?;
        // ord: NN2 pairs NN5: the storage is there before the number counts
        match USED.compare_exchange(used, used + 1, Ordering::Release, Ordering::Relaxed) {
            Ok(_) => {
                used += 1;
                if let Some(id) = NodeId::new(used as u16).filter(|&id| node(id).lease()) {
                    return Some(id);
                }
            }
            Err(now) => used = now,
        }
    }
    None
}

/// Gives a node back, and wakes somebody who naps because there was none.
#[inline]
pub(super) fn give_back(id: NodeId) {
    node(id).give_back();
    // ord: NN6 alone: a nap ends by itself in the end
    if NAPPING.load(Ordering::Relaxed) != 0 {
        // ord: NN7 alone: only that it changes matters
        GIVEN_BACK.fetch_add(1, Ordering::Relaxed);
        os::wake(&GIVEN_BACK, 1);
    }
}

/// A nap lasts so long at most: what its thread waits for may be released without any node being given back.
const LONGEST_NAP: Duration = Duration::from_millis(100);

/// Sleeps until a node is given back, for 0.1 s or `most`.
pub(super) fn nap(most: Duration) {
    // ord: NN8 alone: only that it changes matters
    let seen = GIVEN_BACK.load(Ordering::Relaxed);
    // ord: NN9 alone: a hint, as NN6 says
    NAPPING.fetch_add(1, Ordering::Relaxed);
    os::wait_for(&GIVEN_BACK, seen, most.min(LONGEST_NAP));
    // ord: NN10 alone: a hint, as NN6 says
    NAPPING.fetch_sub(1, Ordering::Relaxed);
}

/// All nodes that were ever leased, for reports.
pub(crate) fn all() -> impl Iterator<Item = (NodeId, &'static WaitNode<Native<Silent>>)> {
    // ord: NN5 pairs NN2: their storage is there
    let used = USED.load(Ordering::Acquire);
    (1..=used).filter_map(|raw| NodeId::new(u16::try_from(raw).ok()?)).map(|id| (id, node(id)))
}

/// Lets there be so many nodes at most, for tests of what happens without.
#[doc(hidden)]
pub fn limit(most: u16) {
    // ord: NN11 alone: a setting of tests
    MOST.store(most.into(), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_the_node_that_it_had_and_two_at_a_time_are_two() {
        let first = lease().expect("memory");
        let second = lease().expect("memory");
        assert_ne!(first, second);
        give_back(second);
        assert_eq!(lease(), Some(second));
        give_back(first);
        give_back(second);
    }

    #[test]
    fn threads_one_after_another_do_not_use_new_nodes() {
        let highest = (0..300)
            .map(|_| {
                let body = || {
                    let id = lease().expect("memory");
                    give_back(id);
                    id.raw()
                };
                std::thread::spawn(body).join().expect("no panic")
            })
            .max();
        assert!(highest < Some(64), "300 threads one after another reached node {highest:?}");
    }
}
