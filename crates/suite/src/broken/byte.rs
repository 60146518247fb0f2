//! A byte that is taken by an exchange, as in `byte`, and what may be wrong with that.
use super::{BROKEN, CHECK_THEN_SET, DOUBLE_RELEASE, IMPATIENT, NONE};
use super::{ODD_WORD, RELAXED, SLOW_SET, STICKY_MARK, TRY, TRY_LIES};
use core::fmt;
use stanchion_core::order::{AcqRel, Acquire, Relaxed, Release};
use stanchion_core::transitions::{Is, Row, Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};
use stanchion_family::ByteLock;

/// No section takes so many polls, unless its context is not running.
const MOST_POLLS: u32 = 24;
/// A try that fails says so but for one in so many, with [`TRY`].
const LIES: u8 = 64;

/// The lock.
#[repr(C, align(4))]
pub struct Byte<P: Platform, const FLAW: usize> {
    locked: P::U8,
    /// 1 once somebody has waited, with [`STICKY_MARK`]; how many tries have failed, with [`TRY`].
    waited: P::U8,
}

impl<P: Platform, const FLAW: usize> Byte<P, FLAW> {
    fn claim(&self) -> bool {
        match FLAW {
            // BUG: nobody is kept out.
            NONE => self.locked.store(1, Relaxed),
            // BUG: between the load and the store anybody else may do the same.
            CHECK_THEN_SET | SLOW_SET => {
                if self.locked.load(Acquire) != 0 {
                    return false;
                }
                if FLAW == SLOW_SET {
                    P::relax(200);
                }
                self.locked.store(1, Relaxed);
            }
            // BUG: it orders nothing, nor does the release.
            RELAXED => return self.locked.compare_exchange(0, 1, Relaxed, Relaxed).is_ok(),
            _ => return self.locked.compare_exchange(0, 1, Acquire, Relaxed).is_ok(),
        }
        true
    }

    /// These locks are to be caught, not to burn time: gives the CPU away after a while.
    fn wait(&self) {
        self.locked.wait_briefly::<P>(Relaxed, |locked| locked == 0);
    }
}

impl<P: Platform, const FLAW: usize> RawLock for Byte<P, FLAW> {
    type Platform = P;
    const NAME: &'static str = BROKEN[FLAW].name;
    const TRANSITIONS: Table = match FLAW {
        STICKY_MARK => Table(&[
            Row::claim("acquire"),
            Row::named("somebody waits").pending(Is::Value(0), Is::Value(1)),
            Row::release("release"),
        ]),
        _ => <ByteLock<P> as RawLock>::TRANSITIONS,
    };

    fn new() -> Self {
        Self { locked: P::U8::new(0), waited: P::U8::new(0) }
    }

    fn acquire(&self) {
        let mut polls = 0;
        while !self.claim() {
            match FLAW {
                IMPATIENT => {
                    P::relax(1);
                    polls += 1;
                    if polls > MOST_POLLS {
                        self.locked.swap(1, AcqRel); // BUG: the holder is only asleep
                        return;
                    }
                    continue;
                }
                ODD_WORD => {
                    // BUG: "held, and wanted" is no state of this word.
                    let _ = self.locked.compare_exchange(1, 2, Relaxed, Relaxed);
                }
                STICKY_MARK => {
                    self.waited.swap(1, Relaxed); // BUG: nobody takes it back
                }
                _ => {}
            }
            self.wait();
        }
    }

    fn try_acquire(&self) -> bool {
        match FLAW {
            // BUG: it is held, whatever this says.
            TRY => self.claim() || self.waited.fetch_add(1, Relaxed) % LIES == LIES - 1,
            TRY_LIES => self.locked.load(Acquire) == 0, // BUG: looking is not taking
            _ => self.claim(),
        }
    }

    fn release(&self) {
        match FLAW {
            NONE => self.locked.store(0, Relaxed),
            RELAXED => {
                self.locked.swap(0, Relaxed);
            }
            CHECK_THEN_SET | SLOW_SET => self.locked.store(0, Release),
            _ => {
                self.locked.swap(0, AcqRel);
            }
        }
        if FLAW == DOUBLE_RELEASE && self.locked.load(Relaxed) != 0 {
            self.locked.swap(0, AcqRel); // BUG: the lock was somebody else's by then
        }
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: self.waited.peek(), locked: self.locked.peek() }
    }
}

impl<P: Platform, const FLAW: usize> fmt::Display for Byte<P, FLAW> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.locked.peek() == 0 { "free" } else { "held" };
        write!(out, "{state} (this lock has no queue)")
    }
}
