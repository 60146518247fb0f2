//! What must hold of the locks of one run, looked at after each visible write: the word's table, who is inside, who
//! overtook whom.
//!
//! A context queues when it changes the tail of a lock that it does not hold, or sets a pending bit. It acquires when it sets the locked byte or,
//! where no byte tells (a ticket lock that is handed over), when it enters its section.
use super::chooser::{Set, bit};
use super::failure::{Failure, Kind};
use super::rw_subjects::SteppedRw;
use super::sharing::Sharing;
use super::subjects::{Overtaking, Subject};
use super::{CONTEXTS, Ctx};
use crate::arena::LINE_BYTES;
use crate::locks::AnyLock;
use stanchion_core::tail::NodeCode;
use stanchion_core::transitions::{Table, Word};
use std::rc::Rc;

/// The locks of a run, each on a line of its own.
#[derive(Clone)]
pub(super) enum Locks {
    Mutexes(Rc<Vec<Box<dyn AnyLock>>>),
    Rw(Rc<Vec<Box<dyn SteppedRw>>>),
}

impl Locks {
    fn len(&self) -> usize {
        match self {
            Self::Mutexes(locks) => locks.len(),
            Self::Rw(locks) => locks.len(),
        }
    }

    fn word(&self, index: usize) -> Word {
        match self {
            Self::Mutexes(locks) => locks[index].word(),
            Self::Rw(locks) => locks[index].word(),
        }
    }
}

/// Everything that is known of the locks of one run.
pub(super) struct Watch {
    base: usize,
    locks: Locks,
    table: Table,
    guards: Vec<Guard>,
    /// The greatest overtaking that is allowed in this run.
    bound: Option<u32>,
    /// Whether the lock states a bound, be it for this run or not.
    bounded: bool,
    /// What the second byte holds while the head asks for the lock.
    objection: Option<u8>,
    /// At which levels of nesting each context acquires without a node, and so may overtake; as bits.
    nodeless: [u8; CONTEXTS],
    /// Whether the word of a lock that nobody uses is another one each time.
    moves_on: bool,
    /// Whether the pending bit is a way of queueing.
    pending_waits: bool,
    /// Whether contexts steal for as long as their own storage says.
    steals: bool,
    /// Who has been without a number, and could not queue, so that its steals and tries have no bound but the head's objection.
    never_queue: Set,
    /// Which rows of the table were reached, as bits.
    pub(super) rows: u64,
    /// The worst overtaking of a waiter by one context.
    pub(super) worst: u32,
    /// How many acquisitions there were.
    pub(super) acquisitions: u64,
}

/// What is known of one lock.
struct Guard {
    last: Word,
    /// The word of the lock when it was made.
    fresh: Word,
    inside: Option<Ctx>,
    /// Who acquired it and has not released it visibly.
    holder: Option<Ctx>,
    /// Whether the holder's section is over, so that its next visible write is the release.
    leaving: bool,
    /// Who queued and has not acquired yet, in order.
    queue: Vec<Ctx>,
    /// `overtaken[w][c]`: how often `c` acquired since `w` queued, without having queued before it.
    overtaken: [[u32; CONTEXTS]; CONTEXTS],
    /// Who is inside of a reader-writer lock.
    sharing: Sharing,
    /// Who asks for the lock, and how often each context acquired since.
    objector: Option<Ctx>,
    despite: [u32; CONTEXTS],
}

impl Watch {
    /// Watches `locks`, the first of which stands at `base`. `strict`: bounds that hold for a lock on its own hold here.
    pub(super) fn new(subject: &Subject, base: usize, locks: Locks, strict: bool) -> Self {
        let steals = matches!(subject.overtaking, Overtaking::AtMostOnItsOwn(_));
        let guard = |fresh: Word| Guard {
            last: fresh,
            fresh,
            inside: None,
            holder: None,
            leaving: false,
            queue: Vec::with_capacity(CONTEXTS),
            overtaken: [[0; CONTEXTS]; CONTEXTS],
            sharing: Sharing::default(),
            objector: None,
            despite: [0; CONTEXTS],
        };
        Self {
            base,
            guards: (0..locks.len()).map(|lock| guard(locks.word(lock))).collect(),
            locks,
            table: subject.transitions(),
            bound: match subject.overtaking {
                Overtaking::Unbounded => None,
                Overtaking::AtMost(times) => Some(times),
                Overtaking::AtMostOnItsOwn(times) => strict.then_some(times),
            },
            bounded: subject.overtaking != Overtaking::Unbounded,
            objection: subject.objection,
            nodeless: [0; CONTEXTS],
            moves_on: subject.moves_on,
            pending_waits: subject.pending_waits,
            steals,
            never_queue: 0,
            rows: 0,
            worst: 0,
            acquisitions: 0,
        }
    }

