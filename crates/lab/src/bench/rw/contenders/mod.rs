//! Every reader-writer lock the benchmark knows: Stanchion's own in [`ours`], and peers, each in a small file
//! and a row below.
/// Reading and writing by guards that the first field returns, in an implementation of
/// [`RwContender`](super::contender::RwContender).
macro_rules! by_guards {
    () => {
        #[inline]
        fn read<T>(&self, critical: impl FnOnce() -> T) -> T {
            let _guard = self.0.read();
            critical()
        }

        #[inline]
        fn write<T>(&self, critical: impl FnOnce() -> T) -> T {
            let _guard = self.0.write();
            critical()
        }
    };
}

mod busted_none;
mod ours;
mod parking_lot;
#[cfg(target_env = "gnu")]
mod pthread;
mod sharded;
mod spin_crate;
mod std_rwlock;
mod usync;

use super::cell::RwSpec;
use super::contender::Row;
use crate::bench::contender::Entry;

static OTHERS: &[Row] = &[
    Row::of::<std_rwlock::Std>(),
    Row::of::<parking_lot::ParkingLot>(),
    #[cfg(target_env = "gnu")]
    Row::of::<pthread::PreferReaders>(),
    #[cfg(target_env = "gnu")]
    Row::of::<pthread::PreferWriters>(),
    Row::of::<sharded::Sharded>(),
    Row::of::<spin_crate::Spin>(),
    Row::of::<usync::Usync>(),
    Row::of::<busted_none::BustedNone>(),
];

/// The registry, in the order of tables and legends: ours first, then what people use today.
pub(crate) fn all() -> impl Iterator<Item = &'static Row> {
    ours::ALL.iter().chain(OTHERS)
}

/// The registry as other benchmarks have it.
pub(crate) fn entries() -> Vec<&'static Entry<RwSpec>> {
    all().map(|row| &row.entry).collect()
}

/// The lock of that name, whatever the name sets for it.
pub(crate) fn by_name(name: &str) -> Option<&'static Row> {
    let (name, _) = stanchion_core::tuned(name);
    all().find(|row| row.entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contender::Kind;

    #[test]
    fn names_are_distinct_and_described() {
        for entry in entries() {
            assert_eq!(all().filter(|other| other.entry.name == entry.name).count(), 1, "{}", entry.name);
            assert!(!entry.about.is_empty() && entry.about.len() <= 70, "{}", entry.name);
        }
    }

    #[test]
    fn what_is_asked_for_is_there() {
        let of = |kind, variant| {
            let entries =
                entries().into_iter().filter(move |entry| entry.kind == kind && entry.variant == variant);
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
