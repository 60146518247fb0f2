//! `busted-early-look`: a releaser that looks for a sleeper before it releases. One that goes to sleep in
//! between is never kicked.
//!
//! Detector: nobody can run.
use super::halting::{FIELDS, Flaw, Halting};
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;

/// The flaw.
enum EarlyLook {}

impl Flaw for EarlyLook {
    const NAME: &'static str = "busted-early-look";
    const LOOKS_EARLY: bool = true; // BUG: the mark may be left right after
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a releaser that looks for sleepers too early";
    Subject::broken::<Halting<crate::explore::Stepped, EarlyLook>>(about, &[Kind::Stuck], 200, &[])
        .worded(FIELDS)
}
