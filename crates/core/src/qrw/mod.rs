//! `qrw`: the queued reader-writer lock.
//!
//! # Motivation
//!
//! One word that readers add themselves to, and a queue for those who have to wait, so that neither side
//! starves. Whoever is at the head of the queue watches the word; the others wait wherever the queue's lock
//! lets them wait, asleep if it is one whose waiters halt.
//!
//! Writers wait for each other first, and one of them at a time comes to the queue. While none of them is
//! there, readers pass the queue, in which only readers stand then. So a thread that runs need not sleep
//! behind others that do, but while a writer has asked for the lock.
//!
//! # Provenance
//!
//! The Linux kernel's queued rwlock in its form since 4.15 (Waiman Long). What differs, and why:
//!
//! - **Writers wait in line among themselves**, for the lock `writers`, before they queue. The first of them
//!   forbids barging (`waiting`) *before* it queues. Then every reader that finds the flag clear passes
//!   readers only, who get in beside it. In the kernel's form, `qrw-spin`, all queue together, and the head
//!   sets the flag.
//! - **The head halts**, after a while: it leaves its number in the word, where a release, which is one
//!   read-modify-write, finds it. Nothing of the lock is read after that, so a lock may be destroyed by
//!   whoever acquires it next.
//! - **The writer leaves by read-modify-write**, not by storing a byte into the counter: the cell has one
//!   size (A2).
//! - **A head that reads lets writers pass for a while** (`rw_head_polls`). Then it counts itself while a
//!   writer is in, as the kernel's does at once, and is in when that one leaves. It does not while an upgrade
//!   waits for readers to leave: they would wait for each other.
//! - **Writers pass a head that has no CPU**, asleep or kicked and not running yet, if they find the lock
//!   free. Who runs need not wait for who does not. A head that has halted four times in vain naps instead,
//!   for a turn at first and 16 at most, and nobody passes it: sections are long then.
//! - **The queue's lock is the default lock, in order**: its waiters spin for a while and then sleep, and
//!   nobody overtakes them (I5). `writers` is the default lock itself.
//! - **A reader that must not wait behind writers tries again and again.** It sleeps in the queue between
//!   tries, for 32 turns at a time, unless it is an interrupt handler's.
//! - **Upgradable holders, upgrades and downgrades** are new, and the kind that prefers readers
//!   ([`ReadersFirst`]). Who is to hold the lock upgradably waits as a writer does.
//!
//! # Properties
//!
//! - Fairness: FIFO in the queue, but that waiters of real-time priority come before the others, the most
//!   urgent first, once they are behind a head. Writers come to it as the default lock lets them. Anybody
//!   passes the queue until a writer has asked for the lock, or the head that reads has reserved its place,
//!   each after `rw_newcomer_polls` or `rw_head_polls` polls in vain. From then on, three kinds pass a writer
//!   that leads the queue: who was past the look at the word, readers that must not wait
//!   ([`RawRwLock::acquire_read_again`]), and, while it has no CPU, writers that find the lock free, until it
//!   has halted four times. So a writer waits for the readers that are in or queued when it asks, and a
//!   reader in the queue for one writer at most after those that were there before it.
//! - Timed: waiters with a deadline queue and sleep as any other, and leave when it has passed; a writer
//!   takes its flag back, and a reader its reservation.
//! - Progress: needs the holders to run. A writer that is preempted after it has asked delays readers, and a
//!   reader that is preempted after its reservation writers. While a head naps, a free lock may stand still
//!   for as long as it has napped before, 3.2 ms at most.
//! - Memory: 12 bytes: the word, and the two locks; nothing per context but what those have. 16 384 read
//!   locks at once; one more is an error.
//! - Upgrades wait without halting: they yield. Whoever waits to hold the lock upgradably keeps new readers
//!   out, though they would not be in its way.
//!
//! # The word, `(readers, upgradable waiting sleeper, writer)`
//!
//! | from | to | by |
//! |---|---|---|
//! | `r,*,w` | `r+1,*,w` | a reader, before it knows whether it may; it may if neither a writer is in nor `waiting` is set |
//! | `r,*,w` | `r-1,*,w` | a reader leaves, or takes its addition back |
//! | `r,-*,1` | `r+1,-*,1` | the head reserves its place as a reader |
//! | `0,---,0` | `0,---,1` | a writer that finds nobody, or passes |
//! | `0,-ws,0` | `0,-ws,1` | a writer passes a head that has no CPU |
//! | `r,*-*,*` | `r,*w*,*` | a writer asks for the lock, and lets nobody pass |
//! | `r,**s,*` | | the head is about to sleep, or asleep: its number is in the word |
//! | `0,-w*,0` | `0,---,1` | that writer, as the head |
//! | `*,*,1` | `*,*,0` | a writer leaves; then kicks the sleeping head, as does the last reader |
//! | `r,u**,0` | `r,u**,1` then `0,-**,1` | an upgrade, which waits for the readers |
//!
//! # Invariants
//!
//! - **I1** `writer` is set only when there are no readers and no upgradable holder, by compare-exchange of
//!   the whole word; or by an upgrade, which keeps `upgradable` set until the readers have left.
//! - **I2** A reader is in if, at its addition, neither `writer` nor `waiting` was set; or by
//!   compare-exchange from a word without `writer`, or with `writer` and `upgradable` and another reader
//!   counted; or if it was added as the head, by an addition to a word with `writer` and without
//!   `upgradable`, and that writer has left. A later one is in only by an upgrade (I1), so the word says
//!   which: `writer` is not set, or `upgradable` is.
//! - **I3** `waiting` is written by the holder of `writers` only (in `qrw-spin`: of the queue's lock); the
//!   sleeper's number by the holder of the queue's lock, or by a writer of [`ReadersFirst`] that waits for
//!   readers outside of the queue. Both are taken back by whoever set them.
//! - **I4** A head halts only if the word, at the moment that it put its number in, was one that it could not
//!   go in with. The change that ends that is a read-modify-write by somebody who finds the number in the
//!   word and kicks it. A head that waits to reserve is kicked when the writer that upgraded leaves, not when
//!   the upgrade is over. A head that naps wakes by itself.
//! - **I5** A reader goes in ahead of the queue only if `waiting` is not set: so no writer is in the queue
//!   then, and those that queue get in as soon as no writer is in. Beside an upgradable holder it goes ahead
//!   only if nobody queues, as an upgrade would keep those out; and nobody becomes the upgradable holder
//!   ahead of the queue. So a context that reads, and waits for another to read that queued before, does not
//!   wait for one that it has left behind a waiting writer. (Where the queue's lock has no node left, a
//!   context that gets none may overtake; and a more urgent writer goes ahead of a reader in the queue.)
//!
//! ## Memory orderings
//!
//! One cell, changed by read-modify-write only, so each release heads a sequence that later changes continue:
//! an acquiring change synchronises with every release before it. I4 needs no fence for the same reason.
mod head;
pub mod readers_first;
mod slow;
mod upgrade;
mod word;

