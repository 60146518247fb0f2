//! The storage of the contexts of a simulated machine.
use crate::arena::{Arena, Placed};
use crate::platform::Sim;
use stanchion_core::nodes::{WaitNode, lease_own};
use stanchion_core::numbers::NESTING_LEVELS;
use stanchion_core::{CpuId, Domain, NodeId, ReaderCell, ReaderClass};
use stanchion_family::FamilyDomain;
use stanchion_family::heads::{HeadTable, Heads};
use stanchion_family::parking::{ParkingRow, ParkingStorage};
use stanchion_family::percpu::PerCpu;
use std::rc::Rc;

/// Rows of parking slots; locks choose theirs by address.
const PARKING_ROWS: usize = 64;

/// One context's storage, on lines of its own.
#[repr(align(64))]
struct Own(PerCpu<Sim>);

/// The storage of all contexts of a simulated machine.
pub struct SimDomain {
    base: usize,
    own: Vec<Placed<Own>>,
    waits: Vec<Placed<[WaitNode<Sim>; NESTING_LEVELS]>>,
    parking: Vec<Placed<ParkingStorage<Sim>>>,
    heads: Placed<Heads<Sim>>,
    /// The world's own class, and those that a workload has besides.
    pub(crate) readers: Vec<SimClass>,
}

/// The cells of readers, each on a line of its own.
pub struct SimClass {
    id: usize,
    cells: Vec<Placed<ReaderCell<Sim>>>,
}

impl ReaderClass<Sim> for SimClass {
    fn cell(&self, cpu: CpuId) -> Option<&ReaderCell<Sim>> {
        self.cells.get(usize::from(cpu.index())).map(|cell| &**cell)
    }
    fn id(&self) -> usize {
        self.id
    }
}

impl SimDomain {
    /// Storage for `contexts` contexts with cells in `classes` classes, in the arena.
    pub(crate) fn new(arena: &Rc<Arena>, contexts: usize, classes: usize) -> Self {
        let class =
            |id| SimClass { id, cells: (0..contexts).map(|_| arena.place(ReaderCell::new())).collect() };
        Self {
            base: arena.base(),
            own: (0..contexts).map(|_| arena.place(Own(PerCpu::new()))).collect(),
            waits: (0..contexts).map(|_| arena.place(core::array::from_fn(|_| WaitNode::new()))).collect(),
            parking: (0..PARKING_ROWS).map(|_| arena.place(ParkingStorage::new())).collect(),
            heads: arena.place(Heads::new()),
            readers: (0..classes.max(1)).map(class).collect(),
        }
    }

    /// Bytes of arena that `contexts` contexts need, with as many classes.
    pub(crate) fn bytes(contexts: usize, classes: usize) -> usize {
        let row = size_of::<ParkingStorage<Sim>>().next_multiple_of(64);
        let cell = size_of::<ReaderCell<Sim>>().next_multiple_of(64);
        let waits = size_of::<[WaitNode<Sim>; NESTING_LEVELS]>();
        contexts * (size_of::<Own>() + waits + cell * classes.max(1))
            + PARKING_ROWS * row
            + size_of::<Heads<Sim>>()
    }
}

impl Domain<Sim> for SimDomain {
    type Readers = SimClass;

    fn readers(&self) -> &SimClass {
        &self.readers[0]
    }
    fn lease(&self) -> Option<NodeId> {
        lease_own(NESTING_LEVELS, |node| self.wait_node(node))
    }
    #[inline]
    fn wait_node(&self, node: NodeId) -> &WaitNode<Sim> {
        &self.waits[node.index() / NESTING_LEVELS][node.level()]
    }
}

impl FamilyDomain<Sim> for SimDomain {
    #[inline]
    fn cpu(&self, cpu: CpuId) -> &PerCpu<Sim> {
        &self.own[usize::from(cpu.index())].0
    }
    fn parking(&self, address: usize) -> ParkingRow<'_, Sim> {
        self.parking[self.spread(address) % PARKING_ROWS].row()
    }
    fn heads(&self) -> HeadTable<'_, Sim> {
        self.heads.table()
    }
    fn spread(&self, address: usize) -> usize {
        // Offsets, not addresses: the same on every host.
        address.wrapping_sub(self.base) / 64
    }
    fn contexts(&self) -> u16 {
        self.own.len() as u16
    }
}
