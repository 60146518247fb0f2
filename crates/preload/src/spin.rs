//! `pthread_spin_lock`, which spins for a while and then sleeps between its looks.
//!
//! The lock is libc's, with libc's other functions: four bytes have no room for whom to wake. So one works
//! between processes, and beside functions of libc that do not come to us. Nobody is woken: a waiter looks
//! 128 times, then sleeps for 20 us, and for twice as long each time, 1 ms at most
//! ([`acquire_until`]). It may be passed for as long.
use crate::config;
use core::ffi::c_int;
use core::time::Duration;
use libc::EBUSY;
use stanchion::deadline::{Deadline, acquire_until};

pub(crate) mod libc_s {
    //! libc's own.
    use core::ffi::c_int;

    crate::libc_own::own! {
        fn pthread_spin_lock(lock: *mut c_int);
        fn pthread_spin_trylock(lock: *mut c_int);
    }
}

/// # Safety
///
/// As POSIX says: the lock is initialised.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_spin_lock(lock: *mut c_int) -> c_int {
    // SAFETY: the caller's lock, for libc's functions of the same.
    unsafe {
        if config::choice().is_none() {
            return libc_s::pthread_spin_lock(lock);
        }
        let mut answer = libc_s::pthread_spin_trylock(lock);
        if answer == EBUSY {
            acquire_until(&Deadline::after(Duration::MAX), || {
                answer = libc_s::pthread_spin_trylock(lock);
                answer != EBUSY
            });
        }
        answer
    }
}