    /// Who holds a lock, as far as the word and the sections tell.
    pub(super) fn holder(&self, lock: usize) -> Option<Ctx> {
        self.guards[lock].holder.or_else(|| self.guards[lock].sharing.holder())
    }

    /// Who is inside of a reader-writer lock.
    pub(super) fn sharing(&mut self, lock: usize) -> &mut Sharing {
        &mut self.guards[lock].sharing
    }

    /// Somebody went into a reader-writer lock, as one of so many readers that passed a writer.
    pub(super) fn went_in(&mut self, passed: u32) {
        self.acquisitions += 1;
        self.worst = self.worst.max(passed);
    }

    /// Who is inside the first lock, or holds it.
    pub(super) fn owner(&self) -> Option<Ctx> {
        self.guards[0].inside.or(self.guards[0].holder).or_else(|| self.guards[0].sharing.holder())
    }

    /// Whether `ctx` waits in the first lock's queue.
    pub(super) fn has_queued(&self, ctx: Ctx) -> bool {
        self.guards[0].queue.contains(&ctx) || self.guards[0].sharing.is_waiting(ctx)
    }

    /// Who is first in the first lock's queue.
    pub(super) fn first_in_queue(&self) -> Option<Ctx> {
        self.guards[0].queue.first().copied().or_else(|| self.guards[0].sharing.first_waiting())
    }

    /// `holder` has taken `out` out of the queue of a lock that it holds, maybe without a trace in the word.
    pub(super) fn let_out(&mut self, holder: Ctx, out: Ctx) {
        for guard in self.guards.iter_mut().filter(|guard| guard.holder == Some(holder)) {
            guard.queue.retain(|&waiter| waiter != out);
        }
    }

    /// `me` asked for a number, and there was none.
    pub(super) fn goes_without_number(&mut self, me: Ctx) {
        if self.steals {
            self.never_queue |= bit(me);
        }
    }

    /// `me`, so many handlers deep, has found no node to queue with, and goes another way.
    pub(super) fn goes_without_node(&mut self, me: Ctx, level: u8) {
        self.nodeless[me] |= 1 << level;
    }

    /// After a write by `me` that everybody sees.
    #[inline]
    pub(super) fn wrote(&mut self, me: Ctx, address: usize) -> Result<(), Failure> {
        let lock = address.wrapping_sub(self.base) / LINE_BYTES;
        if lock < self.guards.len() { self.look(lock, me) } else { Ok(()) }
    }

    fn look(&mut self, lock: usize, me: Ctx) -> Result<(), Failure> {
        let guard = &mut self.guards[lock];
        if guard.leaving && guard.holder == Some(me) {
            guard.holder = None;
        }
        let after = self.locks.word(lock);
        let before = core::mem::replace(&mut self.guards[lock].last, after);
        if before == after {
            return Ok(());
        }
        self.check_row(before, after)?;
        if matches!(self.locks, Locks::Rw(_)) {
            return Ok(()); // the contexts say who is inside
        }
        let guard = &mut self.guards[lock];
        if after.tail != before.tail {
            guard.tail_moved(me, before, after);
        }
        if self.pending_waits && after.pending > before.pending {
            guard.queues(me);
        } else if self.pending_waits && after.pending < before.pending {
            guard.queue.retain(|&waiter| waiter != me);
        }
        if let Some(objection) = self.objection
            && after.pending != before.pending
        {
            guard.objector = (after.pending == objection).then_some(me);
            guard.despite = [0; CONTEXTS];
        }
        if before.locked != 0 && after.locked == 0 {
            guard.holder = None;
        } else if before.locked == 0 && after.locked != 0 {
            return self.acquired(lock, me);
        }
        Ok(())
    }

