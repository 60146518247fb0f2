//! The locks' storage for all vCPUs: statics, each vCPU's part on lines of its own.
use super::cpu::MAX;
use super::platform::Guest;
use super::smp;
use stanchion_core::nodes::{WaitNode, lease_own};
use stanchion_core::numbers::NESTING_LEVELS;
use stanchion_core::{CpuId, Domain, NodeId, ReaderCell, ReaderClass};
use stanchion_family::FamilyDomain;
use stanchion_family::heads::{HeadTable, Heads};
use stanchion_family::parking::{ParkingRow, ParkingStorage};
use stanchion_family::percpu::PerCpu;

/// Two lines, as processors fetch lines in pairs.
#[repr(align(128))]
struct Apart<T>(T);

/// Rows of parking slots, by the lock's address.
const ROWS: usize = 8;

/// The storage of all vCPUs.
pub(crate) struct GuestDomain {
    cpus: [Apart<PerCpu<Guest>>; MAX],
    waits: [[WaitNode<Guest>; NESTING_LEVELS]; MAX],
    parking: [ParkingStorage<Guest>; ROWS],
    heads: Heads<Guest>,
    readers: Readers,
}

/// The class of per-CPU reader-writer locks.
pub(crate) struct Readers([Apart<ReaderCell<Guest>>; MAX]);

pub(super) static DOMAIN: GuestDomain = GuestDomain {
    cpus: [const { Apart(PerCpu::NEW) }; MAX],
    waits: [const { [const { WaitNode::FREE }; NESTING_LEVELS] }; MAX],
    parking: [const { ParkingStorage::NEW }; ROWS],
    heads: Heads::NEW,
    readers: Readers([const { Apart(ReaderCell::NEW) }; MAX]),
};

impl Domain<Guest> for GuestDomain {
    type Readers = Readers;

    #[inline(always)]
    fn readers(&self) -> &Readers {
        &self.readers
    }

    fn lease(&self) -> Option<NodeId> {
        lease_own(NESTING_LEVELS, |node| self.wait_node(node))
    }

    #[inline]
    fn wait_node(&self, node: NodeId) -> &WaitNode<Guest> {
        &self.waits[node.index() / NESTING_LEVELS][node.level()]
    }
}

impl FamilyDomain<Guest> for GuestDomain {
    #[inline(always)]
    fn cpu(&self, cpu: CpuId) -> &PerCpu<Guest> {
        &self.cpus[usize::from(cpu.index())].0
    }

    #[inline]
    fn parking(&self, address: usize) -> ParkingRow<'_, Guest> {
        self.parking[self.spread(address) % ROWS].row()
    }

    fn heads(&self) -> HeadTable<'_, Guest> {
        self.heads.table()
    }

    #[inline]
    fn contexts(&self) -> u16 {
        smp::vcpus()
    }
}

impl ReaderClass<Guest> for Readers {
    #[inline(always)]
    fn cell(&self, cpu: CpuId) -> Option<&ReaderCell<Guest>> {
        (cpu.index() < smp::vcpus()).then(|| &self.0[usize::from(cpu.index())].0)
    }

    fn id(&self) -> usize {
        0
    }
}
