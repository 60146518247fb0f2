//! Every lock, once. A lock that stands here is tested in every world.
//!
//! `W` in a type is the world; see [`On`].
use crate::World;
pub use stanchion_core::pv_qspin as pv;
pub use stanchion_core::pv_ticket::{Opportunistic, Plain};
pub use stanchion_core::qrw::{ReadersFirst, Strict};
pub use stanchion_core::{
    ByteLock, CnaLock, CountRwLock, OwnerQueuedLock, OwnerYieldLock, PerCpuRwLock, PvQSpinLock, PvTicketLock,
    QSpinLock, QueuedRwLock, StanchionLock, TicketLock, UnfairQueuedLock, XenPvLock,
};

/// The platform of a world.
pub type On<W> = <W as World>::Platform;

/// Every mutual exclusion lock: its name on command lines (with `_` for other signs), what its waiters do, and its type.
///
/// Hands them all to another macro, behind arguments of it: `mutexes! { some::callback; its arguments }`.
#[macro_export]
macro_rules! mutexes {
    ($callback:path; $($argument:tt)*) => {
        $callback! { [$($argument)*]
            stanchion: Halts, StanchionLock<On<W>>;
            byte: Spins, ByteLock<On<W>>;
            ticket: Spins, TicketLock<On<W>>;
            qspin: Spins, QSpinLock<On<W>>;
            cna: Spins, CnaLock<On<W>>;
            unfair_q: GivesWay, UnfairQueuedLock<On<W>>;
            ppc_simple: GivesWay, OwnerYieldLock<On<W>>;
            owner_qspin: GivesWay, OwnerQueuedLock<On<W>>;
            xen_pv: Halts, XenPvLock<On<W>>;
            pv_ticket: Halts, PvTicketLock<On<W>, Plain>;
            pv_ticket_opportunistic: Spins, PvTicketLock<On<W>, Opportunistic>;
            pv_qspin: Halts, PvQSpinLock<On<W>, pv::Merged>;
            pv_qspin_kick_at_unlock: Halts, PvQSpinLock<On<W>, pv::KickAtUnlock>;
            pv_qspin_eager: Halts, PvQSpinLock<On<W>, pv::EagerKick>;
            pv_qspin_kick_ahead: Halts, PvQSpinLock<On<W>, pv::KickAhead>;
            pv_qspin_wait_early: Halts, PvQSpinLock<On<W>, pv::WaitEarlyAtOnce>;
            pv_qspin_wait_early_sampled: Halts, PvQSpinLock<On<W>, pv::WaitEarlySampled>;
            pv_qspin_only_wait_early: Halts, PvQSpinLock<On<W>, pv::OnlyWaitEarly>;
            pv_qspin_pending: Halts, PvQSpinLock<On<W>, pv::FirstPends>;
            pv_qspin_patched: Halts, PvQSpinLock<On<W>, pv::Patched>;
            pv_qspin_hash: Halts, PvQSpinLock<On<W>, pv::Hashed>;
            pv_qspin_pointer: Halts, PvQSpinLock<On<W>, pv::Pointed>;
            ppc_qspin: Halts, PvQSpinLock<On<W>, pv::Conferring>;
        }
    };
}

/// Every reader-writer lock, in the same form, and what some of them do and others do not.
#[macro_export]
macro_rules! rwlocks {
    ($callback:path; $($argument:tt)*) => {
        $callback! { [$($argument)*]
            // Nobody reads `rw-simple` again while a writer waits.
            rw_simple: Spins, CountRwLock<On<W>>;
            qrw: Halts, QueuedRwLock<On<W>>,
                reads_again_while_a_writer_waits, upgrades;
            qrw_readers_first: Halts, ReadersFirst<On<W>>,
                reads_again_while_a_writer_waits;
            qrw_spin: Spins, QueuedRwLock<On<W>, QSpinLock<On<W>>, Strict>,
                reads_again_while_a_writer_waits, upgrades;
            percpu_rw: Halts, PerCpuRwLock<On<W>, QueuedRwLock<On<W>>>,
                reads_again_while_a_writer_waits;
            percpu_rw_simple: Spins, PerCpuRwLock<On<W>, CountRwLock<On<W>>>, reads_again_while_a_writer_waits;
        }
    };
}
