//! The locks of the native world, each under [`lock_api::RawMutex`] or [`lock_api::RawRwLock`]; use them as
//! `lock_api::Mutex<QSpinLock, T>` and `lock_api::RwLock<QueuedRwLock, T>`.
//!
//! What each is for, its fairness bound and its cost stand in the module of `stanchion_core` that it comes from.
use crate::native::{Counted, Native, Silent};
use crate::raw::Raw;
use crate::raw_rw::RawRw;
use stanchion_core as core_locks;
use stanchion_core::pv_qspin as pv;
use stanchion_core::pv_ticket::{Opportunistic, Plain};
use stanchion_core::qrw;

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
    /// The default: running threads take it, one waiter at most is awake, and turns are bounded. See [`stanchion_core::stanchion`].
    StanchionLock = StanchionLock;
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
    /// Paravirtual queued lock that steals without a limit on time (as merged in 4.15). See [`stanchion_core::pv_qspin::Merged`].
    PvQSpinLock = PvQSpinLock<pv::Merged>;
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
    /// Paravirtual queued lock that kick-at-unlock that yields instead of sleeping (POWER). See [`stanchion_core::pv_qspin::Conferring`].
    PpcQSpinLock = PvQSpinLock<pv::Conferring>;
    /// Paravirtual queued lock that kick-at-unlock that points at its head; 8 bytes. See [`stanchion_core::pv_qspin::Pointed`].
    PvQSpinPointerLock = PvQSpinLock<pv::Pointed> in 8;
}

/// The default lock in the order of arrival: nobody barges. See [`stanchion_core::stanchion`].
pub type FairLock<C = Silent> = Raw<core_locks::StanchionLock<Native<C>, true>>;
const _: () = assert!(size_of::<FairLock>() == 4);

/// [`QueuedRwLock`] whose readers wait for a writer that is in only. See [`RawRw`].
pub type RecursiveRwLock<C = Silent> = RawRw<core_locks::QueuedRwLock<Native<C>>, true>;

macro_rules! rwlocks {
    ($($(#[$doc:meta])* $name:ident = $lock:ident [$($argument:ty),*] in $bytes:literal;)*) => {$(
        $(#[$doc])*
        pub type $name<C = Silent> = RawRw<core_locks::$lock<Native<C>$(, $argument)*>>;
        const _: () = assert!(size_of::<$name>() == $bytes);
    )*};
}

rwlocks! {
    /// Count of readers and writer's flag; spins, writers first. See [`stanchion_core::rw_simple`].
    CountRwLock = CountRwLock[] in 4;
    /// Queued reader-writer lock whose waiters sleep: the default. See [`stanchion_core::qrw`].
    QueuedRwLock = QueuedRwLock[] in 8;
    /// Queued reader-writer lock that spins, strictly in order, as in the kernel. See [`stanchion_core::qrw`].
    QueuedSpinRwLock = QueuedRwLock[core_locks::QSpinLock<Native<C>>, qrw::Strict] in 8;
    /// Per-CPU reader-writer lock of the common class; guards stay with their thread. See [`stanchion_core::percpu_rw`], and
    /// [`crate::percpu`] for classes.
    ///
    /// ```compile_fail,E0277
    /// static ROUTES: lock_api::RwLock<stanchion::lock::PerCpuRwLock, u32> = lock_api::RwLock::new(0);
    ///
    /// let guard = ROUTES.read();
    /// std::thread::spawn(move || drop(guard)); // the guard is not `Send`
    /// ```
    PerCpuRwLock = PerCpuRwLock[] in 24;
    /// The same over `rw-simple`, as announced. See [`stanchion_core::percpu_rw`].
    PerCpuSimpleRwLock = PerCpuRwLock[core_locks::CountRwLock<Native<C>>] in 24;
}
