//! `busted-shared-node`: a queued lock that does not count nesting. A handler that queues uses the node with
//! which its context already stands in another queue.
//!
//! Detector: nobody can run; needs interrupts.
use super::queued::{Flaw, Queued};
use crate::explore::failure::Kind;
use crate::explore::fault::Fault;
use crate::explore::subjects::Subject;

/// The flaw.
enum SharedNode {}

impl Flaw for SharedNode {
    const NAME: &'static str = "busted-shared-node";
    const SHARES_NODE: bool = true; // BUG: the node is in another queue
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a queued lock whose handlers use the node of whom they interrupt";
    Subject::broken::<Queued<crate::explore::Stepped, SharedNode>>(
        about,
        &[Kind::Stuck],
        1_000,
        &[Fault::Interrupts],
    )
}
