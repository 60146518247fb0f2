//! Deadlines as C gives them.
use crate::boundary::place;
use core::ffi::c_int;
use libc::timespec;

pub(crate) use stanchion::deadline::{Clock, Deadline, acquire_until};

/// The clock of that number, a `clockid_t`; `None` if deadlines can not be read on it. (C11 alone does not
/// have that type, but it has the header.)
pub(crate) fn clock(id: c_int) -> Option<Clock> {
    match id {
        libc::CLOCK_MONOTONIC => Some(Clock::Monotonic),
        libc::CLOCK_REALTIME => Some(Clock::Realtime),
        _ => None,
    }
}

/// The moment that `until` says; `None` if nothing can be there, or if its nanoseconds make less than none or
/// a second.
///
/// # Safety
///
/// `until` is null or misaligned, or points at a `timespec`.
pub(crate) unsafe fn read(clock: Clock, until: *const timespec) -> Option<Deadline> {
    // SAFETY: it is aligned and not null, so the caller promises that a `timespec` is there.
    let until = unsafe { place(until)?.read() };
    Deadline::at(clock, until.tv_sec, until.tv_nsec)
}

/// What `acquire` comes to, which waits for something until the moment that `until` says on `clock`.
///
/// # Safety
///
/// As [`read`].
pub(crate) unsafe fn by(
    clock: Clock,
    until: *const timespec,
    acquire: impl FnOnce(&Deadline) -> bool,
) -> c_int {
    // SAFETY: the caller promises what `read` asks.
    match unsafe { read(clock, until) } {
        None => libc::EINVAL,
        Some(deadline) if acquire(&deadline) => 0,
        Some(_) => libc::ETIMEDOUT,
    }
}
