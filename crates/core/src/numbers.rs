//! Numbers of contexts and of queue nodes: what fits beside a lock's other fields.
use core::num::NonZeroU16;

/// How deep interrupts may nest while each level waits in a queue: task, soft interrupt, interrupt, NMI.
pub const NESTING_LEVELS: usize = 4;

/// A small, dense number of an execution context: a thread's slot, a vCPU, a simulated CPU.
///
/// At most [`CpuId::LIMIT`] contexts exist at a time, so that `cpu + 1` and a nesting level fit into a 16-bit
/// tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuId(u16);

impl CpuId {
    /// How many contexts can have a number at the same time: 2^14 − 1.
    pub const LIMIT: u16 = (1 << 14) - 1;

    /// The context numbered `index`, or `None` from [`CpuId::LIMIT`] on.
    #[inline]
    pub const fn new(index: u16) -> Option<Self> {
        if index < Self::LIMIT { Some(Self(index)) } else { None }
    }

    /// The number, below [`CpuId::LIMIT`].
    #[inline(always)]
    pub const fn index(self) -> u16 {
        self.0
    }
}

/// The number of a node: 1 to 65 535, so that it fits beside a lock's other fields. Zero stands for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeId(NonZeroU16);

impl NodeId {
    /// Stands for "no node".
    pub const NONE: u16 = 0;
    /// The greatest number.
    pub const LAST: u16 = u16::MAX;

    /// The node with this number; `None` for [`NodeId::NONE`].
    #[inline(always)]
    pub const fn new(raw: u16) -> Option<Self> {
        match NonZeroU16::new(raw) {
            Some(raw) => Some(Self(raw)),
            None => None,
        }
    }

    /// The number.
    #[inline(always)]
    pub const fn raw(self) -> u16 {
        self.0.get()
    }

    /// Node `level` of context `cpu`, in a world whose contexts have [`NESTING_LEVELS`] nodes each.
    pub const fn of(cpu: CpuId, level: usize) -> Option<Self> {
        Self::new(cpu.index() * NESTING_LEVELS as u16 + level as u16 + 1)
    }

    /// The context that [`NodeId::of`] made it from.
    pub const fn context(self) -> Option<CpuId> {
        CpuId::new((self.raw() - 1) / NESTING_LEVELS as u16)
    }

    /// Which of its context's nodes it is.
    pub const fn level(self) -> usize {
        (self.raw() - 1) as usize % NESTING_LEVELS
    }

    /// Counted from zero, for tables.
    pub const fn index(self) -> usize {
        self.raw() as usize - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_names_a_context_and_a_level() {
        for index in [0, 1, 255, 256, CpuId::LIMIT - 1] {
            let cpu = CpuId::new(index).expect("below the limit");
            for level in 0..NESTING_LEVELS {
                assert_eq!(NodeId::of(cpu, level).and_then(NodeId::context), Some(cpu));
            }
        }
        assert_eq!(NodeId::new(NodeId::NONE), None);
    }
}
