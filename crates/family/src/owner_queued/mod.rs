//! `owner-qspin`: the queued spin lock that knows its owner, lets newcomers steal until its head forbids
//! it, and lends time.
//!
//! # Motivation
//!
//! On a machine whose virtual CPUs are preempted, a queue is only as fast as its slowest member. This lock
//! lets newcomers take a free lock ahead of the queue for a while, and lets waiters give their time to an
//! owner, or a waiter in front, that does not run. Nobody halts, so no wake-up can be lost.
//!
//! # Provenance
//!
//! The native queued spin lock of 64-bit powerpc (Nick Piggin, Linux 6.2, 2022), which replaced the port
//! announced in 2020. What differs, and why:
//! - The word is two halves, each an atomic of its own, because mixed sizes are not to be had. What the
//!   original does by one load-linked/store-conditional of 32 bits takes two steps here; the price is stated
//!   below.
//! - The tail names a node and not only a CPU. The original has 15 bits for the CPU, and finds the node by
//!   looking for the lock's address among the four of that CPU. That went wrong when an interrupt met a node
//!   that still held the address of an earlier queueing (corrected in 2024). Here the tail has the nesting
//!   level, so **the hazard of a stale node cannot exist**, and contexts numbered 8191 and above go without a
//!   node: slower, never wrong. What becomes of a tail without the level is kept as `busted-levelless-tail`.
//! - The hand-over releases: the new head must set the must-queue bit after the old one cleared it, or it is
//!   cleared with that.
//! - A stealer that claims in two halves always uses a compare-exchange, so switching stealing on and off
//!   needs no grace period.
//!
//! # Properties
//!
//! - Fairness: FIFO among waiters, but newcomers overtake the queue until its head has polled
//!   [`Tunable::HeadSpins`] times (times [`Tunable::SleepyLockFactor`], if the owner is not running). Then it
//!   forbids stealing, and **each other context acquires at most once more** before the head: one that had
//!   read the upper half just before may still claim the lower. With one word there would be no such
//!   acquisition. That is what the split costs. Contexts without a node respect the head, too, but nobody
//!   respects them.
//! - Progress: somebody gets a free lock, until the head forbids stealing; from then on none while the head
//!   is preempted, but waiters behind it give it their time.
//! - Memory: 4 bytes a lock, four nodes a context. Release is one store of two bytes.
//!
//! # The word
//!
//! ```text
//!   lower half                              upper half
//!   15       14 ............... 1   0       15           14 ............... 2   1 .. 0
//!  +--------+---------------------+------+ +------------+---------------------+-------+
//!  | sleepy | owner's number + 1  |locked| | must queue | last's number + 1   | level |
//!  +--------+---------------------+------+ +------------+---------------------+-------+
//! ```
//!
//! Shown as `(tail, pending, locked)`: the tail without the must-queue bit, that bit, and 0, 1 or 3 (sleepy).
//!
//! | from | to | by |
//! |---|---|---|
//! | `*,*,0` | `*,*,1` | claim: a newcomer (which saw no must-queue bit), or the head |
//! | `*,*,1` | `*,*,3` | somebody saw that the owner does not run |
//! | `p,m,*` | `n,m,*` | a waiter queues |
//! | `n,0,*` | `n,1,*` | the head forbids stealing |
//! | `n,1,*` | `n,0,*` | the head allows it again: it owns the lock, or confers |
//! | `n,*,l` | `0,0,l` | the head owns the lock and was the last |
//! | `*,*,l` | `*,*,0` | release |
//!
//! # The queue
//!
//! ```text
//!   tail ----------------------------------------------+
//!                                                      v
//!   +-----------+  next  +-------------+  next  +-------------+
//!   | head      |------->| waiter      |------->| last        |
//!   | state=HEAD|        | state=WAIT  |        | state=WAIT  |
//!   +-----------+        | or TOLD     |        | or TOLD     |
//!    polls the lock      +-------------+        +-------------+
//!                          polls its state, looks after the one in front
//! ```
//!
//! # Invariants
//!
//! - **I1** The locked bit is 1 exactly while some context holds the lock; the lower half changes from 0 only
//!   by compare-exchange.
//! - **I2** The sleepy bit is set only by an exchange of a locked lower half, and the release drops both
//!   together. So a free lower half is zero, and the claim needs to expect nothing else.
//! - **I3** The must-queue bit is changed only by the head, or by the owner that was head until just now.
//!   They take turns, because the owner changes it before it hands the headship over.
//! - **I4** A node's `next` is written once after its context published it, by the context that displaced it
//!   from the tail.
//! - **I5** A node's `state` is written by its own context before it is published, and after that only by the
//!   context in front. That writes WAIT and TOLD (the owner does not run) any number of times, then HEAD
//!   once.
//!
//! ## Memory orderings
//!
//! Exclusion: the release store (O4) against the claims (O1, O2). The queue: a node is ready before it is
//! published (O5 with itself and O6), and a link leads to a node that is ready (O6, O7). Headship is handed
//! over by O8 to O9, which also puts the two heads' changes of the must-queue bit into their order (I3). All
//! about who runs is a hint.
mod sleepy;
mod waiter;
mod word;

