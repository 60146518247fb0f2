//! `pv-ticket`: the ticket lock whose waiters halt, and are kicked when their turn has come.
//!
//! # Motivation
//!
//! A ticket lock serves in strict order, and in overcommit everybody burns the CPU that the one waiter needs
//! whose turn it is. Here a waiter that has polled in vain for a while halts, and the release that serves its
//! ticket kicks it.
//!
//! # Provenance
//!
//! The paravirtual ticket lock of the Linux kernel (Fitzhardinge and Raghavendra, 3.12 to 4.1), in the form
//! of 4.0 with the slow-path flag in the head. [`Opportunistic`] is `oticket` (Kashyap, Min and Kim, 2015).
//! What differs, and why:
//!
//! - **Two separate atomics.** In the original one compare-exchange over both halves drops the flag of an
//!   owner that is alone. Here the owner drops the flag, and then looks whether somebody has drawn a ticket
//!   meanwhile; if so, it sets the flag again (I4).
//! - **The whole table is searched.** The original stops at the first context that says (lock, ticket). A
//!   handler that blocks in between can make another context look like that for a moment: read are an address
//!   from before and a ticket from after. The wrong one is kicked, and the right one sleeps for ever. A
//!   search that goes on kicks both.
//! - **No mask of waiting contexts**, and the places are those of [`xen_pv`](crate::xen_pv), see
//!   `blocked.rs`. A handler puts back what it found there and kicks its own context, because the end of a
//!   handler need not end the halt that it interrupted, nor keep one from beginning.
//! - **A switch**: a lock made by [`without_paravirt`](Paravirtual::without_paravirt) never halts.
//! - Near waiters of `oticket` poll for at most 2^32 − 1 polls, not 2^34.
//!
//! # Properties
//!
//! - Fairness: strict FIFO in the order of the ticket draw.
//! - Progress: none while the holder or the next in line is preempted or is waking up. The others sleep
//!   meanwhile, after [`SpinThreshold`](crate::tunables::FamilyTunables::SpinThreshold) polls. Under
//!   [`Opportunistic`] waiters near their turn (18, unless tuned) hardly ever sleep: with fewer waiters than
//!   that it is a ticket lock that spins.
//! - Memory: 4 bytes; a context that ever waited has a place to say what it waits for. A context without a
//!   number cannot be found there: it polls, and yields now and then. At most 32 767 contexts may wait at
//!   once.
//! - Cost: as [`ticket`](crate::ticket), but a release is a read-modify-write. A release that finds the flag
//!   looks at the places of all contexts. A halt and a kick at each hand-over once waiters sleep.
//! - A released lock is not touched again, only its address is used. A lock that is made at the same place
//!   meanwhile gets a spurious kick at worst.
//!
//! # The word
//!
//! Two halves, the next ticket (shown as `tail`) and the ticket being served. Tickets go in steps of two. Bit
//! 0 of the ticket being served is the flag (shown as `pending`): somebody may sleep. Bit 0 of the next
//! ticket is the switch: 1 if waiters never halt.
//!
//! | from | to | by |
//! |---|---|---|
//! | next `t` | next `t+2` | draw a ticket, or a try |
//! | serving `h`, flag `f` | serving `h+2`, flag `f` | release; then, with `f`, kick who waits for `h+2` |
//! | flag 0 | flag 1 | a waiter is about to halt; or an owner that dropped the flag is not alone |
//! | flag 1 | flag 0 | an owner after which nobody has drawn |
//!
//! # Invariants
//!
//! - **I1** The lock is free exactly while `next` and `serving` name the same ticket.
//! - **I2** Only the holder changes the ticket in `serving`, and only by adding one step. So it equals a
//!   waiter's ticket for as long as that waiter takes to see it, and is compared for equality only: tickets
//!   wrap.
//! - **I3** A waiter halts only after: said what it waits for, event cleared, full fence, `serving` seen with
//!   the flag and another ticket; and while `serving` stays like that. So it looks at the lock again whenever
//!   a halt is over or is about to begin, and needs a kick only if its turn comes while it sleeps. The flag
//!   is in what is compared: a waiter whose flag was dropped does not fall asleep.
//! - **I4** When the holder releases, the flag is set if a waiter halts that has drawn its ticket. Only an
//!   owner drops it, and an owner that finds a ticket drawn sets it again before it releases.
//!
//! ## Memory orderings
//!
//! Mutual exclusion: the release of `serving` (K4) against the acquiring looks at it (K2, K7, K9). No lost
//! wake-up: place, full fence (in `blocked.rs`), look at `serving` (K13), against release, full fence (K5),
//! look at the places. The flag: draw (K1), the same fence, see the flag (K13), against drop it (K10), full
//! fence (K11), look at the draws (K12). The owner sees the draw, or the waiter sees that the flag is gone
//! and polls on. All that changes `serving` is read-modify-write, so who sees the turn behind a change of the
//! flag still sees the release.
mod policy;