use crate::lock::{ConstLock, RawLock};
use crate::machine::kick_numbered;
use crate::machine::{Atomic, ConstAtomic};
use crate::order::{Acquire, Relaxed, Release};
use crate::platform::Platform;
use crate::rw::{ConstRwLock, Downgrade, RawRwLock, TooManyReaders};
use crate::stanchion::StanchionLock;
use crate::transitions::{Table, Word};
use core::marker::PhantomData;
pub use readers_first::ReadersFirst;
use word::{MOST, READER, SLEEPER, TRANSITIONS, UPGRADABLE, WAITING, WRITER, Want, readers};

/// The queued reader-writer lock; see the [module](self).
#[repr(C, align(4))]
pub struct QueuedRwLock<P: Platform, W: RwPolicy<P> = Lenient> {
    count: P::U32,
    queue: W::Queue,
    /// Those who are to hold it alone, or upgradably, wait for this first: one of them queues (I3).
    writers: W::Writers,
    policy: PhantomData<fn() -> W>,
}

/// Who queues, for which locks they wait, and how many read.
pub trait RwPolicy<P: Platform>: Send + Sync + 'static {
    /// In which all who wait come to the head: in order.
    type Queue: RawLock<Platform = P>;
    /// For which those wait first who are to hold it alone, or upgradably.
    type Writers: RawLock<Platform = P>;
    /// The name of the lock.
    const NAME: &'static str;
    /// Whether all queue together, let nobody pass, and spin, as in the kernel.
    const STRICT: bool;
    /// How many readers are let in; 16 384 at most.
    const MOST_READERS: u32 = MOST;
}

