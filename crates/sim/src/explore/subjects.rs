//! What can be explored: one row a lock, with what it states about itself. The rows are in `family` and `rw_subjects`.
use super::bounds::{Asks, Overtaking, SecondByte};
use super::busted as shelf;
use super::failure::Kind;
use super::family;
use super::fault::{Fault, Faults};
use super::platform::Stepped;
use super::rw_subjects::{self, RwKind};
use crate::locks::{self, LockKind};
use stanchion_core::transitions::Table;
use stanchion_core::{RawLock, Tunable};

/// What a tail holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tails {
    Nodes,
    /// Of waits, by their own numbers.
    Waits,
    Numbers,
}

/// What the word of a lock is that nobody uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AtRest {
    /// What it was when the lock was made.
    AsMade,
    /// Another one each time: tickets are not given back.
    Unlocked,
}

/// What a release does to the lock after the store that lets the next holder in, which may destroy it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterRelease {
    Nothing,
    /// It reads it: the memory must stay readable.
    Reads,
    /// It may do anything: the lock must stay until it returns.
    Anything,
    /// The same, or nothing where releases look for marks first.
    ByWorld,
}

/// What is known of a lock that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// How it may fail.
    pub kinds: &'static [Kind],
    /// Within how many schedules.
    pub within: u64,
    /// The faults without which it does not fail.
    pub needs: Faults,
}

/// A lock of either kind.
#[derive(Clone, Copy)]
pub(super) enum Explored {
    Mutex(LockKind),
    Rw(RwKind),
}

/// One lock.
#[derive(Clone, Copy)]
pub struct Subject {
    pub(super) kind: Explored,
    /// What it is, in a line.
    pub about: &'static str,
    /// The bound that it states.
    pub overtaking: Overtaking,
    /// How it is broken, if it is.
    pub broken: Option<Broken>,
    /// Rows of its table that it never takes.
    pub unreachable: &'static [&'static str],
    pub(super) second_byte: SecondByte,
    /// Offsets and names of the word's fields.
    pub(super) fields: &'static [(usize, &'static str)],
    pub(super) tails: Tails,
    pub(super) at_rest: AtRest,
    /// Whether it can do without context numbers.
    pub(super) numberless: bool,
    /// Offsets of the halves of a word that count tickets.
    pub(super) tickets: &'static [usize],
    /// Whether its releases look at the places of all contexts.
    pub(super) looks_at_all: bool,
    /// Whether its waiters may halt.
    pub(super) halts: bool,
    /// What it does to itself after the store that lets the next holder in.
    pub(super) after_release: AfterRelease,
}

impl core::fmt::Debug for Subject {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Subject").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// The fields of a queued lock with a pending bit.
pub(super) const QUEUED: &[(usize, &str)] = &[(0, "locked"), (1, "pending"), (2, "tail")];

impl Subject {
    /// A mutual exclusion lock that states this.
    pub(super) fn of(kind: LockKind, about: &'static str, overtaking: Overtaking) -> Self {
        Self {
            kind: Explored::Mutex(kind),
            about,
            overtaking,
            broken: None,
            unreachable: &[],
            second_byte: SecondByte::Other,
            fields: &[],
            tails: Tails::Nodes,
            at_rest: AtRest::AsMade,
            numberless: true,
            tickets: &[],
            looks_at_all: false,
            halts: true,
            after_release: AfterRelease::Nothing,
        }
    }

    /// A lock that is broken on purpose: must fail in one of these ways `within` so many schedules, and not without the faults
    /// that it `needs`.
    pub(super) fn broken<L: RawLock<Platform = Stepped>>(
        about: &'static str,
        kinds: &'static [Kind],
        within: u64,
        needs: &[Fault],
    ) -> Self {
        let broken = Broken { kinds, within, needs: needs.iter().copied().collect() };
        Self {
            broken: Some(broken),
            fields: QUEUED,
            numberless: false,
            after_release: AfterRelease::Anything,
            ..Self::of(locks::kind::<L>(), about, Overtaking::Unbounded("it is broken on purpose"))
        }
    }

    /// The same lock, whose second byte holds `objection` while the head asks for the lock.
    pub(super) fn with_objection(self, objection: u8) -> Self {
        Self { second_byte: SecondByte::Asks(objection), ..self }
    }

    /// The same lock with a word of its own.
    pub(super) fn worded(self, fields: &'static [(usize, &'static str)]) -> Self {
        Self { fields, tails: Tails::Numbers, at_rest: AtRest::Unlocked, ..self }
    }

    /// The same lock with a stated bound.
    pub(super) fn stating(self, overtaking: Overtaking) -> Self {
        Self { overtaking, ..self }
    }

    /// A reader-writer lock that states this.
    pub(super) fn shared(
        about: &'static str,
        kind: RwKind,
        fields: &'static [(usize, &'static str)],
        overtaking: Overtaking,
    ) -> Self {
        // All but what is given stands in the kind itself.
        let blank = Self::of(locks::kind::<stanchion_core::ByteLock<Stepped>>(), about, overtaking);
        Self { kind: Explored::Rw(kind), fields, tails: Tails::Numbers, ..blank }
    }

    /// The name on command lines and in files.
    pub fn name(&self) -> &'static str {
        match self.kind {
            Explored::Mutex(kind) => kind.name,
            Explored::Rw(kind) => kind.name,
        }
    }

    /// All that its word may do.
    pub fn transitions(&self) -> Table {
        match self.kind {
            Explored::Mutex(kind) => kind.transitions,
            Explored::Rw(kind) => kind.transitions,
        }
    }

    /// What is set differently for it.
    pub(super) fn tunings(&self) -> &'static [(Tunable, u32)] {
        match self.kind {
            Explored::Mutex(kind) => kind.tunings,
            Explored::Rw(_) => &[],
        }
    }

    /// By what waiters of a reader-writer lock ask for it.
    pub(super) fn asks(&self) -> Option<Asks> {
        match self.kind {
            Explored::Mutex(_) => None,
            Explored::Rw(kind) => Some(kind.asks),
        }
    }

    pub(super) fn kind(&self) -> Explored {
        self.kind
    }
}

/// Every sound lock, in the order of tables.
///
/// # Panics
///
/// If the family has a lock for which no bound is stated here, nor that it has none.
pub fn locks() -> Vec<Subject> {
    let mut all = family::all();
    all.extend(rw_subjects::all());
    all
}

/// Every lock that is broken on purpose.
pub fn busted() -> Vec<Subject> {
    shelf::all()
}
