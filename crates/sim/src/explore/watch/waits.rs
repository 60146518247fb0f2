//! Who waits for a limited time, who gives up, and who sleeps at a lock that is free.
use super::super::Ctx;
use super::super::chooser::{Set, bit};
use super::super::failure::Failure;
use super::Watch;
use super::guard::Guard;
use stanchion_family::catalogue::{SecondByte, Tail};

impl Watch {
    /// `me` waits for a limited time from now on, or does so no more.
    pub(in super::super) fn is_limited(&mut self, lock: usize, me: Ctx, limited: bool) {
        let guard = &mut self.guards[lock];
        guard.gone &= !bit(me);
        guard.limited = if limited { guard.limited | bit(me) } else { guard.limited & !bit(me) };
    }

    /// The holder of a lock is about to release it fairly, to somebody if there is one who waits without a
    /// limit.
    pub(in super::super) fn must_be_handed_over(&mut self, lock: usize) {
        if let SecondByte::AsksNewcomers { .. } = self.second_byte {
            let guard = &mut self.guards[lock];
            guard.owed_to = guard.queue.iter().copied().find(|&waiter| guard.limited & bit(waiter) == 0);
        }
    }

    /// `me` hands the lock that it releases to `next`: the innermost of those.
    pub(in super::super) fn is_handed_over(&mut self, me: Ctx, next: Ctx) {
        let is_it = |guard: &&mut Guard| guard.holder == Some(me) && guard.queue.contains(&next);
        if let Some(guard) = self.guards.iter_mut().rev().find(is_it) {
            (guard.holder, guard.leaving) = (Some(next), false);
            (guard.came_by_itself, guard.may_pass, guard.owed_to) = (false, false, None);
        }
    }

    /// `me` does not wait any more.
    pub(in super::super) fn gives_up(&mut self, lock: usize, me: Ctx) {
        self.guards[lock].queue.retain(|&waiter| waiter != me);
    }

    /// `me` waits in the place of somebody that has given up: behind whoever queues, for the lock that it
    /// came for last. Whether the node was left at that lock, which stands at `address`.
    pub(in super::super) fn takes_over(&mut self, me: Ctx, address: usize) -> bool {
        let of = self.lock_at(address).map(|(lock, _)| lock);
        let Some(lock) = self.came_for(me) else { return true };
        let guard = &mut self.guards[lock];
        guard.gone &= !bit(me);
        if !guard.queue.contains(&me) {
            guard.queues(me);
        }
        of == Some(lock)
    }

    /// `me` is about to give up one of its limited waits: what it has written may show in a handler only.
    pub(in super::super) fn is_leaving(&mut self, me: Ctx) {
        for guard in self.guards.iter_mut().filter(|guard| guard.limited & bit(me) != 0) {
            guard.gone |= bit(me);
        }
    }

    /// Whether `me` has given up, and may come back to the place that it left.
    pub(in super::super) fn comes_back(&self, me: Ctx) -> bool {
        self.came_for(me).is_some_and(|lock| self.guards[lock].gone & bit(me) != 0)
    }

    /// Whether `me` owns the lock that stands at `address`. Who owns the queue of a reader-writer lock is not
    /// known.
    pub(in super::super) fn owns(&self, me: Ctx, address: usize) -> bool {
        let lock = self.lock_at(address).map(|(lock, _)| lock);
        lock.is_none_or(|lock| {
            matches!(self.locks, super::Locks::Rw(_)) || self.guards[lock].holder == Some(me)
        })
    }

    /// Whether `me` asks newcomers to leave the lock that stands at `address` to it.
    pub(in super::super) fn asks(&self, me: Ctx, address: usize) -> bool {
        let SecondByte::AsksNewcomers { .. } = self.second_byte else { return false };
        self.lock_at(address).is_some_and(|(lock, _)| self.guards[lock].forbidder == Some(me))
    }

    /// The lock that `me` waits for with a limit, the last one if there are several.
    fn came_for(&self, me: Ctx) -> Option<usize> {
        self.guards.iter().rposition(|guard| guard.limited & bit(me) != 0)
    }

    /// `me` acquires, tries or releases from now on, or does so no more.
    pub(in super::super) fn is_busy(&mut self, lock: usize, me: Ctx, busy: bool) {
        let guard = &mut self.guards[lock];
        guard.busy = if busy { guard.busy | bit(me) } else { guard.busy & !bit(me) };
    }

    /// `me`, which waits, has another turn: an heir whose turn has come asks for the lock.
    pub(in super::super) fn has_turn(&mut self, me: Ctx, now: u64) -> Result<(), Failure> {
        let (Some(queues), SecondByte::AsksNewcomers { bit: asks, .. }) =
            (&mut self.queues, self.second_byte)
        else {
            return Ok(());
        };
        let guards = &self.guards;
        let asks = |lock: usize| guards[lock].last.pending & asks != 0 || guards[lock].holder == Some(me);
        queues.has_turn(me, now, asks)
    }

    /// A lock whose waits lease nodes, that nobody holds, and at which nobody is about to do anything but
    /// `asleep`, one of whom waits for it.
    pub(in super::super) fn slept_at(&self, asleep: Set) -> Option<(usize, Ctx)> {
        if self.tail != Tail::Waits {
            return None;
        }
        let is_left = |guard: &Guard| guard.last.locked == 0 && guard.busy != 0 && guard.busy & !asleep == 0;
        let waiter = |guard: &Guard| guard.queue.iter().copied().find(|&waiter| asleep & bit(waiter) != 0);
        let left = |(lock, guard): (usize, &Guard)| Some((lock, waiter(guard).filter(|_| is_left(guard))?));
        self.guards.iter().enumerate().find_map(left)
    }
}
