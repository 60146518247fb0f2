//! How a release finds the head that sleeps: three ways, of which the first is ours and the others are there
//! to compare.
//!
//! | way | what the lock holds | a release | bytes |
//! |---|---|---|---|
//! | [`ParkingSlots`] | the index of the place where the head sleeps | goes there | 4 |
//! | [`HashTable`] | "slow" | probes a table for the lock's address | 4 |
//! | [`Pointer`] | "slow", and the head's node | goes there | 8 |
//!
//! All three obey the same rules. The head arms its place before it leaves its mark in the lock (V9). A
//! release that sees a mark *consumes* the place by read-modify-write, and whoever consumed it kicks. A stale
//! mark leads to a place that is free, consumed or somebody else's; that one is woken for nothing and arms
//! its place again.
//!
//! A release that misses the place behind a mark, or finds an old one, does no harm. If it is the one that
//! must kick, the head has not seen it from behind its heavy barrier. Then the release sees all that the head
//! did before ([`Machine::store_then_load`](stanchion_core::Machine::store_then_load)). A *holder* that
//! follows the queue from a mark must see the place behind that mark, and reads it with acquire (R4).
use super::word::SLOW;
use crate::events::FamilyEvents as _;
use crate::heads::HeadIndex;
use crate::parking::ParkingSlot;
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::tail::NodeCode;
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::numbers::CpuId;
use stanchion_core::order::Relaxed;

/// What a lock holds for its lookup beside its second byte.
pub trait InLock: Send + Sync {
    /// With nobody asleep.
    fn new() -> Self;
}

/// Such a thing as a constant.
pub trait ConstInLock: InLock {
    /// With nobody asleep.
    const NEW: Self;
}

impl InLock for () {
    fn new() -> Self {}
}

impl ConstInLock for () {
    const NEW: Self = ();
}

/// Where one lock's sleeping head is looked for.
pub struct At<'a, P: FamilyPlatform, L> {
    pub(super) domain: &'a P::Domain,
    /// Of the lock.
    pub(super) address: usize,
    pub(super) in_lock: &'a L,
}

/// How a waiter halts.
pub trait Halt {
    /// Halts while `cell` holds `value`; may return at any time.
    fn halt_while<P: FamilyPlatform, T: Copy + Eq, A: Atomic<T>>(cell: &A, value: T) {
        P::halt_while(cell, value);
    }
}

