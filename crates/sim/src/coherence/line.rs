//! One cache line's entry in the directory.
use crate::machine::Topology;
use crate::time::Time;

/// No core.
pub(super) const NOBODY: u16 = u16::MAX;
/// Words of a set of cores.
pub(super) const WORDS: usize = Topology::MOST_CORES / 64;

/// A cache line.
#[derive(Clone)]
pub(super) struct Line {
    /// The core that may write it, if one may.
    pub(super) owner: u16,
    /// Whether the owner has written it since it came, or is about to.
    pub(super) written: bool,
    /// When it was last written.
    pub(super) written_at: Time,
    /// The core that lost it last, and until when it still hits.
    pub(super) previous: u16,
    pub(super) previous_until: Time,
    /// When the owner's copy arrives.
    pub(super) arrives: Time,
    /// Until when no other request is served.
    pub(super) busy: Time,
    /// How many cores have a copy that they may read; with which these are.
    pub(super) sharers: u16,
    pub(super) shared_by: [u64; WORDS],
    /// Changes with each visible write (for reservations).
    pub(super) version: u32,
}

impl Line {
    pub(super) const UNUSED: Self = Self {
        owner: NOBODY,
        written: false,
        written_at: 0,
        previous: NOBODY,
        previous_until: 0,
        arrives: 0,
        busy: 0,
        sharers: 0,
        shared_by: [0; WORDS],
        version: 0,
    };

    /// Whether it is owned, and not written since its owner has it.
    pub(super) fn is_unwritten(&self) -> bool {
        self.owner != NOBODY && !self.written
    }

    #[inline]
    pub(super) fn shares(&self, core: usize) -> bool {
        self.shared_by[core / 64] >> (core % 64) & 1 == 1
    }

    #[inline]
    pub(super) fn add(&mut self, core: usize) {
        if !self.shares(core) {
            self.shared_by[core / 64] |= 1 << (core % 64);
            self.sharers += 1;
        }
    }

    pub(super) fn clear(&mut self) {
        if self.sharers > 0 {
            self.shared_by = [0; WORDS];
            self.sharers = 0;
        }
    }

    pub(super) fn each_sharer(&self, mut f: impl FnMut(usize)) {
        for (index, &word) in self.shared_by.iter().enumerate() {
            let mut left = word;
            while left != 0 {
                f(index * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}

/// Whether a bit from `first` to before `last` is set.
pub(super) fn any_bit(words: &[u64; WORDS], first: usize, last: usize) -> bool {
    let (from, to) = (first / 64, (last - 1) / 64);
    (from..=to).any(|index| {
        let low = if index == from { u64::MAX << (first % 64) } else { u64::MAX };
        let high = if index == to { u64::MAX >> (63 - (last - 1) % 64) } else { u64::MAX };
        words[index] & low & high != 0
    })
}
