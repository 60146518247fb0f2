//! What the benchmark asks of a reader-writer lock.
use crate::bench::contender::{Kind, Memory};

/// A reader-writer lock under test.
pub(crate) trait RwContender: Send + Sync + 'static {
    /// The name on the command line and in every table.
    const NAME: &'static str;
    /// Whose lock it is.
    const KIND: Kind;
    /// One line for `--list`.
    const ABOUT: &'static str;
    /// Size of the lock itself, without data that it protects.
    const BYTES: usize;
    /// What it needs beside itself.
    const MEMORY: Memory = Memory::NONE;

    /// A lock that is free.
    fn new() -> Self;

    /// Called once when the lock is at the address where it stays, before any thread uses it.
    fn settle(&self) {}

    /// The lock events of this process so far, by name.
    fn events() -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Runs `critical` while holding the lock together with other readers.
    fn read<R>(&self, critical: impl FnOnce() -> R) -> R;

    /// Runs `critical` while holding the lock alone.
    fn write<R>(&self, critical: impl FnOnce() -> R) -> R;
}
