//! What the benchmark asks of a lock, and what its report tells of one.
//!
//! The trait is closure-shaped because that is the one shape every lock has: guards (`std`), guards with a
//! node on the stack (`mcslock`), raw calls (pthread) and `lock_api` all fit, and each inlines.
use serde::{Deserialize, Serialize};

/// The lock of the overhead cells: none.
pub(crate) const NO_LOCK: &str = "busted-none";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Stanchion,
    /// What people use today.
    Peer,
    /// A tool of the harness: never in a default set, but it can be selected by name.
    Hidden,
}

/// What a lock needs beside itself, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub heap_per_lock: usize,
    /// For each thread that waits (or reads, where those are counted by thread), however many locks.
    pub per_thread: usize,
    pub per_class: usize,
    pub per_thread_and_class: usize,
}

impl Memory {
    pub(crate) const NONE: Self =
        Self { heap_per_lock: 0, per_thread: 0, per_class: 0, per_thread_and_class: 0 };

    pub(crate) fn description(self) -> String {
        let parts = [
            (self.heap_per_lock, "on the heap"),
            (self.per_thread, "a thread"),
            (self.per_class, "a class"),
            (self.per_thread_and_class, "a thread and class"),
        ];
        let parts = parts.iter().filter(|(bytes, _)| *bytes > 0);
        parts.map(|(bytes, of)| format!("{bytes} B {of}")).collect::<Vec<_>>().join(", ")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LockInfo {
    pub name: String,
    pub kind: Kind,
    pub about: String,
    pub bytes: usize,
    pub counts_events: bool,
    #[serde(default)]
    pub memory: Memory,
    /// Whether it was asked for by its name, or is one of those that are measured if none is named.
    #[serde(default)]
    pub chosen: bool,
}

/// A lock under test: a reader-writer lock, or a mutex, which is only ever taken for writing.
pub(crate) trait Contender: Send + Sync + 'static {
    /// Whether it is a reader-writer lock. `read` of others is not called.
    const RW: bool = false;

    fn new() -> Self;

    /// Called once when the lock is at the address where it stays, before any thread uses it.
    fn settle(&self) {}

    /// Runs `critical` while holding the lock together with other readers.
    #[inline]
    fn read<R>(&self, critical: impl FnOnce() -> R) -> R {
        self.write(critical)
    }

    fn write<R>(&self, critical: impl FnOnce() -> R) -> R;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_said_where_there_is_any() {
        assert_eq!(Memory::NONE.description(), "");
        let memory = Memory { per_thread: 128, per_class: 24, ..Memory::NONE };
        assert_eq!(memory.description(), "128 B a thread, 24 B a class");
    }
}
