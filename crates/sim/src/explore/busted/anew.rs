//! `busted-anew`: a waiter that looks at its mark once more and halts while it stays what it is then. A
//! releaser has taken the mark and sent its kick before that look, so the comparison holds, and the kick came
//! before it.
//!
//! Detector: nobody can run; needs kicks that are forgotten if they come before the comparison, or used up by
//! a handler there. Where they are kept, it is sound.
use super::halting::{FIELDS, Flaw, Halting};
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;

/// The flaw.
enum Anew {}

impl Flaw for Anew {
    const NAME: &'static str = "busted-anew";
    const COMPARES_ANEW: bool = true; // BUG: what it should compare with is what it was when the lock was seen held
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a waiter that halts while its mark stays as it is, whatever that is";
    Subject::broken::<Halting<crate::explore::Stepped, Anew>>(about, &[Kind::Stuck], 2_000, &[])
        .worded(FIELDS)
}
