//! Sleeping at a word of memory, for locks of other shapes than this crate's. None of these functions changes
//! `errno`.
//!
//! The plain forms are for words that one process uses. The forms for any process also meet threads that have
//! the word's memory mapped elsewhere.
pub use crate::guard::Guard;
use crate::os;
use core::sync::atomic::AtomicU32;

/// Sleeps while `word` holds `value`. May return for no reason.
pub fn wait_while(word: &AtomicU32, value: u32) {
    os::wait(word, value, None);
}

/// As [`wait_while`], in memory that processes share.
pub fn wait_while_in_any_process(word: &AtomicU32, value: u32) {
    os::wait_in_any_process(word, value);
}

/// Wakes one thread that sleeps at `address`, which may be gone by now: then it wakes nobody, or somebody for
/// nothing, which is what everybody who sleeps at a futex has to expect.
pub fn wake_one(address: *const AtomicU32) {
    os::wake_at(address);
}

/// As [`wake_one`], in memory that processes share.
pub fn wake_one_in_any_process(address: *const AtomicU32) {
    os::wake_at_in_any_process(address);
}