pub use policy::{Opportunistic, Plain, TicketPolicy};

use crate::blocked::{Blocking, blocked_on, wanted};
use crate::events::FamilyEvents as _;
use crate::platform::FamilyPlatform;
use core::marker::PhantomData;
use stanchion_core::events::Event;
use stanchion_core::lock::{ConstLock, ConstParavirtual, Paravirtual, RawLock};
use stanchion_core::machine::{Atomic, ConstAtomic};
use stanchion_core::order::{Acquire, Relaxed, Release, SeqCst};
use stanchion_core::transitions::{Is, Row, Table, Word};

/// The paravirtual ticket lock; see the [module](self).
#[repr(C, align(4))]
pub struct PvTicketLock<P: FamilyPlatform, T: TicketPolicy = Plain> {
    serving: P::U16,
    next: P::U16,
    policy: PhantomData<fn() -> T>,
}

/// From one ticket to the next.
const STEP: u16 = 2;
/// In `serving`: somebody may sleep.
const SLOW: u16 = 1;
/// In `next`: waiters never halt.
const SPINS: u16 = 1;

/// The ticket without bit 0.
#[inline(always)]
const fn ticket(half: u16) -> u16 {
    half & !1
}

const TRANSITIONS: Table = Table(&[
    Row::named("draw a ticket").tail(Is::Any, Is::Any),
    Row::named("the drawn ticket is served at once")
        .tail(Is::Any, Is::Any)
        .locked(Is::Value(0), Is::Value(1)),
    Row::release("release with nobody waiting"),
    Row::named("somebody may sleep: set the flag").pending(Is::Value(0), Is::Value(1)),
    Row::named("the owner is alone: drop the flag").pending(Is::Value(1), Is::Value(0)),
]);

impl<P: FamilyPlatform, T: TicketPolicy> RawLock for PvTicketLock<P, T> {
    type Platform = P;
    const NAME: &'static str = T::NAME;
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { serving: P::U16::new(0), next: P::U16::new(0), policy: PhantomData }
    }

    #[inline]
    fn acquire(&self) {
        // ord: K1 alone: the draw orders nothing, the turn does (K2); as for the flag, the fence of a waiter
        // comes behind it
        let drawn = self.next.fetch_add(STEP, Relaxed);
        // ord: K2 pairs K4: the previous holder's section comes before ours
        if self.serving.load(Acquire) != ticket(drawn) {
            self.wait_for_turn(drawn);
        }
    }

    /// Takes a free lock. The halves cannot be compared at once: if other contexts drew exactly 32 768
    /// tickets between the read and the draw, the try has joined the queue and waits for its turn like
    /// [`RawLock::acquire`].
    #[inline]
    fn try_acquire(&self) -> bool {
        // ord: K6 alone: which ticket would be served at once; checked again below
        let (serving, next) = (self.serving.load(Relaxed), self.next.load(Relaxed));
        if ticket(serving) != ticket(next)
            // ord: K3 alone: the draw orders nothing, as K1
            || self.next.compare_exchange(next, next.wrapping_add(STEP), Relaxed, Relaxed).is_err()
        {
            return false;
        }
        // ord: K7 pairs K4: the previous holder's section comes before ours
        if self.serving.load(Acquire) != ticket(next) {
            self.wait_for_turn(next);
        }
        true
    }

    #[inline]
    fn release(&self) {
        debug_assert_ne!(
            ticket(self.serving.peek()),
            ticket(self.next.peek()),
            "released a ticket lock that nobody holds (I1)"
        );
        // ord: K4 pairs K2, K7, K9: our section comes before the next holder's
        let before = self.serving.fetch_add(STEP, Release);
        if before & SLOW != 0 {
            self.release_slow(ticket(before).wrapping_add(STEP));
        }
    }

    fn word(&self) -> Word {
        let (next, serving) = (self.next.peek(), self.serving.peek());
        let held = ticket(next) != ticket(serving);
        Word { tail: ticket(next), pending: (serving & SLOW) as u8, locked: held.into() }
    }
}

impl<P: FamilyPlatform, T: TicketPolicy> PvTicketLock<P, T> {
    fn address(&self) -> usize {
        core::ptr::from_ref(self).addr()
    }

    #[cold]
    #[inline(never)] // so that the way to it is the same with and without events
    fn wait_for_turn(&self, drawn: u16) {
        P::count(Event::LockSlowpath);
        let mine = ticket(drawn);
        P::with_domain(|domain| {
            let me = P::this_cpu();
            if me.is_none() {
                P::count(Event::LockNoNode);
            }
            let mut blocking = None;
            let serving = loop {
                if let Some(serving) = self.poll(mine) {
                    break serving;
                }
                match me {
                    Some(me) if drawn & SPINS == 0 && P::paravirt() => {
                        // Said once for the whole wait: what the end of a nested one leaves behind would end
                        // its next halt.
                        let begin = || Blocking::begin(domain, me, self.address(), mine);
                        self.halt(domain, blocking.get_or_insert_with(begin), mine);
                    }
                    Some(_) => {}
                    None => P::yield_slice(),
                }
            };
            if let Some(blocking) = blocking {
                blocking.end();
            }
            if serving & SLOW != 0 {
                self.drop_flag_if_alone(mine);
            }
        });
    }

