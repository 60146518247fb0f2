//! What can be explored: each lock of the catalogue with what it states about itself, and broken ones.
//! Mutexes are in `family`, reader-writer locks in `rw_subjects`.
use super::busted as shelf;
use super::failure::Kind;
use super::family;
use super::fault::{Fault, Faults};
use super::platform::Stepped;
use super::rw_subjects::{self, RwKind};
use crate::locks::{self, LockKind};
use stanchion_core::transitions::Table;
use stanchion_core::{RawLock, Tunable};
use stanchion_family::catalogue::{self, AfterRelease, Asks, Overtaking, SecondByte, Stated, Tail};
use stanchion_suite::broken::{self, BROKEN};

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
    /// What it states of its word.
    pub stated: Stated,
    /// Whether it can do without context numbers.
    pub(super) numberless: bool,
    /// Whether its waiters may halt.
    pub(super) halts: bool,
}

impl core::fmt::Debug for Subject {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Subject").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Subject {
    /// A lock that states this.
    pub(super) fn of(kind: Explored, about: &'static str, overtaking: Overtaking, stated: Stated) -> Self {
        Self { kind, about, overtaking, broken: None, stated, numberless: true, halts: true }
    }

    /// A lock that is broken on purpose: must fail in one of these ways `within` so many schedules, and not
    /// without the faults that it `needs`.
    pub(super) fn broken<L: RawLock<Platform = Stepped>>(
        kinds: &'static [Kind],
        within: u64,
        needs: &[Fault],
    ) -> Self {
        let broken = Broken { kinds, within, needs: needs.iter().copied().collect() };
        let stated = Stated {
            second_byte: SecondByte::Other,
            after_release: AfterRelease::Anything,
            ..catalogue::mutex("qspin").stated
        };
        let row = &BROKEN[broken::row(L::NAME)];
        let kind = Explored::Mutex(locks::kind::<L>());
        Self {
            broken: Some(broken),
            numberless: false,
            ..Self::of(kind, row.fault, Overtaking::Unbounded("it is broken on purpose"), stated)
        }
    }

    /// The same lock, whose second byte holds `flag` while the head asks for the lock.
    pub(super) fn with_no_barging(self, flag: u8) -> Self {
        Self { stated: Stated { second_byte: SecondByte::Asks(flag), ..self.stated }, ..self }
    }

    /// The same lock with a word of its own, which is another one each time that nobody uses the lock.
    pub(super) fn worded(self, fields: &'static [(usize, &'static str)]) -> Self {
        Self { stated: Stated { fields, tail: Tail::Tickets { halves: &[] }, ..self.stated }, ..self }
    }

    /// The same lock with a stated bound.
    pub(super) fn stating(self, overtaking: Overtaking) -> Self {
        Self { overtaking, ..self }
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
            Explored::Rw(kind) => Some(kind.shares.asks),
        }
    }
}

/// Every sound lock, in the order of tables.
pub fn locks() -> Vec<Subject> {
    let mut all = family::all();
    all.extend(rw_subjects::all());
    all
}

/// Every lock that is broken on purpose.
pub fn busted() -> Vec<Subject> {
    shelf::all()
}
