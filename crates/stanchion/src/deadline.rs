//! Deadlines against their clocks, and acquiring a lock until one.
pub use crate::moment::{Clock, Deadline};

use crate::moment::SECOND;
use crate::os;
use core::time::Duration;

impl Deadline {
    /// The moment `delay` from now, on the monotonic clock.
    pub fn after(delay: Duration) -> Self {
        Self::after_on(Clock::Monotonic, delay)
    }

    /// The moment `delay` from now, on this clock.
    pub(crate) fn after_on(clock: Clock, delay: Duration) -> Self {
        let (now, nanos) = os::time(clock);
        let nanos = nanos + delay.subsec_nanos();
        let secs = now.saturating_add_unsigned(delay.as_secs()).saturating_add((nanos / SECOND).into());
        Self { clock, secs, nanos: nanos % SECOND }
    }

    /// Whether it is over.
    pub fn has_passed(&self) -> bool {
        os::time(self.clock) >= (self.secs, self.nanos)
    }

    /// How many nanoseconds are left until then; 0 once it is over.
    pub fn remaining(&self) -> u64 {
        let (now, past) = os::time(self.clock);
        let secs = self.secs.saturating_sub(now);
        let nanos = i64::from(self.nanos) - i64::from(past);
        secs.saturating_mul(SECOND.into()).saturating_add(nanos).try_into().unwrap_or(0)
    }
}

/// The first sleep between two tries, and the longest.
const FIRST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(1);
/// So many tries come first, with a spin hint between them.
const POLLS: u32 = 128;

/// Sleeps for `pause`, or less if a signal comes. No cancellation point, and leaves `errno` alone.
pub fn sleep(pause: Duration) {
    os::sleep(pause);
}

/// Tries `attempt` until it succeeds, which is `true`, or the deadline has passed. It tries at least once.
///
/// This is how locks that queue are acquired for a limited time: a place in such a queue cannot be given up.
/// Between the tries the thread sleeps for 20 us at first, and for 1 ms at most.
///
/// - Fairness: none. A lock that others acquire all the time may be missed until the deadline.
/// - Progress: a lock that stays free is acquired within 1 ms and the time that the system takes to wake a
///   thread.
pub fn acquire_until(deadline: &Deadline, mut attempt: impl FnMut() -> bool) -> bool {
    for _ in 0..POLLS {
        if attempt() {
            return true;
        }
        core::hint::spin_loop();
    }
    let mut pause = FIRST_PAUSE;
    while !deadline.has_passed() {
        sleep(pause);
        if attempt() {
            return true;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_passes_on_its_own_clock() {
        for clock in [Clock::Monotonic, Clock::Realtime] {
            let past = Deadline::at(clock, 1, 0).expect("a time");
            assert!(past.has_passed(), "{past:?}");
            let future = Deadline::at(clock, i64::MAX, 999_999_999).expect("a time");
            assert!(!future.has_passed(), "{future:?}");
        }
        assert_eq!(Deadline::at(Clock::Realtime, 0, 1_000_000_000), None);
        assert_eq!(Deadline::at(Clock::Realtime, 0, -1), None);
        assert!(!Deadline::after(Duration::MAX).has_passed(), "no overflow");
    }

    #[test]
    fn an_attempt_is_made_even_if_the_deadline_is_over_and_none_after_it() {
        let past = Deadline::at(Clock::Monotonic, -5, 0).expect("a time");
        let mut tries = 0;
        assert!(acquire_until(&past, || {
            tries += 1;
            true
        }));
        assert_eq!(tries, 1);
        assert!(!acquire_until(&past, || false));
    }

    #[test]
    fn a_lock_that_becomes_free_is_acquired() {
        let mut tries = 0;
        let soon = Deadline::after(Duration::from_mins(1));
        assert!(acquire_until(&soon, || {
            tries += 1;
            tries > POLLS + 3
        }));
    }
}
