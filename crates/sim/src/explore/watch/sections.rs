//! Who acquires, enters, leaves, and whom it passes.
use super::super::Ctx;
use super::super::chooser::bit;
use super::super::failure::{Failure, Kind};
use super::{Watch, level_of};
use stanchion_family::catalogue::{Overtaking, SecondByte, Tail};

/// A waiter that must not wait behind others is overtaken so often at most.
const WITH_PRIORITY: u32 = 1;

impl Watch {
    pub(super) fn acquired(&mut self, lock: usize, me: Ctx) -> Result<(), Failure> {
        let guard = &mut self.guards[lock];
        (guard.holder, guard.leaving) = (Some(me), false);
        self.acquisitions += 1;
        let position = guard.queue.iter().position(|&queued| queued == me);
        let level = level_of(lock);
        let nodeless = self.nodeless[me] & 1 << level != 0;
        self.nodeless[me] &= !(1 << level);
        // Tries, and those that take the default lock for a moment to rouse somebody, pass its waiters.
        let is_free = self.tail == Tail::Waits && self.free & bit(me) != 0;
        guard.came_by_itself = !nodeless && !is_free && position.is_none();
        guard.may_pass = nodeless || is_free;
        if self.tail == Tail::Waits {
            return Ok(()); // what it passes is counted when it enters
        }
        self.passes(lock, me)?;
        self.guards[lock].heeds(me, u32::MAX)
    }

    /// `me` has acquired a lock: ahead of those that queued before it did.
    fn passes(&mut self, lock: usize, me: Ctx) -> Result<(), Failure> {
        let guard = &mut self.guards[lock];
        let position = guard.queue.iter().position(|&queued| queued == me);
        let ahead_of = if guard.may_pass { 0 } else { position.unwrap_or(guard.queue.len()) };
        let passed = guard.queue[..ahead_of].iter().copied().filter(|&waiter| guard.gone & bit(waiter) == 0);
        let (passed, node) = (passed.collect::<Vec<_>>(), self.nodes[me]);
        let level = 1 << level_of(lock);
        let is_slow = self.slow[me] & level != 0;
        self.slow[me] &= !level;
        for &waiter in &passed {
            let (times, most) = match self.bound {
                Overtaking::EachNode(most) if is_slow => (&mut guard.by_node[waiter][node], Some(most)),
                Overtaking::EachNode(_) => (&mut guard.overtaken[waiter][me], Some(1)),
                Overtaking::AtMost(most) => (&mut guard.overtaken[waiter][me], Some(most)),
                _ => (&mut guard.overtaken[waiter][me], None),
            };
            *times += 1;
            self.worst = self.worst.max(*times);
            let urgent = self.priority.filter(|&urgent| urgent == waiter).map(|_| WITH_PRIORITY);
            if most.is_some_and(|most| *times > most.min(urgent.unwrap_or(most))) {
                let what = format!("c{me} overtook c{waiter}, which had queued before it, {times} times");
                return Err(Failure { kind: Kind::Overtaken, what });
            }
        }
        if let Overtaking::FirstAside(most) = self.bound {
            guard.is_aside_no_more(me);
            let times = guard.sets_aside(&passed);
            if times > most {
                let first = guard.aside.0[0];
                let what = format!("c{first} is the first that was passed, {times} times since it is");
                return Err(Failure { kind: Kind::Overtaken, what });
            }
        }
        if let Some(position) = position {
            guard.queue.remove(position);
        }
        Ok(())
    }

    /// `me` tries or releases from now on, or does so no more. Whether it did before.
    pub(in super::super) fn is_free(&mut self, me: Ctx, free: bool) -> bool {
        let before = self.free & bit(me) != 0;
        self.free = if free { self.free | bit(me) } else { self.free & !bit(me) };
        before
    }

    /// `me` enters its section.
    pub(in super::super) fn enter(&mut self, lock: usize, me: Ctx) -> Result<(), Failure> {
        if let Some(other) = self.guards[lock].inside {
            let what = format!("c{me} entered while c{other} was inside");
            return Err(Failure { kind: Kind::Exclusion, what });
        }
        self.guards[lock].inside = Some(me);
        if self.guards[lock].holder != Some(me) {
            self.acquired(lock, me)?;
        }
        if self.tail == Tail::Waits {
            self.passes(lock, me)?;
        }
        match self.second_byte {
            SecondByte::AsksNewcomers { looks, .. } if self.guards[lock].came_by_itself => {
                self.guards[lock].heeds(me, looks)
            }
            _ => Ok(()),
        }
    }

    /// `me` leaves its section and is about to release.
    pub(in super::super) fn leave(&mut self, lock: usize) {
        (self.guards[lock].inside, self.guards[lock].leaving) = (None, true);
    }
}
