//! The end of a child with what it used, which only the kernel's `wait4` tells of one child alone.
#![expect(unsafe_code, reason = "wait4 has no safe wrapper among our dependencies")]
use core::mem::MaybeUninit;
use core::time::Duration;
use rustix::process::Pid;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What a child and the descendants that it waited for have used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub cpu: Duration,
    /// The largest of them, not the sum.
    pub max_rss_kib: u64,
}

/// Waits for a child to end, and lets the kernel forget it.
pub(crate) fn reap(pid: Pid) -> io::Result<(ExitStatus, Usage)> {
    let (mut status, mut usage) = (0, MaybeUninit::<libc::rusage>::zeroed());
    loop {
        // SAFETY: both pointers are to writable values of the types that the call fills, and they live
        // through it.
        let reaped =
            unsafe { libc::wait4(pid.as_raw_nonzero().get(), &raw mut status, 0, usage.as_mut_ptr()) };
        if reaped >= 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: a `rusage` is made of integers, for which the zeroes above are valid, and the call only
    // overwrites them.
    let usage = unsafe { usage.assume_init() };
    let time = |value: libc::timeval| {
        Duration::from_secs(value.tv_sec as u64) + Duration::from_micros(value.tv_usec as u64)
    };
    let usage =
        Usage { cpu: time(usage.ru_utime) + time(usage.ru_stime), max_rss_kib: usage.ru_maxrss as u64 };
    Ok((ExitStatus::from_raw(status), usage))
}
