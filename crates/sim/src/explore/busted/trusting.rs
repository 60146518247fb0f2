//! `busted-trusting`: a waiter that was woken believes that the lock is its own. It may have been woken for
//! no reason, or by a kick for an earlier sleep, or the lock may have been stolen.
//!
//! Detector: mutual exclusion.
use super::halting::{FIELDS, Flaw, Halting};
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;

/// The flaw.
enum Trusting {}

impl Flaw for Trusting {
    const NAME: &'static str = "busted-trusting";
    const TRUSTS_WAKE_UPS: bool = true; // BUG: a wake-up says nothing
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a waiter that takes a wake-up for the lock";
    Subject::broken::<Halting<crate::explore::Stepped, Trusting>>(about, &[Kind::Exclusion], 500, &[])
        .worded(FIELDS)
}
