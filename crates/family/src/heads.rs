//! The hash table from a lock to its sleeping head, as the kernel has it: the alternative to
//! [`parking`](crate::parking).
//!
//! A head that is about to sleep takes an entry near the place that the lock's address hashes to, and marks
//! its lock "slow". A releaser that finds the mark probes for the lock and kicks the head that it finds.
//!
//! Invariants:
//! - **IH1** An entry is free (`lock` zero) or one head's; its head takes it and frees it (or the owner that
//!   made that context head takes it for it). Each lock has one head, so at most one entry.
//! - **IH2** A halted head's entry is armed, or was consumed and a kick is on its way.
//! - **IH3** Entries that were freed leave holes, so a search does not stop at a free entry: it costs the
//!   whole table if the head is gone. It stops at the first match.
//! - **IH4** Whoever finds no entry has nothing to do: the head that left the mark has woken up and freed it.
//!
//! ## Memory orderings
//!
//! As for parking slots, the store-buffering pair with the release belongs to the lock. One edge hangs on an
//! entry, from whoever freed it to whoever takes it next (H4, H2): the former's last word about its sleeper
//! is in the cell before the latter's first. That is needed because two heads of different locks know nothing
//! of each other.
use crate::tail::NodeCode;
use stanchion_core::machine::{Atomic, ConstAtomic, Machine};
use stanchion_core::numbers::CpuId;
use stanchion_core::order::{Acquire, Relaxed, Release};

/// How many heads can sleep at a time: a page of entries of 16 bytes, the kernel's least.
pub const HEADS: usize = 256;

/// In an entry's `sleeper`, beside the node: somebody has taken on the duty to kick.
const CONSUMED: u32 = 1 << 16;

/// One entry of the table.
#[repr(C)]
pub struct Head<P: Machine> {
    /// The address of the lock, or zero.
    lock: P::Usize,
    /// Raw code of the sleeping head's node, and [`CONSUMED`]; zero while the entry is being made.
    sleeper: P::U32,
}

impl<P: Machine> Head<P> {
    /// A free entry.
    #[expect(clippy::new_without_default, reason = "see PerCpu::new")]
    pub fn new() -> Self {
        Self { lock: P::Usize::new(0), sleeper: P::U32::new(0) }
    }
}

/// Memory for a full table.
#[repr(C)]
pub struct Heads<P: Machine> {
    entries: [Head<P>; HEADS],
}

impl<P: Machine> Heads<P> {
    /// A table of free entries.
    #[expect(clippy::new_without_default, reason = "see PerCpu::new")]
    pub fn new() -> Self {
        Self { entries: core::array::from_fn(|_| Head::new()) }
    }

    /// The table, for use.
    #[inline(always)]
    pub fn table(&self) -> HeadTable<'_, P> {
        HeadTable { entries: &self.entries }
    }
}

impl<P: Machine> Heads<P>
where
    P::U32: ConstAtomic<u32>,
    P::Usize: ConstAtomic<usize>,
{
    /// A table of free entries, as a constant.
    pub const NEW: Self =
        Self { entries: [const { Head { lock: P::Usize::ZERO, sleeper: P::U32::ZERO } }; HEADS] };
}

/// The place of an entry in its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeadIndex(u16);

impl HeadIndex {
    /// Reads what [`HeadIndex::raw`] gave; `None` if it can have given no such number.
    pub const fn from_raw(raw: u16) -> Option<Self> {
        match raw.checked_sub(1) {
            Some(index) if (index as usize) < HEADS => Some(Self(index)),
            _ => None,
        }
    }

    /// A number that is not zero.
    pub const fn raw(self) -> u16 {
        self.0 + 1
    }
}

/// All entries of a world.
pub struct HeadTable<'a, P: Machine> {
    entries: &'a [Head<P>],
}

impl<'a, P: Machine> HeadTable<'a, P> {
    /// The table that lies in `entries`, free ones at first; their number must be a power of two.
    pub fn of(entries: &'a [Head<P>]) -> Self {
        debug_assert!(entries.len().is_power_of_two());
        Self { entries }
    }

