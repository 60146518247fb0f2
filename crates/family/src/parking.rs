//! Parking slots: where the head of a queue sleeps, and how a releaser finds whom to kick.
//!
//! A 4-byte lock has no room for the number of its sleeping head. The kernel keeps a hash table from lock to
//! node and marks the lock "slow"; its probing may run long and its capacity must be proven. Here the lock's
//! second byte *is* the index. A head takes a free parking slot of the row that the lock's address selects,
//! and writes the number of its node there. Then it leaves the slot's index in the lock. A releaser reads the
//! byte, goes straight to the parking slot, consumes it and kicks. One load instead of a search, nothing to
//! delete, and nothing of the lock is touched after it is free.
//!
//! ```text
//!   lock at address A                    row of A                          context c
//!  +------+------+--------+         +-----+-----+-----+-----+         +-----------------+
//!  |locked| head |  tail  |         |  1  |  2  |  3  | ... |         |  halted while   |
//!  |  1   |  2  -+--------+-------->|free | c.0 |     |     |-------->|  slot 2 = c.0   |
//!  +------+------+--------+         +-----+-----+-----+-----+  kick   +-----------------+
//! ```
//!
//! Invariants:
//! - **IS1** A parking slot is free, armed for one context, or consumed. Its context takes it and frees it
//!   (or the owner that made that context head takes it for it); anybody may consume it, once, and whoever
//!   consumes it kicks the context.
//! - **IS2** A halted head's parking slot is armed, or it was consumed and a kick is on its way: no head
//!   sleeps unnoticed.
//! - **IS3** Reading a stale index is harmless: it consumes some other sleeping head's parking slot at worst,
//!   which wakes that head spuriously, and the head arms its parking slot again before it sleeps again.
//!
//! ## Memory orderings
//!
//! Arming a parking slot and marking the lock is one side of a store-buffering pair with "store the locked
//! byte, read the mark"; the fence belongs to the lock (`pv_qspin`), not to this file.
//!
//! Nothing else hangs on a parking slot. Whoever consumes it reads the number of a context and nothing more.
//! A head that was woken learns of the release that woke it from its barrier (V10's), which it passes again
//! before it sleeps again. A releaser that read an older mark than the one before that barrier is one whose
//! store the head sees behind it. So all of it is relaxed.
use crate::tail::NodeCode;
use stanchion_core::machine::{Atomic, ConstAtomic, Machine};
use stanchion_core::numbers::CpuId;
use stanchion_core::order::Relaxed;

/// How many heads of locks in one row can sleep at a time. With 128 rows, as many as there can be contexts,
/// but for a few.
pub const SLOTS_PER_ROW: usize = 123;

/// A cell is zero while free; else the raw code of the sleeper's node, with this bit once it was consumed.
const FREE: u32 = 0;
const CONSUMED: u32 = 1 << 16;
const _: () = assert!(NodeCode::NONE as u32 == FREE);

/// The index of a parking slot in its row, as it stands in a lock: 1 to [`SLOTS_PER_ROW`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParkingSlot(u8);

impl ParkingSlot {
    /// Reads the byte of a lock; `None` if it is no parking slot's index.
    #[inline]
    pub const fn from_raw(raw: u8) -> Option<Self> {
        if raw >= 1 && raw as usize <= SLOTS_PER_ROW { Some(Self(raw)) } else { None }
    }

    /// The byte to leave in the lock.
    #[inline]
    pub const fn raw(self) -> u8 {
        self.0
    }
}

/// Memory for a full row of parking slots.
pub struct ParkingStorage<P: Machine> {
    cells: [P::U32; SLOTS_PER_ROW],
}

impl<P: Machine> ParkingStorage<P> {
    /// A row of free parking slots.
    #[expect(clippy::new_without_default, reason = "see PerCpu::new")]
    pub fn new() -> Self {
        Self { cells: core::array::from_fn(|_| P::U32::new(FREE)) }
    }

    /// The cells of the parking slots, for a platform that has cells of the same type.
    #[inline(always)]
    pub fn cells(&self) -> &[P::U32] {
        &self.cells
    }

    /// The parking slots, for use.
    #[inline(always)]
    pub fn row(&self) -> ParkingRow<'_, P> {
        ParkingRow { cells: &self.cells }
    }
}

impl<P: Machine> ParkingStorage<P>
where
    P::U32: ConstAtomic<u32>,
{
    /// A row of free parking slots, as a constant.
    pub const NEW: Self = Self { cells: [const { P::U32::ZERO }; SLOTS_PER_ROW] };
}

