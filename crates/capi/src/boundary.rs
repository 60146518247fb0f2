//! What stands between C and the locks: pointers become references here, and panics end here.
use core::ffi::c_int;
use std::io::Write as _;
use std::panic::PanicHookInfo;

/// A type of C that is a type of Rust in disguise.
///
/// # Safety
///
/// `Inner` has the size and at most the alignment of `Self`, is valid and free if all its bytes are zero, and
/// is `Sync`.
pub(crate) unsafe trait Disguise {
    /// What it is.
    type Inner: Sync;
}

/// Says that a type is the disguise of another, and checks what can be checked.
macro_rules! disguise {
    ($outer:ty, $inner:ty) => {
        const _: () = assert!(size_of::<$outer>() == size_of::<$inner>());
        const _: () = assert!(align_of::<$outer>() >= align_of::<$inner>());
        // SAFETY: size and alignment are checked above; the types are made of integer atomics, for which zero
        // is valid, and the tests compare their zeroes with what their constructors make.
        unsafe impl crate::boundary::Disguise for $outer {
            type Inner = $inner;
        }
    };
}
pub(crate) use disguise;

/// What `pointer` points at; `None` if it is null or misaligned.
///
/// # Safety
///
/// Otherwise it points at bytes that were zero when nobody used them yet, that stay for `'a`, and that nobody
/// writes to but by functions of this library.
#[inline(always)]
pub(crate) unsafe fn uncover<'a, T: Disguise>(pointer: *const T) -> Option<&'a T::Inner> {
    let inner = pointer.cast::<T::Inner>();
    if inner.is_null() || !inner.is_aligned() {
        return None;
    }
    // SAFETY: it is aligned and not null; the caller promises that the bytes are there and were zero, and the
    // disguise that they are then an `Inner`, which may be shared.
    Some(unsafe { &*inner })
}

/// What a caller gave as a place to write to or read from; `None` if nothing can be there.
#[inline(always)]
pub(crate) fn place<T>(pointer: *const T) -> Option<*const T> {
    (!pointer.is_null() && pointer.is_aligned()).then_some(pointer)
}

/// Calls `body` with what `pointer` points at; `EINVAL` if nothing can be there. A panic of `body` ends the
/// process.
///
/// # Safety
///
/// As [`uncover`] says, until this returns.
#[inline(always)]
pub(crate) unsafe fn on<T: Disguise>(pointer: *const T, body: impl FnOnce(&T::Inner) -> c_int) -> c_int {
    // SAFETY: the caller promises what `uncover` asks.
    match unsafe { uncover(pointer) } {
        Some(inner) => guarded(|| body(inner)),
        None => libc::EINVAL,
    }
}

/// `EBUSY` for what did not happen.
#[inline(always)]
pub(crate) fn busy_unless(done: bool) -> c_int {
    if done { 0 } else { libc::EBUSY }
}

/// Calls `body`, and ends the process if it panics: nobody knows then what state its lock is in.
#[inline(always)]
pub(crate) fn guarded<R>(body: impl FnOnce() -> R) -> R {
    let unwinds = EndOfTheLine;
    let result = body();
    core::mem::forget(unwinds);
    result
}

/// Dropped by unwinding only.
struct EndOfTheLine;

impl Drop for EndOfTheLine {
    #[cold]
    fn drop(&mut self) {
        std::process::abort(); // the hook has said why
    }
}

/// The one line.
fn tell(info: &PanicHookInfo<'_>) -> String {
    let what = info.payload_as_str().unwrap_or("no message").replace('\n', " ");
    let place =
        info.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
    format!("stanchion: a lock was misused, or has a fault{place}: {what}; the process ends here\n")
}

/// Replaces the lines and backtraces of the standard library, which no program in C expects, by one line. The
/// standard library in `libstanchion` is its own, so this reaches no other Rust code of the process.
pub(crate) fn tell_panics_in_one_line() {
    std::panic::set_hook(Box::new(|info| {
        let _ = std::io::stderr().write_all(tell(info).as_bytes());
    }));
}

// SAFETY: the section holds pointers to functions that the loader calls once each before `main`, with C's
// calling convention. What is called allocates, takes a lock of the standard library and makes system calls,
// all of which work by then.
#[cfg(not(test))]
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = {
    extern "C" fn at_load() {
        tell_panics_in_one_line();
        // Settles which way releases go that touch nothing afterwards; until then they go the slower one.
        let _ = stanchion::native::facts();
    }
    at_load
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::percpu;
    use std::process::{Command, Output};

    const TOLD: &str = "STANCHION_TEST_PANICS";

    /// Runs the test of that name in a process of its own, which is told what it is.
    fn alone(test: &str) -> Output {
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(TOLD, "1");
        command.output().expect("it starts")
    }

    fn must_end_in_one_line(ended: &Output, what: &str) {
        use std::os::unix::process::ExitStatusExt as _;
        let errors = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.signal(), Some(libc::SIGABRT), "{errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
        assert!(errors.starts_with("stanchion: a lock was misused") && errors.contains(what), "{errors}");
    }

    #[test]
    fn a_panic_ends_the_process_in_one_line() {
        extern "C" fn entry() -> c_int {
            guarded(|| panic!("told\nin two lines"))
        }
        if std::env::var_os(TOLD).is_some() {
            tell_panics_in_one_line();
            entry();
            return;
        }
        must_end_in_one_line(
            &alone("boundary::tests::a_panic_ends_the_process_in_one_line"),
            "told in two lines",
        );
    }

    /// The one that callers can bring about: in a debug build the per-CPU lock notices who waits for itself.
    #[test]
    #[cfg(debug_assertions)]
    fn a_panic_of_a_lock_ends_the_process_in_one_line() {
        if std::env::var_os(TOLD).is_some() {
            tell_panics_in_one_line();
            let mut lock = percpu::stanchion_percpu_rwlock_t { of: core::ptr::null_mut(), opaque: [0; 4] };
            // SAFETY: the lock was zero and stays here.
            unsafe {
                percpu::stanchion_percpu_rwlock_rdlock(&raw mut lock);
                percpu::stanchion_percpu_rwlock_wrlock(&raw mut lock);
            }
            return;
        }
        must_end_in_one_line(&alone("boundary::tests::a_panic_of_a_lock_ends_the_process_in_one_line"), "");
    }

    #[test]
    fn what_can_not_be_there_is_refused() {
        let words = [0_u64; 2];
        let misaligned = words.as_ptr().cast::<crate::mutexes::stanchion_mutex_t>().wrapping_byte_add(2);
        // SAFETY: neither is looked at, which is what this is about.
        let refused = unsafe { [uncover(misaligned).is_none(), uncover(misaligned.with_addr(0)).is_none()] };
        assert_eq!(refused, [true, true]);
    }
}
