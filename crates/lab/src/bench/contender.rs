//! What the benchmark asks of a lock, and the row by which the registry knows it.
//!
//! The trait is closure-shaped because that is the one shape every lock has: guards (`std`), guards with a
//! node on the stack (`mcslock`), raw calls (pthread) and `lock_api` all fit, and each inlines.
use super::cell::{CellOutcome, CellSpec, Pass};
use super::report::LockInfo;
use super::worker;
use serde::{Deserialize, Serialize};
use stanchion::native::force_fenced_release;
use stanchion::percpu::Class;
use stanchion_family::catalogue::Facts;

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

/// Runs one cell in this process, which is a worker that ends afterwards; compiled for one lock.
type Run = fn(&CellSpec) -> CellOutcome;

pub(crate) struct Entry {
    pub name: &'static str,
    pub kind: Kind,
    pub about: &'static str,
    /// Not part of `all`: a policy of a lock, to be compared with others of the same.
    pub variant: bool,
    /// Size of the lock itself, without data that it protects.
    pub bytes: usize,
    pub memory: Memory,
    /// Called before the lock is made, for the whole process, which is the cell's own.
    prepare: fn(),
    run: Run,
    /// The same with a form of the lock that counts lock events.
    run_counting: Option<Run>,
}

impl Entry {
    /// Runs one cell with the form of the lock that its pass asks for.
    pub(crate) fn run(&self, spec: &CellSpec) -> Result<CellOutcome, String> {
        let run = match spec.pass {
            Pass::Events => self.run_counting.ok_or_else(|| format!("'{}' has no lock events", self.name))?,
            _ => self.run,
        };
        (self.prepare)();
        Ok(run(spec))
    }

    /// As the report tells it, under a name that may set something.
    pub(crate) fn info(&self, name: &str, chosen: bool) -> LockInfo {
        LockInfo {
            name: name.to_owned(),
            kind: self.kind,
            about: self.about.to_owned(),
            bytes: self.bytes,
            counts_events: self.run_counting.is_some(),
            memory: self.memory,
            chosen,
        }
    }

    pub(crate) const fn peer<C: Contender>(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            kind: Kind::Peer,
            about,
            variant: false,
            bytes: size_of::<C>(),
            memory: Memory::NONE,
            prepare: || (),
            run: worker::run::<C>,
            run_counting: None,
        }
    }

    /// A lock of ours, by its row of the catalogue: as users get it, and `Counting` lock events.
    pub(crate) const fn ours<C: Contender, Counting: Contender>(facts: &Facts) -> Self {
        Self {
            kind: Kind::Stanchion,
            variant: facts.is_variant(),
            memory: Memory {
                heap_per_lock: 0,
                per_thread: facts.bytes_a_context,
                // Lines of a class are numbered by thread in 1 MiB of address space, of which only touched
                // pages are memory.
                per_class: if facts.bytes_a_class > 0 { size_of::<Class>() } else { 0 },
                per_thread_and_class: facts.bytes_a_class,
            },
            run_counting: Some(worker::run::<Counting>),
            ..Self::peer::<C>(facts.name, facts.about)
        }
    }

    /// This lock as on a machine without `membarrier`.
    pub(crate) const fn fenced(self, name: &'static str, about: &'static str) -> Self {
        Self { name, about, variant: true, prepare: force_fenced_release, ..self }
    }

    pub(crate) const fn needs(self, memory: Memory) -> Self {
        Self { memory, ..self }
    }

    /// It is there for who names it.
    pub(crate) const fn hidden(self) -> Self {
        Self { kind: Kind::Hidden, ..self }
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