    fn check_row(&mut self, before: Word, after: Word) -> Result<(), Failure> {
        let Some(row) = self.table.row(before, after) else {
            let word = |word: Word| format!("({},{},{})", word.tail, word.pending, word.locked);
            let what = format!("no row of the table takes the word from {} to {}", word(before), word(after));
            return Err(Failure { kind: Kind::Transition, what });
        };
        let index = self.table.0.iter().position(|known| core::ptr::eq(known, row)).unwrap_or(0);
        self.rows |= 1 << index;
        Ok(())
    }

    fn acquired(&mut self, lock: usize, me: Ctx) -> Result<(), Failure> {
        let guard = &mut self.guards[lock];
        (guard.holder, guard.leaving) = (Some(me), false);
        self.acquisitions += 1;
        let position = guard.queue.iter().position(|&queued| queued == me);
        let level = lock.saturating_sub(1); // the first two locks are for contexts, then there is one a level
        let nodeless = self.nodeless[me] & 1 << level != 0;
        self.nodeless[me] &= !(1 << level);
        let ahead_of = if nodeless || self.never_queue & bit(me) != 0 {
            0
        } else {
            position.unwrap_or(guard.queue.len())
        };
        for at in 0..ahead_of {
            let waiter = guard.queue[at];
            let times = &mut guard.overtaken[waiter][me];
            *times += 1;
            if self.bound.is_some() || !self.bounded {
                self.worst = self.worst.max(*times);
            }
            if self.bound.is_some_and(|bound| *times > bound) {
                let what = format!("c{me} overtook c{waiter}, which had queued before it, {times} times");
                return Err(Failure { kind: Kind::Overtaken, what });
            }
        }
        if let Some(position) = position {
            guard.queue.remove(position);
        }
        if let Some(objector) = guard.objector
            && objector != me
        {
            guard.despite[me] += 1;
            if guard.despite[me] > 1 {
                let what = format!(
                    "c{me} acquired {} times although c{objector} asked for the lock",
                    guard.despite[me]
                );
                return Err(Failure { kind: Kind::Overtaken, what });
            }
        }
        Ok(())
    }

    /// `me` enters its section.
    pub(super) fn enter(&mut self, lock: usize, me: Ctx) -> Result<(), Failure> {
        if let Some(other) = self.guards[lock].inside {
            let what = format!("c{me} entered while c{other} was inside");
            return Err(Failure { kind: Kind::Exclusion, what });
        }
        self.guards[lock].inside = Some(me);
        if self.guards[lock].holder == Some(me) { Ok(()) } else { self.acquired(lock, me) }
    }

    /// Everybody is done: a lock that does not look like it.
    pub(super) fn leftover(&self) -> Option<String> {
        self.guards.iter().enumerate().find_map(|(index, guard)| {
            let word = self.locks.word(index);
            let idle = word.locked == 0 && (self.moves_on || word == guard.fresh);
            let Word { tail, pending, locked } = word;
            (!idle).then(|| format!("nobody uses lock {index}, and its word is ({tail},{pending},{locked})"))
        })
    }

    /// `me` leaves its section and is about to release.
    pub(super) fn leave(&mut self, lock: usize) {
        self.guards[lock].inside = None;
        self.guards[lock].leaving = true;
    }
}

impl Guard {
    /// `me` stands at the end of the queue from now on.
    fn queues(&mut self, me: Ctx) {
        self.queue.retain(|&waiter| waiter != me);
        self.queue.push(me);
        self.overtaken[me] = [0; CONTEXTS];
    }

    fn tail_moved(&mut self, me: Ctx, before: Word, after: Word) {
        if self.holder != Some(me) {
            self.queues(me);
        } else if after.tail != NodeCode::NONE {
            // A holder made somebody else the last: it let the last one out.
            let out = NodeCode::from_raw(before.tail).map(|code| Ctx::from(code.cpu().index()));
            self.queue.retain(|&waiter| Some(waiter) != out);
        }
    }
}
