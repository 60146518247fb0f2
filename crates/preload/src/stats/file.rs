//! Making and mapping the file of `stats`.
use crate::descriptor::Descriptor;
use core::ptr;
use core::sync::atomic::Ordering;
use stanchion_wire::stats::{File, MAGIC, MODULES, PROCESSES, RECORDS, Record, VERSION};

/// Maps the file at `path`, and makes it if it is empty or not there.
pub(super) fn map(path: &[u8]) -> Result<&'static File, &'static str> {
    Descriptor::with_locked(path, map_locked)
}

fn map_locked(file: &Descriptor) -> Result<&'static File, &'static str> {
    let length = file.length().ok_or("the file is none that can be mapped")?;
    if length != 0 && length != size_of::<File>() {
        return Err("the file is none of ours, or of another version");
    }
    // Space is taken at once: a disk that is full would end the program in the middle of a lock.
    if length == 0 && !file.allocate(size_of::<File>()) {
        return Err("there is no room for the file");
    }
    let whole = map_shared(file.number(), 0)?;
    let header = &whole.header;
    let is = [
        (&header.version, VERSION),
        (&header.record_size, size_of::<Record>() as u32),
        (&header.records, RECORDS as u32),
        (&header.processes, PROCESSES as u32),
        (&header.modules, MODULES as u32),
    ];
    if length == 0 {
        for (field, value) in is {
            // ord: F3 alone: the file is locked
            field.store(value, Ordering::Relaxed);
        }
        // ord: F4 alone: the file is locked
        header.magic.store(MAGIC, Ordering::Relaxed);
    }
    // ord: F5 alone: the file is locked
    let fits = header.magic.load(Ordering::Relaxed) == MAGIC
        && is.iter().all(|(field, value)| field.load(Ordering::Relaxed) == *value);
    if fits { Ok(whole) } else { Err("the file is none of ours, or of another version") }
}

/// Memory in place of a file, all zero.
pub(super) fn map_nothing() -> Result<&'static File, &'static str> {
    map_shared(-1, libc::MAP_ANONYMOUS)
}

/// Maps a file that is long enough, or memory.
fn map_shared(descriptor: i32, flags: i32) -> Result<&'static File, &'static str> {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a mapping of its own; the result is looked at before it is used.
    let mapped = unsafe {
        libc::mmap(ptr::null_mut(), size_of::<File>(), rights, libc::MAP_SHARED | flags, descriptor, 0)
    };
    if mapped == libc::MAP_FAILED {
        return Err("the file cannot be mapped");
    }
    // SAFETY: it is mapped for good, aligned to a page, and made of integers that are accessed atomically
    // only.
    Ok(unsafe { &*mapped.cast::<File>() })
}
