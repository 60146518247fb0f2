//! The word of [`owner-qspin`](super): its two halves, and the steps that change one of them.
use crate::platform::FamilyPlatform;
use stanchion_core::machine::Atomic;
use stanchion_core::numbers::CpuId;
use stanchion_core::order::{Acquire, Relaxed};
use stanchion_core::transitions::{Field, Is, Row, Table};

/// The queued lock that knows its owner; see the [module](super).
#[repr(C, align(4))]
pub struct OwnerQueuedLock<P: FamilyPlatform> {
    /// The lower half: who holds the lock.
    pub(super) held: P::U16,
    /// The upper half: who waits, and whether newcomers must.
    pub(super) queue: P::U16,
}

pub(super) const LOCKED: u16 = 1;
pub(super) const SLEEPY: u16 = 1 << 15;
const OWNER_SHIFT: u32 = 1;
/// The owner's number plus one; 0 if it has none.
const OWNER_MASK: u16 = (1 << 14) - 1;
const _: () = assert!(CpuId::LIMIT <= OWNER_MASK);

pub(super) const MUST_QUEUE: u16 = 1 << 15;
pub(super) const TAIL_MASK: u16 = MUST_QUEUE - 1;

pub(super) const TRANSITIONS: Table = Table(&[
    Row::claim("claim: t,m,0 -> t,m,1"),
    Row::named("the owner was seen preempted: t,m,1 -> t,m,3").locked(Is::Value(1), Is::Value(3)),
    Row::queue("queue: p,m,l -> n,m,l"),
    Row::named("the head forbids stealing: n,0,l -> n,1,l").pending(Is::Value(0), Is::Value(1)),
    Row::named("the head allows stealing again: n,1,l -> n,0,l").pending(Is::Value(1), Is::Value(0)),
    Row::named("the head was the last: n,0,l -> 0,0,l")
        .tail(Is::NonZero, Is::Value(0))
        .pending(Is::Value(0), Is::Value(0))
        .locked(Is::NonZero, Is::NonZero),
    Row::named("the head was the last and had forbidden stealing: n,1,l -> 0,0,l")
        .tail(Is::NonZero, Is::Value(0))
        .pending(Is::Value(1), Is::Value(0))
        .locked(Is::NonZero, Is::NonZero),
    Row::named("release: t,m,l -> t,m,0").locked(Is::NonZero, Is::Value(0)),
]);

pub(super) const fn shown(held: u16) -> u8 {
    (held & LOCKED) as u8 | ((held >> 15) as u8) << 1
}

/// The lower half of a lock that the calling context holds.
#[inline]
pub(super) fn held_by<P: FamilyPlatform>() -> u16 {
    LOCKED | P::this_cpu().map_or(0, |cpu| (cpu.index() + 1) << OWNER_SHIFT)
}

/// Who holds a lock whose lower half is `held`, if it is locked, and its owner has a number.
pub(super) const fn owner_of(held: u16) -> Option<CpuId> {
    match (held >> OWNER_SHIFT) & OWNER_MASK {
        0 => None,
        number => CpuId::new(number - 1),
    }
}

/// Whether the owner was last known to run on another NUMA node.
pub(super) fn is_remote<P: FamilyPlatform>(held: u16) -> bool {
    P::is_numa() && owner_of(held).is_some_and(|owner| P::numa_node_of(owner) != P::numa_node())
}

impl<P: FamilyPlatform> OwnerQueuedLock<P> {
    /// Whether the head forbids stealing. Whoever read no may claim once after it did.
    #[inline(always)]
    pub(super) fn must_queue(&self) -> bool {
        // ord: O10 alone: decides the way only, the claim decides the lock
        self.queue.load(Relaxed) & MUST_QUEUE != 0
    }

    /// `*,*,0 -> *,*,1`
    #[inline]
    pub(super) fn claim(&self, mine: u16) -> bool {
        // ord: O11 alone: keeps a failing claim from owning the line
        self.held.load(Relaxed) == 0
            // ord: O2 pairs O4: the previous holder's section comes before ours
            && self.held.compare_exchange(0, mine, Acquire, Relaxed).is_ok()
    }
}

/// Sets or clears the must-queue bit, which is the highest: adding it changes nothing else. Only for whom it
/// belongs to (I3).
pub(super) fn toggle_must_queue<P: FamilyPlatform>(lock: &OwnerQueuedLock<P>, to: u8) {
    TRANSITIONS.check(Field::Pending, || (lock.queue.peek() >> 15) as u8, to);
    // ord: O31 alone: newcomers need to see it soon, and nothing with it; heads are ordered by O8
    lock.queue.fetch_add(MUST_QUEUE, Relaxed);
}

/// Stealing is allowed until this is dropped, though the head had forbidden it: while it confers nobody else
/// may be there to take the lock.
pub(super) struct AllowStealing<'a, P: FamilyPlatform>(&'a OwnerQueuedLock<P>);

impl<'a, P: FamilyPlatform> AllowStealing<'a, P> {
    pub(super) fn new(lock: &'a OwnerQueuedLock<P>) -> Self {
        toggle_must_queue(lock, 0);
        Self(lock)
    }
}

impl<P: FamilyPlatform> Drop for AllowStealing<'_, P> {
    fn drop(&mut self) {
        toggle_must_queue(self.0, 1);
    }
}
