//! What the benchmark asks of a lock, and the row by which the registry knows it.
//!
//! The trait is closure-shaped because that is the one shape every lock has: guards (`std`), guards with a
//! node on the stack (`mcslock`), raw calls (pthread) and `lock_api` all fit, and each inlines.
use super::cell::{CellSpec, Pass};
use super::study::Spec;
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

/// A lock as the registry lists it; the function pointers are the measuring loops compiled for it.
pub(crate) struct Entry<S: Spec = CellSpec> {
    pub name: &'static str,
    pub kind: Kind,
    pub about: &'static str,
    /// Not in a default set: a policy of a lock, to be compared with others of the same.
    pub variant: bool,
    pub bytes: usize,
    /// Runs one cell in this process, which is a worker that ends afterwards.
    pub run: fn(&S) -> S::Outcome,
    /// The same with a form of the lock that counts lock events.
    pub run_counting: Option<fn(&S) -> S::Outcome>,
}

impl<S: Spec> Entry<S> {
    /// Runs one cell with the form of the lock that its pass asks for.
    pub(crate) fn run(&self, spec: &S) -> Result<S::Outcome, String> {
        let run = match spec.cell().pass {
            Pass::Events => self.run_counting.ok_or_else(|| format!("'{}' has no lock events", self.name))?,
            _ => self.run,
        };
        Ok(run(spec))
    }
}

impl Entry {
    /// The row of a lock without lock events.
    pub(crate) const fn of<C: Contender>() -> Self {
        Self {
            name: C::NAME,
            kind: C::KIND,
            about: C::ABOUT,
            variant: false,
            bytes: C::BYTES,
            run: worker::run::<C>,
            run_counting: None,
        }
    }

    /// The row of a lock `C` that has a counting form `Counting`.
    pub(crate) const fn counted<C: Contender, Counting: Contender>() -> Self {
        Self { run_counting: Some(worker::run::<Counting>), ..Self::of::<C>() }
    }
}
