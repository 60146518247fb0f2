//! A ticket lock whose waiters halt, each in a place of its ticket's, and may miss their wake-up.
use super::{BROKEN, LOST_WAKEUP};
use core::fmt;
use stanchion_core::order::{AcqRel, Acquire, Relaxed};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, CpuId, Platform, RawLock};
use stanchion_family::TicketLock;

/// Of more waiters, one displaces another, which misses its wake-up, too.
const PLACES: usize = 64;

/// The lock.
pub struct Missed<P: Platform> {
    serving: P::U16,
    next: P::U16,
    /// Who sleeps until its ticket is served: its context number plus one.
    sleepers: [P::U16; PLACES],
    /// Counts wake-ups.
    wakeups: P::U32,
}

impl<P: Platform> Missed<P> {
    fn sleeper(&self, ticket: u16) -> &P::U16 {
        &self.sleepers[usize::from(ticket) % PLACES]
    }

    fn park(&self, ticket: u16) {
        let me = P::this_cpu().expect("there are far fewer contexts than numbers").index() + 1;
        // A last chance for the holder before we pay for a sleep. It also gives the bug below a fair chance.
        P::yield_slice();
        // BUG: both belong before the look. As it is, nobody may have been there to be woken, and the ticket
        // that we wait to see go may be our own.
        self.sleeper(ticket).swap(me, AcqRel);
        let seen = self.serving.load(Relaxed);
        P::halt_while(&self.serving, seen);
    }
}

impl<P: Platform> RawLock for Missed<P> {
    type Platform = P;
    const NAME: &'static str = BROKEN[LOST_WAKEUP].name;
    const TRANSITIONS: Table = <TicketLock<P> as RawLock>::TRANSITIONS;

    fn new() -> Self {
        let sleepers = core::array::from_fn(|_| P::U16::new(0));
        Self { serving: P::U16::new(0), next: P::U16::new(0), sleepers, wakeups: P::U32::new(0) }
    }

    fn acquire(&self) {
        let mine = self.next.fetch_add(1, Relaxed);
        while self.serving.load(Acquire) != mine {
            self.park(mine);
        }
    }

    fn try_acquire(&self) -> bool {
        let serving = self.serving.load(Relaxed);
        self.next.compare_exchange(serving, serving.wrapping_add(1), Acquire, Relaxed).is_ok()
    }

    fn release(&self) {
        let next = self.serving.fetch_add(1, AcqRel).wrapping_add(1);
        if let Some(cpu) = self.sleeper(next).swap(0, AcqRel).checked_sub(1).and_then(CpuId::new) {
            self.wakeups.fetch_add(1, Relaxed);
            P::kick(cpu);
        }
    }

    fn word(&self) -> Word {
        let (next, serving) = (self.next.peek(), self.serving.peek());
        Word { tail: next, pending: 0, locked: u8::from(next != serving) }
    }
}

impl<P: Platform> fmt::Display for Missed<P> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (next, serving, wakeups) = (self.next.peek(), self.serving.peek(), self.wakeups.peek());
        write!(out, "next ticket {next}, serving {serving}, {wakeups} wake-ups sent")
    }
}
