//! What the benchmark asks of a lock, and the row by which the registry knows it.
//!
//! The trait is closure-shaped because that is the one shape every lock has: guards (`std`), guards with a
//! node on the stack (`mcslock`), raw calls (pthread) and `lock_api` all fit, and each inlines.
use super::cell::{CellOutcome, CellSpec, Pass};
use super::rw::{RwContender, run as run_rw};
use super::worker;
use serde::{Deserialize, Serialize};

/// Whose lock it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// One of ours.
    Stanchion,
    /// What people use today.
    Peer,
    /// A tool of the harness: never in a default set, but it can be selected by name.
    Hidden,
}

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

/// A lock under test.
pub(crate) trait Contender: Send + Sync + 'static {
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

    /// Runs `critical` while holding the lock.
    fn with<R>(&self, critical: impl FnOnce() -> R) -> R;
}

/// A measuring loop compiled for one lock. It runs one cell in this process, which is a worker that ends
/// afterwards.
type Run = fn(&CellSpec) -> CellOutcome;

/// A lock as the registry lists it.
pub(crate) struct Entry {
    pub name: &'static str,
    pub kind: Kind,
    pub about: &'static str,
    /// Not part of `all`: a policy of a lock, to be compared with others of the same.
    pub variant: bool,
    pub bytes: usize,
    pub memory: Memory,
    pub run: Run,
    /// The same with a form of the lock that counts lock events.
    pub run_counting: Option<Run>,
}

impl Entry {
    /// Runs one cell with the form of the lock that its pass asks for.
    pub(crate) fn run(&self, spec: &CellSpec) -> Result<CellOutcome, String> {
        let run = match spec.pass {
            Pass::Events => self.run_counting.ok_or_else(|| format!("'{}' has no lock events", self.name))?,
            _ => self.run,
        };
        Ok(run(spec))
    }

    /// The row of a lock without lock events.
    pub(crate) const fn of<C: Contender>() -> Self {
        Self {
            name: C::NAME,
            kind: C::KIND,
            about: C::ABOUT,
            variant: false,
            bytes: C::BYTES,
            memory: C::MEMORY,
            run: worker::run::<C>,
            run_counting: None,
        }
    }

    /// The row of a lock `C` that has a counting form `Counting`.
    pub(crate) const fn counted<C: Contender, Counting: Contender>() -> Self {
        Self { run_counting: Some(worker::run::<Counting>), ..Self::of::<C>() }
    }

    /// The row of a reader-writer lock without lock events.
    pub(crate) const fn rw<C: RwContender>() -> Self {
        Self {
            name: C::NAME,
            kind: C::KIND,
            about: C::ABOUT,
            variant: false,
            bytes: C::BYTES,
            memory: C::MEMORY,
            run: run_rw::<C>,
            run_counting: None,
        }
    }

    /// The row of a reader-writer lock `C` that has a counting form `Counting`.
    pub(crate) const fn rw_counted<C: RwContender, Counting: RwContender>() -> Self {
        Self { run_counting: Some(run_rw::<Counting>), ..Self::rw::<C>() }
    }

    /// The same as one that is there to be compared with another lock of ours only.
    pub(crate) const fn variant(self, variant: bool) -> Self {
        Self { variant, ..self }
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
