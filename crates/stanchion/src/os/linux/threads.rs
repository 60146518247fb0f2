//! Threads and processes.
use core::ffi::CStr;

pub(crate) fn yield_slice() {
    rustix::thread::sched_yield();
}

pub(crate) fn process() -> u32 {
    // SAFETY: a call without arguments, which cannot fail.
    unsafe { libc::getpid() }.cast_unsigned()
}

pub(crate) fn thread() -> u32 {
    // SAFETY: a call without arguments, which cannot fail.
    unsafe { libc::gettid() }.cast_unsigned()
}

/// On its way out the system passes a full barrier (for `membarrier`, as it gives up the thread's memory),
/// and only then it is found no more.
pub(crate) fn has_ended(process: u32, thread: u32) -> bool {
    // SAFETY: signal 0 is none: the system only looks whether it could be sent. `errno` is the calling
    // thread's own, and is as before.
    let answer = unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        let sent = libc::syscall(libc::SYS_tgkill, process, thread, 0);
        let answer = if sent == 0 { 0 } else { *errno };
        *errno = before;
        answer
    };
    answer == libc::ESRCH
}

pub(crate) fn on_fork(handler: extern "C" fn()) {
    // SAFETY: the handler stays where it is as long as this code does: libc forgets it with the library that
    // registered it.
    unsafe { libc::pthread_atfork(None, None, Some(handler)) };
}

pub(crate) fn variable(name: &CStr) -> Option<&'static [u8]> {
    // SAFETY: the name is NUL-terminated; the result is null or a NUL-terminated string that stays as long as
    // nobody changes the environment, which nobody does while the program is being loaded.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        (!value.is_null()).then(|| CStr::from_ptr(value).to_bytes())
    }
}
