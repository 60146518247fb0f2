//! `xen-pv`: the byte lock whose waiters block on an event after a while.
//!
//! # Motivation
//!
//! A byte lock survives overcommit because any running context can take it, but its waiters burn the CPU that
//! the preempted holder is waiting for. Here a waiter spins for as long as most waits last, and then gives
//! its CPU away until a release wakes it.
//!
//! # Provenance
//!
//! The paravirtual spin lock of Xen guests (Jeremy Fitzhardinge, Linux 2d9e1e2f58, 2008), with
//! the two fixes of its first year: the full fence in the release, and saving what an interrupted wait had
//! said. What differs, and why:
//!
//! - **Separate atomics** for the byte and the count of blocked contexts, as everywhere in this family.
//! - **The byte is taken by compare-exchange** behind a look, not by exchange: a failing try does not own the
//!   line.
//! - **A nested wait hands on the wake-up that it finds** (`blocked.rs`, I3); see below.
//! - **A switch**: a lock made by [`without_paravirt`](Paravirtual::without_paravirt) never blocks, nor
//!   releases with a fence.
//!
//! # Properties
//!
//! - Fairness: none. Who is woken competes with whoever runs; contexts are looked for in the order of their
//!   numbers.
//! - Progress: lock-free between waiters, none while the holder is preempted.
//! - Memory: 4 bytes; a context that ever waited has a place to say where it blocks. A context without a
//!   number polls, and yields now and then.
//! - Cost: a full fence at each release. A release that finds somebody blocked looks at the places of all
//!   contexts.
//! - After a release the count is read once more: **the lock's memory must stay readable until `release`
//!   returns**. From then on only its address is used; a lock that is made at the same place meanwhile gets a
//!   spurious kick at worst.
//!
//! # The word, `(spinners, switch, locked)`
//!
//! | from | to | by |
//! |---|---|---|
//! | `s,w,0` | `s,w,1` | acquire |
//! | `s,w,1` | `s,w,0` | release; then, if `s` ≠ 0, kick somebody who blocks on this lock |
//! | `s,0,*` | `s+1,0,*` | a waiter is about to block |
//! | `s,0,*` | `s-1,0,*` | it is not any more |
//!
//! `switch` is constant: 0, or 1 for a lock that never blocks.
//!
//! # Waking one is enough
//!
//! With [`Tunable::XenWakeAll`] at 0 a release wakes the first context that it finds. Nobody sleeps on for
//! ever behind it: a woken context is awake with a try still to come, since it leaves this wait by nothing
//! but an acquisition. If it acquires, its own release looks again. If it loses, whoever holds the lock
//! releases later and looks again. If it was about to acquire when the kick hit it, that acquisition came
//! after the release that kicked, and ends in a look as well. A waiter whose handler blocks elsewhere is not
//! found, and tries again behind its handler. `explore` finds nothing to the contrary.
//!
//! What remains is a context that was chosen *before its handler blocks*: the kick is spent, and its try
//! comes when the handler is done. If the handler waits for a lock whose holder sleeps on ours, that is
//! never. For Xen that was real, because it let interrupts in only while blocked, so locks of handlers could
//! be held while waiting for this one. A later fix woke all. Hence I3 of `blocked.rs`: the wait in the
//! handler finds the event pending and hands it on. It can do so only for the wait that it interrupted
//! directly, and only if it waits for a lock of these two kinds. Where handlers nest deeper, or wait for
//! others, a lock that they take must not be held while waiting for a lock of the interrupted context. That
//! rule holds for every lock whose *holders* may be interrupted, too; where it does not, wake all.
//!
//! # Invariants
//!
//! - **I1** `locked` is 1 exactly while some context holds the lock; it becomes 1 only by compare-exchange
//!   from 0.
//! - **I2** A context that blocks on the lock, and did not interrupt itself, is counted in `spinners` and has
//!   said so.
//! - **I3** A waiter halts only after: said so, counted, event cleared, full fence, lock seen held.
//! - **I4** After every release there is a waiter awake, or somebody holds the lock, or nobody blocks on it.
//!
//! ## Memory orderings
//!
//! Mutual exclusion: release (X3) against acquiring claims (X1, X2). No lost wake-up: count (X5) and place,
//! full fence, try, against release, full fence (X4), read the count (X6) and the places; see `blocked.rs`.
use crate::blocked::{Blocking, blocked_on, wake};
use crate::events::FamilyEvents as _;
use crate::platform::FamilyPlatform;
use crate::tunables::FamilyTunables as _;
use stanchion_core::events::Event;
use stanchion_core::lock::{ConstLock, ConstParavirtual, Paravirtual, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::numbers::CpuId;
use stanchion_core::order::{Acquire, Relaxed, Release, SeqCst};
use stanchion_core::transitions::{Field, Is, Row, Table, Word};
use stanchion_core::tunables::Tunable;

/// The lock of Xen guests; see the [module](self).
#[repr(C, align(4))]
pub struct XenPvLock<P: FamilyPlatform> {
    locked: P::U8,
    switch: P::U8,
    spinners: P::U16,
}

/// In `switch`: waiters may block.
const BLOCKS: u8 = 0;
/// In `switch`: waiters never block.
const SPINS: u8 = 1;

/// A timeout that means never.
const NEVER: u32 = u32::MAX;
/// Polls between two looks at how many are left: a world may not tell how many a wait took.
const SLICE: u32 = 64;

const TRANSITIONS: Table = Table(&[
    Row::claim("acquire: s,w,0 -> s,w,1"),
    Row::release("release: s,w,1 -> s,w,0"),
    Row::queue("a waiter is about to block: s,0,* -> s+1,0,*"),
    Row::named("nobody blocks any more: 1,0,* -> 0,0,*").tail(Is::Value(1), Is::Value(0)),
]);

impl<P: FamilyPlatform> RawLock for XenPvLock<P> {
    type Platform = P;
    const NAME: &'static str = "xen-pv";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { locked: P::U8::new(0), switch: P::U8::new(BLOCKS), spinners: P::U16::new(0) }
    }

    #[inline]
    fn acquire(&self) {
        // ord: X1 pairs X3: the previous holder's section comes before ours
        if self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.acquire_slow();
        }
    }

    #[inline]
    fn try_acquire(&self) -> bool {
        // ord: X2 pairs X3: as X1; the read before it keeps a failing try from owning the line
        self.locked.load(Relaxed) == 0 && self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    #[inline]
    fn release(&self) {
        TRANSITIONS.check(Field::Locked, || self.locked.peek(), 0u8);
        let may_block = self.may_block();
        // ord: X3 pairs X1, X2: our section comes before the next holder's
        self.locked.store(0, Release);
        if may_block {
            // ord: X4 pairs Z4, Z6: either we see the waiter counted and its place, or it sees the lock
            // released
            P::fence(SeqCst);
            // ord: X6 alone: behind the fence X4, which orders it
            if self.spinners.load(Relaxed) != 0 {
                self.release_slow();
            }
        }
    }

    fn word(&self) -> Word {
        Word { tail: self.spinners.peek(), pending: self.switch.peek(), locked: self.locked.peek() }
    }
}

