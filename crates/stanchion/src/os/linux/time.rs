//! Clocks and sleeping.
use crate::moment::Clock;
use core::time::Duration;
use rustix::thread::nanosleep;
use rustix::time::{ClockId, Timespec, clock_gettime};

#[inline]
pub(crate) fn time(clock: Clock) -> (i64, u32) {
    let time = clock_gettime(match clock {
        Clock::Monotonic => ClockId::Monotonic,
        Clock::Realtime => ClockId::Realtime,
    });
    (time.tv_sec, time.tv_nsec as u32)
}

/// rustix looks for the kernel's clock by `dlsym` at the first use, which would wait for a thread that is
/// inside `dlopen`.
pub(crate) fn prepare_clock() {
    time(Clock::Monotonic);
}

pub(crate) fn sleep(pause: Duration) {
    let _ = nanosleep(&span(pause));
}

pub(super) fn span(time: Duration) -> Timespec {
    Timespec { tv_sec: time.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: time.subsec_nanos().into() }
}
