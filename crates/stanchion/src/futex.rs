//! Sleeping at a word of memory, for locks of other shapes than this crate's. None of these functions changes
//! `errno`.
//!
//! The plain forms are for words that one process uses. The forms for any process also meet threads that have
//! the word's memory mapped elsewhere.
pub use crate::guard::Guard;
use crate::moment::{Clock, Deadline};
use crate::os;
use core::sync::atomic::{AtomicU32, Ordering};
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

/// Sleeps while `word`, which must be the thread's own, holds `value`, until the deadline at the latest. The
/// thread calls `look` when it has slept for a second, again each time that it has slept as long again, and
/// once a minute in the end. `false` if the deadline has passed.
pub(crate) fn wait_and_look(
    word: &AtomicU32,
    value: u32,
    deadline: Option<&Deadline>,
    mut look: impl FnMut(),
) -> bool {
    // The deadline's: who sets that beyond the deadline ends the wait, and a sleep on another would last.
    let clock = deadline.map_or(Clock::Monotonic, Deadline::clock);
    let mut pause = FIRST_LOOK;
    let mut next = Deadline::after_on(clock, pause);
    // ord: L20 alone: the caller looks again at what it finds
    while word.load(Ordering::Relaxed) == value {
        let last = deadline.filter(|deadline| deadline.remaining() <= next.remaining());
        // Signals end the sleep as well, and do not put off the look.
        let in_time = os::wait(word, value, last.or(Some(&next)));
        if !in_time && last.is_some() {
            return false;
        }
        if !in_time {
            look();
            pause = (pause * 2).min(LAST_LOOK);
            next = Deadline::after_on(clock, pause);
        }
    }
    true
}

/// As [`wait_while`] for about this long at most, in memory that processes share.
pub fn wait_while_in_any_process(word: &AtomicU32, value: u32, time: Duration) {
    os::wait_in_any_process(word, value, time);
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