/// A way to find the sleeping head.
pub trait SleeperLookup: Sized + Send + Sync + 'static {
    /// What the lock holds for it.
    type InLock<P: FamilyPlatform>: InLock;
    /// Where a head sleeps.
    type Place: Copy;

    /// Takes a free place for the waiter at `node` and arms it; `None` if there is none.
    fn take<P: FamilyPlatform>(at: At<'_, P, Self::InLock<P>>, node: NodeCode) -> Option<Self::Place>;
    /// Arms a place again that this context holds, before it sleeps again.
    fn rearm<P: FamilyPlatform>(at: At<'_, P, Self::InLock<P>>, place: Self::Place, node: NodeCode);
    /// Gives back a place that this context holds.
    fn free<P: FamilyPlatform>(at: At<'_, P, Self::InLock<P>>, place: Self::Place, node: NodeCode);
    /// Halts the calling context, whose waiter at `node` holds the place, while that is armed. Whether it was
    /// kicked.
    fn halt<P: FamilyPlatform, H: Halt>(
        at: At<'_, P, Self::InLock<P>>,
        place: Self::Place,
        node: NodeCode,
    ) -> bool;
    /// Takes on the duty to kick the head that the mark leads to; `None` if somebody else did, or it is gone.
    fn consume<P: FamilyPlatform>(at: At<'_, P, Self::InLock<P>>, mark: u8) -> Option<CpuId>;
    /// Whom the mark leads to at this moment.
    fn occupant<P: FamilyPlatform>(at: At<'_, P, Self::InLock<P>>, mark: u8) -> Option<NodeCode>;

    /// What to leave in the lock's second byte.
    fn mark(place: Self::Place) -> u8;
    /// The place as a number that is not zero.
    fn raw(place: Self::Place) -> u16;
    /// Reads such a number.
    fn from_raw(raw: u16) -> Option<Self::Place>;
}

/// The mark is the index of the place: see [`crate::parking`].
#[derive(Debug)]
pub enum ParkingSlots {}

impl SleeperLookup for ParkingSlots {
    type InLock<P: FamilyPlatform> = ();
    type Place = ParkingSlot;

    fn take<P: FamilyPlatform>(at: At<'_, P, ()>, node: NodeCode) -> Option<ParkingSlot> {
        at.domain.parking(at.address).take(node)
    }
    fn rearm<P: FamilyPlatform>(at: At<'_, P, ()>, place: ParkingSlot, node: NodeCode) {
        at.domain.parking(at.address).rearm(place, node);
    }
    fn free<P: FamilyPlatform>(at: At<'_, P, ()>, place: ParkingSlot, _node: NodeCode) {
        at.domain.parking(at.address).free(place);
    }
    fn halt<P: FamilyPlatform, H: Halt>(at: At<'_, P, ()>, place: ParkingSlot, node: NodeCode) -> bool {
        at.domain.parking(at.address).halt(place, node, H::halt_while::<P, _, _>)
    }
    fn consume<P: FamilyPlatform>(at: At<'_, P, ()>, mark: u8) -> Option<CpuId> {
        ParkingSlot::from_raw(mark).and_then(|place| at.domain.parking(at.address).consume(place))
    }
    fn occupant<P: FamilyPlatform>(at: At<'_, P, ()>, mark: u8) -> Option<NodeCode> {
        ParkingSlot::from_raw(mark).and_then(|place| at.domain.parking(at.address).occupant(place))
    }
    fn mark(place: ParkingSlot) -> u8 {
        place.raw()
    }
    fn raw(place: ParkingSlot) -> u16 {
        place.raw().into()
    }
    fn from_raw(raw: u16) -> Option<ParkingSlot> {
        ParkingSlot::from_raw(u8::try_from(raw).ok()?)
    }
}

/// The mark says only that the head sleeps, and a hash table has it under the lock's address, as in the
/// kernel: see [`crate::heads`].
#[derive(Debug)]
pub enum HashTable {}

impl SleeperLookup for HashTable {
    type InLock<P: FamilyPlatform> = ();
    type Place = HeadIndex;

    fn take<P: FamilyPlatform>(at: At<'_, P, ()>, node: NodeCode) -> Option<HeadIndex> {
        at.domain.heads().take(at.domain.spread(at.address), at.address, node)
    }
    fn rearm<P: FamilyPlatform>(at: At<'_, P, ()>, place: HeadIndex, node: NodeCode) {
        at.domain.heads().rearm(place, node);
    }
    fn free<P: FamilyPlatform>(at: At<'_, P, ()>, place: HeadIndex, _node: NodeCode) {
        at.domain.heads().free(place);
    }
    fn halt<P: FamilyPlatform, H: Halt>(at: At<'_, P, ()>, place: HeadIndex, node: NodeCode) -> bool {
        at.domain.heads().halt(place, node, H::halt_while::<P, _, _>)
    }
    fn consume<P: FamilyPlatform>(at: At<'_, P, ()>, mark: u8) -> Option<CpuId> {
        if mark != SLOW {
            return None;
        }
        let (cpu, hops) = at.domain.heads().consume(at.domain.spread(at.address), at.address);
        P::count_many(stanchion_core::Event::PvHashHops, hops);
        cpu
    }
    fn occupant<P: FamilyPlatform>(at: At<'_, P, ()>, mark: u8) -> Option<NodeCode> {
        if mark != SLOW {
            return None;
        }
        at.domain.heads().occupant(at.domain.spread(at.address), at.address)
    }
    fn mark(_place: HeadIndex) -> u8 {
        SLOW
    }
    fn raw(place: HeadIndex) -> u16 {
        place.raw()
    }
    fn from_raw(raw: u16) -> Option<HeadIndex> {
        HeadIndex::from_raw(raw)
    }
}

/// The lock itself has room for the number of the head's node, and the head sleeps on its node.
#[derive(Debug)]
pub enum Pointer {}

/// The number of the head's node, in the lock.
pub struct HeadCode<P: FamilyPlatform>(P::U16);

impl<P: FamilyPlatform> InLock for HeadCode<P> {
    fn new() -> Self {
        Self(P::U16::new(NodeCode::NONE))
    }
}

impl<P: FamilyPlatform> ConstInLock for HeadCode<P>
where
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self = Self(P::U16::ZERO);
}

/// In a node's `parking`.
const ASLEEP_NOWHERE: u8 = 0;
const ARMED: u8 = 1;
const CONSUMED: u8 = 2;

/// That the head sleeps on its node is all there is to know.
#[derive(Clone, Copy, Debug)]
pub struct OnItsNode;

impl SleeperLookup for Pointer {
    type InLock<P: FamilyPlatform> = HeadCode<P>;
    type Place = OnItsNode;

    fn take<P: FamilyPlatform>(at: At<'_, P, HeadCode<P>>, node: NodeCode) -> Option<OnItsNode> {
        Self::rearm(at, OnItsNode, node);
        Some(OnItsNode)
    }
    fn rearm<P: FamilyPlatform>(at: At<'_, P, HeadCode<P>>, _place: OnItsNode, node: NodeCode) {
        // ord: G1 alone: ordered before the lock is looked at by the heavy barrier of the lock (V10)
        at.domain.node(node).parking.store(ARMED, Relaxed);
        // ord: G2 alone: published by the mark (V9)
        at.in_lock.0.store(node.raw(), Relaxed);
    }
    fn free<P: FamilyPlatform>(at: At<'_, P, HeadCode<P>>, _place: OnItsNode, node: NodeCode) {
        // ord: G3 alone: whoever comes too late finds nothing to consume
        at.domain.node(node).parking.store(ASLEEP_NOWHERE, Relaxed);
    }
    fn halt<P: FamilyPlatform, H: Halt>(
        at: At<'_, P, HeadCode<P>>,
        _place: OnItsNode,
        node: NodeCode,
    ) -> bool {
        let cell = &at.domain.node(node).parking;
        H::halt_while::<P, _, _>(cell, ARMED);
        // ord: G4 alone: only tells a kick from a spurious wake-up, for the events; the caller looks at the
        // lock again
        cell.load(Relaxed) == CONSUMED
    }
    fn consume<P: FamilyPlatform>(at: At<'_, P, HeadCode<P>>, mark: u8) -> Option<CpuId> {
        let domain = at.domain;
        let node = Self::occupant(at, mark)?;
        // ord: G6 alone: guards nothing else; what the sleeper must see, the heavy barrier before V10 shows
        // it
        domain.node(node).parking.compare_exchange(ARMED, CONSUMED, Relaxed, Relaxed).ok()?;
        Some(node.cpu())
    }
    fn occupant<P: FamilyPlatform>(at: At<'_, P, HeadCode<P>>, mark: u8) -> Option<NodeCode> {
        if mark != SLOW {
            return None;
        }
        // ord: G5 alone: as H6, the pair V4 and V10 shows it to a release, and V9 to a holder
        NodeCode::from_raw(at.in_lock.0.load(Relaxed))
    }
    fn mark(_place: OnItsNode) -> u8 {
        SLOW
    }
    fn raw(_place: OnItsNode) -> u16 {
        1
    }
    fn from_raw(raw: u16) -> Option<OnItsNode> {
        (raw == 1).then_some(OnItsNode)
    }
}
