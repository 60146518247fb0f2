//! The row by which the registry knows a lock.
use crate::bench::cell::{CellOutcome, CellSpec, Pass};
use crate::bench::contender::{Contender, Kind, LockInfo, Memory};
use crate::bench::worker;
use stanchion::native::force_fenced_release;
use stanchion::percpu::Class;
use stanchion_family::catalogue::Facts;

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