/// Writers wait for each other first, and those who wait are passed for a while, and halt: for more contexts
/// than CPUs.
#[derive(Debug)]
pub enum Lenient {}
impl<P: Platform> RwPolicy<P> for Lenient {
    type Queue = StanchionLock<P, true>;
    type Writers = StanchionLock<P>;
    const NAME: &'static str = "qrw";
    const STRICT: bool = false;
}

impl<P: Platform, W: RwPolicy<P>> RawRwLock for QueuedRwLock<P, W> {
    type Platform = P;
    const NAME: &'static str = W::NAME;
    const TRANSITIONS: Table = TRANSITIONS;
    const QUEUE: Table = W::Queue::TRANSITIONS;
    const MOST_READERS: u32 = {
        assert!(W::MOST_READERS <= MOST, "the count has room for those who find out");
        W::MOST_READERS
    };

    fn new() -> Self {
        Self {
            count: P::U32::new(0),
            queue: W::Queue::new(),
            writers: W::Writers::new(),
            policy: PhantomData,
        }
    }

    #[inline]
    fn acquire_read(&self) -> Result<(), TooManyReaders> {
        match self.come_to_read() {
            Ok(()) => Ok(()),
            Err(before) => self.acquire_read_slow(before, None).map(drop),
        }
    }

    fn try_read_again(&self) -> bool {
        self.try_acquire_read_again() == Ok(true)
    }

    fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
        self.wait_to_read_again(None).map(drop)
    }

    fn acquire_read_again_until(&self, until: &P::Deadline) -> Result<bool, TooManyReaders> {
        self.wait_to_read_again(Some(until))
    }

    fn acquire_read_until(&self, until: &P::Deadline) -> Result<bool, TooManyReaders> {
        match self.come_to_read() {
            Ok(()) => Ok(true),
            Err(before) => self.acquire_read_slow(before, Some(until)),
        }
    }

    fn acquire_write_until(&self, until: &P::Deadline) -> bool {
        self.acquire_write_at_once() || self.acquire_write_slow(Some(until))
    }

    #[inline]
    fn try_acquire_read(&self) -> bool {
        // ord: J3 alone: a guess, the compare-exchange decides
        let mut seen = self.count.load(Relaxed);
        while seen & (WRITER | WAITING) == 0 && readers(seen) < Self::MOST_READERS {
            // ord: J6 pairs J4: the last writer's section comes before ours
            match self.count.compare_exchange(seen, seen + READER, Acquire, Relaxed) {
                Ok(_) => return self.may_stay(Want::Read, seen),
                Err(now) => seen = now,
            }
        }
        false
    }

    #[inline]
    fn release_read(&self) {
        // ord: J7 pairs J8, J9, J15, J33: our section comes before the next writer's
        let before = self.count.fetch_add(READER.wrapping_neg(), Release);
        debug_assert_ne!(readers(before), 0, "released a read lock that nobody holds");
        if before & SLEEPER != 0 && readers(before) == 1 {
            kick_numbered::<P>((before & SLEEPER) as u16);
        }
    }

    #[inline]
    fn acquire_write(&self) {
        if !self.acquire_write_at_once() {
            let acquired = self.acquire_write_slow(None);
            debug_assert!(acquired, "without a deadline nobody gives up");
        }
    }

    #[inline]
    fn try_acquire_write(&self) -> bool {
        // ord: J11 alone: a guess, the compare-exchange decides
        let seen = self.count.load(Relaxed);
        Want::Write.may_pass_in(seen) && self.go(seen, seen | WRITER)
    }

    #[inline]
    fn release_write(&self) {
        let before = self.hand_back(WRITER.wrapping_neg());
        debug_assert_ne!(before & WRITER, 0, "released a write lock that nobody holds");
    }

    fn word(&self) -> Word {
        let count = self.count.peek();
        let mark = |bit: u32, value: u8| if count & bit != 0 { value } else { 0 };
        Word {
            tail: readers(count) as u16,
            pending: mark(UPGRADABLE, 4) | mark(WAITING, 2) | mark(SLEEPER, 1),
            locked: mark(WRITER, 1),
        }
    }

    fn queue_word(&self) -> Option<Word> {
        Some(self.queue.word())
    }
}

impl<P: Platform, W: RwPolicy<P>> QueuedRwLock<P, W> {
    /// Takes a read lock if no writer is in, whoever waits; whether it did. A context that already holds one
    /// gets another.
    ///
    /// A writer may wait for ever while readers keep coming this way.
    #[inline]
    pub fn try_acquire_read_again(&self) -> Result<bool, TooManyReaders> {
        loop {
            if let Some(done) = self.try_once_to_read_again()? {
                return Ok(done);
            }
        }
    }

