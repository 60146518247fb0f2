//! What a lock states about the order of its own writes, and whether they keep to it.
//!
//! Loom lets no read-modify-write come before a store that is already there, nor a store before one that it
//! has explored where the cell is also exchanged. So it would not notice by itself that nothing orders the
//! two. Each write that is looked at leaves a mark here, which loom sees read by those that must come after.
use core::cell::{Cell, RefCell};
use stanchion_family::catalogue::InOrder;
use std::collections::BTreeMap;
use std::rc::Rc;

thread_local! {
    static ORDERED: Cell<InOrder> = const { Cell::new(InOrder::NOTHING) };
    static GUARDS: RefCell<BTreeMap<usize, Guard>> = const { RefCell::new(BTreeMap::new()) };
}

/// Stands for a write: whoever reads it must come after that.
type Mark = Rc<loom::cell::UnsafeCell<()>>;

/// The guard of the cell at `place`, if the lock states something about the writes to it.
fn guard(ordered: InOrder, place: usize) -> Option<Guard> {
    let concerns = if ordered.stores.contains(&place) {
        Concerns::All
    } else if ordered.plain_stores.contains(&place) {
        Concerns::PlainStores
    } else if ordered.additions.contains(&place) {
        Concerns::Additions
    } else {
        return None;
    };
    Some(Guard { concerns, last: None, exchanged: Vec::new() })
}

/// Sets what the lock of the next program states.
pub(crate) fn begin_program(ordered: InOrder) {
    ORDERED.set(ordered);
}

/// Forgets the cells of the last execution.
pub(crate) fn begin_execution() {
    GUARDS.with_borrow_mut(BTreeMap::clear);
}

/// How a cell is written to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    Store,
    Exchange,
    Addition,
}

/// Which writes a guard looks at.
#[derive(Clone, Copy)]
enum Concerns {
    All,
    PlainStores,
    Additions,
}

/// The writes to a cell of which some are ordered.
struct Guard {
    concerns: Concerns,
    last: Option<Mark>,
    /// Read-modify-writes since, which need not be ordered among themselves.
    exchanged: Vec<Mark>,
}

impl Guard {
    fn looks_at(&self, by: By) -> bool {
        match self.concerns {
            Concerns::All => true,
            Concerns::PlainStores => by == By::Store,
            Concerns::Additions => by == By::Addition,
        }
    }

    /// Takes note of a write; those that come before it.
    fn note(&mut self, by: By, mark: Mark) -> Vec<Mark> {
        let last = self.last.clone().into_iter();
        if by != By::Store && matches!(self.concerns, Concerns::All) {
            self.exchanged.push(mark);
            return last.collect();
        }
        self.last = Some(mark);
        last.chain(self.exchanged.drain(..)).collect()
    }
}

/// Guards the cell `number`, if its lock states something about the writes to the cell at this place.
pub(crate) fn begin(number: usize, place: usize) {
    if let Some(guard) = guard(ORDERED.get(), place) {
        GUARDS.with_borrow_mut(|guards| guards.insert(number, guard));
    }
}

/// The guarded cell `number`, if it is one, is zero now.
pub(crate) fn is_zero(number: usize) {
    GUARDS.with_borrow_mut(|guards| {
        if let Some(guard) =
            guards.get_mut(&number).filter(|guard| matches!(guard.concerns, Concerns::Additions))
        {
            guard.last = None;
        }
    });
}

/// Performs a write to the cell `number`; for `writes` it may turn out to be none. Checks that it comes after
/// those that it must come after.
pub(crate) fn write<R>(
    number: usize,
    by: By,
    perform: impl FnOnce() -> R,
    writes: impl FnOnce(&R) -> bool,
) -> R {
    let is_guarded = GUARDS.with_borrow(|guards| guards.get(&number).is_some_and(|guard| guard.looks_at(by)));
    // What comes before a write is published by it, what comes after is not: so the mark is made first.
    let mark = is_guarded.then(|| Rc::new(loom::cell::UnsafeCell::new(())));
    let result = perform();
    if let Some(mark) = mark.filter(|_| writes(&result)) {
        let before =
            GUARDS.with_borrow_mut(|guards| guards.get_mut(&number).map(|guard| guard.note(by, mark)));
        for mark in before.into_iter().flatten() {
            mark.with(|_| ());
        }
    }
    result
}
