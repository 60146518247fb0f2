//! What must hold of the locks of one run after each visible write: the word's table, exclusion, overtaking.
//!
//! A context queues when it changes the tail of a lock that it does not hold, or sets a pending bit. It
//! acquires when it sets the locked byte or, where no byte tells (a ticket lock that is handed over), when it
//! enters its section. Of reader-writer locks the contexts tell when they begin an acquisition, and when they
//! are in.
mod guard;
mod lifetime;
mod locks;
mod queues;
mod sections;
mod waits;

use super::chooser::Set;
use super::domain::SteppedDomain;
use super::failure::Failure;
use super::fault::Fault;
use super::plan::Plan;
use super::policies::tuned;
use super::sharing::{How, Passed, Sharing};
use super::subjects::{Explored, Subject};
use super::{CONTEXTS, Ctx, LOCK_BYTES};
use guard::{Guard, no_row};
use lifetime::Lifetime;
pub(super) use locks::Locks;
use queues::{Queues, Rules};
use stanchion_core::CpuId;
use stanchion_core::transitions::{Table, Word};
use stanchion_family::catalogue::{Asks, Overtaking, SecondByte, Tail};
use stanchion_family::tail::NodeCode;
use std::rc::Rc;

/// Everything that is known of the locks of one run.
pub(super) struct Watch {
    base: usize,
    locks: Locks,
    table: Table,
    /// The table of the queue of a reader-writer lock.
    line_table: Table,
    guards: Vec<Guard>,
    /// Who may go ahead of whom.
    bound: Overtaking,
    /// The NUMA node of each context.
    nodes: [usize; CONTEXTS],
    /// Who must not wait behind others, if the lock heeds that.
    priority: Option<Ctx>,
    tail: Tail,
    second_byte: SecondByte,
    /// Marks of the second byte that may stay where nobody waits.
    late_marks: u8,
    /// The same in the queue of a reader-writer lock.
    late_in_line: u8,
    asks: Option<Asks>,
    /// Who tries or releases at this moment.
    free: Set,
    /// At which levels of nesting each context acquires without a node, and so may overtake; as bits.
    nodeless: [u8; CONTEXTS],
    /// At which it has gone into the slow path, and not acquired yet.
    slow: [u8; CONTEXTS],
    /// Which rows of the table were reached, as bits.
    pub(super) rows: u64,
    /// The worst overtaking of a waiter by one context.
    pub(super) worst: u32,
    /// How many acquisitions there were.
    pub(super) acquisitions: u64,
    pub(super) lifetime: Lifetime,
    /// How often the first lock was free and then was not, or the other way round.
    pub(super) changes: u64,
    /// The queues of mutual exclusion locks whose waits lease nodes.
    pub(super) queues: Option<Queues>,
}

impl Watch {
    /// Watches `locks`, the first of which stands at `base`, in a run of `plan`.
    pub(super) fn new(
        subject: &Subject,
        base: usize,
        locks: Locks,
        plan: &Plan,
        domain: &Rc<SteppedDomain>,
    ) -> Self {
        let overtaking = subject.overtaking;
        // A handler may read the first of reader-writer locks at any time.
        let is_counted = matches!(locks, Locks::Mutexes(_)) || !plan.faults.has(Fault::Interrupts);
        let (most, line_table) = match subject.kind {
            Explored::Mutex(_) => (None, Table(&[])),
            Explored::Rw(kind) => (kind.few_of(plan.faults).map(|few| few.1), kind.line),
        };
        let counts_all = !matches!(subject.asks(), Some(Asks::FastPath(_)));
        let others = (plan.rounds.iter().filter(|&&rounds| rounds > 0).count() as u32).saturating_sub(1);
        let seen = match overtaking {
            Overtaking::WhileItLooks { looks, asks, as_head } => {
                Some(Passed { all: looks + asks * others, as_head: as_head + others })
            }
            _ => None,
        };
        // A node whose number has gone to another context names that.
        let does_not_tell = subject.stated.tail == Tail::Waits && plan.faults.has(Fault::NoNumber);
        let readers_pass = subject.asks() == Some(Asks::MarkForReaders);
        let sharing = Sharing::new(most, counts_all, seen).letting_readers_pass(readers_pass);
        let has_queues = subject.stated.tail == Tail::Waits && matches!(locks, Locks::Mutexes(_));
        let queues = has_queues.then(|| {
            let in_order = !matches!(overtaking, Overtaking::Unbounded(_));
            Queues::new(
                domain,
                base,
                locks.len(),
                Rules::new(in_order, |which| tuned(which, subject.tunings())),
            )
        });
        let guard = |lock| Guard::new(locks.word(lock), locks.line(lock), sharing.clone());
        Self {
            base,
            guards: (0..locks.len()).map(guard).collect(),
            locks,
            table: subject.transitions(),
            line_table,
            bound: match overtaking {
                _ if does_not_tell => Overtaking::Unbounded("a node may be another context's"),
                Overtaking::EachNode(_) if plan.moves() => Overtaking::Unbounded("contexts move"),
                other => other,
            },
            nodes: core::array::from_fn(|ctx| plan.machine().node_of(ctx, 0).into()),
            priority: plan.machine().priority.filter(|_| subject.stated.heeds_priority),
            tail: subject.stated.tail,
            second_byte: match subject.stated.second_byte {
                SecondByte::AsksNewcomers { .. } if does_not_tell => SecondByte::Other,
                says => says,
            },
            late_marks: match subject.stated.second_byte {
                // Who gives up may come too late to tell a release. That it asks for the lock, it takes back.
                SecondByte::AsksNewcomers { bit, .. } if plan.faults.has(Fault::Timed) => !bit,
                _ => 0,
            },
            // The first bit makes a release rouse somebody: who gives up without a barrier may set it late.
            late_in_line: u8::from(plan.faults.has(Fault::NoBarrier) && plan.faults.has(Fault::Tries)),
            free: 0,
            asks: subject.asks(),
            nodeless: [0; CONTEXTS],
            slow: [0; CONTEXTS],
            rows: 0,
            worst: 0,
            acquisitions: 0,
            lifetime: Lifetime::new(plan, subject.stated.after_release, is_counted),
            changes: 0,
            queues,
        }
    }

