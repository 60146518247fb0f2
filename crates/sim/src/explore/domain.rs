//! The storage of the stepped world: of contexts by number, places of sleeping heads, cells of readers.
use super::cells::CellU32;
use super::machine::Machine;
use super::platform::Stepped;
use super::{CONTEXTS, Ctx, LOCK_BYTES};
use core::cell::Cell;
use core::mem::{size_of, size_of_val};
use core::ops::Range;
use stanchion_core::nodes::{State, WaitNode, lease_own};
use stanchion_core::numbers::NESTING_LEVELS;
use stanchion_core::{Atomic, CpuId, Domain, NodeId, ReaderCell, ReaderClass};
use stanchion_family::FamilyDomain;
use stanchion_family::heads::{Head, HeadTable};
use stanchion_family::parking::ParkingRow;
use stanchion_family::percpu::PerCpu;
use stanchion_family::tail::NodeCode;

/// The storage of one run.
#[expect(missing_debug_implementations, reason = "hundreds of cells say nothing")]
pub struct SteppedDomain {
    machine: Machine,
    cpus: [PerCpu<Stepped>; CONTEXTS],
    /// Stands for the storage of all numbers that no context has: a release may look there, and finds
    /// nothing.
    nobody: PerCpu<Stepped>,
    /// The nodes of waits, for each number.
    waits: [[WaitNode<Stepped>; NESTING_LEVELS]; CONTEXTS],
    /// Who has slept with each of them last: one that was given up may be another context's by now.
    sleepers: [[Cell<Option<Ctx>>; NESTING_LEVELS]; CONTEXTS],
    /// Who has leased each of them last, or taken it over.
    waiters: [[Cell<Option<Ctx>>; NESTING_LEVELS]; CONTEXTS],
    /// All rows, one after the other.
    parking: Vec<CellU32>,
    heads: Vec<Head<Stepped>>,
    readers: Cells,
}

/// The class of per-CPU reader-writer locks: a cell for each number.
#[expect(missing_debug_implementations, reason = "cells say nothing")]
pub struct Cells {
    first: u16,
    numbers: usize,
    of_contexts: [ReaderCell<Stepped>; CONTEXTS],
}

/// The place of number `cpu` among those that contexts can have.
fn place(first: u16, cpu: CpuId) -> Option<usize> {
    cpu.index().checked_sub(first).map(usize::from).filter(|&place| place < CONTEXTS)
}

impl SteppedDomain {
    pub(super) fn new(machine: Machine) -> Self {
        let Machine { rows, slots, slots_taken, heads, first_number, numbers, .. } = machine;
        // Nobody has the number of the context that sleeps at a parking slot that is taken for good.
        let nobodys = if first_number == 0 { CpuId::LIMIT - 1 } else { 0 };
        let armed = CpuId::new(nobodys).map_or(0, |cpu| NodeCode::new(cpu, 0).raw());
        let row =
            || (0..slots_taken + slots).map(|slot| if slot < slots_taken { u32::from(armed) } else { 0 });
        Self {
            machine,
            cpus: core::array::from_fn(|_| PerCpu::new()),
            nobody: PerCpu::new(),
            waits: core::array::from_fn(|_| core::array::from_fn(|_| WaitNode::new())),
            sleepers: Default::default(),
            waiters: Default::default(),
            parking: (0..rows).flat_map(|_| row()).map(CellU32::new).collect(),
            heads: (0..heads).map(|_| Head::new()).collect(),
            readers: Cells {
                first: first_number,
                numbers,
                of_contexts: core::array::from_fn(|_| ReaderCell::new()),
            },
        }
    }

    /// What the machine is like.
    pub(super) fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The storage that goes with the number at `place`.
    pub(super) fn storage(&self, place: usize) -> &PerCpu<Stepped> {
        &self.cpus[place]
    }

    /// The addresses of the storage that no context has: looking there is no step.
    pub(super) fn nobodys(&self) -> Range<usize> {
        let start = core::ptr::from_ref(&self.nobody).addr();
        start..start + size_of_val(&self.nobody)
    }

    fn row_cells(&self, row: usize) -> &[CellU32] {
        let cells = self.machine.slots_taken + self.machine.slots;
        &self.parking[row * cells..(row + 1) * cells]
    }

    /// Where each row begins.
    pub(super) fn rows(&self) -> impl Iterator<Item = usize> {
        (0..self.machine.rows).map(|row| self.row_cells(row).as_ptr().addr())
    }

    /// The nodes of waits that go with the number at `place`.
    pub(super) fn waits(&self, place: usize) -> &[WaitNode<Stepped>; NESTING_LEVELS] {
        &self.waits[place]
    }

