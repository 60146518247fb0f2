//! What can be explored: one row a lock, with what it states about itself.
use super::busted as shelf;
use super::failure::Kind;
use super::fault::{Fault, Faults};
use super::platform::Stepped;
use super::policies::{LetsOut, LongStint, NoStint, OVERTAKING_BY_STINT, OVERTAKING_WITHOUT_STINT, Quick};
use super::rw_subjects::{self, RwKind};
use crate::locks::{self, LockKind};
use stanchion_core::pv_qspin::{self as pv, Small, WaitPolicy};
use stanchion_core::transitions::Table;
use stanchion_core::{PvQSpinLock, RawLock, Tunable};

/// How often one context may acquire ahead of a waiter that had queued before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overtaking {
    /// The lock states no bound.
    Unbounded,
    /// So often.
    AtMost(u32),
    /// So often, where neither a second lock nor a handler lets the context come out of another queue.
    AtMostOnItsOwn(u32),
}

impl core::fmt::Display for Overtaking {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Unbounded => f.write_str("any"),
            Self::AtMost(times) | Self::AtMostOnItsOwn(times) => write!(f, "{times}"),
        }
    }
}

/// What a tail holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tails {
    Nodes,
    /// Of waits, by their own numbers.
    Waits,
    Numbers,
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
pub struct Subject {
    kind: Explored,
    /// What it is, in a line.
    pub about: &'static str,
    /// The bound that it states.
    pub overtaking: Overtaking,
    /// How it is broken, if it is.
    pub broken: Option<Broken>,
    /// Rows of its table that it never takes.
    pub unreachable: &'static [&'static str],
    /// In the second byte: the head asks for the lock, and everybody may acquire once more at most.
    pub(super) objection: Option<u8>,
    /// Whether setting the second byte is a way of queueing: the pending bit.
    pub(super) pending_waits: bool,
    /// Offsets and names of the word's fields.
    pub(super) fields: &'static [(usize, &'static str)],
    pub(super) tails: Tails,
    /// Whether the word of a lock that nobody uses is another one each time: tickets are not given back.
    pub(super) moves_on: bool,
    /// Whether it can do without context numbers.
    pub(super) numberless: bool,
    /// Offsets of the halves of a word that count tickets.
    pub(super) tickets: &'static [usize],
    /// Whether its releases look at the places of all contexts.
    pub(super) looks_at_all: bool,
}

impl core::fmt::Debug for Subject {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Subject").field("name", &self.name()).finish_non_exhaustive()
    }
}

const QUEUED: &[(usize, &str)] = &[(0, "locked"), (1, "pending"), (2, "tail")];
const DEFAULT: &[(usize, &str)] = &[(0, "count"), (1, "flags"), (2, "newest")];
const PARAVIRTUAL: &[(usize, &str)] = &[(0, "locked"), (1, "head"), (2, "tail")];
/// What the head of a paravirtual queue leaves in the second byte when it objects.
const OBJECTION: Option<u8> = Some(pv::NO_STEALING);

impl Subject {
    fn of(kind: LockKind) -> Self {
        Self {
            kind: Explored::Mutex(kind),
            about: "",
            overtaking: Overtaking::Unbounded,
            broken: None,
            unreachable: &[],
            objection: None,
            pending_waits: false,
            fields: &[],
            tails: Tails::Nodes,
            moves_on: false,
            numberless: true,
            looks_at_all: false,
            tickets: &[],
        }
    }

    fn paravirtual<W: WaitPolicy>(about: &'static str, overtaking: Overtaking) -> Self {
        let kind = locks::kind::<PvQSpinLock<Stepped, W>>();
        let unreachable: &[&str] = if W::PENDING { &[] } else { &[PENDS] };
        Self { about, overtaking, objection: OBJECTION, fields: PARAVIRTUAL, unreachable, ..Self::of(kind) }
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
            about,
            broken: Some(broken),
            fields: QUEUED,
            numberless: false,
            ..Self::of(locks::kind::<L>())
        }
    }

    /// The same lock, whose second byte holds `objection` while the head asks for the lock.
    pub(super) fn with_objection(self, objection: u8) -> Self {
        Self { objection: Some(objection), ..self }
    }

    /// The same lock with a word of its own.
    pub(super) fn worded(self, fields: &'static [(usize, &'static str)]) -> Self {
        Self { fields, tails: Tails::Numbers, moves_on: true, ..self }
    }

    /// The same lock with a stated bound.
    pub(super) fn stating(self, overtaking: Overtaking) -> Self {
        Self { overtaking, ..self }
    }

    /// A reader-writer lock. What is reported of it as overtaking is how many readers passed a writer that waited; nothing is
    /// stated about that.
    pub(super) fn shared(
        about: &'static str,
        kind: RwKind,
        fields: &'static [(usize, &'static str)],
    ) -> Self {
        // All but the name and the table stands in the kind itself.
        let blank = Self::of(locks::kind::<stanchion_core::ByteLock<Stepped>>());
        Self { kind: Explored::Rw(kind), about, fields, tails: Tails::Numbers, ..blank }
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

    pub(super) fn kind(&self) -> Explored {
        self.kind
    }
}

