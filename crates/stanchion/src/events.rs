//! Reading the lock events of locks that count them (those on [`Native<Counted>`](crate::native::Native)).
use crate::native;
use crate::rows;
pub use rows::events::ALL;
use stanchion_core::Event;

/// One line of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventCount {
    /// Which event.
    pub event: Event,
    /// How often it was counted since the last [`reset`], over all threads and all counting locks of the
    /// process.
    pub count: u64,
}

/// All events and their counts.
pub fn snapshot() -> Vec<EventCount> {
    ALL.iter().map(|&event| EventCount { event, count: total(event) }).collect()
}

/// How often one event was counted since the last [`reset`], over all threads and all counting locks of the
/// process.
pub fn total(event: Event) -> u64 {
    native::total_event(event)
}

/// Sets every count to zero.
pub fn reset() {
    native::reset_events();
}
