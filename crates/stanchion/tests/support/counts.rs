//! Reading lock events in tests. They are counted for the whole process, so tests that read them take turns.
use stanchion::events;
use stanchion::stanchion_core::Event;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The turn of one test of this process, to be held until the test is over.
pub(crate) fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner) // a failed test does not fail the others
}

/// How often `event` was counted so far.
pub(crate) fn count(event: Event) -> u64 {
    let found = events::snapshot().into_iter().find(|line| line.event == event);
    found.expect("a snapshot names every event").count
}
