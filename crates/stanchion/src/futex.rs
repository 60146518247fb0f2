//! Sleeping at a word of memory, for locks of other shapes than this crate's. Neither function changes `errno`.
use core::sync::atomic::AtomicU32;
use rustix::thread::futex;

/// Sleeps while `word` holds `value`. May return for no reason.
pub fn wait_while(word: &AtomicU32, value: u32) {
    // EINTR and EAGAIN are returns for no reason.
    let _ = futex::wait(word, futex::Flags::PRIVATE, value, None);
}

/// Wakes one thread that sleeps at `address`, which may be gone by now: then it wakes nobody, or somebody for nothing, which is what
/// everybody who sleeps at a futex has to expect.
#[expect(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "the address is a number to the kernel; nothing is read there"
)]
pub fn wake_one(address: *const AtomicU32) {
    // SAFETY: the system call takes the address as a number and reads nothing there. `errno` is this thread's own.
    unsafe {
        let errno = libc::__errno_location();
        let before = errno.read();
        libc::syscall(libc::SYS_futex, address, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1);
        errno.write(before);
    }
}
