//! `twa`: the ticket lock whose waiters far from their turn wait in an array.
//!
//! # Motivation
//!
//! All waiters of a [`ticket`](crate::ticket) lock poll one line, so a release disturbs all of them, and each
//! reads it again before the next owner has it alone. Only the next one needs to. Here the others poll cells
//! of an array that all locks share, one for each ticket as far as cells go, and move to the lock when their
//! turn is near. So a release disturbs the next owner and one more.
//!
//! # Provenance
//!
//! Dice and Kogan, *TWA: Ticket Locks Augmented with a Waiting Array*, Euro-Par 2019. What differs, and why:
//!
//! - **The array is made of a cell in the storage of each context** that ever waited, and so has as many
//!   cells as there are waiters at most. The paper's has 4096 cells for the whole system. As tickets go to
//!   cells in turn, the far waiters of one lock have a cell each.
//! - **A far waiter looks at the lock now and then** (`POLLS`): contexts may be added meanwhile, and then the
//!   release looks for the ticket in another cell than the waiter.
//!
//! # Properties
//!
//! - Fairness: strict FIFO in the order of the ticket draw.
//! - Progress: none while the holder or the next in line is preempted.
//! - Memory: 4 bytes; a context that ever waited has a cell. At most 65 535 contexts may wait at once.
//! - Cost: each release adds to a cell that belongs to no lock. A lock that is released is not touched after
//!   that, only its address is used.
//!
//! # The word, `(tail, -, locked)`
//!
//! As that of `ticket`: the next ticket, and the one that is served.
//!
//! ```text
//!   serving 7        ticket 7 owns it
//!                    ticket 8 polls `serving`
//!   cells   . . .    ticket 9 polls its cell, until the release of ticket 7
//! ```
//!
//! # Invariants
//!
//! - **I1** The lock is free exactly while `next == serving`.
//! - **I2** Only the holder changes `serving`, and only by adding one.
//! - **I3** A release that makes ticket `t` near (`NEAR`) adds one to the cell of `t` afterwards. A far
//!   waiter waits for a change of its cell only if it saw itself far after it had read the cell.
//!
//! ## Memory orderings
//!
//! The release of `serving` (TA4) pairs with the acquire loads of whose turn it is (TA2, TA5, TA7). I3: the
//! addition to a cell (TA8) releases, and a far waiter that sees it (TA9) sees what is served, too.
use crate::platform::FamilyDomain;
use crate::platform::FamilyPlatform;
use crate::ticket::TRANSITIONS;
use stanchion_core::events::Event;
use stanchion_core::lock::{ConstLock, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::numbers::CpuId;
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};

/// The ticket lock with a waiting array; see the [module](self).
#[repr(C, align(4))]
pub struct TwaLock<P: FamilyPlatform> {
    serving: P::U16,
    next: P::U16,
}

/// A waiter with no more tickets ahead of it than this polls the lock.
const NEAR: u16 = 1;
/// How often a far waiter polls its cell before it looks at the lock.
const POLLS: u32 = 1 << 12;

impl<P: FamilyPlatform> RawLock for TwaLock<P> {
    type Platform = P;
    const NAME: &'static str = "twa";
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { serving: P::U16::new(0), next: P::U16::new(0) }
    }

    #[inline]
    fn acquire(&self) {
        // ord: TA1 alone: the draw orders nothing, the turn does (TA2)
        let mine = self.next.fetch_add(1, Relaxed);
        // ord: TA2 pairs TA4: the previous holder's section comes before ours
        if self.serving.load(Acquire) != mine {
            self.wait_for_turn(mine);
        }
    }

    /// Takes a free lock; as that of [`TicketLock`](crate::TicketLock), it waits if other contexts drew 65
    /// 536 tickets in between.
    #[inline]
    fn try_acquire(&self) -> bool {
        // ord: TA3 alone: which ticket would be served at once; checked again below
        let mine = self.serving.load(Relaxed);
        // ord: TA6 alone: the draw orders nothing, as TA1
        if self.next.compare_exchange(mine, mine.wrapping_add(1), Relaxed, Relaxed).is_err() {
            return false;
        }
        // ord: TA7 pairs TA4: the previous holder's section comes before ours
        if self.serving.load(Acquire) != mine {
            self.wait_for_turn(mine);
        }
        true
    }

    #[inline]
    fn release(&self) {
        // ord: TA10 alone: only the holder changes it (I2)
        let next = self.serving.load(Relaxed).wrapping_add(1);
        debug_assert_ne!(next.wrapping_sub(1), self.next.peek(), "released a lock that nobody holds (I1)");
        let address = self.address();
        // ord: TA4 pairs TA2, TA5, TA7: our section comes before the next holder's
        self.serving.store(next, Release);
        P::with_domain(|domain| {
            if let Some(cell) = cell::<P>(domain, address, next.wrapping_add(NEAR)) {
                // ord: TA8 pairs TA9: who sees the addition sees what is served
                cell.fetch_add(1, Release);
            }
        });
    }

    fn word(&self) -> Word {
        let (next, serving) = (self.next.peek(), self.serving.peek());
        Word { tail: next, pending: 0, locked: u8::from(next != serving) }
    }
}

/// The cell of a ticket of the lock at `address`; none if no context ever waited.
fn cell<P: FamilyPlatform>(domain: &P::Domain, address: usize, ticket: u16) -> Option<&P::U32> {
    let cells = usize::from(domain.contexts());
    let at = domain.spread(address).wrapping_add(ticket.into()).checked_rem(cells)?;
    Some(&domain.cpu(CpuId::new(at as u16)?).turns)
}

impl<P: FamilyPlatform> TwaLock<P> {
    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    fn is_near(&self, mine: u16) -> bool {
        // ord: TA11 alone: decides where to wait; it is not older than the addition that was seen (TA9)
        mine.wrapping_sub(self.serving.load(Relaxed)) <= NEAR
    }

    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn wait_for_turn(&self, mine: u16) {
        P::count(Event::LockSlowpath);
        if !self.is_near(mine) {
            P::with_domain(|domain| self.wait_until_near(domain, mine));
        }
        // ord: TA5 pairs TA4: the previous holder's section comes before ours
        self.serving.wait_until(Acquire, |serving| serving == mine);
    }

    fn wait_until_near(&self, domain: &P::Domain, mine: u16) {
        // With a number comes one more cell.
        let _ = P::this_cpu();
        while let Some(cell) = cell::<P>(domain, self.address(), mine) {
            // ord: TA9 pairs TA8: if a release has made us near, we see it (I3)
            let seen = cell.load(Acquire);
            if self.is_near(mine) {
                return;
            }
            if P::EXPLORES {
                // No context is added there, so nothing hides a release that forgets a waiter.
                // ord: TA12 alone: the cell is read again above, with what goes with it
                cell.wait_until(Relaxed, |now| now != seen);
            } else {
                // Whether it has changed or not, the lock says how far we are.
                // ord: TA13 alone: as TA12, it is read again above
                let _ = cell.wait_until_polls(POLLS, Relaxed, |now| now != seen);
            }
        }
    }
}

impl<P: FamilyPlatform> ConstLock for TwaLock<P>
where
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self = Self { serving: P::U16::ZERO, next: P::U16::ZERO };
}
