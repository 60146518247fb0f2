//! What the locks of this crate keep in the storage of a world.
use crate::heads::{HeadTable, Heads};
use crate::parking::{ParkingRow, ParkingStorage};
use crate::percpu::{PerCpu, QNode};
use crate::tail::NodeCode;
use stanchion_core::machine::Machine;
use stanchion_core::nodes::WaitNode;
use stanchion_core::numbers::{CpuId, NodeId};
use stanchion_core::platform::{self, Domain, Platform};
use stanchion_core::readers::FixedClass;

/// A platform with storage for the locks of this crate, too.
pub trait FamilyPlatform: Platform<Domain: FamilyDomain<Self>> {}

impl<P: Platform<Domain: FamilyDomain<P>>> FamilyPlatform for P {}

/// The storage of all contexts of a world, and where sleeping heads are found.
pub trait FamilyDomain<M: Machine> {
    /// The storage of `cpu`, which must have been handed out by
    /// [`Machine::this_cpu`] at some time.
    fn cpu(&self, cpu: CpuId) -> &PerCpu<M>;

    /// The parking slots at which sleeping heads of the lock at `address` are kicked.
    fn parking(&self, address: usize) -> ParkingRow<'_, M>;

    /// The table from locks to their sleeping heads, for locks that have no room for a parking slot.
    fn heads(&self) -> HeadTable<'_, M>;

    /// A number that spreads addresses of locks over tables, the same on every run where the world is
    /// deterministic.
    fn spread(&self, address: usize) -> usize {
        address.wrapping_mul(SPREAD) >> (usize::BITS / 2)
    }

    /// How many context numbers may have been handed out so far: all are below this. Whoever looks for a
    /// sleeper in all contexts looks so far.
    fn contexts(&self) -> u16;

    /// The node that `code` names.
    #[inline]
    fn node(&self, code: NodeCode) -> &QNode<M> {
        self.cpu(code.cpu()).node(code.level())
    }
}

/// The golden ratio in as many bits as an address has.
const SPREAD: usize = 0x9E37_79B9_7F4A_7C15_u64 as usize;

/// A domain of a fixed number of contexts, for worlds that know it beforehand.
pub struct FixedDomain<M: Machine, const CPUS: usize> {
    cpus: [PerCpu<M>; CPUS],
    parking: ParkingStorage<M>,
    heads: Heads<M>,
    core: platform::FixedDomain<M, CPUS>,
}

impl<M: Machine, const CPUS: usize> FixedDomain<M, CPUS> {
    /// Storage for contexts `0..CPUS`.
    #[expect(clippy::new_without_default, reason = "see PerCpu::new")]
    pub fn new() -> Self {
        Self {
            cpus: core::array::from_fn(|_| PerCpu::new()),
            parking: ParkingStorage::new(),
            heads: Heads::new(),
            core: platform::FixedDomain::new(),
        }
    }
}

impl<M: Machine, const CPUS: usize> Domain<M> for FixedDomain<M, CPUS> {
    type Readers = FixedClass<M, CPUS>;

    fn readers(&self) -> &FixedClass<M, CPUS> {
        self.core.readers()
    }

    fn lease(&self) -> Option<NodeId> {
        self.core.lease()
    }

    fn wait_node(&self, node: NodeId) -> &WaitNode<M> {
        self.core.wait_node(node)
    }
}

impl<M: Machine, const CPUS: usize> FamilyDomain<M> for FixedDomain<M, CPUS> {
    #[inline]
    fn cpu(&self, cpu: CpuId) -> &PerCpu<M> {
        &self.cpus[usize::from(cpu.index())]
    }

    #[inline]
    fn parking(&self, _address: usize) -> ParkingRow<'_, M> {
        self.parking.row()
    }

    fn heads(&self) -> HeadTable<'_, M> {
        self.heads.table()
    }

    fn contexts(&self) -> u16 {
        CPUS as u16
    }
}
