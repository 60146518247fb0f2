//! Sleeping at a word of memory, for locks of other shapes than this crate's. None of these functions changes `errno`.
//!
//! The plain forms are for words that one process uses. The forms for any process also meet threads that have the word's memory mapped
//! elsewhere.
pub use crate::guard::Guard;
use core::ffi::c_int;
use core::sync::atomic::AtomicU32;
use rustix::thread::futex;

/// Sleeps while `word` holds `value`. May return for no reason.
pub fn wait_while(word: &AtomicU32, value: u32) {
    // EINTR and EAGAIN are returns for no reason.
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, None);
}

/// As [`wait_while`], in memory that processes share.
pub fn wait_while_in_any_process(word: &AtomicU32, value: u32) {
    let _ = futex::wait(word, futex::Flags::empty(), value, None);
}

/// Wakes one thread that sleeps at `address`, which may be gone by now: then it wakes nobody, or somebody for nothing, which is what
/// everybody who sleeps at a futex has to expect.
pub fn wake_one(address: *const AtomicU32) {
    wake(address, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG);
}

/// As [`wake_one`], in memory that processes share.
pub fn wake_one_in_any_process(address: *const AtomicU32) {
    wake(address, libc::FUTEX_WAKE);
}

fn wake(address: *const AtomicU32, operation: c_int) {
    // SAFETY: the system call takes the address as a number and reads nothing there. `errno` is this thread's own.
    unsafe {
        let errno = libc::__errno_location();
        let before = errno.read();
        libc::syscall(libc::SYS_futex, address, operation, 1);
        errno.write(before);
    }
}
