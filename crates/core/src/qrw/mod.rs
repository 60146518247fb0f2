//! `qrw`: the queued reader-writer lock.
//!
//! # Motivation
//!
//! One word that readers add themselves to, and a queue for everybody who has to wait, readers and writers
//! alike, so that neither side starves. Whoever is at the head of the queue watches the word; the others wait
//! wherever the queue's lock lets them wait, asleep if it is one whose waiters halt.
//!
//! # Provenance
//!
//! The Linux kernel's queued rwlock in its form since 4.15 (Waiman Long), over any spin lock of this crate as
//! its queue. What differs, and why:
//!
//! - **The head halts**, too, after a while: it leaves its number in the word, where a release, which is one
//!   read-modify-write, finds it. Nothing of the lock is read after that, so a lock may be destroyed by
//!   whoever acquires it next.
//! - **The writer leaves by read-modify-write**, not by storing a byte into the counter: the cell has one
//!   size (A2).
//! - **The head lets writers pass for a while** ([`Lenient`]; in the kernel's form, `qrw-spin`, it does not):
//!   until it has polled in vain. It forbids barging (`waiting` is set, as in the kernel) *before* it halts.
//!   Then whoever is runnable finds the lock shut and sleeps, too, and within some context switches there is
//!   a CPU for the holder that was preempted, and then for the head. A head that sleeps while others pass
//!   waits for a CPU behind all of them: 30 ms instead of 0.05 in overcommit, and whoever queues behind it as
//!   long.
//! - **Writers pass a head that has no CPU**, asleep or kicked and not running yet, if they find the lock
//!   free. Who runs need not wait for who does not, and readers, which are kept out meanwhile, make room for
//!   it.
//! - **The queue's lock is the default lock, in order**: its waiters spin for a while and then sleep, and
//!   nobody overtakes them (I5).
//! - **A reader that must not wait behind writers takes its addition back and tries again.** It sleeps in the
//!   queue between tries, for 32 turns at a time, unless it is an interrupt handler's. In the kernel it
//!   leaves its addition. A writer here may have the word while readers are still leaving (an upgrade), who
//!   would wait for each other.
//! - **Upgradable holders, upgrades and downgrades** are new, and the kind that prefers readers
//!   ([`ReadersFirst`]).
//!
//! # Properties
//!
//! - Fairness: FIFO among those who queue, but that waiters of real-time priority come before the others, the
//!   most urgent first, once they are behind a head. A head is passed by writers during its first
//!   `rw_head_polls` polls. From then on, while it has a CPU, only those pass who were past their look at the
//!   word, and readers that must not wait ([`RawRwLock::acquire_read_again`]). While it has none, writers
//!   that find the lock free pass it, too, and each of them kicks it again. So a context that waits is passed
//!   without bound only while the system gives it no CPU. Readers pass nobody who queues, unless they must
//!   not wait.
//! - Timed: waiters with a deadline queue and sleep as any other, and leave when it has passed; a head takes
//!   its flag back, and the next one behind it becomes head.
//! - Progress: needs the holders to run. A head that is preempted after it has set the flag delays everybody.
//! - Memory: 4 bytes and the queue's lock (8 in all); nothing per context but what the queue's lock has.
//!   16 384 read locks at once; one more is an error.
//! - Upgrades wait without halting: they yield. A head that waits to hold the lock upgradably keeps new
//!   readers out once it has polled in vain, though they would not be in its way.
//!
//! # The word, `(readers, upgradable waiting sleeper, writer)`
//!
//! | from | to | by |
//! |---|---|---|
//! | `r,*,w` | `r+1,*,w` | a reader, before it knows whether it may; it may if neither a writer is in nor `waiting` is set |
//! | `r,*,w` | `r-1,*,w` | a reader leaves, or takes its addition back |
//! | `0,---,0` | `0,---,1` | a writer that finds nobody, or passes a head that allows it |
//! | `0,-ws,0` | `0,-ws,1` | a writer passes a head that has no CPU |
//! | `r,*w*,*` | | the head waits, and lets nobody pass |
//! | `r,**s,*` | | the head is about to sleep, or asleep: its number is in the word |
//! | `0,-w*,0` | `0,---,1` | the head, as a writer |
//! | `r,-w*,0` | `r+1,---,0` | the head, as a reader |
//! | `*,*,1` | `*,*,0` | a writer leaves; then kicks the sleeping head, as does the last reader |
//! | `r,u**,0` | `r,u**,1` then `0,-**,1` | an upgrade, which waits for the readers |
//!
//! # Invariants
//!
//! - **I1** `writer` is set only when there are no readers and no upgradable holder, by compare-exchange of
//!   the whole word; or by an upgrade, which keeps `upgradable` set until the readers have left.
//! - **I2** A reader is in if, at its addition, neither `writer` nor `waiting` was set; or by
//!   compare-exchange from a word without `writer`, or with `writer` and `upgradable` and another reader
//!   counted.
//! - **I3** `waiting` is written by the holder of the queue's lock only; the sleeper's number by that one, or
//!   by the writer that waits for readers outside of the queue. Both are taken back when they go in.
//! - **I4** A head halts only if the word, at the moment that it put its number in, was one that it could not
//!   go in with. The change that ends that is a read-modify-write by somebody who finds the number in the
//!   word and kicks it.
//! - **I5** A reader goes in ahead of the queue only if it finds nobody there after it was counted, or if it
//!   must not wait. So a context that reads, and waits for another to read that queued before, does not wait
//!   for one that it has left behind a waiting writer. (Where the queue's lock has no node left, a reader
//!   that gets none may overtake; and a more urgent writer goes ahead of a reader in the queue.)
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
pub struct QueuedRwLock<P, L = StanchionLock<P, true>, W = Lenient>
where
    P: Platform,
    L: RawLock<Platform = P>,
    W: RwPolicy,
{
    count: P::U32,
    queue: L,
    policy: PhantomData<fn() -> W>,
}

