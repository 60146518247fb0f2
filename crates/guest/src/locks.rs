//! Every lock by its name on the command line: the catalogue's, and those that are broken on purpose.
use crate::busted::{BustedCount, CheckThenSet, LostKick, NoExclusion};
use crate::conform::Vcpus;
use crate::machine::Machine;
use crate::subject::{Alone, Subject, Together};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use stanchion_core::{RawLock, RawRwLock};
use stanchion_suite::World;
use stanchion_suite::catalogue::{
    ByteLock, CnaLock, CountRwLock, On, Opportunistic, OwnerQueuedLock, OwnerYieldLock, PerCpuRwLock, Plain,
    PvQSpinLock, PvTicketLock, QSpinLock, QueuedRwLock, ReadersFirst, StanchionLock, Strict, TicketLock,
    UnfairQueuedLock, XenPvLock, pv,
};

/// Something to be done with a lock whose type is known by its name only.
pub(crate) trait Visit {
    /// What comes of it.
    type Output;

    /// Does it with locks of type `S`.
    fn visit<S: Subject>(&mut self) -> Self::Output;
}

/// Whether a per-CPU lock stands in this row of the catalogue, which interrupt handlers must not write.
const fn is_per_cpu(row: &str) -> bool {
    matches!(row.as_bytes(), [b'p', b'e', b'r', b'c', b'p', b'u', ..])
}

/// Whether the lock of this row may be read again in the middle of anything: not where the base lock lets nobody pass a writer.
const fn reads_again(row: &str) -> bool {
    !matches!(row.as_bytes(), b"percpu_rw_simple")
}

/// The catalogue has `_` for all signs that are none in Rust, and for reader-writer locks that is the dash only.
fn rw_name(row: &str) -> String {
    row.replace('_', "-")
}

macro_rules! mutex_names {
    ([$names:ident] $($row:ident: $waiting:ident, $lock:ty;)*) => {
        $names.extend([$(<$lock as RawLock>::NAME.to_owned()),*]);
    };
}

macro_rules! rw_names {
    ([$names:ident] $($row:ident: $waiting:ident, $lock:ty $(, $extra:ident)*;)*) => {
        $names.extend([$(rw_name(stringify!($row))),*]);
    };
}

macro_rules! visit_mutex {
    ([$name:ident, $visitor:ident] $($row:ident: $waiting:ident, $lock:ty;)*) => {
        $(if $name == <$lock as RawLock>::NAME {
            return Some($visitor.visit::<Alone<$lock>>());
        })*
    };
}

macro_rules! visit_rw {
    ([$name:ident, $visitor:ident] $($row:ident: $waiting:ident, $lock:ty $(, $extra:ident)*;)*) => {
        $(if $name == rw_name(stringify!($row)) {
            const HANDLERS_WRITE: bool = !is_per_cpu(stringify!($row));
            const READS_AGAIN: bool = reads_again(stringify!($row));
            return Some($visitor.visit::<Together<$lock, HANDLERS_WRITE, READS_AGAIN>>());
        })*
    };
}

fn names<W: World>() -> Vec<String> {
    let mut names = Vec::new();
    stanchion_suite::mutexes! { mutex_names; names }
    stanchion_suite::rwlocks! { rw_names; names }
    names
}

fn sound<W: World, V: Visit>(name: &str, visitor: &mut V) -> Option<V::Output> {
    stanchion_suite::mutexes! { visit_mutex; name, visitor }
    stanchion_suite::rwlocks! { visit_rw; name, visitor }
    None
}

/// The names of the catalogue's locks, in the order of its tables.
pub fn lock_names<M: Machine>() -> Vec<String> {
    names::<Vcpus<M>>()
}

/// The names of the locks that are broken on purpose.
pub fn busted_lock_names<M: Machine>() -> [&'static str; 4] {
    [
        NoExclusion::<M>::NAME,
        CheckThenSet::<M>::NAME,
        LostKick::<M>::NAME,
        <BustedCount<M> as RawRwLock>::NAME,
    ]
}

fn busted<M: Machine, V: Visit>(name: &str, visitor: &mut V) -> Option<V::Output> {
    let [none, check_then_set, lost_kick, rw_count] = busted_lock_names::<M>();
    if name == none {
        Some(visitor.visit::<Alone<NoExclusion<M>>>())
    } else if name == check_then_set {
        Some(visitor.visit::<Alone<CheckThenSet<M>>>())
    } else if name == lost_kick {
        Some(visitor.visit::<Alone<LostKick<M>>>())
    } else if name == rw_count {
        Some(visitor.visit::<Together<BustedCount<M>>>())
    } else {
        None
    }
}

/// Does something with the lock called `name`; `None` if there is none.
pub(crate) fn visit<M: Machine, V: Visit>(name: &str, visitor: &mut V) -> Option<V::Output> {
    sound::<Vcpus<M>, V>(name, visitor).or_else(|| busted::<M, V>(name, visitor))
}
