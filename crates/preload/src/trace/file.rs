//! Making and mapping the file of `record`.
use super::ticks;
use crate::descriptor::Descriptor;
use core::ffi::c_void;
use core::ptr;
use core::sync::atomic::Ordering;
use stanchion_wire::trace::{Header, MAGIC, PAGE, PAGES, VERSION};

/// `MADV_POPULATE_WRITE`: gives the pages room on the disk, and fails where touching them would end the
/// program.
const POPULATE_WRITE: i32 = 23;

/// Maps the file at `path`, and makes it if it is empty or not there. Also says whether pages get their room
/// on the disk only as they are taken.
pub(super) fn map(path: &[u8]) -> Result<(&'static Header, bool), &'static str> {
    Descriptor::with_locked(path, map_locked)
}

fn map_locked(file: &Descriptor) -> Result<(&'static Header, bool), &'static str> {
    const NOT_OURS: &str = "the file is none of ours, or of another version";
    let before = file.length().ok_or("the file is none that can be mapped")?;
    let length = if before == 0 { PAGES as usize * PAGE } else { before };
    if length < 2 * PAGE || !length.is_multiple_of(PAGE) {
        return Err(NOT_OURS);
    }
    if before == 0 && !file.set_length(length) {
        return Err("there is no room for the file");
    }
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a mapping of its own; the result is looked at before it is used.
    let mapped = unsafe { libc::mmap(ptr::null_mut(), length, rights, libc::MAP_SHARED, file.number(), 0) };
    if mapped == libc::MAP_FAILED {
        return Err("the file cannot be mapped");
    }
    let is_lazy = match populate(mapped, PAGE) {
        0 => true,
        // Linux before 5.14.
        libc::EINVAL if file.allocate(length) => false,
        _ => {
            // SAFETY: nobody knows of the mapping.
            unsafe { libc::munmap(mapped, length) };
            return Err("there is no room for the file");
        }
    };
    // SAFETY: it is mapped for good unless it is refused below, aligned to a page, and made of integers that
    // are accessed atomically.
    let header = unsafe { &*mapped.cast::<Header>() };
    if before == 0 {
        // ord: AA1 alone: the file is locked
        header.version.store(VERSION, Ordering::Relaxed);
        // ord: AA2 alone: the file is locked
        header.pages.store(PAGES, Ordering::Relaxed);
        // ord: AA3 alone: the file is locked
        header.magic.store(MAGIC, Ordering::Relaxed);
    }
    // ord: AA4 alone: the file is locked
    let fits = header.magic.load(Ordering::Relaxed) == MAGIC
        && header.version.load(Ordering::Relaxed) == VERSION
        && header.pages.load(Ordering::Relaxed) == (length / PAGE) as u64;
    if !fits {
        // SAFETY: nobody knows of the mapping.
        unsafe { libc::munmap(mapped, length) };
        return Err(NOT_OURS);
    }
    // ord: AA5 alone: the file is locked
    if header.clock.load(Ordering::Relaxed) == 0 {
        let clock = if ticks::are_steady() { ticks::TICKS } else { ticks::NANOS };
        // ord: AA6 alone: the file is locked
        header.nanos.store(ticks::now(ticks::NANOS), Ordering::Relaxed);
        // ord: AA7 alone: the file is locked
        header.ticks.store(ticks::now(clock), Ordering::Relaxed);
        // ord: AA8 alone: the file is locked
        header.clock.store(clock.into(), Ordering::Relaxed);
    }
    Ok((header, is_lazy))
}

/// The error number, or 0. The calling thread's own error number stays as it is.
pub(super) fn populate(start: *mut c_void, length: usize) -> i32 {
    // SAFETY: pages of a mapping of ours, whose content does not change. The error number is the thread's
    // own.
    unsafe {
        let place = libc::__errno_location();
        let before = *place;
        let failed = libc::madvise(start, length, POPULATE_WRITE) != 0;
        let error = if failed { *place } else { 0 };
        *place = before;
        error
    }
}
