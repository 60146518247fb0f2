//! Every lock by its name on the command line: the catalogue's, and those that are broken on purpose.
use crate::busted::{BustedCount, CheckThenSet, LostKick, NoExclusion};
use crate::subject::{Alone, Subject, Together};
use alloc::vec::Vec;
use stanchion_core::pv_qspin as pv;
use stanchion_core::pv_ticket::{Opportunistic, Plain};
use stanchion_core::qrw::Strict;
use stanchion_core::{
    ByteLock, CnaLock, CountRwLock, OwnerQueuedLock, OwnerYieldLock, PerCpuRwLock, Platform, PvQSpinLock,
    PvTicketLock, QSpinLock, QueuedRwLock, RawLock, RawRwLock, TicketLock, UnfairQueuedLock, XenPvLock,
};

/// Something to be done with a lock whose type is known by its name only.
pub(crate) trait Visit {
    /// What comes of it.
    type Output;

    /// Does it with locks of type `S`, which go by `name`.
    fn visit<S: Subject>(&mut self, name: &'static str) -> Self::Output;
}

macro_rules! catalogue {
    ($($name:expr => $lock:ty $(: $busted:ident)?;)*) => {
        /// The names, and whether the lock is broken on purpose.
        fn rows<P: Platform>() -> Vec<(&'static str, bool)> {
            let mut rows = Vec::new();
            $(rows.push(($name, false $(|| stringify!($busted) == "busted")?));)*
            rows
        }

        /// Does something with the lock called `name`; `None` if there is none.
        pub(crate) fn visit<P: Platform, V: Visit>(name: &str, visitor: &mut V) -> Option<V::Output> {
            $(if name == $name {
                return Some(visitor.visit::<$lock>($name));
            })*
            None
        }
    };
}

/// The name of a mutex.
const fn mutex<L: RawLock>() -> &'static str {
    L::NAME
}

/// The name of a reader-writer lock.
const fn rw<L: RawRwLock>() -> &'static str {
    L::NAME
}

macro_rules! with_types {
    (
        mutexes: $($mutex:ty),* ;
        others: $($name:expr => $lock:ty $(: $busted:ident)?;)*
    ) => {
        catalogue! {
            $(mutex::<$mutex>() => Alone<$mutex>;)*
            $($name => $lock $(: $busted)?;)*
        }
    };
}

with_types! {
    mutexes:
        ByteLock<P>,
        TicketLock<P>,
        QSpinLock<P>,
        CnaLock<P>,
        UnfairQueuedLock<P>,
        OwnerYieldLock<P>,
        OwnerQueuedLock<P>,
        XenPvLock<P>,
        PvTicketLock<P, Plain>,
        PvTicketLock<P, Opportunistic>,
        PvQSpinLock<P, pv::Hybrid>,
        PvQSpinLock<P, pv::Unlimited>,
        PvQSpinLock<P, pv::EagerKick>,
        PvQSpinLock<P, pv::KickAtUnlock>,
        PvQSpinLock<P, pv::KickAhead>,
        PvQSpinLock<P, pv::WaitEarlyAtOnce>,
        PvQSpinLock<P, pv::WaitEarlySampled>,
        PvQSpinLock<P, pv::OnlyWaitEarly>,
        PvQSpinLock<P, pv::FirstPends>,
        PvQSpinLock<P, pv::Patched>,
        PvQSpinLock<P, pv::Hashed>,
        PvQSpinLock<P, pv::Pointed>,
        PvQSpinLock<P, pv::Conferring>;
    others:
        rw::<CountRwLock<P>>() => Together<CountRwLock<P>>;
        rw::<QueuedRwLock<P>>() => Together<QueuedRwLock<P>>;
        "qrw-spin" => Together<QueuedRwLock<P, QSpinLock<P>, Strict>>;
        rw::<PerCpuRwLock<P>>() => Together<PerCpuRwLock<P>, false>;
        "percpu-rw-simple" => Together<PerCpuRwLock<P, CountRwLock<P>>, false, false>;
        mutex::<NoExclusion<P>>() => Alone<NoExclusion<P>>: busted;
        mutex::<CheckThenSet<P>>() => Alone<CheckThenSet<P>>: busted;
        mutex::<LostKick<P>>() => Alone<LostKick<P>>: busted;
        rw::<BustedCount<P>>() => Together<BustedCount<P>>: busted;
}

/// The names of the catalogue's locks, in the order of its tables.
pub fn lock_names<P: Platform>() -> Vec<&'static str> {
    rows::<P>().into_iter().filter(|(_, busted)| !busted).map(|(name, _)| name).collect()
}

/// The names of the locks that are broken on purpose.
pub fn busted_lock_names<P: Platform>() -> Vec<&'static str> {
    rows::<P>().into_iter().filter(|(_, busted)| *busted).map(|(name, _)| name).collect()
}
