//! The locks of the native world, each under [`lock_api::RawMutex`]; use them as `lock_api::Mutex<QSpinLock, T>`.
//!
//! What each is for, its fairness bound and its cost stand in the module of `stanchion_core` that it comes from.
use crate::native::{Counted, Native, Silent};
use crate::raw::Raw;
use stanchion_core as core_locks;
use stanchion_core::pv_qspin::{Hybrid, KickAtUnlock};
use stanchion_core::pv_ticket::{Opportunistic, Plain};

macro_rules! locks {
    ($($(#[$doc:meta])* $name:ident = $lock:ident $(<$policy:ty>)?;)*) => {
        $(
            $(#[$doc])*
            pub type $name<C = Silent> = Raw<core_locks::$lock<Native<C>$(, $policy)?>>;
            const _: () = assert!(size_of::<$name>() == 4 && align_of::<$name>() == 4);
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
    /// Unfair byte whose waiters sleep after a while; each release pays for a full fence. See [`stanchion_core::xen_pv`].
    XenPvLock = XenPvLock;
    /// FIFO ticket lock whose waiters sleep after a while. See [`stanchion_core::pv_ticket`].
    PvTicketLock = PvTicketLock<Plain>;
    /// The same, whose waiters near their turn hardly ever sleep. See [`stanchion_core::pv_ticket`].
    PvTicketOpportunisticLock = PvTicketLock<Opportunistic>;
    /// Paravirtual queued lock, hybrid policy: the default, for any number of threads. See [`stanchion_core::pv_qspin`].
    PvQSpinLock = PvQSpinLock<Hybrid>;
    /// Paravirtual queued lock that never steals. See [`stanchion_core::pv_qspin`].
    PvQSpinKickAtUnlockLock = PvQSpinLock<KickAtUnlock>;
}
