//! The locks of the native world, each under [`lock_api::RawMutex`]; use them as `lock_api::Mutex<QSpinLock, T>`.
//!
//! What each is for, its fairness bound and its cost stand in the module of `stanchion_core` that it comes from.
use crate::native::{Counted, Native, Silent};
use crate::raw::Raw;
use stanchion_core as core_locks;
use stanchion_core::pv_qspin as pv;
use stanchion_core::pv_ticket::{Opportunistic, Plain};

/// The size that a row states, or else 4.
const fn bytes(stated: &[usize]) -> usize {
    if stated.is_empty() { 4 } else { stated[0] }
}

macro_rules! locks {
    ($($(#[$doc:meta])* $name:ident = $lock:ident $(<$policy:ty>)? $(in $bytes:literal)?;)*) => {
        $(
            $(#[$doc])*
            pub type $name<C = Silent> = Raw<core_locks::$lock<Native<C>$(, $policy)?>>;
            const _: () = assert!(size_of::<$name>() == bytes(&[$($bytes)?]) && align_of::<$name>() == 4);
        )*

        /// The same locks, counting their events; read them with [`crate::events`].
        pub mod counted {
            $(
                #[doc = concat!("[`", stringify!($name), "`](super::", stringify!($name), "), counting its events.")]
                pub type $name = super::$name<super::Counted>;
            )*
        }
    };
}

locks! {
    /// Unfair test-and-test-and-set byte; spins. See [`stanchion_core::byte`].
    ByteLock = ByteLock;
    /// FIFO ticket lock; spins. See [`stanchion_core::ticket`].
    TicketLock = TicketLock;
    /// Queued spin lock; spins. See [`stanchion_core::qspin`].
    QSpinLock = QSpinLock;
    /// Queued spin lock that prefers waiters of its own NUMA node; spins. See [`stanchion_core::cna`].
    CnaLock = CnaLock;
    /// Queued lock whose waiters may steal; spins. See [`stanchion_core::unfair_q`].
    UnfairQueuedLock = UnfairQueuedLock;
    /// Unfair word that knows its owner, to which waiters lend time; spins. See [`stanchion_core::owner_yield`].
    OwnerYieldLock = OwnerYieldLock;
    /// Queued lock that knows its owner, with bounded stealing; spins. See [`stanchion_core::owner_queued`].
    OwnerQueuedLock = OwnerQueuedLock;
    /// Unfair byte whose waiters sleep after a while; each release pays for a full fence. See [`stanchion_core::xen_pv`].
    XenPvLock = XenPvLock;
    /// FIFO ticket lock whose waiters sleep after a while. See [`stanchion_core::pv_ticket`].
    PvTicketLock = PvTicketLock<Plain>;
    /// The same, whose waiters near their turn hardly ever sleep. See [`stanchion_core::pv_ticket`].
    PvTicketOpportunisticLock = PvTicketLock<Opportunistic>;
    /// Paravirtual queued lock, hybrid policy: the default, for any number of threads. See [`stanchion_core::pv_qspin`].
    PvQSpinLock = PvQSpinLock<pv::Hybrid>;
    /// Paravirtual queued lock that never steals. See [`stanchion_core::pv_qspin`].
    PvQSpinKickAtUnlockLock = PvQSpinLock<pv::KickAtUnlock>;
    /// Paravirtual queued lock that kicks a sleeper when it becomes head (4.2-rc1). See [`stanchion_core::pv_qspin::EagerKick`].
    PvQSpinEagerLock = PvQSpinLock<pv::EagerKick>;
    /// Paravirtual queued lock that kick-at-unlock, and wakes the next few sleepers. See [`stanchion_core::pv_qspin::KickAhead`].
    PvQSpinKickAheadLock = PvQSpinLock<pv::KickAhead>;
    /// Paravirtual queued lock that kick-ahead, and sleeps at once behind sleepers. See [`stanchion_core::pv_qspin::WaitEarlyAtOnce`].
    PvQSpinWaitEarlyLock = PvQSpinLock<pv::WaitEarlyAtOnce>;
    /// Paravirtual queued lock that kick-ahead, and looks now and then whether to sleep. See [`stanchion_core::pv_qspin::WaitEarlySampled`].
    PvQSpinWaitEarlySampledLock = PvQSpinLock<pv::WaitEarlySampled>;
    /// Paravirtual queued lock that kick-at-unlock, and sleeps at once behind sleepers. See [`stanchion_core::pv_qspin::OnlyWaitEarly`].
    PvQSpinOnlyWaitEarlyLock = PvQSpinLock<pv::OnlyWaitEarly>;
    /// Paravirtual queued lock that kick-at-unlock, and the first waiter needs no node. See [`stanchion_core::pv_qspin::FirstPends`].
    PvQSpinPendingLock = PvQSpinLock<pv::FirstPends>;
    /// Paravirtual queued lock that the announced series as a whole. See [`stanchion_core::pv_qspin::Patched`].
    PvQSpinPatchedLock = PvQSpinLock<pv::Patched>;
    /// Paravirtual queued lock that kick-at-unlock that finds its head in a hash table. See [`stanchion_core::pv_qspin::Hashed`].
    PvQSpinHashLock = PvQSpinLock<pv::Hashed>;
    /// Paravirtual queued lock that steals without a limit on time (as merged). See [`stanchion_core::pv_qspin::Unlimited`].
    PvQSpin415Lock = PvQSpinLock<pv::Unlimited>;
    /// Paravirtual queued lock that kick-at-unlock that yields instead of sleeping (POWER). See [`stanchion_core::pv_qspin::Conferring`].
    PpcQSpinLock = PvQSpinLock<pv::Conferring>;
    /// Paravirtual queued lock that kick-at-unlock that points at its head; 8 bytes. See [`stanchion_core::pv_qspin::Pointed`].
    PvQSpinPointerLock = PvQSpinLock<pv::Pointed> in 8;
}