    /// Polls for as long as a waiter may. The half if it names our ticket.
    fn poll(&self, mine: u16) -> Option<u16> {
        P::publish_running();
        // ord: K8 alone: how long to poll, nothing else
        let turns_ahead = mine.wrapping_sub(ticket(self.serving.load(Relaxed))) / STEP;
        let polls = T::polls::<P>(turns_ahead);
        // ord: K9 pairs K4: the previous holder's section comes before ours
        self.serving.wait_until_polls(polls, Acquire, |serving| ticket(serving) == mine).ok()
    }

    /// Asks to be kicked and halts, unless the turn has come. It may end for any reason.
    fn halt(&self, domain: &P::Domain, blocking: &Blocking<'_, P>, mine: u16) {
        P::count(Event::TicketTakenSlow);
        self.set_flag_for(mine);
        blocking.clear_event(domain);
        // ord: K13 alone: behind the fence Z4: either we see our turn, or its releaser sees what we wait for;
        // K9 looks again
        let serving = self.serving.load(Relaxed);
        if ticket(serving) == mine {
            P::count(Event::TicketTakenSlowPickup);
        } else if serving & SLOW != 0 {
            // A kick for an event, too, ends it (I2, I3 of `blocked`), and so does a look at the half as soon
            // as it changes.
            P::halt_while(&self.serving, serving);
            // ord: K14 alone: an event is counted, nothing else
            if ticket(self.serving.load(Relaxed)) != mine {
                P::count(Event::TicketTakenSlowSpurious);
            }
        }
    }

    /// Sets the flag while somebody else's ticket is served.
    fn set_flag_for(&self, mine: u16) {
        // ord: K15 alone: a guess for the exchange
        let mut serving = self.serving.load(Relaxed);
        while serving & SLOW == 0 && ticket(serving) != mine {
            // ord: K16 alone: whether the flag outlives an owner is decided behind fences (Z4, K11)
            match self.serving.compare_exchange(serving, serving | SLOW, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(now) => serving = now,
            }
        }
    }

    /// The owner of ticket `mine` drops the flag, unless somebody has drawn after it (I4).
    fn drop_flag_if_alone(&self, mine: u16) {
        let alone = mine.wrapping_add(STEP);
        // ord: K17 alone: a look that may be late; K12 is the one that counts
        if ticket(self.next.load(Relaxed)) != alone {
            return;
        }
        // ord: K10 alone: the fence that follows orders it
        if self.serving.compare_exchange(mine | SLOW, mine, Relaxed, Relaxed).is_err() {
            return;
        }
        // ord: K11 pairs Z4: a waiter whose draw we miss sees the flag gone
        P::fence(SeqCst);
        // ord: K12 alone: behind the fence K11, which orders it
        if ticket(self.next.load(Relaxed)) != alone {
            // On failure a waiter has set it itself.
            // ord: K18 alone: the waiter's own flag, put back; K5 orders what its release reads
            let _ = self.serving.compare_exchange(mine, mine | SLOW, Relaxed, Relaxed);
        }
    }

    /// Kicks who waits for the tickets from `first` on. The lock may be somebody else's by now, or gone: only
    /// its address is used.
    #[cold]
    #[inline(never)]
    fn release_slow(&self, first: u16) {
        P::count(Event::TicketReleasedSlow);
        let tickets = T::wakes::<P>();
        P::with_domain(|domain| {
            // ord: K5 pairs Z4, Z6: the waiter sees its turn, or we see what it waits for
            P::fence(SeqCst);
            for (cpu, percpu) in blocked_on::<P>(domain, self.address()) {
                // Tickets count modulo 2^15.
                if wanted(percpu).wrapping_sub(first) / STEP < tickets {
                    P::count(Event::TicketReleasedSlowKicked);
                    P::kick(cpu);
                }
            }
        });
    }
}

impl<P: FamilyPlatform, T: TicketPolicy> Paravirtual for PvTicketLock<P, T> {
    fn without_paravirt() -> Self {
        Self { next: P::U16::new(SPINS), ..Self::new() }
    }
}

impl<P: FamilyPlatform, T: TicketPolicy> ConstLock for PvTicketLock<P, T>
where
    P::U16: ConstAtomic<u16>,
{
    const NEW: Self = Self { serving: P::U16::ZERO, next: P::U16::ZERO, policy: PhantomData };
}

impl<P: FamilyPlatform, T: TicketPolicy> ConstParavirtual for PvTicketLock<P, T>
where
    P::U16: ConstAtomic<u16>,
{
    const WITHOUT_PARAVIRT: Self = Self { serving: P::U16::ZERO, next: P::U16::ONE, policy: PhantomData };
}
