//! The rows of the reader-writer locks.
use super::{
    Asks, Awaits,
    InHandlers::{All, Reads},
    Outnumbered::Holds,
    Overtaking, Shares, Stated,
    Timed::{ByTries, InQueue},
    Waits::Sleep,
};

/// Hands all reader-writer locks to another macro, as [`for_each_mutex!`](crate::for_each_mutex) does. The
/// callback gets for each lock `row Alias [Type] "name"`, three words for what differs by type, and a
/// semicolon. The words: `counted` in the lock, or `celled` in classes of cells; `downgrades`, or `upgrades`
/// as well; `reads_again` while a writer waits, or `reads_once`.
#[macro_export]
macro_rules! for_each_rwlock {
    ($platform:ty; $($callback:tt)::+; $($argument:tt)*) => {
        $crate::rwlock_rows! { $platform; $crate::rwlock_types; $($callback)::+; $($argument)* }
    };
}

/// The rows in short: see [`for_each_rwlock!`](crate::for_each_rwlock).
#[doc(hidden)]
#[macro_export]
macro_rules! rwlock_types {
    ([$($callback:tt)::+; $($argument:tt)*] $($row:ident $alias:ident [$lock:ty] $name:literal is $about:literal for $suits:literal
        has $readers:ident $ways:ident $again:ident $facts:tt)*) => {
        $($callback)::+! { [$($argument)*] $($row $alias [$lock] $name $readers $ways $again;)* }
    };
}

/// The rows in full: `rwlock_rows! { P; some::callback; its arguments }`, as
/// [`mutex_rows!`](crate::mutex_rows) has them.
#[macro_export]
macro_rules! rwlock_rows {
    ($platform:ty; $($callback:tt)::+; $($argument:tt)*) => {
        $($callback)::+! { [$($argument)*]

        qrw QueuedRwLock [$crate::qrw::QueuedRwLock<$platform>] "qrw"
            is "Readers count themselves, the others queue and sleep: the default."
            for "readers and writers, fair to both; waiters sleep"
            has counted upgrades reads_again {
            bytes: 12, bytes_a_context: 128, bytes_a_class: 0,
            waits: Sleep, waiting: "sleep in the queue; the head polls first", outnumbered: Holds,
            overtaken: "anybody, for its first 64 polls (`rw_newcomer_polls`, `rw_head_polls`); then a writer by those before it in the queue, and, only while it sleeps or waits for a CPU, by writers that find the lock free; a reader by nobody",
            starves: false, bound: Overtaking::PASSING_QRW,
            holder_away: "all sleep", next_away: "writers that find it free acquire",
            timed: InQueue, in_handlers: All,
            shares: Some(Shares { reads_again: true, awaits: Awaits::Queued, asks: Asks::Mark }),
            not_preloaded: None, variant_of: None,
            source: "Waiman Long's queued rwlock in its form since Linux 4.15; how its waiters wait is this project's",
            stated: Stated::QRW,
        }

        qrw_readers_first QueuedReadersFirstRwLock [$crate::qrw::ReadersFirst<$platform>] "qrw-readers-first"
            is "As qrw, and readers pass writers that wait."
            for "contexts that wait, while they read, for others to read"
            has counted downgrades reads_again {
            bytes: 12, bytes_a_context: 128, bytes_a_class: 0,
            waits: Sleep, waiting: "as `qrw`", outnumbered: Holds,
            overtaken: "readers, any number of times; writers as in `qrw`", starves: true, bound: Overtaking::PASSING_READERS_FIRST,
            holder_away: "all sleep", next_away: "readers acquire",
            timed: InQueue, in_handlers: All,
            shares: Some(Shares { reads_again: true, awaits: Awaits::Readers, asks: Asks::MarkForReaders }),
            not_preloaded: Some("each pthread rwlock is a `qrw`"), variant_of: Some("qrw"),
            source: "this project",
            stated: Stated::QRW_READERS_FIRST,
        }

        percpu_rw PerCpuRwLock [$crate::percpu_rw::PerCpuRwLock<$platform, $crate::qrw::QueuedRwLock<$platform>>] "percpu-rw"
            is "A reader writes to a line of its own thread only."
            for "readers on many CPUs that hardly ever meet a writer"
            has celled downgrades reads_again {
            bytes: 32, bytes_a_context: 128, bytes_a_class: 64,
            waits: Sleep, waiting: "as `qrw`", outnumbered: Holds,
            overtaken: "as `qrw` until it has the base lock; no reader from then on", starves: false, bound: Overtaking::UNTIL_CLOSED,
            holder_away: "all sleep", next_away: "as `qrw`",
            timed: ByTries, in_handlers: Reads,
            shares: Some(Shares { reads_again: true, awaits: Awaits::Nobody, asks: Asks::FastPath(12) }),
            not_preloaded: Some("each pthread rwlock is a `qrw`"), variant_of: None,
            source: "Malcolm Crossley, Implement per-cpu reader-writer locks, v6, 2016 (Xen ef9dd43ddd)",
            stated: Stated::PERCPU_RW,
        }

        }
    };
}

rwlock_rows! { (); crate::lock_facts; }
