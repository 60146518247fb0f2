//! `busted-greedy`: states that a waiter is overtaken once by each other context, and lets newcomers steal
//! without end.
//!
//! Detector: the bound on overtaking.
use super::queued::{Flaw, Queued};
use crate::explore::Overtaking;
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;

/// The flaw.
enum Greedy {}

impl Flaw for Greedy {
    const NAME: &'static str = "busted-greedy";
    const STEALS: bool = true; // BUG: no bound on it
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a queued lock that lets newcomers steal without the bound that it states";
    Subject::broken::<Queued<crate::explore::Stepped, Greedy>>(about, &[Kind::Overtaken], 100, &[])
        .stating(Overtaking::AtMost(1))
}
