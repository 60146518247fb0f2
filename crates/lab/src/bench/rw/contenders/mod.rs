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

use super::RwContender;
use crate::bench::contender::Entry;

static OTHERS: &[Entry] = &[
    Entry::rw::<std_rwlock::Std>(),
    Entry::rw::<parking_lot::ParkingLot>(),
    #[cfg(target_env = "gnu")]
    Entry::rw::<pthread::PreferReaders>(),
    #[cfg(target_env = "gnu")]
    Entry::rw::<pthread::PreferWriters>(),
    Entry::rw::<sharded::Sharded>(),
    Entry::rw::<spin_crate::Spin>(),
    Entry::rw::<usync::Usync>(),
    Entry::rw::<busted_none::BustedNone>(),
];

/// The registry, in the order of legends: ours first, then what people use today.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    ours::ALL.iter().chain(OTHERS)
}

/// Takes libc's lock of the default kind so many times as a reader, then as a writer, at an address where it
/// stays.
pub(crate) fn take_pthread_lock(times: u32) {
    let lock = Box::new(pthread::PreferReaders::new());
    lock.settle();
    (0..times).for_each(|_| lock.read(|| ()));
    (0..times).for_each(|_| lock.write(|| ()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::contender::Kind;

    #[test]
    fn names_are_distinct_and_described() {
        for entry in all() {
            assert_eq!(all().filter(|other| other.name == entry.name).count(), 1, "{}", entry.name);
            assert!(!entry.about.is_empty() && entry.about.len() <= 70, "{}", entry.name);
        }
    }

    #[test]
    fn what_is_asked_for_is_there() {
        let of = |kind, variant| {
            let entries = all().filter(move |entry| entry.kind == kind && entry.variant == variant);
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
