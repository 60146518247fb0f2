//! What belongs to the exploration and not to one execution of it.
//!
//! Loom runs all contexts of a program as coroutines on one host thread, so variables of that thread are
//! shared by them without being seen by loom.
use crate::interrupts::Points;
use crate::weaken::Weakening;
use core::cell::{Cell, RefCell};
use core::panic::Location;
use stanchion_core::Event;
use stanchion_family::events::ALL;
use std::collections::BTreeSet;

/// A place in lock code, with the operation there.
pub type Site = (&'static str, u32, &'static str);

thread_local! {
    static SHARED: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
    static EXCHANGED: RefCell<BTreeSet<usize>> = const { RefCell::new(BTreeSet::new()) };
    static NEXT_CELL: Cell<usize> = const { Cell::new(0) };
    static NEXT_PLACE: Cell<usize> = const { Cell::new(0) };
    static EXECUTIONS: Cell<u64> = const { Cell::new(0) };
    static WEAKENING: RefCell<Option<Weakening>> = const { RefCell::new(None) };
    static HITS: Cell<u64> = const { Cell::new(0) };
    static REACHED: RefCell<Option<BTreeSet<Site>>> = const { RefCell::new(None) };
    static POINTS: Cell<Option<Points>> = const { Cell::new(None) };
    static FIRED: Cell<usize> = const { Cell::new(0) };
    static EVENTS: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The payload of the panic that ends an exploration which has to start anew, because it learned something
/// about its cells.
pub(crate) struct Learned;

/// Forgets what is known about the cells of the last program.
pub(crate) fn begin_program() {
    SHARED.with_borrow_mut(BTreeSet::clear);
    EXCHANGED.with_borrow_mut(BTreeSet::clear);
    EVENTS.with_borrow_mut(|events| *events = vec![0; ALL.len()]);
    HITS.set(0);
}

/// From now on interrupts come at these points.
pub(crate) fn set_points(points: Points) {
    POINTS.set(Some(points));
    FIRED.set(0);
}

/// The point of the handler `number`, if it comes at one.
pub(crate) fn point(number: usize) -> Option<usize> {
    POINTS.get().and_then(|points| points.of(number))
}

/// Whether a second handler interrupts the first one.
pub(crate) fn points_nest() -> bool {
    POINTS.get().is_some_and(Points::nest)
}

/// Whether any handler comes at a point.
pub(crate) fn has_points() -> bool {
    point(0).is_some()
}

/// So many handlers have been started in this execution.
pub(crate) fn fired(handlers: usize) {
    FIRED.set(FIRED.get().max(handlers));
}

/// The most handlers that were started in any execution.
pub(crate) fn most_fired() -> usize {
    FIRED.get()
}

/// An exploration starts, perhaps anew.
pub(crate) fn begin_exploration() {
    EXECUTIONS.set(0);
}

/// An execution starts: its first cell is cell 0.
pub(crate) fn begin_execution() {
    EXECUTIONS.set(EXECUTIONS.get() + 1);
    NEXT_CELL.set(0);
    NEXT_PLACE.set(0);
}

/// The cells that follow are those of a lock or of a context, one of `group`: what is learned of one of
/// these, holds for all.
pub(crate) fn begin_group(group: usize) {
    NEXT_PLACE.set(group * 1_000);
}

/// How many executions have started.
pub(crate) fn executions() -> u64 {
    EXECUTIONS.get()
}

/// The number of the next cell, the same in each execution, and its place in its group.
pub(crate) fn number_cell() -> (usize, usize) {
    (NEXT_CELL.replace(NEXT_CELL.get() + 1), NEXT_PLACE.replace(NEXT_PLACE.get() + 1))
}

/// Whether more than one context touches a cell at `place`.
pub(crate) fn is_shared(place: usize) -> bool {
    SHARED.with_borrow(|shared| shared.contains(&place))
}

/// A second context touches the cell.
pub(crate) fn becomes_shared(place: usize) -> ! {
    SHARED.with_borrow_mut(|shared| shared.insert(place));
    std::panic::panic_any(Learned)
}

/// Whether the cell at `place` is ever changed by read-modify-write.
pub(crate) fn is_exchanged(place: usize) -> bool {
    EXCHANGED.with_borrow(|places| places.contains(&place))
}

/// The cell is changed by read-modify-write.
pub(crate) fn exchange(place: usize) {
    if EXCHANGED.with_borrow_mut(|places| places.insert(place)) {
        std::panic::panic_any(Learned)
    }
}

/// Sets what is weakened from now on.
pub fn weaken(weakening: Option<Weakening>) {
    WEAKENING.set(weakening);
}

pub(crate) fn with_weakening<R>(f: impl FnOnce(Option<&Weakening>) -> R) -> R {
    WEAKENING.with_borrow(|weakening| f(weakening.as_ref()))
}

pub(crate) fn hit() {
    HITS.set(HITS.get() + 1);
}

/// How many accesses were weakened in the last program.
pub(crate) fn hits() -> u64 {
    HITS.get()
}

/// Notes from now on which sites are reached.
pub fn note_sites() {
    REACHED.set(Some(BTreeSet::new()));
}

/// The sites reached since the last call.
pub fn take_sites() -> BTreeSet<Site> {
    REACHED.with_borrow_mut(|reached| reached.as_mut().map(core::mem::take).unwrap_or_default())
}

pub(crate) fn reach(at: &'static Location<'static>, op: &'static str) {
    REACHED.with_borrow_mut(|reached| {
        if let Some(reached) = reached {
            reached.insert((at.file(), at.line(), op));
        }
    });
}

/// Counts an event over all executions.
pub(crate) fn count(event: Event) {
    EVENTS.with_borrow_mut(|events| events[event.index()] += 1);
}

/// Events that happened in any execution of the last program.
pub(crate) fn events() -> Vec<(Event, u64)> {
    let counted = EVENTS.with_borrow(Vec::clone);
    ALL.iter().copied().zip(counted).filter(|(_, times)| *times > 0).collect()
}
