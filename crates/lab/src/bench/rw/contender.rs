//! What the benchmark asks of a reader-writer lock, and the row by which the registry knows it.
use super::cell::RwSpec;
use super::worker;
use crate::bench::contender::{Entry, Kind};
use serde::{Deserialize, Serialize};

/// What a lock needs beside itself, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// On the heap, for each lock.
    pub heap_per_lock: usize,
    /// For each thread that waits (or reads, where readers are counted by thread), however many locks there
    /// are.
    pub per_thread: usize,
    /// For each class of locks.
    pub per_class: usize,
    /// For each thread and class.
    pub per_thread_and_class: usize,
}

impl Memory {
    /// The lock is all there is.
    pub(crate) const NONE: Self =
        Self { heap_per_lock: 0, per_thread: 0, per_class: 0, per_thread_and_class: 0 };

    /// In words, nothing left out that is not zero.
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

/// A lock as the registry lists it.
pub(crate) struct Row {
    pub entry: Entry<RwSpec>,
    pub memory: Memory,
}

impl Row {
    /// The row of a lock without lock events.
    pub(crate) const fn of<C: RwContender>() -> Self {
        let entry = Entry {
            name: C::NAME,
            kind: C::KIND,
            about: C::ABOUT,
            variant: false,
            bytes: C::BYTES,
            run: worker::run::<C>,
            run_counting: None,
        };
        Self { entry, memory: C::MEMORY }
    }

    /// The row of a lock `C` that has a counting form `Counting`.
    pub(crate) const fn counted<C: RwContender, Counting: RwContender>() -> Self {
        let row = Self::of::<C>();
        Self { entry: Entry { run_counting: Some(worker::run::<Counting>), ..row.entry }, ..row }
    }

    /// The same as one that is there to be compared with another lock of ours only.
    pub(crate) const fn variant(self) -> Self {
        Self { entry: Entry { variant: true, ..self.entry }, ..self }
    }
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
