//! Times as POSIX gives them.
use core::ffi::c_int;
use libc::{clockid_t, timespec};
use stanchion::deadline::{Clock, Deadline};

/// The deadline that `time` is on `clock`; the error is the number that POSIX asks for.
///
/// # Safety
///
/// `time` must be readable.
pub(crate) unsafe fn deadline(clock: Clock, time: *const timespec) -> Result<Deadline, c_int> {
    // SAFETY: the caller promises that it is readable.
    let time = unsafe { &*time };
    Deadline::at(clock, time.tv_sec, time.tv_nsec).ok_or(libc::EINVAL)
}

/// The clocks that a deadline can be on.
pub(crate) fn clock(id: clockid_t) -> Result<Clock, c_int> {
    match id {
        libc::CLOCK_REALTIME => Ok(Clock::Realtime),
        libc::CLOCK_MONOTONIC => Ok(Clock::Monotonic),
        _ => Err(libc::EINVAL),
    }
}