/// The parking slots of all locks whose addresses select this row.
pub struct ParkingRow<'a, P: Machine> {
    cells: &'a [P::U32],
}

impl<'a, P: Machine> ParkingRow<'a, P> {
    /// The row that lies in `cells`, which are zero while free: at most [`SLOTS_PER_ROW`] are used.
    pub fn of(cells: &'a [P::U32]) -> Self {
        Self { cells }
    }

    /// Where the row lies, for reports.
    pub fn addr(&self) -> usize {
        self.cells.as_ptr().addr()
    }

    /// How many parking slots are taken at this moment, for reports.
    pub fn taken(&self) -> usize {
        self.cells.iter().filter(|cell| cell.peek() != FREE).count()
    }

    fn cell(&self, slot: ParkingSlot) -> &'a P::U32 {
        &self.cells[usize::from(slot.0) - 1]
    }

    /// Takes a free parking slot for the waiter at `node` and arms it. `None` if the row is full. Costs one
    /// step per taken parking slot passed.
    #[must_use]
    pub fn take(&self, node: NodeCode) -> Option<ParkingSlot> {
        let armed = u32::from(node.raw());
        (1..=self.cells.len().min(SLOTS_PER_ROW) as u8).map(ParkingSlot).find(|&slot| {
            // ord: S1 alone: a hint, the compare-exchange decides
            self.cell(slot).load(Relaxed) == FREE
                // ord: S2 alone: the parking slot is one cell, and guards nothing else
                && self.cell(slot).compare_exchange(FREE, armed, Relaxed, Relaxed).is_ok()
        })
    }

    /// Arms a parking slot again that this context holds, before it sleeps again.
    pub fn rearm(&self, slot: ParkingSlot, node: NodeCode) {
        // ord: S3 alone: ordered before the lock is looked at by the heavy barrier of the lock (V10)
        self.cell(slot).store(node.raw().into(), Relaxed);
    }

    /// Gives back a parking slot that this context holds.
    pub fn free(&self, slot: ParkingSlot) {
        // ord: S4 alone: as S2, one cell that guards nothing else
        self.cell(slot).store(FREE, Relaxed);
    }

    /// Frees the parking slots of all contexts but this one: the others do not exist.
    pub fn forget_but(&self, mine: Option<CpuId>) {
        for cell in self.cells {
            // ord: S9 alone: nobody else is there
            let code = NodeCode::from_raw(cell.load(Relaxed) as u16);
            if code.is_some_and(|code| Some(code.cpu()) != mine) {
                // ord: S10 alone: nobody else is there
                cell.store(FREE, Relaxed);
            }
        }
    }

    /// Takes on the duty to kick the head that sleeps at `slot`. `None` if somebody else did, or it is gone.
    #[must_use]
    pub fn consume(&self, slot: ParkingSlot) -> Option<CpuId> {
        // ord: S5 alone: only chooses whom to kick, and a wrong kick is harmless (IS3); the halted side
        // re-reads all
        let armed = self.cell(slot).load(Relaxed);
        if armed == FREE || armed & CONSUMED != 0 {
            return None;
        }
        // ord: S6 alone: the parking slot is one cell and guards nothing else; what the sleeper must see, the
        // heavy barrier before V10 shows it
        self.cell(slot).compare_exchange(armed, armed | CONSUMED, Relaxed, Relaxed).ok()?;
        NodeCode::from_raw(armed as u16).map(NodeCode::cpu)
    }

    /// Whose parking slot it is at this moment, armed or consumed.
    pub fn occupant(&self, slot: ParkingSlot) -> Option<NodeCode> {
        // ord: S8 alone: as recent as the mark that led here, if that was acquired; else a hint
        NodeCode::from_raw(self.cell(slot).load(Relaxed) as u16)
    }

    /// Halts the calling context, whose waiter at `node` holds the parking slot, while that is armed, by
    /// `halt_while`. Whether it was kicked (else: spuriously awake).
    pub fn halt(&self, slot: ParkingSlot, node: NodeCode, halt_while: impl FnOnce(&P::U32, u32)) -> bool {
        let cell = self.cell(slot);
        halt_while(cell, u32::from(node.raw()));
        // ord: S7 alone: only tells a kick from a spurious wake-up, for the events; the caller looks at the
        // lock again
        cell.load(Relaxed) & CONSUMED != 0
    }
}
