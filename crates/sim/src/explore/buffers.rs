//! Store buffers: a plain store waits in its context's buffer and becomes visible in order, but later (total
//! store order, as on x86). Weaker machines reorder more; that is the model checker's part.
use super::Ctx;
use super::cells::Plain;
use super::chooser::{Set, bit};
use core::ptr::NonNull;
use std::collections::VecDeque;

/// A store becomes visible after so many steps at the latest: hardware does not keep it for ever either.
const LONGEST_WAIT: u64 = 200;

/// A store that nobody else sees yet.
pub(super) struct Pending {
    cell: NonNull<dyn Plain>,
    pub(super) value: u64,
    since: u64,
}

impl Pending {
    /// The cell that will change.
    pub(super) fn cell(&self) -> &dyn Plain {
        // SAFETY: stores are buffered only in runs whose cells live in the run's own arena and domain; the
        // run clears the buffers before it lets go of either (`Engine::end`), so the cell is alive as long as
        // this entry is.
        unsafe { self.cell.as_ref() }
    }
}

/// The buffers of all contexts.
#[derive(Default)]
pub(super) struct Buffers {
    queues: [VecDeque<Pending>; super::CONTEXTS],
    /// Whose buffer is not empty.
    filled: Set,
}

impl Buffers {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.queues.iter_mut().for_each(VecDeque::clear);
        self.filled = 0;
    }

    /// Whose buffers hold stores.
    #[inline]
    pub(super) fn filled(&self) -> Set {
        self.filled
    }

    /// Takes in a store of `ctx`. The cell outlives the run, see [`Pending::cell`].
    pub(super) fn push(&mut self, ctx: Ctx, cell: &(dyn Plain + 'static), value: u64, now: u64) {
        self.queues[ctx].push_back(Pending { cell: NonNull::from(cell), value, since: now });
        self.filled |= bit(ctx);
    }

    /// Takes out the oldest store of `ctx`.
    pub(super) fn pop(&mut self, ctx: Ctx) -> Option<Pending> {
        let pending = self.queues[ctx].pop_front();
        if self.queues[ctx].is_empty() {
            self.filled &= !bit(ctx);
        }
        pending
    }

    /// What `ctx` would read at `address` from its own buffer.
    #[inline]
    pub(super) fn forwarded(&self, ctx: Ctx, address: usize) -> Option<u64> {
        if self.filled & bit(ctx) == 0 {
            return None;
        }
        let latest = self.queues[ctx].iter().rev().find(|pending| pending.cell.addr().get() == address);
        latest.map(|pending| pending.value)
    }

    /// Somebody whose oldest store has waited long enough.
    #[inline]
    pub(super) fn overdue(&self, now: u64) -> Option<Ctx> {
        let mut left = self.filled;
        while left != 0 {
            let ctx = left.trailing_zeros() as Ctx;
            if self.queues[ctx].front().is_some_and(|pending| now - pending.since > LONGEST_WAIT) {
                return Some(ctx);
            }
            left &= left - 1;
        }
        None
    }
}
