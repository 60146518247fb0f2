//! A lock whose waiter halts, and that takes its flaw as a type: one context at a time is the waiter, leaves
//! its mark, and sleeps until a releaser sees the mark. The same store-buffering pair as in `pv-qspin`, in a
//! few lines.
use core::marker::PhantomData;
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use stanchion_core::transitions::{Field, Is, Row, Table, Word};
use stanchion_core::{Atomic, CpuId, Platform, RawLock};

/// What may be wrong with it.
pub(super) trait Flaw: Send + Sync + 'static {
    /// The name of the lock.
    const NAME: &'static str;
    /// The waiter does not order its mark before its look at the lock.
    const NO_FENCE: bool = false;
    /// The releaser looks at the mark before it releases.
    const LOOKS_EARLY: bool = false;
    /// The halt is compared with what the mark has become meanwhile.
    const COMPARES_ANEW: bool = false;
    /// A waiter that wakes up believes that the lock was handed to it.
    const TRUSTS_WAKE_UPS: bool = false;
}

/// Where its fields stand and what they are called.
pub(super) const FIELDS: &[(usize, &str)] = &[(0, "locked"), (1, "mark"), (2, "waiter")];

/// The lock.
#[repr(C)]
pub(super) struct Halting<P: Platform, F: Flaw> {
    locked: P::U8,
    /// 1 while the waiter sleeps or is about to.
    mark: P::U8,
    /// Context number plus one of the waiter, 0 if there is none.
    waiter: P::U16,
    flaw: PhantomData<fn() -> F>,
}

const TRANSITIONS: Table = Table(&[
    Row::claim("acquire"),
    Row::release("release"),
    Row::named("mark").pending(Is::Any, Is::Any),
    Row::named("waiter").tail(Is::Any, Is::Any),
]);

impl<P: Platform, F: Flaw> Halting<P, F> {
    /// Waits as the waiter. The context holds the lock afterwards.
    fn wait(&self) {
        loop {
            if self.try_acquire() {
                return;
            }
            self.mark.store(1, Release);
            if !F::NO_FENCE && !P::heavy_barrier() {
                P::yield_slice();
                continue;
            }
            if self.locked.load(SeqCst) == 0 {
                continue;
            }
            if !P::paravirt() {
                P::relax(1);
                continue;
            }
            let mark = if F::COMPARES_ANEW { self.mark.load(Relaxed) } else { 1 };
            P::halt_while(&self.mark, mark);
            if F::TRUSTS_WAKE_UPS && self.locked.swap(1, AcqRel) < 2 {
                return;
            }
        }
    }
}

impl<P: Platform, F: Flaw> RawLock for Halting<P, F> {
    type Platform = P;
    const NAME: &'static str = F::NAME;
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { locked: P::U8::new(0), mark: P::U8::new(0), waiter: P::U16::new(0), flaw: PhantomData }
    }

    fn acquire(&self) {
        if self.try_acquire() {
            return;
        }
        let me = P::this_cpu().expect("explored with numbers only").index() + 1;
        while self.waiter.compare_exchange(0, me, AcqRel, Relaxed).is_err() {
            self.waiter.wait_until(Relaxed, |waiter| waiter == 0);
        }
        self.wait();
        self.mark.store(0, Relaxed);
        self.waiter.store(0, Release);
    }

    fn try_acquire(&self) -> bool {
        TRANSITIONS.check(Field::Locked, || 0u8, 1u8);
        self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok()
    }

    fn release(&self) {
        let early = F::LOOKS_EARLY && self.mark.load(Relaxed) == 0;
        let mark = P::store_then_load(&self.locked, 0, &self.mark);
        if mark == 1 && !early && self.mark.compare_exchange(1, 0, AcqRel, Relaxed).is_ok() {
            let waiter = self.waiter.load(Acquire);
            if let Some(cpu) = waiter.checked_sub(1).and_then(CpuId::new) {
                P::kick(cpu);
            }
        }
    }

    fn word(&self) -> Word {
        Word { tail: self.waiter.peek(), pending: self.mark.peek(), locked: self.locked.peek() }
    }
}

#[cfg(test)]
impl Flaw for super::Sound {
    const NAME: &'static str = "halting";
}

/// The mechanism without a flaw.
#[cfg(test)]
pub(super) fn sound() -> crate::explore::Subject {
    use crate::explore::{Kind, Stepped, Subject};
    Subject::broken::<Halting<Stepped, super::Sound>>("sound", &[Kind::Exclusion], 0, &[])
}
