//! What the slow paths of queued locks share: counting who queues how deep, and the way of a context that has
//! no queue node.
use crate::events::FamilyEvents as _;
use stanchion_core::events::Event;
use stanchion_core::machine::{Atomic, Machine};
use stanchion_core::order::Relaxed;

/// How often a context without a node polls between two yields.
pub(crate) const NODELESS_POLLS: u32 = 1 << 10;

/// The way of a context that has no node: it polls until `cell` holds `free`, and then tries to `claim` the
/// lock. It is overtaken without bound.
pub(crate) fn acquire_without_node<P: Machine, T: Copy + Eq>(
    cell: &impl Atomic<T>,
    free: T,
    claim: impl Fn() -> bool,
) {
    P::count(Event::LockNoNode);
    loop {
        // ord: WN1 alone: waits until a claim has a chance
        if cell.wait_until_polls(NODELESS_POLLS, Relaxed, |now| now == free).is_err() {
            P::yield_slice();
        }
        if claim() {
            return;
        }
    }
}

/// Counts the use of a node beyond the first.
pub(crate) fn count_nesting<P: Machine>(level: usize) {
    match level {
        0 => {}
        1 => P::count(Event::LockUseNode2),
        2 => P::count(Event::LockUseNode3),
        _ => P::count(Event::LockUseNode4),
    }
}
