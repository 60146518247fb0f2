//! `busted-blind-clear`: the last in the queue clears the tail by a store when it sees nobody linked behind
//! it. A waiter that has changed the tail and not linked itself yet is forgotten.
//!
//! Detector: nobody can run.
use super::queued::{Flaw, Queued};
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;

/// The flaw.
enum BlindClear {}

impl Flaw for BlindClear {
    const NAME: &'static str = "busted-blind-clear";
    const CLEARS_BLINDLY: bool = true; // BUG: the tail may be somebody else's by now
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a queued lock that forgets a waiter at the end of the queue";
    Subject::broken::<Queued<crate::explore::Stepped, BlindClear>>(about, &[Kind::Stuck], 200, &[])
}
