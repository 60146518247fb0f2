//! The child of a `fork` has one thread, and objects in which threads wait that it does not have.
//!
//! Who holds an object still does if it is the thread that forked. Who waited is forgotten: each object has
//! the number of the process's last fork in it, and the first who uses one with an older number cleans it up.
//! A process that never forked, and one that called `exec`, looks at no such number.
//!
//! Invariant **IW4**: in a process whose generation is not 0, an object is used only after its generation was
//! found to be the process's.
use crate::cancel;
use crate::config;
use crate::stats;
use crate::trace;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use stanchion::futex::Guard;

/// How many forks lie between this process and the one that was started. After 65 535 they are counted from 1
/// again.
static GENERATION: AtomicU16 = AtomicU16::new(0);

/// The lock of those who clean up.
static BROOM: Guard = Guard::new();

/// The generation of mutexes and reader-writer locks that are initialised now.
#[inline(always)]
pub(crate) fn generation() -> u16 {
    // ord: M36 alone: changes while the process has one thread
    GENERATION.load(Ordering::Relaxed)
}

/// Sees to it that nobody waits at an object whom this process does not have. `clean` forgets who waits
/// there.
#[inline(always)]
pub(crate) fn adopt(of_object: &AtomicU16, clean: impl FnOnce()) {
    // ord: M37 pairs M38: if it is ours, it was cleaned before
    if of_object.load(Ordering::Acquire) != generation() {
        adopt_slow(of_object, clean);
    }
}

#[cold]
fn adopt_slow(of_object: &AtomicU16, clean: impl FnOnce()) {
    BROOM.acquire();
    // ord: M42 alone: changed under the broom only
    if of_object.load(Ordering::Relaxed) != generation() {
        clean();
        // ord: M38 pairs M37: whoever finds the number finds it clean
        of_object.store(generation(), Ordering::Release);
    }
    BROOM.release();
}

extern "C" fn in_child() {
    // ord: M43 alone: the process has one thread
    GENERATION.store(generation().wrapping_add(1).max(1), Ordering::Relaxed);
    BROOM.forget(); // whoever held it does not exist
    // Objects forget who waited before they are used (IW4).
    stanchion::native::forget_other_threads();
    cancel::forked();
    config::forked();
    stats::forked();
    trace::forked();
}

/// Whether libc was asked to tell us of forks.
static WATCHES: AtomicBool = AtomicBool::new(false);

/// Asks libc to tell us of forks. Handlers in the child run in the order in which they were registered, and
/// others' may use locks: ours must be the first, which is why libc's function for it is replaced, too.
pub(crate) fn watch() {
    // ord: M55 alone: once is enough, whoever it is
    if !WATCHES.swap(true, Ordering::Relaxed) {
        libc_s::resolve();
        // SAFETY: the handler stays where it is, and a handle of null says so.
        unsafe { libc_s::__register_atfork(None, None, Some(in_child), core::ptr::null()) };
    }
}

/// What libc calls.
type Handler = Option<extern "C" fn()>;

mod libc_s {
    //! libc's own.
    use super::Handler;

    crate::libc_own::own! {
        fn __register_atfork(prepare: Handler, parent: Handler, child: Handler, handle: *const ());
    }
}

/// What `pthread_atfork` calls.
///
/// # Safety
///
/// What libc asks of the caller.
#[unsafe(no_mangle)]
unsafe extern "C" fn __register_atfork(
    prepare: Handler,
    parent: Handler,
    child: Handler,
    handle: *const (),
) -> c_int {
    watch();
    // SAFETY: passed on as it is.
    unsafe { libc_s::__register_atfork(prepare, parent, child, handle) }
}
