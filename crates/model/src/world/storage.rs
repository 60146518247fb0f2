//! What lock code finds in the machine's storage.
use super::{WAITS, World};
use crate::platform::Model;
use stanchion_core::nodes::{WaitNode, lease_own};
use stanchion_core::{CpuId, Domain, NodeId, ReaderCell, ReaderClass};
use stanchion_family::FamilyDomain;
use stanchion_family::heads::HeadTable;
use stanchion_family::parking::ParkingRow;
use stanchion_family::percpu::PerCpu;

impl Domain<Model> for World {
    type Readers = Self;

    fn readers(&self) -> &Self {
        self
    }

    fn lease(&self) -> Option<NodeId> {
        lease_own(WAITS, |node| self.wait_node(node))
    }

    fn wait_node(&self, node: NodeId) -> &WaitNode<Model> {
        let context = node.context().expect("nodes of this world are contexts'");
        &self.contexts[usize::from(context.index())].nodes[node.level()]
    }
}

impl FamilyDomain<Model> for World {
    fn cpu(&self, cpu: CpuId) -> &PerCpu<Model> {
        &self.contexts[usize::from(cpu.index())].storage
    }

    fn parking(&self, _address: usize) -> ParkingRow<'_, Model> {
        ParkingRow::of(&self.parking)
    }

    fn heads(&self) -> HeadTable<'_, Model> {
        HeadTable::of(&self.heads)
    }

    /// All locks hash to the same place: addresses differ from execution to execution.
    fn spread(&self, _address: usize) -> usize {
        0
    }

    fn contexts(&self) -> u16 {
        self.contexts.len() as u16
    }
}

impl ReaderClass<Model> for World {
    fn cell(&self, cpu: CpuId) -> Option<&ReaderCell<Model>> {
        self.contexts.get(usize::from(cpu.index())).map(|context| &context.reads)
    }

    fn id(&self) -> usize {
        0
    }
}
