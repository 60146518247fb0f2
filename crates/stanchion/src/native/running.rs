//! The clock of waits, how long one spin hint takes, and where the calling thread runs.
use crate::deadline::Clock;
use crate::os;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU32, Ordering};

/// The CPU that the calling thread runs on at this moment, plus one; 0 if that would take a system call.
/// Waiting loops ask.
#[inline]
pub(super) fn here() -> u32 {
    os::cpu().map_or(0, |cpu| cpu.wrapping_add(1))
}

/// Nanoseconds of the monotonic clock.
#[inline]
pub(super) fn now() -> u64 {
    let (secs, nanos) = os::time(Clock::Monotonic);
    secs as u64 * 1_000_000_000 + u64::from(nanos)
}

/// A clock that wraps every four seconds.
pub(super) fn nanos() -> u32 {
    now() as u32
}

/// Spin hints in 1024 ns; 0 until measured. Processors differ by a factor of fourteen.
static HINTS_PER_1024NS: AtomicU32 = AtomicU32::new(0);
const CALIBRATION_HINTS: u32 = 32;

/// Lets about `nanos` nanoseconds pass with spin hints.
#[inline]
pub(super) fn relax(nanos: u32) {
    // ord: N32 alone: any thread's measurement will do
    let mut rate = HINTS_PER_1024NS.load(Ordering::Relaxed);
    if rate == 0 {
        rate = calibrate();
    }
    for _ in 0..hints(nanos, rate) {
        spin_loop();
    }
}

fn hints(nanos: u32, rate: u32) -> u64 {
    (u64::from(nanos) * u64::from(rate) / 1024).max(1)
}

/// Times a few hints. A preemption makes a round too long, never too short, so the shortest of three counts.
#[cold]
fn calibrate() -> u32 {
    let round = || {
        let began = now();
        for _ in 0..CALIBRATION_HINTS {
            spin_loop();
        }
        now() - began
    };
    let shortest = round().min(round()).min(round()).max(1);
    let rate = (u64::from(CALIBRATION_HINTS) * 1024 / shortest).clamp(1, 1024) as u32;
    // ord: N33 alone: any thread's measurement will do
    HINTS_PER_1024NS.store(rate, Ordering::Relaxed);
    rate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_turned_into_hints() {
        assert_eq!(hints(1024, 40), 40);
        assert_eq!(hints(1, 40), 1, "at least one");
        assert!(calibrate() >= 1);
    }
}
