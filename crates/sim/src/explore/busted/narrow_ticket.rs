//! `busted-narrow-ticket`: a ticket lock that compares one bit of its tickets, so that the holder and the
//! second waiter are served together.
//!
//! Detector: mutual exclusion, with three contexts or more; or nobody can run any more, when the holders'
//! releases cancel out.
use super::ticketed::{FIELDS, Flaw, Ticketed};
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;

/// The flaw.
enum Narrow {}

impl Flaw for Narrow {
    const NAME: &'static str = "busted-narrow-ticket";
    const MASK: u16 = 1; // BUG: room for two, not for all that wait
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a ticket lock whose tickets wrap too early";
    Subject::broken::<Ticketed<crate::explore::Stepped, Narrow>>(
        about,
        &[Kind::Exclusion, Kind::Stuck, Kind::Leftover],
        50,
        &[],
    )
    .worded(FIELDS)
}
