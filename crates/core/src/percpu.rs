//! What each execution context owns: four queue nodes, and what some locks remember of it.
//!
//! A queue node is needed only between the start of a slow path and the acquisition, so a context needs one for each
//! level of interrupt nesting and none for the locks that it holds.
//!
//! Invariants:
//! - **P1** A node is in at most one queue: level *n* is in use exactly while *n* < `nesting`, and only its own context
//!   changes `nesting`.
//! - **P2** An interrupt leaves `nesting` as it found it, so the interrupted context may treat it as private.
use crate::heads::{HeadTable, Heads};
use crate::nodes::{NodeId, WaitNode, lease_own};
use crate::order::Relaxed;
use crate::percpu_rw::{FixedClass, ReaderClass};
use crate::platform::{Atomic, ConstAtomic, CpuId, Platform};
use crate::spots::{SpotRow, Spots};
use crate::tail::{NESTING_LEVELS, NodeCode};

/// One place in a queue, 16 bytes: the four of a context fill one line of 64. Who may touch what is told by the lock that uses it.
#[repr(C)]
pub struct QNode<P: Platform> {
    /// Raw [`NodeCode`] of the node behind, stored by that node's context.
    pub next: P::U16,
    /// The lock's own states; see the lock's file.
    pub state: P::U8,
    /// Whether this node's context, a sleeping head, can be kicked; for locks that point at the node itself.
    pub spot: P::U8,
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

impl<P: Platform> QNode<P> {
    /// Where this node's context can be found once it is a sleeping head; see [`crate::pv_qspin`]. In the place of the interval,
    /// as no lock has both.
    #[inline(always)]
    pub fn place(&self) -> &P::U16 {
        &self.interval
    }
}

impl<P: Platform> QNode<P> {
    fn new() -> Self {
        Self {
            next: P::U16::new(0),
            state: P::U8::new(0),
            spot: P::U8::new(0),
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
pub struct PerCpu<P: Platform> {
    nodes: [QNode<P>; NESTING_LEVELS],
    /// The address of the lock that the context is about to block on, or zero; see [`crate::xen_pv`] and [`crate::pv_ticket`].
    pub(crate) blocked_on: P::Usize,
    /// The ticket that it waits for there.
    pub(crate) wanted: P::U16,
    /// Its event channel: whether a wake-up is pending; see [`crate::xen_pv`].
    pub(crate) event: P::U8,
    /// How many of the nodes are in use (P1).
    nesting: P::U8,
    /// When the context last saw a lock whose owner is preempted, in microseconds modulo 2^32; see [`crate::owner_queued`].
    pub(crate) sleepy_seen: P::U32,
    /// A stream of pseudo-random numbers.
    pub(crate) dice: P::U32,
    /// A cell of the waiting array: no context's own; see [`crate::twa`].
    pub(crate) turns: P::U32,
}

impl<P: Platform> PerCpu<P> {
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
            nesting: P::U8::new(0),
            sleepy_seen: P::U32::new(0),
            dice: P::U32::new(0),
            turns: P::U32::new(0),
        }
    }

    /// The context does not exist, and the queues in which it stands are used no more, or forget it first.
    pub fn forget(&self) {
        // ord: P9 alone: nobody is this context
        self.nesting.store(0, Relaxed);
    }

    /// A number below 2^16 from this context's own stream (a linear congruential one: for thinning out, not for secrets).
    /// `stream` keeps contexts from rolling the same numbers.
    pub(crate) fn roll(&self, stream: NodeCode) -> u32 {
        let step = 1_013_904_223 + (u32::from(stream.raw()) << 8);
        // ord: P5 alone: private to this context; a handler that rolls in between changes nothing that matters
        let next = self.dice.load(Relaxed).wrapping_mul(1_664_525).wrapping_add(step);
        // ord: P6 alone: as P5, private to this context
        self.dice.store(next, Relaxed);
        next >> 16
    }

    /// Node `level` of this context.
    #[inline]
    pub fn node(&self, level: usize) -> &QNode<P> {
        &self.nodes[level]
    }

    /// How many nodes are in use at this moment, for reports.
    pub fn nesting(&self) -> usize {
        usize::from(self.nesting.peek()).min(NESTING_LEVELS)
    }

    /// Whether the context waits nowhere at this moment and has said so, for reports.
    pub fn is_idle(&self) -> bool {
        self.nesting() == 0 && self.blocked_on.peek() == 0
    }

    /// Takes the next free node of the calling context, which must own this storage; `None` on the fifth level.
    #[inline]
    pub fn enter(&self) -> Option<Nesting<'_, P>> {
        // ord: P1 alone: private to this context, interrupts restore what they change (P2)
        let level = usize::from(self.nesting.load(Relaxed));
        if level >= NESTING_LEVELS {
            return None;
        }
        // ord: P2 alone: private to this context, the compiler barrier below orders it for interrupts
        self.nesting.store(level as u8 + 1, Relaxed);
        // An interrupt from here on must take the next node: were the caller's initialisation of this node moved above
        // the store, the interrupt would take the same node and overwrite it.
        P::compiler_barrier();
        Some(Nesting { percpu: self, level })
    }
}

impl<P: Platform> PerCpu<P>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
    P::U32: ConstAtomic<u32>,
    P::Usize: ConstAtomic<usize>,
{
    /// The storage of a context that waits nowhere, as a constant.
    pub const NEW: Self = {
        const fn node<P: Platform>() -> QNode<P>
        where
            P::U8: ConstAtomic<u8>,
            P::U16: ConstAtomic<u16>,
            P::U32: ConstAtomic<u32>,
        {
            QNode {
                next: P::U16::ZERO,
                state: P::U8::ZERO,
                spot: P::U8::ZERO,
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
            nesting: P::U8::ZERO,
            sleepy_seen: P::U32::ZERO,
            dice: P::U32::ZERO,
            turns: P::U32::ZERO,
        }
    };
}

/// The use of one nesting level; gives it back when dropped.
pub struct Nesting<'a, P: Platform> {
    percpu: &'a PerCpu<P>,
    level: usize,
}

impl<'a, P: Platform> Nesting<'a, P> {
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

impl<P: Platform> Drop for Nesting<'_, P> {
    #[inline]
    fn drop(&mut self) {
        P::compiler_barrier();
        // ord: P3 alone: private to this context, the compiler barrier above orders it for interrupts
        self.percpu.nesting.store(self.level as u8, Relaxed);
    }
}

/// The storage of all contexts of a world.
pub trait Domain<P: Platform> {
    /// See [`Domain::readers`].
    type Readers: ReaderClass<P>;

