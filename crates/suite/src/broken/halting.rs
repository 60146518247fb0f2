//! A lock whose waiter halts, and what may be wrong with it: one context at a time is the waiter, leaves its
//! mark, and sleeps until a releaser sees the mark. The same store-buffering pair as in `pv-qspin`, in a few
//! lines.
use super::{ANEW, BROKEN, EARLY_LOOK, LOST_KICK, NO_FENCE, TRUSTING};
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use stanchion_core::transitions::{Field, Is, Row, Table, Word};
use stanchion_core::{Atomic, CpuId, Platform, RawLock};

/// The lock.
#[repr(C)]
pub struct Halting<P: Platform, const FLAW: usize> {
    locked: P::U8,
    /// 1 while the waiter sleeps or is about to.
    mark: P::U8,
    /// Context number plus one of the waiter, 0 if there is none.
    waiter: P::U16,
}

const TRANSITIONS: Table = Table(&[
    Row::claim("acquire"),
    Row::release("release"),
    Row::named("mark").pending(Is::Any, Is::Any),
    Row::named("waiter").tail(Is::Any, Is::Any),
]);

impl<P: Platform, const FLAW: usize> Halting<P, FLAW> {
    /// Where its fields stand and what they are called.
    pub const FIELDS: &[(usize, &str)] = &[(0, "locked"), (1, "mark"), (2, "waiter")];

    /// Waits as the waiter. The context holds the lock afterwards.
    fn wait(&self) {
        loop {
            if self.try_acquire() {
                return;
            }
            self.mark.store(1, Release);
            // BUG without it: the mark may still be in the store buffer.
            if FLAW != NO_FENCE && !P::heavy_barrier() {
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
            // BUG: what it should compare with is what it was when the lock was seen held.
            let mark = if FLAW == ANEW { self.mark.load(Relaxed) } else { 1 };
            P::halt_while(&self.mark, mark);
            if FLAW == TRUSTING && self.locked.swap(1, AcqRel) < 2 {
                return; // BUG: a wake-up says nothing
            }
        }
    }
}

impl<P: Platform, const FLAW: usize> RawLock for Halting<P, FLAW> {
    type Platform = P;
    const NAME: &'static str = BROKEN[FLAW].name;
    const TRANSITIONS: Table = TRANSITIONS;

    fn new() -> Self {
        Self { locked: P::U8::new(0), mark: P::U8::new(0), waiter: P::U16::new(0) }
    }

    fn acquire(&self) {
        if self.try_acquire() {
            return;
        }
        let me = P::this_cpu().expect("there are numbers for all contexts").index() + 1;
        if FLAW == LOST_KICK {
            self.waiter.swap(me, AcqRel); // BUG: whoever slept here is forgotten, and nobody will kick it
            return self.wait();
        }
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
        // BUG: the mark may be left right after.
        let early = FLAW == EARLY_LOOK && self.mark.load(Relaxed) == 0;
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