    /// Whether a cell belongs to a lock that is destroyed, for who is about to `read` or write it.
    #[inline]
    pub(super) fn is_gone(&self, address: usize, read: bool) -> bool {
        self.lifetime.is_over(read) && self.lock_at(address).is_some_and(|(lock, _)| lock == 0)
    }

    /// Who holds a lock, as far as the word and the sections tell.
    pub(super) fn holder(&self, lock: usize) -> Option<Ctx> {
        self.guards[lock].holder.or_else(|| self.guards[lock].sharing.holder())
    }

    /// Who is inside of a reader-writer lock.
    pub(super) fn sharing(&mut self, lock: usize) -> &mut Sharing {
        &mut self.guards[lock].sharing
    }

    /// `me` sleeps, in no handler.
    pub(super) fn sleeps(&mut self, me: Ctx) {
        self.guards.iter_mut().for_each(|guard| guard.sharing.sleeps(me));
    }

    /// Somebody went into a reader-writer lock, and passed a waiter, which was passed so often.
    pub(super) fn went_in(&mut self, passed: u32) {
        self.acquisitions += 1;
        self.worst = self.worst.max(passed);
    }

    /// `me` goes in to write to a reader-writer lock. How often the waiter was passed that was passed most.
    pub(super) fn writes(&mut self, lock: usize, me: Ctx, how: How) -> Result<u32, Failure> {
        self.guards[lock].writes(me, how)
    }

    /// Nobody can go on but `ready`, and nothing is under way: a reader of the first lock that waits in vain.
    pub(super) fn waits_in_vain(&self, ready: Set) -> Option<Ctx> {
        self.asks.and_then(|_| self.guards[0].sharing.waits_in_vain(ready))
    }

    /// Who is inside the first lock, or holds it.
    pub(super) fn owner(&self) -> Option<Ctx> {
        self.guards[0].inside.or(self.guards[0].holder).or_else(|| self.guards[0].sharing.holder())
    }

    /// Whether `ctx` waits for the first lock.
    pub(super) fn has_queued(&self, ctx: Ctx) -> bool {
        self.guards[0].queue.contains(&ctx) || self.guards[0].sharing.is_waiting(ctx)
    }

    /// Who is first in the first lock's queue.
    pub(super) fn first_in_queue(&self) -> Option<Ctx> {
        self.guards[0].queue.first().copied().or_else(|| self.guards[0].sharing.first_waiting())
    }

    /// `me`, so many handlers deep, has found no node to queue with, and goes another way.
    pub(super) fn goes_without_node(&mut self, me: Ctx, level: u8) {
        self.nodeless[me] |= 1 << level;
    }

    /// `me`, so many handlers deep, waits in a queue from now on.
    pub(super) fn goes_slow(&mut self, me: Ctx, level: u8) {
        self.slow[me] |= 1 << level;
    }

    /// The lock in whose place `address` lies, and how far behind its start.
    #[inline]
    fn lock_at(&self, address: usize) -> Option<(usize, usize)> {
        let offset = address.wrapping_sub(self.base);
        (offset / LOCK_BYTES < self.guards.len()).then_some((offset / LOCK_BYTES, offset % LOCK_BYTES))
    }

    /// `me`, so many handlers deep, has read `value` in a cell. The waiter that it interrupted has not.
    #[inline]
    pub(super) fn read(&mut self, me: Ctx, level: u8, address: usize, value: u64) {
        let asks_newcomers = matches!(self.second_byte, SecondByte::AsksNewcomers { .. });
        if (self.asks.is_some() || asks_newcomers)
            && let Some((lock, 0)) = self.lock_at(address)
            && level_of(lock) == level
        {
            if self.asks.is_some() {
                self.guards[lock].sharing.looks(me);
            } else if value & 1 == 0 {
                self.guards[lock].finds_free(me);
            }
        }
    }

