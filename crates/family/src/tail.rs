//! The tail of a queue in 16 bits: which context, and at which nesting level, queued last.
use stanchion_core::numbers::{CpuId, NESTING_LEVELS};

const LEVEL_BITS: u32 = 2;
const LEVEL_MASK: u16 = (1 << LEVEL_BITS) - 1;
const _: () = assert!(NESTING_LEVELS == 1 << LEVEL_BITS);
const _: () = assert!(((CpuId::LIMIT as u32) << LEVEL_BITS) + LEVEL_MASK as u32 <= u16::MAX as u32);

/// Names one queue node: `cpu + 1` in the upper 14 bits, the nesting level in the lower 2. Zero names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeCode(u16);

impl NodeCode {
    /// The raw value that stands for "no node" in a tail or a `next` field.
    pub const NONE: u16 = 0;

    /// The code of node `level` of context `cpu`.
    #[inline]
    pub const fn new(cpu: CpuId, level: usize) -> Self {
        debug_assert!(level < NESTING_LEVELS);
        Self(((cpu.index() + 1) << LEVEL_BITS) | level as u16)
    }

    /// Reads a raw tail; `None` if it names no node.
    #[inline]
    pub const fn from_raw(raw: u16) -> Option<Self> {
        if raw >> LEVEL_BITS == 0 { None } else { Some(Self(raw)) }
    }

    /// The value to store.
    #[inline]
    pub const fn raw(self) -> u16 {
        self.0
    }

    /// Whose node it is.
    #[inline]
    pub const fn cpu(self) -> CpuId {
        match CpuId::new((self.0 >> LEVEL_BITS) - 1) {
            Some(cpu) => cpu,
            None => unreachable!(), // `new` took a `CpuId`, and `from_raw` refuses zero: 14 bits minus one is below the limit
        }
    }

    /// Which of that context's nodes it is.
    #[inline]
    pub const fn level(self) -> usize {
        (self.0 & LEVEL_MASK) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_has_its_own_code_and_comes_back() {
        for index in [0, 1, 2, 1000, CpuId::LIMIT - 1] {
            let cpu = CpuId::new(index).expect("below the limit");
            for level in 0..NESTING_LEVELS {
                let code = NodeCode::new(cpu, level);
                let back = NodeCode::from_raw(code.raw()).expect("names a node");
                assert_eq!((back.cpu(), back.level()), (cpu, level));
            }
        }
        assert_eq!(NodeCode::from_raw(NodeCode::NONE), None);
        assert_eq!(CpuId::new(CpuId::LIMIT), None);
    }
}
