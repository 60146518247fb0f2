//! `busted-torn-draw`: a ticket lock whose draw is a load and a store, so that two contexts draw the same
//! ticket.
//!
//! Detector: mutual exclusion; or nobody can run, or the word goes backwards, if the second of the two comes
//! late.
use super::ticketed::{FIELDS, Flaw, Ticketed};
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;

/// The flaw.
enum TornDraw {}

impl Flaw for TornDraw {
    const NAME: &'static str = "busted-torn-draw";
    const TORN: bool = true; // BUG: not one step
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a ticket lock that may hand out a ticket twice";
    Subject::broken::<Ticketed<crate::explore::Stepped, TornDraw>>(
        about,
        &[Kind::Exclusion, Kind::Stuck, Kind::Transition, Kind::Leftover],
        50,
        &[],
    )
    .worded(FIELDS)
}
