//! `busted-no-fence`: a waiter that leaves its mark and looks at the lock without a barrier in between, while
//! the releaser stores the lock and looks at the mark. Both stores wait in their buffers, both looks see the
//! past, and nobody is kicked.
//!
//! Detector: nobody can run; needs store buffers, without which this lock is sound.
use super::halting::{FIELDS, Flaw, Halting};
use crate::explore::failure::Kind;
use crate::explore::fault::Fault;
use crate::explore::subjects::Subject;

/// The flaw.
enum NoFence {}

impl Flaw for NoFence {
    const NAME: &'static str = "busted-no-fence";
    const NO_FENCE: bool = true; // BUG: the mark may still be in the store buffer
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a waiter that does not order its mark before its look";
    Subject::broken::<Halting<crate::explore::Stepped, NoFence>>(
        about,
        &[Kind::Stuck],
        2_000,
        &[Fault::StoreBuffers],
    )
    .worded(FIELDS)
}
