//! The platform of a lock: a machine whose storage has what the locks of this crate keep there.
//!
//! A world implements [`Machine`] for itself and [`Domain`] for its storage, and is a [`Platform`] by that.
//! Another crate of locks asks for storage of its own in the same way: by a trait that the world's storage
//! implements.
use crate::machine::Machine;
use crate::nodes::{WaitNode, lease_own};
use crate::numbers::{NESTING_LEVELS, NodeId};
use crate::readers::{FixedClass, ReaderClass};

/// A machine with storage for the locks of this crate.
pub trait Platform: Machine<Domain: Domain<Self>> {}

impl<M: Machine<Domain: Domain<M>>> Platform for M {}

/// What the locks of this crate keep in the storage of a world: the nodes of those who wait, and the cells of
/// those who read.
pub trait Domain<M: Machine> {
    /// See [`Domain::readers`].
    type Readers: ReaderClass<M>;

    /// The class of per-CPU reader-writer locks that have none of their own.
    fn readers(&self) -> &Self::Readers;

    /// Leases a queue node for a wait of the calling context; `None` while all are in use.
    fn lease(&self) -> Option<NodeId>;

    /// Gives a node back that was leased, or that an owner has taken out of a queue.
    fn give_back(&self, node: NodeId) {
        self.wait_node(node).give_back();
    }

    /// The node with this number, which was leased at some time.
    fn wait_node(&self, node: NodeId) -> &WaitNode<M>;
}

/// A domain of a fixed number of contexts, for worlds that know it beforehand.
pub struct FixedDomain<M: Machine, const CPUS: usize> {
    waits: [[WaitNode<M>; NESTING_LEVELS]; CPUS],
    readers: FixedClass<M, CPUS>,
}

impl<M: Machine, const CPUS: usize> FixedDomain<M, CPUS> {
    /// Storage for contexts `0..CPUS`.
    #[expect(
        clippy::new_without_default,
        reason = "a default that makes cells would hide their cost in model worlds"
    )]
    pub fn new() -> Self {
        Self {
            waits: core::array::from_fn(|_| core::array::from_fn(|_| WaitNode::new())),
            readers: FixedClass::new(),
        }
    }
}

impl<M: Machine, const CPUS: usize> Domain<M> for FixedDomain<M, CPUS> {
    type Readers = FixedClass<M, CPUS>;

    fn readers(&self) -> &FixedClass<M, CPUS> {
        &self.readers
    }

    fn lease(&self) -> Option<NodeId> {
        lease_own(NESTING_LEVELS, |node| self.wait_node(node))
    }

    fn wait_node(&self, node: NodeId) -> &WaitNode<M> {
        &self.waits[node.index() / NESTING_LEVELS][node.level()]
    }
}