    /// The entry of `node` in a table of all nodes of waits.
    fn entry<'a, T>(&self, table: &'a [[T; NESTING_LEVELS]; CONTEXTS], node: NodeId) -> Option<&'a T> {
        let place = place(self.machine.first_number, node.context()?)?;
        Some(&table[place][node.level()])
    }

    fn sleeper(&self, node: NodeId) -> Option<&Cell<Option<Ctx>>> {
        self.entry(&self.sleepers, node)
    }

    /// `me` waits with `node` from now on.
    pub(super) fn waits_with(&self, node: NodeId, me: Ctx) {
        self.entry(&self.waiters, node).expect("a node that was leased").set(Some(me));
    }

    /// Who waits with `node`, or was the last to do so.
    pub(super) fn waiter_with(&self, node: NodeId) -> Option<Ctx> {
        self.entry(&self.waiters, node)?.get()
    }

    /// `me` is about to sleep with `node`.
    pub(super) fn sleeps_with(&self, node: NodeId, me: Ctx) {
        self.sleeper(node).expect("a node that was leased").set(Some(me));
    }

    /// Who has slept with `node` last.
    pub(super) fn sleeper_with(&self, node: NodeId) -> Option<Ctx> {
        self.sleeper(node)?.get()
    }

    /// The node of a wait whose state stands at `address`.
    pub(super) fn node_at(&self, address: usize) -> Option<NodeId> {
        let place = address.wrapping_sub(self.waits.as_ptr().addr()) / size_of::<WaitNode<Stepped>>();
        let node = self.waits.as_flattened().get(place)?;
        let cpu = CpuId::new(self.machine.first_number + (place / NESTING_LEVELS) as u16)?;
        if core::ptr::from_ref(node.cell()).addr() == address {
            NodeId::of(cpu, place % NESTING_LEVELS)
        } else {
            None
        }
    }

    /// Whether somebody was roused who is not done with its wait.
    pub(super) fn is_roused(&self) -> bool {
        self.waits.iter().flatten().any(|node| node.state() == State::Roused)
    }

    /// Whoever had the number at `place` is done: what it has not given back. Its nodes may be others' to
    /// give back, as long as not `all` are done.
    pub(super) fn kept(&self, place: usize, all: bool) -> Option<&'static str> {
        if all && self.waits[place].iter().any(|node| node.state() != State::Free) {
            Some("waits nowhere, and has not given its node back")
        } else if !self.cpus[place].is_idle() {
            Some("waits nowhere, and has not given back what it waited with")
        } else if !self.readers.of_contexts[place].is_idle() {
            Some("reads nothing, and its cell says that it does")
        } else {
            None
        }
    }

    /// Everybody is done: places of sleeping heads, and of writers beside the cells of readers, that were not
    /// given back.
    pub(super) fn leftover(&self) -> Option<String> {
        if self.readers.of_contexts.iter().any(ReaderCell::has_waiter) {
            return Some("nobody writes, and a writer's number stands beside a reader's cell".to_owned());
        }
        let taken = |row| ParkingRow::<Stepped>::of(self.row_cells(row)).taken() - self.machine.slots_taken;
        let slots: usize = (0..self.machine.rows).map(taken).sum();
        match (slots, self.heads().taken()) {
            (0, 0) => None,
            (0, heads) => Some(format!("nobody sleeps, and {heads} entries of the hash table are taken")),
            (slots, _) => Some(format!("nobody sleeps, and {slots} parking slots are taken")),
        }
    }
}

impl Domain<Stepped> for SteppedDomain {
    type Readers = Cells;

    fn readers(&self) -> &Cells {
        &self.readers
    }

    fn lease(&self) -> Option<NodeId> {
        let leased = self.waits.iter().flatten().filter(|node| node.state() != State::Free).count();
        let is_left = leased < self.machine.waits;
        is_left.then(|| lease_own(NESTING_LEVELS, |node| self.wait_node(node))).flatten()
    }

    fn wait_node(&self, node: NodeId) -> &WaitNode<Stepped> {
        let place = node.context().and_then(|cpu| place(self.machine.first_number, cpu));
        &self.waits[place.expect("a node that was leased")][node.level()]
    }
}

impl FamilyDomain<Stepped> for SteppedDomain {
    fn cpu(&self, cpu: CpuId) -> &PerCpu<Stepped> {
        place(self.machine.first_number, cpu).map_or(&self.nobody, |place| &self.cpus[place])
    }

    fn parking(&self, address: usize) -> ParkingRow<'_, Stepped> {
        ParkingRow::of(self.row_cells(address / LOCK_BYTES % self.machine.rows))
    }

    fn heads(&self) -> HeadTable<'_, Stepped> {
        HeadTable::of(&self.heads)
    }

    fn spread(&self, address: usize) -> usize {
        if self.machine.collides { 0 } else { address / LOCK_BYTES }
    }

    fn contexts(&self) -> u16 {
        self.machine.first_number + self.machine.numbers as u16
    }
}

impl ReaderClass<Stepped> for Cells {
    fn cell(&self, cpu: CpuId) -> Option<&ReaderCell<Stepped>> {
        place(self.first, cpu).map(|place| &self.of_contexts[place])
    }

    fn each(&self, mut visit: impl FnMut(CpuId, &ReaderCell<Stepped>)) {
        for (cell, number) in self.of_contexts[..self.numbers].iter().zip(self.first..) {
            if let Some(cpu) = CpuId::new(number) {
                visit(cpu, cell);
            }
        }
    }

    fn id(&self) -> usize {
        0
    }
}