/// A policy of the paravirtual lock that was announced: nobody steals.
fn announced<W: WaitPolicy>(about: &'static str) -> Subject {
    Subject {
        objection: None,
        unreachable: if W::PENDING { &[THIEVES] } else { &[THIEVES, PENDS] },
        ..Subject::paravirtual::<Small<W>>(about, Overtaking::AtMost(1))
    }
}

const THIEVES: &str = "the head stops thieves: n,0,* -> n,126,*";
const PENDS: &str = "a waiter becomes pending: t,0,* -> t,125,*";

/// What is known of the locks of the family by name; a lock that is new here is explored without a bound.
fn refined(kind: LockKind) -> Subject {
    let name = kind.name;
    let subject = Subject::of(kind);
    match name {
        "stanchion" => Subject { about: "the default lock", fields: DEFAULT, tails: Tails::Waits, ..subject },
        "byte" => Subject { about: "unfair byte", fields: &[(0, "locked")], ..subject },
        "ticket" => Subject {
            about: "FIFO ticket",
            overtaking: Overtaking::AtMost(0),
            fields: &[(0, "serving"), (2, "next")],
            tickets: &[0, 2],
            tails: Tails::Numbers,
            moves_on: true,
            ..subject
        },
        "qspin" => Subject {
            about: "queued spin lock",
            overtaking: Overtaking::AtMost(1),
            pending_waits: true,
            fields: QUEUED,
            ..subject
        },
        "cna" => {
            Subject { about: "NUMA-aware queued spin lock", pending_waits: true, fields: QUEUED, ..subject }
        }
        "unfair-q" => {
            let fields = &[(0, "locked"), (2, "tail")];
            Subject { about: "queued unfair lock: waiters steal", fields, ..subject }
        }
        "ppc-simple" => {
            Subject { about: "unfair word with its owner's number", fields: &[(0, "word")], ..subject }
        }
        "owner-qspin" => Subject {
            about: "queued spin lock with owner, stealing until the head objects",
            objection: Some(1),
            fields: &[(0, "held"), (2, "queue")],
            tails: Tails::Numbers,
            ..subject
        },
        "xen-pv" | "xen-pv-wake-all" => Subject {
            about: if name == "xen-pv" {
                "unfair byte whose waiters block"
            } else {
                "xen-pv whose releases wake everybody"
            },
            fields: &[(0, "locked"), (1, "switch"), (2, "spinners")],
            tails: Tails::Numbers,
            looks_at_all: true,
            ..subject
        },
        "pv-ticket" | "pv-ticket-opportunistic" => Subject {
            about: if name == "pv-ticket" {
                "FIFO ticket whose waiters halt"
            } else {
                "pv-ticket whose near waiters poll for long"
            },
            overtaking: Overtaking::AtMost(0),
            fields: &[(0, "serving"), (2, "next")],
            tickets: &[0, 2],
            tails: Tails::Numbers,
            looks_at_all: true,
            moves_on: true,
            ..subject
        },
        "pv-qspin" => Subject::paravirtual::<Quick>(
            "paravirtual hybrid, small constants",
            Overtaking::AtMostOnItsOwn(OVERTAKING_BY_STINT),
        ),
        "pv-qspin-eager" => announced::<pv::EagerKick>("kicks sleepers that become head"),
        "pv-qspin-kick-at-unlock" => announced::<pv::KickAtUnlock>("never steals"),
        "pv-qspin-kick-ahead" => announced::<pv::KickAhead>("wakes the next few sleepers as well"),
        "pv-qspin-wait-early" => announced::<pv::WaitEarlyAtOnce>("the same, and sleeps behind sleepers"),
        "pv-qspin-wait-early-sampled" => announced::<pv::WaitEarlySampled>("the same, looking now and then"),
        "pv-qspin-pending" => announced::<pv::FirstPends>("the first waiter polls the lock"),
        "pv-qspin-only-wait-early" => announced::<pv::OnlyWaitEarly>("sleeps behind sleepers"),
        "pv-qspin-patched" => announced::<pv::Patched>("the whole series"),
        "pv-qspin-hash" => announced::<pv::Hashed>("finds the head in a hash table"),
        "pv-qspin-pointer" => announced::<pv::Pointed>("finds the head by a pointer in the lock"),
        "ppc-qspin" => announced::<pv::Conferring>("confers instead of halting"),
        "pv-qspin-4.15" => Subject {
            objection: OBJECTION,
            ..Subject::paravirtual::<Small<pv::Unlimited>>(
                "steals without a limit on time",
                Overtaking::Unbounded,
            )
        },
        _ => Subject { about: "not described yet: no bound is checked", ..subject },
    }
}

/// Every sound lock, in the order of tables.
pub fn locks() -> Vec<Subject> {
    let mut all: Vec<Subject> = locks::all::<Stepped>().into_iter().map(refined).collect();
    all.push(Subject::paravirtual::<NoStint>(
        "pv-qspin whose stints are over at once",
        Overtaking::AtMostOnItsOwn(OVERTAKING_WITHOUT_STINT),
    ));
    all.push(Subject::paravirtual::<LongStint>("pv-qspin whose stints never end", Overtaking::Unbounded));
    all.push(Subject::paravirtual::<LetsOut>("pv-qspin that lets waiters out", Overtaking::Unbounded));
    all.extend(rw_subjects::all());
    all
}

/// Every lock that is broken on purpose.
pub fn busted() -> Vec<Subject> {
    shelf::all()
}
