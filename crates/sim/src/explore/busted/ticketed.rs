//! A ticket lock that takes its flaw as a type.
use core::marker::PhantomData;
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};
use stanchion_family::TicketLock;

/// What may be wrong with it.
pub(super) trait Flaw: Send + Sync + 'static {
    /// The name of the lock.
    const NAME: &'static str;
    /// The draw is a load and a store.
    const TORN: bool = false;
    /// The bits of a ticket.
    const MASK: u16 = u16::MAX;
}

/// Where its fields stand and what they are called.
pub(super) const FIELDS: &[(usize, &str)] = &[(0, "serving"), (2, "next")];

/// The lock.
#[repr(C)]
pub(super) struct Ticketed<P: Platform, F: Flaw> {
    serving: P::U16,
    next: P::U16,
    flaw: PhantomData<fn() -> F>,
}

impl<P: Platform, F: Flaw> RawLock for Ticketed<P, F> {
    type Platform = P;
    const NAME: &'static str = F::NAME;
    const TRANSITIONS: Table = <TicketLock<P> as RawLock>::TRANSITIONS;

    fn new() -> Self {
        Self { serving: P::U16::new(0), next: P::U16::new(0), flaw: PhantomData }
    }

    fn acquire(&self) {
        let mine = if F::TORN {
            let mine = self.next.load(Relaxed);
            self.next.store(mine.wrapping_add(1), Relaxed);
            mine
        } else {
            self.next.fetch_add(1, Relaxed)
        };
        self.serving.wait_until(Acquire, |serving| (serving ^ mine) & F::MASK == 0);
    }

    fn try_acquire(&self) -> bool {
        false
    }

    fn release(&self) {
        let mine = self.serving.load(Relaxed);
        self.serving.store(mine.wrapping_add(1), Release);
    }

    fn word(&self) -> Word {
        let (next, serving) = (self.next.peek(), self.serving.peek());
        Word { tail: next, pending: 0, locked: u8::from(next != serving) }
    }
}

#[cfg(test)]
impl Flaw for super::Sound {
    const NAME: &'static str = "ticketed";
}

/// The mechanism without a flaw.
#[cfg(test)]
pub(super) fn sound() -> crate::explore::Subject {
    use crate::explore::{Kind, Overtaking, Stepped, Subject};
    Subject::broken::<Ticketed<Stepped, super::Sound>>("sound", &[Kind::Exclusion], 0, &[])
        .worded(FIELDS)
        .stating(Overtaking::AtMost(0))
}
