//! Files of memory, for what reads files.
use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// A file with these bytes, and a path to it that lasts as long as it is open.
pub(crate) fn file(bytes: &[u8]) -> (File, PathBuf) {
    let file = File::from(memfd_create("fuzz", MemfdFlags::CLOEXEC).expect("a file of memory"));
    file.write_all_at(bytes, 0).expect("there is memory");
    let path = format!("/proc/self/fd/{}", file.as_raw_fd()).into();
    (file, path)
}
