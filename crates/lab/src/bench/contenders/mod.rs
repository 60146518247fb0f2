//! Every lock the benchmark knows: Stanchion's own in [`family`], and peers, each in a small file and a row
//! below.
mod family;

use super::contender::{Contender, Entry};

/// Declares the modules and the list from one row each, so that neither can be forgotten.
macro_rules! contenders {
    ($($(#[$attribute:meta])* $file:ident => $entry:expr;)*) => {
        $($(#[$attribute])* mod $file;)*

        static OTHERS: &[Entry] = &[$($(#[$attribute])* $entry,)*];
    };
}

contenders! {
    stanchion_fenced => Entry::of::<stanchion_fenced::StanchionFenced>();
    std_mutex => Entry::of::<std_mutex::Std>();
    parking_lot => Entry::of::<parking_lot::ParkingLot>();
    pthread => Entry::of::<pthread::Pthread>();
    #[cfg(target_env = "gnu")]
    pthread_adaptive => Entry::of::<pthread_adaptive::Adaptive>();
    pthread_spin => Entry::of::<pthread_spin::Spin>();
    spin_crate => Entry::of::<spin_crate::Spin>();
    usync => Entry::of::<usync::Usync>();
    mcslock => Entry::of::<mcslock::Mcs>();
    spin_park => Entry::of::<spin_park::SpinPark>();
    busted_none => Entry::of::<busted_none::BustedNone>();
}

/// The registry, in the order of tables and legends: ours first, then what people use today.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    family::ALL.iter().chain(OTHERS)
}

/// Takes a pthread mutex so many times, at an address where it stays.
pub(crate) fn take_pthread_mutex(times: u32) {
    let mutex = Box::new(pthread::Pthread::new());
    mutex.settle();
    (0..times).for_each(|_| mutex.with(|| ()));
}

/// The registry of mutexes, or of reader-writer locks.
pub(crate) fn registry(rw: bool) -> Vec<&'static Entry> {
    if rw { super::rw::all().collect() } else { all().collect() }
}

/// The lock of that name, whatever the name sets for it.
pub(crate) fn by_name(name: &str, rw: bool) -> Option<&'static Entry> {
    let (name, _) = stanchion_family::tuned::tuned(name);
    registry(rw).into_iter().find(|entry| entry.name == name)
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
    fn the_hidden_lock_is_found_by_name_only() {
        assert_eq!(by_name("busted-none", false).map(|entry| entry.kind), Some(Kind::Hidden));
        assert!(all().filter(|entry| entry.kind == Kind::Peer).all(|entry| entry.name != "busted-none"));
    }
}
