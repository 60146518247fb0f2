//! A counter of the processor, for measuring short times: quicker to read than a clock.
use crate::os;

/// The present count, in ticks of a length that is the same in all threads. Reading it does not wait for
/// earlier instructions to finish.
#[inline(always)]
pub fn now() -> u64 {
    os::ticks()
}

/// Whether ticks have one length whatever the processor does meanwhile.
pub fn are_steady() -> bool {
    os::ticks_are_steady()
}
