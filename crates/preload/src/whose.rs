//! Whose a condition variable is.
//!
//! It says so itself if it is ours. Otherwise it is libc's: one that is shared between processes, and one for
//! which somebody waits, or waited, by functions of libc that did not come to us (`two.rs`). One that is all
//! zero, as initialisers make it, is nobody's until somebody waits for it: a signal is for nobody then, and
//! may go to libc.
//!
//! If somebody waits for one of ours by libc's functions, the process is ended with a line as soon as a
//! thread of ours uses it. A signal by libc's functions to waiters of ours leaves no trace, since libc finds
//! that nobody waits, and wakes nobody.
use crate::config;
use crate::object::{Condition, OURS};
use crate::two::die_of_two;
use core::sync::atomic::Ordering;
use libc::pthread_cond_t;

/// Whether the condition is libc's, or nobody's. If it is ours, it is fit to be used (IW4, IW5).
///
/// # Safety
///
/// `condition` must point to an object that is or was initialised, and lives.
#[inline(always)]
pub(crate) unsafe fn is_libcs(condition: *mut pthread_cond_t) -> bool {
    if config::choice().is_none() {
        return true;
    }
    // SAFETY: the caller's promise; every field that is looked at is atomic.
    let this = unsafe { Condition::at(condition) };
    // ord: PX11 pairs PX13: one that is claimed is nobody else's before that
    if this.whose.load(Ordering::Acquire) != OURS {
        return true;
    }
    // ord: PX12 alone: libc's count, which is only compared
    if this.libcs_waits.load(Ordering::Relaxed) != 0 {
        die_of_two(b"a condition variable that the program waits for");
    }
    this.adopt();
    false
}

/// Makes a condition ours if it is nobody's. Whether it is ours.
///
/// # Safety
///
/// As for [`is_libcs`].
pub(crate) unsafe fn claim(condition: *mut pthread_cond_t) -> bool {
    // SAFETY: the caller's promise; the bytes are there, and all of them may be read.
    unsafe {
        if !is_libcs(condition) {
            return true;
        }
        let bytes = condition.cast::<[u64; size_of::<pthread_cond_t>() / 8]>().read_volatile();
        if config::choice().is_none() || bytes != [0; 6] {
            // Another thread of ours may have been faster.
            return !is_libcs(condition);
        }
        // ord: PX13 pairs PX11: nothing of ours is there yet
        let _ = Condition::at(condition).whose.compare_exchange(0, OURS, Ordering::AcqRel, Ordering::Relaxed);
        !is_libcs(condition)
    }
}
