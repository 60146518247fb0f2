//! Sleeping at a word of memory, for locks of other shapes than this crate's. None of these functions changes
//! `errno`.
//!
//! The plain forms are for words that one process uses. The forms for any process also meet threads that have
//! the word's memory mapped elsewhere.
pub use crate::guard::Guard;
use crate::moment::Deadline;
use crate::os;
use core::sync::atomic::AtomicU32;
use core::time::Duration;

/// After so long a sleep a thread looks around for the first time: far beyond what waits of a running program
/// take, and short for who looks at one that hangs.
const FIRST_LOOK: Duration = Duration::from_secs(1);

/// The longest sleep between two looks: a thread that idles costs some ten microseconds a minute.
const LAST_LOOK: Duration = Duration::from_mins(1);

/// Sleeps while `word` holds `value`. May return for no reason.
pub fn wait_while(word: &AtomicU32, value: u32) {
    os::wait(word, value, None);
}

/// Sleeps while `word` holds `value`, until the deadline at the latest. The thread calls `look` when it has
/// slept for a second, again each time that it has slept as long again, and once a minute in the end. `false`
/// if the deadline has passed; otherwise it may return for no reason.
pub(crate) fn wait_and_look(
    word: &AtomicU32,
    value: u32,
    deadline: Option<&Deadline>,
    mut look: impl FnMut(),
) -> bool {
    let mut pause = FIRST_LOOK;
    loop {
        match deadline {
            Some(deadline) if u128::from(deadline.remaining()) <= pause.as_nanos() => {
                return os::wait(word, value, Some(deadline));
            }
            _ if os::wait(word, value, Some(&Deadline::after(pause))) => return true,
            _ => look(),
        }
        pause = (pause * 2).min(LAST_LOOK);
    }
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
