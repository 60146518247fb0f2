//! `busted-deaf`: lets newcomers steal until the head of the queue asks for the lock, and then goes on
//! stealing.
//!
//! Detector: the no-barging flag. Once it is visible, each context may acquire once more at most, with a
//! claim that was under way.
use super::queued::{Flaw, Queued};
use crate::explore::failure::Kind;
use crate::explore::subjects::Subject;

/// The flaw.
enum Deaf {}

impl Flaw for Deaf {
    const NAME: &'static str = "busted-deaf";
    const STEALS: bool = true;
    const ASKS: bool = true;
    const DEAF: bool = true; // BUG: the head is not heard
}

/// The row of the list.
pub(super) fn subject() -> Subject {
    let about = "a queued lock whose newcomers do not heed the head that asks for the lock";
    Subject::broken::<Queued<crate::explore::Stepped, Deaf>>(about, &[Kind::Overtaken], 100, &[])
        .with_no_barging(1)
}