    /// The entries from the one that `hash` selects on, all of them.
    fn from(&self, hash: usize) -> impl Iterator<Item = HeadIndex> {
        let mask = self.entries.len() - 1;
        (0..self.entries.len()).map(move |hop| HeadIndex((hash.wrapping_add(hop) & mask) as u16))
    }

    /// How many entries are taken at this moment, for reports.
    pub fn taken(&self) -> usize {
        self.entries.iter().filter(|entry| entry.lock.peek() != 0).count()
    }

    fn entry(&self, index: HeadIndex) -> &'a Head<P> {
        &self.entries[usize::from(index.0)]
    }

    /// Makes an armed entry for the head of the lock at `address`, whose waiter is at `node`. `None` if the
    /// table is full.
    #[must_use]
    pub fn take(&self, hash: usize, address: usize, node: NodeCode) -> Option<HeadIndex> {
        let index = self.from(hash).find(|&index| {
            let entry = self.entry(index);
            // ord: H1 alone: a hint, the compare-exchange decides
            entry.lock.load(Relaxed) == 0
                // ord: H2 pairs H4: the taker comes after whoever freed the entry
                && entry.lock.compare_exchange(0, address, Acquire, Relaxed).is_ok()
        })?;
        self.rearm(index, node);
        Some(index)
    }

    /// Arms an entry that this context holds, before it sleeps.
    pub fn rearm(&self, index: HeadIndex, node: NodeCode) {
        // ord: H3 alone: ordered before the lock is looked at by the heavy barrier of the lock (V10)
        self.entry(index).sleeper.store(node.raw().into(), Relaxed);
    }

    /// Gives back an entry that this context holds.
    pub fn free(&self, index: HeadIndex) {
        // ord: H5 alone: ordered by H4, before the entry is anybody else's
        self.entry(index).sleeper.store(0, Relaxed);
        // ord: H4 pairs H2: what this context did with the entry comes before the next taker
        self.entry(index).lock.store(0, Release);
    }

    /// Takes on the duty to kick the sleeping head of the lock at `address`; `None` if there is none, or
    /// somebody else did. The second value is how many entries were looked at.
    #[must_use]
    pub fn consume(&self, hash: usize, address: usize) -> (Option<CpuId>, u32) {
        let mut hops = 0;
        for index in self.from(hash) {
            hops += 1;
            let entry = self.entry(index);
            // ord: H6 alone: if it matters that the entry is found, the pair V4 and V10 shows it to us
            if entry.lock.load(Relaxed) != address {
                continue;
            }
            // ord: H7 alone: as H6; zero means that its head is gone, and another one may be coming
            let armed = entry.sleeper.load(Relaxed);
            if armed == 0 || armed & CONSUMED != 0 {
                return (None, hops);
            }
            // ord: H8 alone: guards nothing else; what the sleeper must see, the heavy barrier before V10
            // shows it
            let mine = entry.sleeper.compare_exchange(armed, armed | CONSUMED, Relaxed, Relaxed).is_ok();
            return (NodeCode::from_raw(armed as u16).filter(|_| mine).map(NodeCode::cpu), hops);
        }
        (None, hops)
    }

    /// Whose entry it is at this moment.
    pub fn occupant(&self, hash: usize, address: usize) -> Option<NodeCode> {
        // ord: H10 alone: a hint that may be out of date
        let index = self.from(hash).find(|&index| self.entry(index).lock.load(Relaxed) == address)?;
        // ord: H11 alone: a hint that may be out of date
        NodeCode::from_raw(self.entry(index).sleeper.load(Relaxed) as u16)
    }

    /// Halts the calling context, whose waiter at `node` holds the entry, while that is armed, by
    /// `halt_while`. Whether it was kicked.
    pub fn halt(&self, index: HeadIndex, node: NodeCode, halt_while: impl FnOnce(&P::U32, u32)) -> bool {
        let cell = &self.entry(index).sleeper;
        halt_while(cell, u32::from(node.raw()));
        // ord: H9 alone: only tells a kick from a spurious wake-up, for the events; the caller looks at the
        // lock again
        cell.load(Relaxed) & CONSUMED != 0
    }
}
