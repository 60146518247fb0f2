//! Opening, making and mapping the file. System calls are made directly: libc's functions for them are points at which a thread may be
//! cancelled, and taking a lock is none.
use super::layout::{File, MAGIC, MODULES, PROCESSES, RECORDS, Record, VERSION};
use core::ffi::c_long;
use core::ptr;
use core::sync::atomic::Ordering;
use libc::syscall;

/// A file that is closed when nobody needs it any more.
pub(crate) struct Descriptor(c_long);

impl Descriptor {
    /// `path` must end with a NUL.
    pub(crate) fn open(path: &[u8], flags: i32) -> Option<Self> {
        debug_assert_eq!(path.last(), Some(&0));
        // SAFETY: the path ends with a NUL.
        let opened = unsafe {
            syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags | libc::O_CLOEXEC, 0o600)
        };
        (opened >= 0).then_some(Self(opened))
    }

    /// Reads once; 0 at the end, and if it fails.
    pub(crate) fn read(&self, into: &mut [u8]) -> usize {
        // SAFETY: the bytes may be written.
        let read = unsafe { syscall(libc::SYS_read, self.0, into.as_mut_ptr(), into.len()) };
        usize::try_from(read).unwrap_or(0)
    }

    pub(crate) fn length(&self) -> Option<usize> {
        // SAFETY: plain call on a descriptor of ours. A file of ours has no position that matters.
        usize::try_from(unsafe { syscall(libc::SYS_lseek, self.0, 0, libc::SEEK_END) }).ok()
    }

    pub(crate) fn number(&self) -> i32 {
        self.0 as i32
    }

    pub(crate) fn set_length(&self, length: usize) -> bool {
        // SAFETY: plain call on a descriptor of ours.
        unsafe { syscall(libc::SYS_ftruncate, self.0, length) == 0 }
    }

    /// Takes the room on the disk.
    pub(crate) fn allocate(&self, length: usize) -> bool {
        // SAFETY: plain call on a descriptor of ours.
        unsafe { syscall(libc::SYS_fallocate, self.0, 0, 0_i64, length) == 0 }
    }

    pub(crate) fn lock(&self, how: i32) {
        // SAFETY: plain call on a descriptor of ours.
        unsafe { syscall(libc::SYS_flock, self.0, how) };
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor is ours, and closed once.
        unsafe { syscall(libc::SYS_close, self.0) };
    }
}

/// Maps the file at `path` (which ends with a NUL), and makes it if it is empty or not there.
pub(super) fn map(path: &[u8]) -> Result<&'static File, &'static str> {
    let file = Descriptor::open(path, libc::O_RDWR | libc::O_CREAT).ok_or("the file cannot be opened")?;
    // Of several programs that begin at once, one makes it.
    file.lock(libc::LOCK_EX);
    let mapped = map_locked(&file);
    // The mapping keeps the file open, so that closing the descriptor does not unlock it.
    file.lock(libc::LOCK_UN);
    mapped
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
    let whole = map_shared(file.0 as i32, 0)?;
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
    // SAFETY: it is mapped for good, aligned to a page, and made of integers that are accessed atomically only.
    Ok(unsafe { &*mapped.cast::<File>() })
}
