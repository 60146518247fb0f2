//! A queued spin lock that takes its flaw as a type: `qspin` without the pending bit.
use core::marker::PhantomData;
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Event, RawLock};
use stanchion_family::tail::NodeCode;
use stanchion_family::{FamilyDomain, FamilyPlatform, QSpinLock};

/// What may be wrong with it.
pub(super) trait Flaw: Send + Sync + 'static {
    /// The name of the lock.
    const NAME: &'static str;
    /// A head without a successor clears the tail by a store.
    const CLEARS_BLINDLY: bool = false;
    /// An interrupt uses the node of whom it interrupted.
    const SHARES_NODE: bool = false;
    /// The tail names a context, and not at which level it queued.
    const DROPS_LEVEL: bool = false;
    /// A newcomer does not look for a queue.
    const STEALS: bool = false;
    /// The head of the queue asks newcomers for the lock.
    const ASKS: bool = false;
    /// Newcomers do not listen.
    const DEAF: bool = false;
}

/// The lock.
#[repr(C)]
pub(super) struct Queued<P: FamilyPlatform, F: Flaw> {
    locked: P::U8,
    /// 1 while the head asks for the lock.
    asked: P::U8,
    tail: P::U16,
    flaw: PhantomData<fn() -> F>,
}

const WAIT: u8 = 0;
const HEAD: u8 = 2;

impl<P: FamilyPlatform, F: Flaw> Queued<P, F> {
    fn claim(&self) -> bool {
        self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }
}

impl<P: FamilyPlatform, F: Flaw> RawLock for Queued<P, F> {
    type Platform = P;
    const NAME: &'static str = F::NAME;
    const TRANSITIONS: Table = <QSpinLock<P> as RawLock>::TRANSITIONS;

    fn new() -> Self {
        Self { locked: P::U8::new(0), asked: P::U8::new(0), tail: P::U16::new(0), flaw: PhantomData }
    }

    fn acquire(&self) {
        if self.try_acquire() {
            return;
        }
        P::with_domain(|domain| {
            let cpu = P::this_cpu().expect("explored with numbers only");
            let percpu = domain.cpu(cpu);
            let Some(nesting) = percpu.enter() else {
                P::count(Event::LockNoNode);
                while !self.claim() {
                    self.locked.wait_until(Relaxed, |locked| locked == 0);
                }
                return;
            };
            let level = if F::SHARES_NODE { 0 } else { nesting.level() };
            let named = if F::DROPS_LEVEL { 0 } else { level };
            let (node, me) = (percpu.node(level), NodeCode::new(cpu, named));
            node.next.store(NodeCode::NONE, Relaxed);
            node.state.store(WAIT, Relaxed);
            if let Some(before) = NodeCode::from_raw(self.tail.swap(me.raw(), AcqRel)) {
                domain.node(before).next.store(me.raw(), Release);
                node.state.wait_until(Acquire, |state| state == HEAD);
            }
            if F::ASKS {
                self.asked.store(1, Relaxed);
            }
            while !self.claim() {
                self.locked.wait_until(Relaxed, |locked| locked == 0);
            }
            if F::ASKS {
                self.asked.store(0, Relaxed);
            }
            if F::CLEARS_BLINDLY && node.next.load(Acquire) == NodeCode::NONE {
                self.tail.store(NodeCode::NONE, Relaxed);
                return;
            }
            if self.tail.compare_exchange(me.raw(), NodeCode::NONE, Relaxed, Relaxed).is_err() {
                let next = node.next.wait_until(Acquire, |next| next != NodeCode::NONE);
                let next = NodeCode::from_raw(next).expect("a link names a node");
                domain.node(next).state.store(HEAD, Release);
            }
        });
    }

    fn try_acquire(&self) -> bool {
        let queue = self.tail.load(Relaxed) != NodeCode::NONE;
        let refused = queue && (!F::STEALS || (F::ASKS && !F::DEAF && self.asked.load(Relaxed) == 1));
        !refused && self.claim()
    }

    fn release(&self) {
        self.locked.store(0, Release);
    }

    fn word(&self) -> Word {
        Word { tail: self.tail.peek(), pending: self.asked.peek(), locked: self.locked.peek() }
    }
}

#[cfg(test)]
impl Flaw for super::Sound {
    const NAME: &'static str = "queued";
}

/// Steals, and heeds the head.
#[cfg(test)]
enum Heeds {}

#[cfg(test)]
impl Flaw for Heeds {
    const NAME: &'static str = "queued, steals and heeds";
    const STEALS: bool = true;
    const ASKS: bool = true;
}

/// The same without a flaw.
#[cfg(test)]
pub(super) fn heeds() -> crate::explore::Subject {
    use crate::explore::{Stepped, Subject};
    Subject::broken::<Queued<Stepped, Heeds>>("sound", &[], 0, &[]).with_no_barging(1)
}

/// The mechanism without a flaw.
#[cfg(test)]
pub(super) fn sound() -> crate::explore::Subject {
    use crate::explore::{Kind, Overtaking, Stepped, Subject};
    Subject::broken::<Queued<Stepped, super::Sound>>("sound", &[Kind::Exclusion], 0, &[])
        .stating(Overtaking::AtMost(1))
}
