//! Where the kernel keeps the *restartable sequences* area of each thread: glibc registers one, at the same
//! distance from every thread pointer.
use core::sync::atomic::{AtomicIsize, Ordering};

/// Offset of the area from the thread pointer; [`ABSENT`] and [`UNKNOWN`] are no multiples of its alignment.
static OFFSET: AtomicIsize = AtomicIsize::new(UNKNOWN);
const UNKNOWN: isize = 1;
const ABSENT: isize = 2;

/// The offset of the area from the thread pointer, if there is one.
#[inline(always)]
pub(super) fn offset() -> Option<isize> {
    // ord: N29 alone: the offset is the same for the whole process
    match OFFSET.load(Ordering::Relaxed) {
        ABSENT => None,
        UNKNOWN => {
            let found = find();
            // ord: N30 alone: every thread finds the same offset
            OFFSET.store(found.unwrap_or(ABSENT), Ordering::Relaxed);
            found
        }
        offset => Some(offset),
    }
}

/// The same once [`offset`] has found one.
#[inline(always)]
pub(super) fn known_offset() -> isize {
    // ord: N73 alone: the offset is the same for the whole process
    OFFSET.load(Ordering::Relaxed)
}

/// The offset that glibc 2.35 and later announce, if the kernel took the registration.
fn find() -> Option<isize> {
    // SAFETY: both names are NUL-terminated, and the default handle searches what is loaded already.
    let (size, offset) = unsafe {
        (
            libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()).cast::<u32>(),
            libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()).cast::<isize>(),
        )
    };
    if size.is_null() || offset.is_null() {
        return None;
    }
    // SAFETY: glibc defines the two symbols as constant objects of these types (`unsigned int`, `ptrdiff_t`).
    unsafe { (size.read() > 0).then(|| offset.read()) }
}
