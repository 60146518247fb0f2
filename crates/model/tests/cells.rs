//! What the model's cells add to loom's.
use core::time::Duration;
use stanchion_core::order::{Acquire, Relaxed, Release};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Atomic, Machine, Private, RawLock};
use stanchion_family::catalogue::InOrder;
use stanchion_model::check::{Kind, Stated, check};
use stanchion_model::{Limits, Model, shapes};

/// A right lock, for what those below protect.
struct Turn(<Model as Machine>::U8);

impl Turn {
    fn new() -> Self {
        Self(Atomic::new(0))
    }

    fn take(&self) {
        while self.0.compare_exchange(0, 1, Acquire, Relaxed).is_err() {
            self.0.wait_until(Relaxed, |turn| turn == 0);
        }
    }

    fn give_back(&self) {
        self.0.store(0, Release);
    }
}

/// A lock that two contexts pass through one after the other, by a bit that each sets by a swap and clears by
/// a store.
///
/// Both swaps may come before the store. The store is then newer than both: nothing comes between a swap and
/// what it read. Loom alone finds an execution in which the bit stays set.
struct Bit {
    bit: <Model as Machine>::U8,
    turn: Turn,
}

impl RawLock for Bit {
    type Platform = Model;
    const NAME: &'static str = "bit";
    const TRANSITIONS: Table = Table(&[]);

    fn new() -> Self {
        Self { bit: Atomic::new(0), turn: Turn::new() }
    }

    fn acquire(&self) {
        if self.bit.swap(1, Relaxed) == 0 {
            self.bit.store(0, Relaxed);
        } else {
            self.bit.wait_until(Relaxed, |bit| bit == 0);
        }
        self.turn.take();
    }

    fn try_acquire(&self) -> bool {
        false
    }

    fn release(&self) {
        self.turn.give_back();
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: self.bit.peek(), locked: self.turn.0.peek() }
    }
}

#[test]
fn a_store_is_newer_than_the_exchange_that_read_what_it_overwrites() {
    let limits = Limits { preemptions: None, time: Duration::from_mins(1) };
    let shape = shapes::by_name("two").expect("it exists");
    let is_free = |word: Word| word.pending == 0 && word.locked == 0;
    let report = check::<Bit>(shape, &limits, Stated { is_free, ordered: InOrder::NOTHING });
    assert!(report.failure.is_none() && report.exhausted, "{report:?}");
}

/// What comes of two contexts that pass through a lock that states this about its cells.
fn stating<L: RawLock<Platform = Model>>(ordered: InOrder) -> Option<Kind> {
    let limits = Limits { preemptions: None, time: Duration::from_mins(1) };
    let shape = shapes::by_name("two").expect("it exists");
    let report = check::<L>(shape, &limits, Stated { is_free: |_| true, ordered });
    report.failure.map(|failure| failure.kind)
}

/// The exchanges and the stores of the bit are ordered by nothing, and by place it is the first cell of the
/// lock.
#[test]
fn stores_that_should_be_ordered_and_are_not_are_seen() {
    assert_eq!(stating::<Bit>(InOrder { stores: &[0], ..InOrder::NOTHING }), Some(Kind::Race));
    assert_eq!(stating::<Bit>(InOrder { plain_stores: &[0], ..InOrder::NOTHING }), Some(Kind::Race));
}

/// A lock with a cell to which its first context stores while the other exchanges it.
struct Visited {
    visitor: <Model as Machine>::U8,
    turn: Turn,
}

impl RawLock for Visited {
    type Platform = Model;
    const NAME: &'static str = "visited";
    const TRANSITIONS: Table = Table(&[]);

    fn new() -> Self {
        Self { visitor: Atomic::new(0), turn: Turn::new() }
    }

    fn acquire(&self) {
        match Model::this_cpu().expect("contexts are numbered").index() {
            0 => self.visitor.store(1, Relaxed),
            _ => _ = self.visitor.swap(2, Relaxed),
        }
        self.turn.take();
    }

    fn try_acquire(&self) -> bool {
        false
    }

