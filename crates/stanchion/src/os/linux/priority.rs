//! The scheduling priority of the calling thread, for queues that serve real-time threads first.
use core::ffi::c_int;
use libc::{SCHED_DEADLINE, SCHED_FIFO, SCHED_RESET_ON_FORK, SCHED_RR};

/// The priority of `SCHED_DEADLINE`, above all others.
const DEADLINE: u8 = 100;

/// 0 for a thread that is of no real-time class, 1 to 99 as for `SCHED_FIFO` and `SCHED_RR`, [`DEADLINE`].
///
/// One system call, and a second one for a thread of a real-time class: to be called before a sleep, and at
/// no other time. A system that refuses to tell has no such threads. Leaves `errno` alone.
pub(crate) fn of_caller() -> u8 {
    // SAFETY: the calls write nothing but the priority, which is ours and as wide as the kernel's, and
    // `errno`, which is this thread's own; 0 is the calling thread.
    unsafe {
        let errno = libc::__errno_location();
        let before = errno.read();
        let class = libc::syscall(libc::SYS_sched_getscheduler, 0) as c_int;
        let priority = match class & !SCHED_RESET_ON_FORK {
            SCHED_FIFO | SCHED_RR => {
                // All that the kernel knows of `sched_param`; that of a C library may be longer.
                let mut priority: c_int = 0;
                libc::syscall(libc::SYS_sched_getparam, 0, &raw mut priority);
                priority.clamp(0, 99) as u8
            }
            SCHED_DEADLINE => DEADLINE,
            _ => 0,
        };
        errno.write(before);
        priority
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error;
    use std::thread;

    /// The priority of a thread of this class; `None` if it may not have it.
    fn in_class(class: c_int, priority: c_int) -> Option<u8> {
        let body = move || {
            // SAFETY: the priority is there, as wide as the kernel's; 0 is the calling thread.
            let refused =
                unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, class, &raw const priority) } != 0;
            if refused {
                assert_eq!(Error::last_os_error().raw_os_error(), Some(libc::EPERM), "class {class}");
                return None;
            }
            // SAFETY: this thread's own number.
            unsafe { *libc::__errno_location() = 4711 };
            let priority = of_caller();
            assert_eq!(Error::last_os_error().raw_os_error(), Some(4711), "errno is left alone");
            Some(priority)
        };
        thread::spawn(body).join().expect("no panic")
    }

    #[test]
    fn classes_and_priorities_are_told_apart() {
        for class in [libc::SCHED_OTHER, libc::SCHED_BATCH, libc::SCHED_IDLE] {
            assert_eq!(in_class(class, 0), Some(0), "class {class}");
        }
        for (class, priority) in
            [(SCHED_FIFO, 1), (SCHED_FIFO, 99), (SCHED_RR, 40), (SCHED_FIFO | SCHED_RESET_ON_FORK, 7)]
        {
            // Not everybody may have these.
            if let Some(told) = in_class(class, priority) {
                assert_eq!(c_int::from(told), priority, "class {class}");
            }
        }
    }
}
