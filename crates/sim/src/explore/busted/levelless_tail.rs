//! `busted-levelless-tail`: a queued lock whose tail names a context, and not at which level of nesting that
//! queued. Who queues behind a handler takes the node of whom the handler interrupted for the handler's.
//!
//! This is what `owner-qspin` avoids by having the level in its tail. Detector: nobody can run; needs
//! interrupts.
use super::queued::{Flaw, Queued};
use crate::explore::failure::Kind;
use crate::explore::fault::Fault;
use crate::explore::subjects::Subject;

/// The flaw.
enum LevellessTail {}

impl Flaw for LevellessTail {
    const NAME: &'static str = "busted-levelless-tail";
    const DROPS_LEVEL: bool = true; // BUG: all nodes of a context look the same
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a queued lock whose tail does not tell a handler from whom it interrupts";
    Subject::broken::<Queued<crate::explore::Stepped, LevellessTail>>(
        about,
        &[Kind::Stuck],
        2_000,
        &[Fault::Interrupts],
    )
}
