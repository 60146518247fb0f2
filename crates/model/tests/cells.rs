//! What the model's cells add to loom's.
use core::time::Duration;
use stanchion_core::order::Relaxed;
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Platform, RawLock};
use stanchion_model::check::{Stated, check};
use stanchion_model::{Limits, Model, shapes};

/// A lock that two contexts pass through one after the other, by a bit that each sets by a swap and clears by a store.
///
/// Both swaps may come before the store. The store is then newer than both: nothing comes between a swap and what it read. Loom
/// alone finds an execution in which the bit stays set.
struct Bit {
    bit: <Model as Platform>::U8,
    turn: <Model as Platform>::U8,
}

impl RawLock for Bit {
    type Platform = Model;
    const NAME: &'static str = "bit";
    const TRANSITIONS: Table = Table(&[]);

    fn new() -> Self {
        Self { bit: Atomic::new(0), turn: Atomic::new(0) }
    }

    fn acquire(&self) {
        use stanchion_core::order::Acquire;
        if self.bit.swap(1, Relaxed) == 0 {
            self.bit.store(0, Relaxed);
        } else {
            self.bit.wait_until(Relaxed, |bit| bit == 0);
        }
        while self.turn.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.turn.wait_until(Relaxed, |turn| turn == 0);
        }
    }

    fn try_acquire(&self) -> bool {
        false
    }

    fn release(&self) {
        self.turn.store(0, stanchion_core::order::Release);
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: self.bit.peek(), locked: self.turn.peek() }
    }
}

#[test]
fn a_store_is_newer_than_the_exchange_that_read_what_it_overwrites() {
    let limits = Limits { preemptions: None, time: Duration::from_mins(1) };
    let shape = shapes::by_name("two").expect("it exists");
    let is_free = |word: Word| word.pending == 0 && word.locked == 0;
    let report = check::<Bit>(shape, &limits, Stated { is_free, ordered: &[] });
    assert!(report.failure.is_none() && report.exhausted, "{report:?}");
}

/// The exchange and the store of the bit are ordered by nothing, and by place it is the first cell of the lock.
#[test]
fn stores_that_should_be_ordered_and_are_not_are_seen() {
    let limits = Limits { preemptions: None, time: Duration::from_mins(1) };
    let shape = shapes::by_name("two").expect("it exists");
    let report = check::<Bit>(shape, &limits, Stated { is_free: |_| true, ordered: &[0] });
    assert_eq!(report.failure.map(|failure| failure.kind), Some(stanchion_model::check::Kind::Race));
}