    /// After a write by `me` that everybody sees. `owner` says whose a node is.
    #[inline]
    pub(super) fn wrote(
        &mut self,
        me: Ctx,
        address: usize,
        value: u64,
        now: u64,
        owner: impl Fn(CpuId) -> Option<Ctx>,
    ) -> Result<(), Failure> {
        let Some((lock, offset)) = self.lock_at(address) else { return Ok(()) };
        if let Some(asks) = self.asks {
            self.look_shared(lock, me, asks, offset, value)
        } else {
            self.look(lock, me, now, owner)
        }
    }

    fn look(
        &mut self,
        lock: usize,
        me: Ctx,
        now: u64,
        owner: impl Fn(CpuId) -> Option<Ctx>,
    ) -> Result<(), Failure> {
        let guard = &mut self.guards[lock];
        if guard.leaving && guard.holder == Some(me) && self.tail != Tail::Waits {
            guard.holder = None;
        }
        let after = self.locks.word(lock);
        let before = core::mem::replace(&mut self.guards[lock].last, after);
        if before == after {
            return Ok(());
        }
        self.check_row(before, after)?;
        self.changes += u64::from(lock == 0 && before.locked != after.locked);
        let guard = &mut self.guards[lock];
        if after.tail != before.tail {
            let number = match self.tail {
                // The owner has put it to the front of the queue, or taken out a node that was given up.
                Tail::Waits => None,
                Tail::Nodes | Tail::Numbers | Tail::Tickets { .. } => {
                    NodeCode::from_raw(before.tail).map(NodeCode::cpu)
                }
            };
            let is_taken = self.tail == Tail::Nodes && after.tail == NodeCode::NONE;
            guard.tail_moved(me, number.and_then(owner), after, is_taken);
        }
        if let Some(queues) = &mut self.queues {
            queues.word_changed(lock, me, (before, after), now)?;
        }
        let guard = &mut self.guards[lock];
        if after.pending != before.pending {
            guard.second_byte_changed(self.second_byte, me, before.pending, after.pending)?;
        }
        if before.locked != 0 && after.locked == 0 {
            return guard.is_let_go(me);
        } else if before.locked == 0 && after.locked != 0 {
            return self.acquired(lock, me);
        }
        Ok(())
    }

    fn look_shared(
        &mut self,
        lock: usize,
        me: Ctx,
        asks: Asks,
        offset: usize,
        value: u64,
    ) -> Result<(), Failure> {
        if asks == Asks::FastPath(offset) {
            self.guards[lock].fast_path_changed(me, value);
            return Ok(());
        }
        let (now, table) = (self.locks.line(lock), self.line_table);
        if let Some((line, now)) = self.guards[lock].line.as_mut().zip(now) {
            let queues = line.looked_at(now, table, me)?;
            let head = line.holder();
            if queues {
                self.guards[lock].sharing.sleeps(me);
            }
            self.guards[lock].sharing.is_head(head);
        }
        let after = self.locks.word(lock);
        let before = core::mem::replace(&mut self.guards[lock].last, after);
        if before == after {
            return Ok(());
        }
        self.check_row(before, after)?;
        let free = |word: Word| word.locked == 0 && word.tail == 0;
        self.changes += u64::from(lock == 0 && free(before) != free(after));
        self.guards[lock].shared_word_changed(asks, me, before, after)
    }

    fn check_row(&mut self, before: Word, after: Word) -> Result<(), Failure> {
        let Some(row) = self.table.row(before, after) else {
            return Err(no_row("the word", before, after));
        };
        let index = self.table.0.iter().position(|known| core::ptr::eq(known, row)).unwrap_or(0);
        self.rows |= 1 << index;
        Ok(())
    }

    /// Everybody is done: a lock that does not look like it.
    pub(super) fn leftover(&self) -> Option<String> {
        self.guards.iter().enumerate().find_map(|(index, guard)| {
            let word = self.locks.word(index);
            let marks = (word.pending ^ guard.fresh.pending) & !self.late_marks;
            let is_fresh = marks == 0 && word.tail == guard.fresh.tail;
            let counts_on = matches!(self.tail, Tail::Tickets { .. });
            let lock = (word, word.locked == 0 && (is_fresh || counts_on), "");
            let line = self.locks.line(index).zip(guard.line.as_ref());
            let line = line.map(|(now, line)| (now, line.is_fresh(now, self.late_in_line), "queue's "));
            let (Word { tail, pending, locked }, _, of) =
                [Some(lock), line].into_iter().flatten().find(|seen| !seen.1)?;
            Some(format!("nobody uses lock {index}, and its {of}word is ({tail},{pending},{locked})"))
        })
    }
}

/// The level of nesting at which a lock is waited for: two for contexts, one for each level of handlers.
fn level_of(lock: usize) -> u8 {
    lock.saturating_sub(1) as u8
}
