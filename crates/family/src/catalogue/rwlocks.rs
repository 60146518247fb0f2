//! The rows of the reader-writer locks.
use super::{bounds, stated};
use stanchion_core::catalogue::{
    Asks, Awaits,
    InHandlers::{All, Reads},
    Outnumbered::Collapses,
    Overtaking, Shares,
    Timed::ByTries,
    Waits::Spin,
};

/// Hands all reader-writer locks to another macro, as [`stanchion_core::for_each_rwlock!`] does with those of
/// the product, which come first.
#[macro_export]
macro_rules! for_each_rwlock {
    ($platform:ty; $($callback:tt)::+; $($argument:tt)*) => {
        $crate::rwlock_rows! { $platform; $crate::stanchion_core::rwlock_types; $($callback)::+; $($argument)* }
    };
}

/// The rows of all reader-writer locks in full, as [`stanchion_core::rwlock_rows!`] has those of the product.
#[macro_export]
macro_rules! rwlock_rows {
    ($platform:ty; $($callback:tt)::+; $($argument:tt)*) => {
        $crate::stanchion_core::rwlock_rows! {
            $platform; $crate::with_family_rwlocks; $platform; $($callback)::+; $($argument)*
        }
    };
}

/// The rows of this crate behind others: what [`rwlock_rows!`](crate::rwlock_rows) hands to the callback.
#[doc(hidden)]
#[macro_export]
macro_rules! with_family_rwlocks {
    ([$platform:ty; $($callback:tt)::+; $($argument:tt)*] $($product:tt)*) => {
        $($callback)::+! { [$($argument)*] $($product)*

        rw_simple CountRwLock [$crate::rw_simple::CountRwLock<$platform>] "rw-simple"
            is "A count of readers and a writer's flag; writers first, all spin."
            for "the yardstick of reader-writer locks"
            has counted downgrades reads_once {
            bytes: 4, bytes_a_context: 0, bytes_a_class: 0,
            waits: Spin, waiting: "spin", outnumbered: Collapses,
            overtaken: "nobody once it has the flag; other writers before", starves: true,
            bound: Overtaking::Unbounded("readers let all writers go first, and those compete; a writer with the flag is passed by nobody"),
            holder_away: "all spin", next_away: "all spin",
            timed: ByTries, in_handlers: All,
            shares: Some(Shares { reads_again: false, awaits: Awaits::Nobody, asks: Asks::Flag }),
            not_preloaded: Some("each pthread rwlock is a `qrw`"), variant_of: None,
            source: "Xen's rwlock_t, 2015",
            stated: stated::RW_SIMPLE,
        }

        qrw_spin QueuedSpinRwLock [$crate::stanchion_core::qrw::QueuedRwLock<$platform, $crate::qrw_spin::Strict<$crate::qspin::QSpinLock<$platform>>>] "qrw-spin"
            is "As qrw, strictly in order, as in the kernel; waiters spin."
            for "one thread a CPU, none preempted: the kernel's form"
            has counted upgrades reads_again {
            bytes: 12, bytes_a_context: 128, bytes_a_class: 0,
            waits: Spin, waiting: "spin in the queue", outnumbered: Collapses,
            overtaken: "nobody, but for readers that must not wait", starves: false, bound: bounds::PASSING_STRICT,
            holder_away: "all spin", next_away: "all spin",
            timed: ByTries, in_handlers: All,
            shares: Some(Shares { reads_again: true, awaits: Awaits::Nobody, asks: Asks::Mark }),
            not_preloaded: Some("each pthread rwlock is a `qrw`"), variant_of: Some("qrw"),
            source: "Waiman Long's queued rwlock in its form since Linux 4.15",
            stated: stated::QRW_SPIN,
        }

        percpu_rw_simple PerCpuSimpleRwLock [$crate::stanchion_core::percpu_rw::PerCpuRwLock<$platform, $crate::rw_simple::CountRwLock<$platform>>] "percpu-rw-simple"
            is "As percpu-rw over rw-simple, the form that was announced."
            for "comparisons with `percpu-rw`"
            has celled downgrades reads_again {
            bytes: 24, bytes_a_context: 128, bytes_a_class: 64,
            waits: Spin, waiting: "spin", outnumbered: Collapses,
            overtaken: "as `rw-simple` until it has the base lock; no reader from then on", starves: true, bound: Overtaking::UNTIL_CLOSED,
            holder_away: "all spin", next_away: "all spin",
            timed: ByTries, in_handlers: Reads,
            // It reads again by its base lock, which lets nobody pass a writer.
            shares: Some(Shares { reads_again: false, awaits: Awaits::Nobody, asks: Asks::FastPath(4) }),
            not_preloaded: Some("each pthread rwlock is a `qrw`"), variant_of: Some("percpu-rw"),
            source: "Malcolm Crossley, Implement per-cpu reader-writer locks, v6, 2016",
            stated: stated::PERCPU_RW_SIMPLE,
        }

        }
    };
}

with_family_rwlocks! { [(); stanchion_core::lock_facts; ] }