/// How the head of the queue waits, and how many read.
pub trait RwPolicy: Send + Sync + 'static {
    /// The name of the lock.
    const NAME: &'static str;
    /// Whether the head lets others pass for a while.
    const PASSING: bool;
    /// Whether the head may halt.
    const HALTS: bool;
    /// How many readers are let in; 16 384 at most.
    const MOST_READERS: u32 = MOST;
}

/// The head is passed until it has polled for a while, and halts: for more contexts than CPUs.
#[derive(Debug)]
pub enum Lenient {}
impl RwPolicy for Lenient {
    const NAME: &'static str = "qrw";
    const PASSING: bool = true;
    const HALTS: bool = true;
}

impl<P: Platform, L: RawLock<Platform = P>, W: RwPolicy> RawRwLock for QueuedRwLock<P, L, W> {
    type Platform = P;
    const NAME: &'static str = W::NAME;
    const TRANSITIONS: Table = TRANSITIONS;
    const QUEUE: Table = L::TRANSITIONS;
    const MOST_READERS: u32 = {
        assert!(W::MOST_READERS <= MOST, "the count has room for those who find out");
        W::MOST_READERS
    };

    fn new() -> Self {
        Self { count: P::U32::new(0), queue: L::new(), policy: PhantomData }
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
        while seen & (WRITER | WAITING) == 0 && readers(seen) < Self::MOST_READERS && self.lets_readers_pass()
        {
            // ord: J6 pairs J4: the last writer's section comes before ours
            match self.count.compare_exchange(seen, seen + READER, Acquire, Relaxed) {
                Ok(_) if self.lets_readers_pass() => return true,
                Ok(_) => {
                    self.release_read(); // others have queued meanwhile (I5)
                    return false;
                }
                Err(now) => seen = now,
            }
        }
        false
    }

    #[inline]
    fn release_read(&self) {
        // ord: J7 pairs J8, J9, J10, J15: our section comes before the next writer's
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

impl<P: Platform, L: RawLock<Platform = P>, W: RwPolicy> QueuedRwLock<P, L, W> {
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
        let holders = self.count.load(Relaxed) & !(WAITING | SLEEPER);
        // ord: J31 alone: as J30, nobody uses it meanwhile
        self.count.store(holders, Relaxed);
        self.queue = L::new();
    }

    /// Acquires it as a writer if nobody has it and nobody waits at its head; whether it did.
    #[inline(always)]
    fn acquire_write_at_once(&self) -> bool {
        // ord: J8 pairs J4, J7: the sections of all holders before us come before ours
        self.count.compare_exchange(0, WRITER, Acquire, Relaxed).is_ok()
    }

    /// Whether a reader may go in that has not queued: only if nobody queues, as it must not leave another
    /// reader behind, which it may wait for while it is in (I5).
    #[inline(always)]
    fn lets_readers_pass(&self) -> bool {
        !W::PASSING || self.queue.is_unused()
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
        // ord: J4 pairs J1, J6, J8, J9, J10: our section comes before those of the next holders that it
        // excluded
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
            && self.lets_readers_pass();
        if may_go_in { Ok(()) } else { Err(before) }
    }
}

impl<P: Platform, L: RawLock<Platform = P>, W: RwPolicy> Downgrade for QueuedRwLock<P, L, W> {
    #[inline]
    fn downgrade(&self) {
        self.hand_back(READER - WRITER);
    }
}

impl<P: Platform, L: ConstLock<Platform = P>, W: RwPolicy> ConstRwLock for QueuedRwLock<P, L, W>
where
    P::U32: ConstAtomic<u32>,
{
    const NEW: Self = Self { count: P::U32::ZERO, queue: L::NEW, policy: PhantomData };
}
