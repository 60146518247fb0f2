//! What each execution context owns: four queue nodes, and what some locks remember of it.
//!
//! A queue node is needed only between the start of a slow path and the acquisition, so a context needs one
//! for each level of interrupt nesting and none for the locks that it holds.
//!
//! Invariants:
//! - **IP1** A node is in at most one queue: level *n* is in use exactly while *n* < `nesting`, and only its
//!   own context changes `nesting`.
//! - **IP2** An interrupt leaves `nesting` as it found it, so the interrupted context may treat it as
//!   private.
use crate::tail::NodeCode;
use stanchion_core::machine::{Atomic, ConstAtomic, Machine};
use stanchion_core::numbers::NESTING_LEVELS;
use stanchion_core::order::Relaxed;
use stanchion_core::private::Private;

/// One place in a queue, 16 bytes: the four of a context fill one line of 64. Who may touch what is told by
/// the lock that uses it.
#[repr(C)]
pub struct QNode<P: Machine> {
    /// Raw [`NodeCode`] of the node behind, stored by that node's context.
    pub next: P::U16,
    /// The lock's own states; see the lock's file.
    pub state: P::U8,
    /// Whether this node's context, a sleeping head, can be kicked; for locks that point at the node itself.
    pub parking: P::U8,
    /// Raw [`NodeCode`] of the last node of a secondary queue; see [`crate::cna`].
    pub secondary: P::U16,
    /// The NUMA node that the head prefers to stay on.
    pub numa: P::U16,
    /// Since when there is a secondary queue, in microseconds modulo 2^32.
    pub since: P::U32,
    /// Raw [`NodeCode`] of the node in front; see [`crate::unfair_q`].
    pub previous: P::U16,
    /// How many polls this waiter lets pass between two attempts to steal; see [`crate::unfair_q`].
    pub interval: P::U16,
}

impl<P: Machine> QNode<P> {
    /// Where this node's context can be found once it is a sleeping head; see [`crate::pv_qspin`]. In the
    /// place of the interval, as no lock has both.
    #[inline(always)]
    pub fn place(&self) -> &P::U16 {
        &self.interval
    }
}

impl<P: Machine> QNode<P> {
    fn new() -> Self {
        Self {
            next: P::U16::new(0),
            state: P::U8::new(0),
            parking: P::U8::new(0),
            secondary: P::U16::new(0),
            numa: P::U16::new(0),
            since: P::U32::new(0),
            previous: P::U16::new(0),
            interval: P::U16::new(0),
        }
    }
}

/// The storage of one execution context.
#[repr(C)]
pub struct PerCpu<P: Machine> {
    nodes: [QNode<P>; NESTING_LEVELS],
    /// The address of the lock that the context is about to block on, or zero; see [`crate::xen_pv`] and
    /// [`crate::pv_ticket`].
    pub(crate) blocked_on: P::Usize,
    /// The ticket that it waits for there.
    pub(crate) wanted: P::U16,
    /// Its event channel: whether a wake-up is pending; see [`crate::xen_pv`].
    pub(crate) event: P::U8,
    /// How many of the nodes are in use (IP1).
    nesting: Private<P::U8>,
    /// When the context last saw a lock whose owner is preempted, in microseconds modulo 2^32; see
    /// [`crate::owner_queued`].
    pub(crate) sleepy_seen: Private<P::U32>,
    /// A stream of pseudo-random numbers.
    pub(crate) dice: Private<P::U32>,
    /// A cell of the waiting array: no context's own; see [`crate::twa`].
    pub(crate) turns: P::U32,
}

