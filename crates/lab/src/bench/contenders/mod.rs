//! A row ([`entry`]) for every lock that the benchmark knows: Stanchion's own as the catalogue has them, and
//! [`peers`].
mod entry;
mod peers;
mod pthread;
mod spin_park;

use super::contender::{Memory, NO_LOCK};
use crossbeam_utils::sync::ShardedLock;
use entry::Entry;
use lock_api::{Mutex, RwLock};
use mcslock::raw::spins::Mutex as Mcs;
use peers::None;
use pthread::{ADAPTIVE, DEFAULT, PREFER_READER, PREFER_WRITER_NONRECURSIVE};
pub(crate) use pthread::{take as take_pthread_locks, take_by_two as take_pthread_mutex_by_two};
use spin_park::SpinPark;
use stanchion::lock;
use stanchion::native::Counted;
use stanchion_family::catalogue;
use std::sync;

macro_rules! ours {
    ([$of:ident, $facts:path] $($row:ident $alias:ident [$lock:ty] $name:literal $($column:ident)*;)*) => {
        &[$(Entry::ours::<$of<lock::$alias, ()>, $of<lock::$alias<Counted>, ()>>($facts($name))),*]
    };
}
static OUR_MUTEXES: &[Entry] = stanchion_family::for_each_mutex! { (); ours; Mutex, catalogue::mutex };
static OUR_RWLOCKS: &[Entry] = stanchion_family::for_each_rwlock! { (); ours; RwLock, catalogue::rwlock };

/// Three buckets of the global table, 64 bytes each.
const PARKING_LOT: Memory = Memory { per_thread: 192, ..Memory::NONE };
/// Eight shards on two lines each; a thread has an entry in a table of all threads.
const SHARDED: Memory = Memory { heap_per_lock: 8 * 128, per_thread: 32, ..Memory::NONE };
const NO_EXCLUSION: &str = "no exclusion: the overhead of the harness, and a canary of its check";

static MUTEXES: &[Entry] = &[
    Entry::peer::<Mutex<lock::StanchionLock, ()>>("", "")
        .fenced("stanchion-fenced", "stanchion whose release is a swap, as without membarrier")
        .hidden(),
    Entry::peer::<sync::Mutex<()>>("std", "std::sync::Mutex: futex word, 100 polls, then sleep"),
    Entry::peer::<parking_lot::Mutex<()>>(
        "parking_lot",
        "parking_lot::Mutex: one byte, backs off, parks in a global table",
    )
    .needs(PARKING_LOT),
    Entry::peer::<pthread::Mutex<DEFAULT>>("pthread", "pthread_mutex_t, default kind: sleeps at once"),
    Entry::peer::<pthread::Mutex<ADAPTIVE>>(
        "pthread-adaptive",
        "PTHREAD_MUTEX_ADAPTIVE_NP: spins as past waits suggest, then sleeps",
    ),
    Entry::peer::<pthread::Spin>("pthread-spin", "pthread_spinlock_t: test-and-set word, never sleeps"),
    Entry::peer::<spin::Mutex<()>>("spin", "spin::Mutex: test-and-test-and-set, never sleeps"),
    Entry::peer::<usync::Mutex<()>>("usync", "usync::Mutex: one word, lock-free queue of parked threads"),
    Entry::peer::<Mcs<()>>("mcslock", "mcslock::raw::spins::Mutex: MCS queue lock, FIFO, never sleeps"),
    Entry::peer::<SpinPark>("spin-park", "plain futex mutex of the benchmark: 100 polls, then sleep"),
    Entry::peer::<None<false>>(NO_LOCK, NO_EXCLUSION).hidden(),
];

static RWLOCKS: &[Entry] = &[
    Entry::ours::<RwLock<lock::PerCpuRwLock, ()>, RwLock<lock::PerCpuRwLock<Counted>, ()>>(
        catalogue::rwlock("percpu-rw"),
    )
    .fenced("percpu-rw-fenced", "As percpu-rw without membarrier: each read pays for a full fence."),
    Entry::peer::<sync::RwLock<()>>("std", "std::sync::RwLock: two futex words, 100 polls, then sleep"),
    Entry::peer::<parking_lot::RwLock<()>>(
        "parking_lot",
        "parking_lot::RwLock: one word, waiters in a global table",
    )
    .needs(PARKING_LOT),
    Entry::peer::<pthread::RwLock<PREFER_READER>>(
        "pthread-readers",
        "pthread_rwlock_t, readers preferred (the default)",
    ),
    Entry::peer::<pthread::RwLock<PREFER_WRITER_NONRECURSIVE>>(
        "pthread-writers",
        "pthread_rwlock_t, writers preferred (nonrecursive)",
    ),
    Entry::peer::<ShardedLock<()>>(
        "crossbeam-sharded",
        "ShardedLock: eight locks, a reader takes one, a writer all",
    )
    .needs(SHARDED),
    Entry::peer::<spin::RwLock<()>>("spin", "spin::RwLock: one word; never sleeps"),
    Entry::peer::<usync::RwLock<()>>("usync", "usync::RwLock: one word, lock-free queue of parked threads"),
    Entry::peer::<None<true>>(NO_LOCK, NO_EXCLUSION).hidden(),
];

/// All mutexes, or all reader-writer locks, in the order of tables: ours first, then what people use today.
pub(crate) fn registry(rw: bool) -> impl Iterator<Item = &'static Entry> + Clone {
    let (ours, others) = if rw { (OUR_RWLOCKS, RWLOCKS) } else { (OUR_MUTEXES, MUTEXES) };
    ours.iter().chain(others)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contender::Kind;

    #[test]
    fn names_are_distinct_and_described() {
        for rw in [false, true] {
            for entry in registry(rw) {
                let named = registry(rw).filter(|other| other.name == entry.name);
                assert_eq!(named.count(), 1, "{}", entry.name);
                assert!(!entry.about.is_empty() && entry.about.len() <= 70, "{}", entry.name);
            }
        }
    }

    #[test]
    fn the_hidden_lock_is_found_by_name_only() {
        let hidden = registry(false).find(|entry| entry.name == "busted-none");
        assert_eq!(hidden.map(|entry| entry.kind), Some(Kind::Hidden));
        let mut peers = registry(false).filter(|entry| entry.kind == Kind::Peer);
        assert!(peers.all(|entry| entry.name != "busted-none"));
    }

    #[test]
    fn what_is_asked_for_is_there() {
        let of = |kind, variant| {
            let entries = registry(true).filter(move |entry| entry.kind == kind && entry.variant == variant);
            entries.map(|entry| entry.name).collect::<Vec<_>>()
        };
        assert_eq!(of(Kind::Stanchion, false), ["qrw", "percpu-rw", "rw-simple"]);
        assert_eq!(
            of(Kind::Stanchion, true),
            ["qrw-readers-first", "qrw-spin", "percpu-rw-simple", "percpu-rw-fenced"]
        );
        assert!(of(Kind::Peer, false).len() >= 5 && of(Kind::Hidden, false) == ["busted-none"]);
    }
}
