//! Sleeping and waking at a word: futexes.
use crate::moment::{Clock, Deadline};
use core::ffi::c_int;
use core::num::NonZeroU32;
use core::sync::atomic::AtomicU32;
use core::time::Duration;
use rustix::io::Errno;
use rustix::thread::futex;
use rustix::time::Timespec;

pub(crate) fn wait(word: &AtomicU32, value: u32, until: Option<&Deadline>) -> bool {
    let flags = match until.map(Deadline::clock) {
        Some(Clock::Realtime) => futex::Flags::PRIVATE | futex::Flags::CLOCK_REALTIME,
        _ => futex::Flags::PRIVATE,
    };
    let until = until.map(|until| {
        // The kernel refuses times before the epoch, which are over just as the epoch is.
        let (secs, nanos) = until.since_epoch();
        if secs < 0 {
            Timespec { tv_sec: 0, tv_nsec: 0 }
        } else {
            Timespec { tv_sec: secs, tv_nsec: nanos.into() }
        }
    });
    // EINTR and EAGAIN are returns for no reason.
    futex::wait_bitset(word, flags, value, until.as_ref(), NonZeroU32::MAX) != Err(Errno::TIMEDOUT)
}

pub(crate) fn wait_for(word: &AtomicU32, value: u32, time: Duration) {
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, Some(&super::time::span(time)));
}

pub(crate) fn wait_in_any_process(word: &AtomicU32, value: u32, time: Duration) {
    let _ = futex::wait(word, futex::Flags::empty(), value, Some(&super::time::span(time)));
}

pub(crate) fn wake(word: &AtomicU32, threads: u32) {
    // Failing would mean a bad address.
    let _ = futex::wake(word, futex::Flags::PRIVATE, threads);
}

pub(crate) fn wake_at(address: *const AtomicU32) {
    wake_one(address, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG);
}

pub(crate) fn wake_at_in_any_process(address: *const AtomicU32) {
    wake_one(address, libc::FUTEX_WAKE);
}

fn wake_one(address: *const AtomicU32, operation: c_int) {
    // SAFETY: the system call takes the address as a number and reads nothing there. `errno` is this thread's
    // own.
    unsafe {
        let errno = libc::__errno_location();
        let before = errno.read();
        libc::syscall(libc::SYS_futex, address, operation, 1);
        errno.write(before);
    }
}
