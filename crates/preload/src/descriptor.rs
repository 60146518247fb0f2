//! Files, by direct system calls: libc's functions for them are points at which a thread may be cancelled,
//! and taking a lock is none.
use core::ffi::c_long;
use libc::syscall;

/// The longest path.
const LONGEST: usize = 1024;

/// A file that is closed when nobody needs it any more.
pub(crate) struct Descriptor(c_long);

/// What `body` returns. Taking a lock changes no error number, whatever it takes to.
pub(crate) fn keeping_errno<T>(body: impl FnOnce() -> T) -> T {
    // SAFETY: the place of the calling thread's error number.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: as above, the thread's own.
    let error = unsafe { *place };
    let made = body();
    // SAFETY: as above, the thread's own.
    unsafe { *place = error };
    made
}

impl Descriptor {
    /// Calls `make` with the file at `path`, which is made if it is not there: of several programs that begin
    /// at once, one at a time.
    pub(crate) fn with_locked<T>(
        path: &[u8],
        make: impl FnOnce(&Self) -> Result<T, &'static str>,
    ) -> Result<T, &'static str> {
        let mut terminated = [0_u8; LONGEST + 1];
        if path.len() > LONGEST {
            return Err("a longer path than 1024 bytes");
        }
        terminated[..path.len()].copy_from_slice(path);
        let file = Self::open(&terminated[..=path.len()], libc::O_RDWR | libc::O_CREAT)
            .ok_or("the file cannot be opened")?;
        file.lock(libc::LOCK_EX);
        let made = make(&file);
        // A mapping keeps the file open, so that closing the descriptor would not unlock it.
        file.lock(libc::LOCK_UN);
        made
    }

    /// `path` must end with a NUL.
    pub(crate) fn open(path: &[u8], flags: i32) -> Option<Self> {
        debug_assert_eq!(path.last(), Some(&0));
        // SAFETY: the path ends with a NUL.
        let opened = unsafe {
            syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), flags | libc::O_CLOEXEC, 0o600)
        };
        (opened >= 0).then(|| Self(opened))
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

    fn lock(&self, how: i32) {
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
