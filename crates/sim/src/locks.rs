//! The locks that can be simulated and explored, by name: one list for both worlds.
use crate::arena::{Arena, LINE_BYTES, Placed};
use crate::libcs;
use crate::rw_locks::{self, Classes, RwKind};
use crate::test_and_set::TestAndSet;
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Machine as _, RawLock, Tunable};
use stanchion_family::FamilyPlatform;
use stanchion_family::catalogue;
use stanchion_family::tuned::tuned;
use std::rc::Rc;

/// A lock of any kind, standing in the memory of a simulated machine.
pub(crate) trait AnyLock {
    /// See [`RawLock::acquire`].
    fn acquire(&self);
    /// See [`RawLock::try_acquire`].
    fn try_acquire(&self) -> bool;
    /// See [`RawLock::acquire_until`]; the deadline is so many nanoseconds away.
    fn acquire_within(&self, nanos: u64) -> bool;
    /// See [`RawLock::release`].
    fn release(&self);
    /// See [`RawLock::release_fair`].
    fn release_fair(&self);
    /// See [`RawLock::word`].
    fn word(&self) -> Word;
}

impl<L: RawLock> AnyLock for Placed<L> {
    fn acquire(&self) {
        L::acquire(self);
    }
    fn try_acquire(&self) -> bool {
        L::try_acquire(self)
    }
    fn acquire_within(&self, nanos: u64) -> bool {
        L::acquire_until(self, &L::Platform::after(nanos))
    }
    fn release(&self) {
        L::release(self);
    }
    fn release_fair(&self) {
        L::release_fair(self);
    }
    fn word(&self) -> Word {
        L::word(self)
    }
}

/// One row of the list, for the world `P`.
#[derive(Clone, Copy)]
pub(crate) struct LockKind {
    /// The name on command lines and in files.
    pub(crate) name: &'static str,
    /// What its word may do.
    pub(crate) transitions: Table,
    /// Whether it is there to be compared with another lock of the list only.
    pub(crate) variant: bool,
    /// What is set differently for it.
    pub(crate) tunings: &'static [(Tunable, u32)],
    /// Makes one, on a line of its own.
    pub(crate) make: fn(&Rc<Arena>) -> Box<dyn AnyLock>,
    /// How many lines it needs.
    pub(crate) lines: usize,
}

/// A lock by its own name.
pub(crate) fn kind<L: RawLock>() -> LockKind {
    LockKind {
        name: L::NAME,
        transitions: L::TRANSITIONS,
        variant: false,
        tunings: &[],
        make: |arena| Box::new(arena.place(L::new())),
        lines: size_of::<L>().div_ceil(LINE_BYTES),
    }
}

macro_rules! kinds {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {
        [$(LockKind { variant: catalogue::mutex($name).is_variant(), ..kind::<$lock>() }),*]
    };
}

/// Every lock of the catalogue, each with its forms that have something set, in the order of tables.
pub(crate) fn all<P: FamilyPlatform>() -> Vec<LockKind> {
    let mut all = Vec::new();
    for kind in stanchion_family::for_each_mutex! { P; kinds; } {
        all.push(kind);
        let tuned = catalogue::TUNED.iter().filter(|tuned| tuned.of == kind.name);
        all.extend(tuned.map(|tuned| LockKind {
            name: tuned.name,
            variant: true,
            tunings: tuned.settings,
            ..kind
        }));
    }
    all
}

/// The lock called `name`: of the catalogue, or one that stands in published tables only.
pub(crate) fn by_name<P: FamilyPlatform>(name: &str) -> Option<LockKind> {
    let of_tables = || LockKind { variant: true, ..kind::<TestAndSet<P>>() };
    all::<P>().into_iter().chain([of_tables()]).find(|kind| kind.name == name)
}

/// A lock of either list.
#[derive(Clone, Copy)]
pub(crate) enum AnyKind {
    /// Held alone.
    Mutex(LockKind),
    /// Held alone, or together with other readers.
    Rw(RwKind),
}

impl AnyKind {
    /// How many lines it needs at most.
    pub(crate) fn lines(&self) -> usize {
        match self {
            Self::Mutex(kind) => kind.lines + 1,
            Self::Rw(_) => 2,
        }
    }

    /// What is set differently for it.
    pub(crate) fn tunings(&self) -> &'static [(Tunable, u32)] {
        match self {
            Self::Mutex(kind) => kind.tunings,
            Self::Rw(_) => &[],
        }
    }
}

/// What a list of names says.
pub(crate) struct Named {
    pub(crate) kinds: Vec<AnyKind>,
    /// What the names themselves set, as in `stanchion:turns=0`.
    pub(crate) tunings: Vec<(Tunable, u32)>,
}

/// What `names` names: a lock, or one for each class of a workload's locks with a `+` between them, each with
/// its settings. `Err` is a name that is none, or that sets what cannot be set.
pub(crate) fn by_names<P: Classes>(names: &str) -> Result<Named, &str> {
    let mut named = Named { kinds: Vec::new(), tunings: Vec::new() };
    for full in names.split('+') {
        let (name, settings) = tuned(full);
        let rw = || {
            let known = rw_locks::all::<P>().into_iter().chain([libcs::RWLOCK]);
            known.into_iter().find(|kind| kind.name == name).map(AnyKind::Rw)
        };
        let mutex = by_name::<P>(name).or_else(|| (name == libcs::MUTEX.name).then_some(libcs::MUTEX));
        named.kinds.push(mutex.map(AnyKind::Mutex).or_else(rw).ok_or(full)?);
        for setting in settings {
            named.tunings.push(setting.map_err(|_| full)?);
        }
    }
    Ok(named)
}