    /// The class of per-CPU reader-writer locks that have none of their own.
    fn readers(&self) -> &Self::Readers;

    /// The storage of `cpu`, which must have been handed out by [`Platform::this_cpu`] at some time.
    fn cpu(&self, cpu: CpuId) -> &PerCpu<P>;

    /// The spots at which sleeping heads of the lock at `address` are kicked.
    fn spots(&self, address: usize) -> SpotRow<'_, P>;

    /// The table from locks to their sleeping heads, for locks that have no room for a spot.
    fn heads(&self) -> HeadTable<'_, P>;

    /// A number that spreads addresses of locks over tables, the same on every run where the world is deterministic.
    fn spread(&self, address: usize) -> usize {
        address.wrapping_mul(SPREAD) >> (usize::BITS / 2)
    }

    /// Leases a queue node for a wait of the calling context; `None` while all are in use.
    fn lease(&self) -> Option<NodeId>;

    /// Gives a node back that was leased, or that an owner has taken out of a queue.
    fn give_back(&self, node: NodeId) {
        self.wait_node(node).give_back();
    }

    /// The node with this number, which was leased at some time.
    fn wait_node(&self, node: NodeId) -> &WaitNode<P>;

    /// How many context numbers may have been handed out so far: all are below this. Whoever looks for a sleeper in all
    /// contexts looks so far.
    fn contexts(&self) -> u16;

    /// The node that `code` names.
    #[inline]
    fn node(&self, code: NodeCode) -> &QNode<P> {
        self.cpu(code.cpu()).node(code.level())
    }
}

/// The golden ratio in as many bits as an address has.
const SPREAD: usize = 0x9E37_79B9_7F4A_7C15_u64 as usize;

/// A domain of a fixed number of contexts, for worlds that know it beforehand.
pub struct FixedDomain<P: Platform, const CPUS: usize> {
    cpus: [PerCpu<P>; CPUS],
    waits: [[WaitNode<P>; NESTING_LEVELS]; CPUS],
    spots: Spots<P>,
    heads: Heads<P>,
    readers: FixedClass<P, CPUS>,
}

impl<P: Platform, const CPUS: usize> FixedDomain<P, CPUS> {
    /// Storage for contexts `0..CPUS`.
    #[expect(clippy::new_without_default, reason = "see PerCpu::new")]
    pub fn new() -> Self {
        Self {
            cpus: core::array::from_fn(|_| PerCpu::new()),
            waits: core::array::from_fn(|_| core::array::from_fn(|_| WaitNode::new())),
            spots: Spots::new(),
            heads: Heads::new(),
            readers: FixedClass::new(),
        }
    }
}

impl<P: Platform, const CPUS: usize> Domain<P> for FixedDomain<P, CPUS> {
    type Readers = FixedClass<P, CPUS>;

    fn readers(&self) -> &FixedClass<P, CPUS> {
        &self.readers
    }

    #[inline]
    fn cpu(&self, cpu: CpuId) -> &PerCpu<P> {
        &self.cpus[usize::from(cpu.index())]
    }

    #[inline]
    fn spots(&self, _address: usize) -> SpotRow<'_, P> {
        self.spots.row()
    }

    fn heads(&self) -> HeadTable<'_, P> {
        self.heads.table()
    }

    fn lease(&self) -> Option<NodeId> {
        lease_own(NESTING_LEVELS, |node| self.wait_node(node))
    }

    fn wait_node(&self, node: NodeId) -> &WaitNode<P> {
        &self.waits[node.index() / NESTING_LEVELS][node.level()]
    }

    fn contexts(&self) -> u16 {
        CPUS as u16
    }
}