impl<P: Machine> PerCpu<P> {
    /// The storage of a context that waits nowhere.
    #[expect(
        clippy::new_without_default,
        reason = "a default that allocates cells would hide their cost in model worlds"
    )]
    pub fn new() -> Self {
        Self {
            nodes: core::array::from_fn(|_| QNode::new()),
            blocked_on: P::Usize::new(0),
            wanted: P::U16::new(0),
            event: P::U8::new(0),
            nesting: Private::new(0),
            sleepy_seen: Private::new(0),
            dice: Private::new(0),
            turns: P::U32::new(0),
        }
    }

    /// The context does not exist, and the queues in which it stands are used no more, or forget it first.
    pub fn forget(&self) {
        self.nesting.set(0); // nobody is this context
        // ord: Z11 alone: nobody is this context
        self.blocked_on.store(0, Relaxed);
        // ord: Z12 alone: as Z11, nobody is this context
        self.event.store(0, Relaxed);
    }

    /// A number below 2^16 from this context's own stream (a linear congruential one: for thinning out, not
    /// for secrets). `stream` keeps contexts from rolling the same numbers.
    pub(crate) fn roll(&self, stream: NodeCode) -> u32 {
        let step = 1_013_904_223 + (u32::from(stream.raw()) << 8);
        let dice: u32 = self.dice.get();
        let next = dice.wrapping_mul(1_664_525).wrapping_add(step);
        self.dice.set(next); // a handler that rolls in between changes nothing that matters
        next >> 16
    }

    /// Node `level` of this context.
    #[inline]
    pub fn node(&self, level: usize) -> &QNode<P> {
        &self.nodes[level]
    }

    /// How many nodes are in use at this moment, for reports.
    pub fn nesting(&self) -> usize {
        usize::from(self.nesting.peek::<u8>()).min(NESTING_LEVELS)
    }

    /// Whether the context waits nowhere at this moment and has said so, for reports.
    pub fn is_idle(&self) -> bool {
        self.nesting() == 0 && self.blocked_on.peek() == 0
    }

    /// Takes the next free node of the calling context, which must own this storage; `None` on the fifth
    /// level.
    #[inline]
    pub fn enter(&self) -> Option<Nesting<'_, P>> {
        let level = usize::from(self.nesting.get::<u8>());
        if level >= NESTING_LEVELS {
            return None;
        }
        self.nesting.set(level as u8 + 1);
        // An interrupt from here on must take the next node: were the caller's initialisation of this node
        // moved above the store, the interrupt would take the same node and overwrite it.
        P::compiler_barrier();
        Some(Nesting { percpu: self, level })
    }
}

impl<P: Machine> PerCpu<P>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
    P::U32: ConstAtomic<u32>,
    P::Usize: ConstAtomic<usize>,
{
    /// The storage of a context that waits nowhere, as a constant.
    pub const NEW: Self = {
        const fn node<P: Machine>() -> QNode<P>
        where
            P::U8: ConstAtomic<u8>,
            P::U16: ConstAtomic<u16>,
            P::U32: ConstAtomic<u32>,
        {
            QNode {
                next: P::U16::ZERO,
                state: P::U8::ZERO,
                parking: P::U8::ZERO,
                secondary: P::U16::ZERO,
                numa: P::U16::ZERO,
                since: P::U32::ZERO,
                previous: P::U16::ZERO,
                interval: P::U16::ZERO,
            }
        }
        Self {
            nodes: [node::<P>(), node::<P>(), node::<P>(), node::<P>()],
            blocked_on: P::Usize::ZERO,
            wanted: P::U16::ZERO,
            event: P::U8::ZERO,
            nesting: Private::zero(),
            sleepy_seen: Private::zero(),
            dice: Private::zero(),
            turns: P::U32::ZERO,
        }
    };
}

/// The use of one nesting level; gives it back when dropped.
pub struct Nesting<'a, P: Machine> {
    percpu: &'a PerCpu<P>,
    level: usize,
}

impl<'a, P: Machine> Nesting<'a, P> {
    /// Which level this is, counted from 0.
    #[inline]
    pub fn level(&self) -> usize {
        self.level
    }

    /// The node that goes with the level.
    #[inline]
    pub fn node(&self) -> &'a QNode<P> {
        &self.percpu.nodes[self.level]
    }
}

impl<P: Machine> Drop for Nesting<'_, P> {
    #[inline]
    fn drop(&mut self) {
        P::compiler_barrier();
        self.percpu.nesting.set(self.level as u8);
    }
}