    /// The same; `None` if it lost a race.
    #[inline]
    fn try_once_to_read_again(&self) -> Result<Option<bool>, TooManyReaders> {
        // ord: J2 alone: a guess, the compare-exchange decides
        let seen = self.count.load(Relaxed);
        if !Want::ReadAgain.can_go(seen) {
            return Ok(Some(false));
        }
        if Want::ReadAgain.is_too_many(seen, Self::MOST_READERS) {
            return Err(TooManyReaders);
        }
        Ok(self.go(seen, Want::ReadAgain.gone(seen)).then_some(true))
    }

    /// Leaves who holds the lock, and forgets who waits: for a child of a process whose contexts it does not
    /// have. Nobody may use the lock meanwhile.
    pub fn forget_waiters(&mut self) {
        // ord: J30 alone: nobody uses it meanwhile
        let count = self.count.load(Relaxed);
        // Readers that are counted beside a writer only waited.
        let holders =
            if count & (WRITER | UPGRADABLE) == WRITER { WRITER } else { count & !(WAITING | SLEEPER) };
        // ord: J31 alone: as J30, nobody uses it meanwhile
        self.count.store(holders, Relaxed);
        self.queue = W::Queue::new();
        self.writers = W::Writers::new();
    }

    /// Acquires it as a writer if nobody has it and nobody waits at its head; whether it did.
    #[inline(always)]
    fn acquire_write_at_once(&self) -> bool {
        // ord: J8 pairs J4, J7: the sections of all holders before us come before ours
        self.count.compare_exchange(0, WRITER, Acquire, Relaxed).is_ok()
    }

    /// Whether one may be in that has gone in ahead of the queue, by which the word is `gone`. Beside an
    /// upgradable holder, or as one, only if nobody queues: an upgrade would wait for this one, and keep
    /// those out who queue (I5).
    #[inline(always)]
    fn may_pass_queue(&self, gone: u32) -> bool {
        gone & UPGRADABLE == 0 || W::STRICT || self.queue.is_unused()
    }

    /// The same, for one that has changed the word from `before`; takes that back if not.
    #[inline(always)]
    fn may_stay(&self, want: Want, before: u32) -> bool {
        let gone = want.gone(before);
        let may_stay = self.may_pass_queue(gone);
        if !may_stay {
            self.hand_back(before.wrapping_sub(gone));
        }
        may_stay
    }

    /// Goes in, if the word is still `seen`.
    #[inline(always)]
    fn go(&self, seen: u32, gone: u32) -> bool {
        // ord: J9 pairs J4, J7: the sections of all holders before us that exclude us come before ours
        self.count.compare_exchange(seen, gone, Acquire, Relaxed).is_ok()
    }

    /// Lets others in who were kept out, and wakes the sleeping head. The word as it was.
    #[inline(always)]
    fn hand_back(&self, change: u32) -> u32 {
        // ord: J4 pairs J1, J6, J8, J9, J10, J18, J33: our section comes before those of the next holders
        // that it excluded
        let before = self.count.fetch_add(change, Release);
        if before & SLEEPER != 0 {
            kick_numbered::<P>((before & SLEEPER) as u16);
        }
        before
    }

    /// A reader comes and is counted. In, if it may; else the word as it was, and the addition has to be
    /// taken back.
    #[inline(always)]
    fn come_to_read(&self) -> Result<(), u32> {
        // ord: J1 pairs J4: the last writer's section comes before ours
        let before = self.count.fetch_add(READER, Acquire);
        let may_go_in = before & (WRITER | WAITING) == 0
            && readers(before) < Self::MOST_READERS
            && self.may_pass_queue(before);
        if may_go_in { Ok(()) } else { Err(before) }
    }
}

impl<P: Platform, W: RwPolicy<P>> Downgrade for QueuedRwLock<P, W> {
    #[inline]
    fn downgrade(&self) {
        self.hand_back(READER - WRITER);
    }
}

impl<P: Platform, W: RwPolicy<P>> ConstRwLock for QueuedRwLock<P, W>
where
    P::U32: ConstAtomic<u32>,
    W::Queue: ConstLock,
    W::Writers: ConstLock,
{
    const NEW: Self =
        Self { count: P::U32::ZERO, queue: W::Queue::NEW, writers: W::Writers::NEW, policy: PhantomData };
}