impl<P: FamilyPlatform> XenPvLock<P> {
    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    /// Whether this lock's waiters may block at all.
    #[inline(always)]
    fn may_block(&self) -> bool {
        // ord: X7 alone: constant since the lock was made
        self.switch.load(Relaxed) == BLOCKS
    }

    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn acquire_slow(&self) {
        P::count(Event::LockSlowpath);
        P::with_domain(|domain| {
            let me = P::this_cpu();
            if me.is_none() {
                P::count(Event::LockNoNode);
            }
            while !self.spin() {
                match me {
                    Some(me) if self.may_block() && P::paravirt() => {
                        if self.block(domain, me) {
                            return;
                        }
                    }
                    Some(_) => {}
                    None => P::yield_slice(),
                }
            }
        });
    }

    /// Polls for as long as a waiter may, and tries whenever the lock is free. Whether it is ours.
    fn spin(&self) -> bool {
        let timeout = P::tunable(Tunable::XenTimeout);
        let mut left = timeout;
        loop {
            let slice = left.min(SLICE);
            let mut polls = 0;
            P::publish_running();
            // ord: X8 alone: waits until a try has a chance, the try decides
            let free = self.locked.wait_until_polls(slice, Relaxed, |locked| {
                polls += 1;
                locked == 0
            });
            if free.is_ok() && self.try_acquire() {
                return true;
            }
            if timeout != NEVER {
                left = left.saturating_sub(if free.is_ok() { polls } else { slice });
            }
            if left == 0 {
                return false;
            }
        }
    }

    /// Blocks until a release wakes this context, or until it finds the lock free. Whether it is ours.
    fn block(&self, domain: &P::Domain, me: CpuId) -> bool {
        let blocking = Blocking::<P>::begin(domain, me, self.address(), 0);
        P::count(Event::XenTakenSlow);
        if blocking.is_nested() {
            P::count(Event::XenTakenSlowNested);
        }
        // ord: X5 alone: the full fence that goes with the clearing of the event (Z4) makes it visible
        self.spinners.fetch_add(1, Relaxed);
        let acquired = loop {
            blocking.clear_event(domain);
            // Only now: a release that comes after this look leaves the event pending (I3).
            if self.try_acquire() {
                P::count(Event::XenTakenSlowPickup);
                break true;
            }
            if blocking.halt() {
                break false;
            }
            P::count(Event::XenTakenSlowSpurious);
        };
        // ord: X9 alone: who is awake need not be counted
        self.spinners.fetch_add(u16::MAX, Relaxed);
        blocking.end();
        acquired
    }

    /// Wakes somebody who blocks on this lock. The lock may be somebody else's by now, or gone: only its
    /// address is used.
    #[cold]
    #[inline(never)]
    fn release_slow(&self) {
        P::count(Event::XenReleasedSlow);
        P::with_domain(|domain| {
            for (cpu, percpu) in blocked_on::<P>(domain, self.address()) {
                P::count(Event::XenReleasedSlowKicked);
                wake(cpu, percpu);
                if P::tunable(Tunable::XenWakeAll) == 0 {
                    break;
                }
            }
        });
    }
}

impl<P: FamilyPlatform> Paravirtual for XenPvLock<P> {
    fn without_paravirt() -> Self {
        Self { switch: P::U8::new(SPINS), ..Self::new() }
    }
}

impl<P: FamilyPlatform> ConstLock for XenPvLock<P>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self = Self { locked: P::U8::ZERO, switch: P::U8::ZERO, spinners: P::U16::ZERO };
}

impl<P: FamilyPlatform> ConstParavirtual for XenPvLock<P>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
{
    const WITHOUT_PARAVIRT: Self = Self { locked: P::U8::ZERO, switch: P::U8::ONE, spinners: P::U16::ZERO };
}