use crate::events::FamilyEvents as _;
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::slow_path::{NODELESS_POLLS, count_nesting};
use crate::tail::NodeCode;
use crate::tunables::FamilyTunables as _;
use sleepy::Sleepy;
use stanchion_core::events::Event;
use stanchion_core::lock::{ConstLock, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Field, Table, Word};
use stanchion_core::tunables::Tunable;
use waiter::Waiter;
pub use word::OwnerQueuedLock;
use word::{MUST_QUEUE, TAIL_MASK, TRANSITIONS, held_by, is_remote, shown};

impl<P: FamilyPlatform> RawLock for OwnerQueuedLock<P> {
    type Platform = P;
    const NAME: &'static str = "owner-qspin";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { held: P::U16::new(0), queue: P::U16::new(0) }
    }

    #[inline]
    fn acquire(&self) {
        let mine = held_by::<P>();
        // ord: O1 pairs O4: the previous holder's section comes before ours
        if self.must_queue() || self.held.compare_exchange(0, mine, Acquire, Relaxed).is_err() {
            self.acquire_slow(mine);
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        !self.must_queue() && self.claim(held_by::<P>())
    }

    #[inline]
    fn release(&self) {
        TRANSITIONS.check(Field::Locked, || shown(self.held.peek()), 0u8);
        // ord: O4 pairs O1, O2: our section, and our leaving of the queue, comes before the next holder's
        self.held.store(0, Release);
    }

    fn word(&self) -> Word {
        let (held, queue) = (self.held.peek(), self.queue.peek());
        Word { tail: queue & TAIL_MASK, pending: (queue >> 15) as u8, locked: shown(held) }
    }
}

impl<P: FamilyPlatform> OwnerQueuedLock<P> {
    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn acquire_slow(&self, mine: u16) {
        P::count(Event::LockSlowpath);
        P::publish_running();
        P::with_domain(|domain| {
            let cpu = P::this_cpu();
            let mut sleepy = Sleepy::new(cpu.map(|cpu| domain.cpu(cpu)));
            if self.steal(mine, &mut sleepy) {
                return P::count(Event::OwnerSteal);
            }
            // A node can be used if its code fits into the tail.
            let named = cpu.filter(|&cpu| NodeCode::new(cpu, 0).raw() & MUST_QUEUE == 0);
            let Some(cpu) = named else { return self.acquire_without_node(mine, &mut sleepy) };
            let Some(nesting) = domain.cpu(cpu).enter() else {
                return self.acquire_without_node(mine, &mut sleepy);
            };
            count_nesting::<P>(nesting.level());
            let me = NodeCode::new(cpu, nesting.level());
            Waiter { lock: self, domain, me, node: nesting.node() }.acquire(mine, &mut sleepy);
        });
    }

    /// A newcomer polls for a while, unless the head forbids it. Whether it got the lock.
    fn steal(&self, mine: u16, sleepy: &mut Sleepy<'_, P>) -> bool {
        let mut polls = 0;
        if P::tunable(Tunable::StealSpins) == 0 {
            return false;
        }
        while !self.must_queue() {
            // ord: O12 alone: waits until a claim has a chance
            let seen = self.held.wait_until_polls(1, Relaxed, |held| held == 0);
            let Err(held) = seen else {
                if self.claim(mine) {
                    return true;
                }
                continue;
            };
            let preempted = self.lend_time(held, sleepy, false);
            polls += u32::from(!preempted || P::tunable(Tunable::SpinOnPreemptedOwner) == 0);
            let limit = if is_remote::<P>(held) { Tunable::RemoteStealSpins } else { Tunable::StealSpins };
            if polls >= sleepy.limit(limit) {
                return false;
            }
        }
        false
    }

    /// The way of a context that has no node: polls, respects the head, and is overtaken without bound.
    fn acquire_without_node(&self, mine: u16, sleepy: &mut Sleepy<'_, P>) {
        P::count(Event::LockNoNode);
        loop {
            // ord: O13 alone: waits until a claim has a chance
            if let Err(held) = self.held.wait_until_polls(NODELESS_POLLS, Relaxed, |held| held == 0) {
                if !self.lend_time(held, sleepy, false) {
                    P::yield_slice();
                }
            } else if self.must_queue() {
                P::yield_slice(); // the head is to go first, and may need this CPU for it
            } else if self.claim(mine) {
                return;
            }
        }
    }
}

impl<P: FamilyPlatform> ConstLock for OwnerQueuedLock<P>
where
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self = Self { held: P::U16::ZERO, queue: P::U16::ZERO };
}