    fn release(&self) {
        self.turn.give_back();
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: self.visitor.peek(), locked: self.turn.0.peek() }
    }
}

#[test]
fn an_exchange_may_come_at_any_time_where_only_stores_are_ordered() {
    assert_eq!(stating::<Visited>(InOrder { stores: &[0], ..InOrder::NOTHING }), Some(Kind::Race));
    assert_eq!(stating::<Visited>(InOrder { plain_stores: &[0], ..InOrder::NOTHING }), None);
}

/// A lock that writes to cells of its own: before it acquires, or as the owner.
struct Scribe<const AS_OWNER: bool> {
    noted: <Model as Machine>::U8,
    counted: <Model as Machine>::U8,
    turn: Turn,
}

impl<const AS_OWNER: bool> Scribe<AS_OWNER> {
    fn write(&self) {
        self.noted.store(7, Relaxed);
        self.counted.fetch_add(1, Relaxed);
    }
}

impl<const AS_OWNER: bool> RawLock for Scribe<AS_OWNER> {
    type Platform = Model;
    const NAME: &'static str = "scribe";
    const TRANSITIONS: Table = Table(&[]);

    fn new() -> Self {
        Self { noted: Atomic::new(0), counted: Atomic::new(0), turn: Turn::new() }
    }

    fn acquire(&self) {
        if !AS_OWNER {
            self.write();
        }
        self.turn.take();
        if AS_OWNER {
            self.write();
        }
    }

    fn try_acquire(&self) -> bool {
        false
    }

    fn release(&self) {
        self.turn.give_back();
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.turn.0.peek() }
    }
}

/// The lock orders what owners write, and nothing else.
#[test]
fn plain_stores_and_additions_in_no_order_are_seen() {
    let limits = Limits { preemptions: None, time: Duration::from_mins(1) };
    let shape = shapes::by_name("two").expect("it exists");
    let stated = |ordered| Stated { is_free: |word| word.locked == 0, ordered };
    let noted = InOrder { plain_stores: &[0], ..InOrder::NOTHING };
    let counted = InOrder { additions: &[1], ..InOrder::NOTHING };
    let race = Some(Kind::Race);
    for ordered in [noted, counted] {
        let report = check::<Scribe<true>>(shape, &limits, stated(ordered));
        assert!(report.failure.is_none() && report.exhausted, "{report:?}");
        let report = check::<Scribe<false>>(shape, &limits, stated(ordered));
        assert_eq!(report.failure.map(|failure| failure.kind), race, "{ordered:?}");
    }
    let report = check::<Scribe<false>>(shape, &limits, stated(InOrder::NOTHING));
    assert!(report.failure.is_none(), "without a statement nothing is amiss: {report:?}");
}

/// A lock with cells that are each private to the context of their number, or said to be.
struct Keeper<const APART: bool> {
    kept: [Private<<Model as Machine>::U8>; 2],
    turn: Turn,
}

impl<const APART: bool> RawLock for Keeper<APART> {
    type Platform = Model;
    const NAME: &'static str = "keeper";
    const TRANSITIONS: Table = Table(&[]);

    fn new() -> Self {
        Self { kept: [Private::new(0), Private::new(0)], turn: Turn::new() }
    }

    fn acquire(&self) {
        self.turn.take();
        let me = usize::from(Model::this_cpu().expect("contexts are numbered").index());
        let mine = &self.kept[if APART { me } else { 0 }];
        mine.set(mine.get::<u8>() + 1);
    }

    fn try_acquire(&self) -> bool {
        false
    }

    fn release(&self) {
        self.turn.give_back();
    }

    fn word(&self) -> Word {
        Word { tail: 0, pending: 0, locked: self.turn.0.peek() }
    }
}

/// Even where a lock orders them: a private cell is one context's.
#[test]
fn a_private_cell_that_two_contexts_touch_is_seen_as_a_race() {
    assert_eq!(stating::<Keeper<false>>(InOrder::NOTHING), Some(Kind::Race));
    assert_eq!(stating::<Keeper<true>>(InOrder::NOTHING), None);
}
