//! The catalogue: one row for each lock, and everything that is said of it.
//!
//! Another crate of locks has rows of its own, and a catalogue of both.
//! [`for_each_mutex!`](crate::for_each_mutex) and [`for_each_rwlock!`](crate::for_each_rwlock) hand the rows,
//! with the types of the locks, to a macro of the caller; [`MUTEXES`] and [`RWLOCKS`] have the same rows as
//! data. A row is a literal of all fields of [`Facts`], so one that leaves something out does not compile.
mod bounds;
mod facts;
mod mutexes;
mod rwlocks;
mod stated;

pub use bounds::Overtaking;
pub use facts::{Facts, InHandlers, Outnumbered, Shares, Timed, Waits};
pub use stated::{AfterRelease, Asks, Awaits, InOrder, Programs, SecondByte, Stated, Tail};

/// Every mutex, in the order of tables. The first is the default.
pub const MUTEXES: &[Facts] = mutexes::FACTS;

/// Every reader-writer lock, in the order of tables.
pub const RWLOCKS: &[Facts] = rwlocks::FACTS;

/// The mutex of that name. In a constant, a name that is none does not compile.
///
/// # Panics
///
/// If there is none.
pub const fn mutex(name: &str) -> &'static Facts {
    find(MUTEXES, name)
}

/// The same for reader-writer locks.
///
/// # Panics
///
/// If there is none.
pub const fn rwlock(name: &str) -> &'static Facts {
    find(RWLOCKS, name)
}

/// The lock of that name among `all`.
///
/// # Panics
///
/// If there is none.
pub const fn find(all: &'static [Facts], name: &str) -> &'static Facts {
    let mut at = 0;
    while at < all.len() {
        if equal(all[at].name.as_bytes(), name.as_bytes()) {
            return &all[at];
        }
        at += 1;
    }
    panic!("no lock of the catalogue has this name")
}

const fn equal(one: &[u8], other: &[u8]) -> bool {
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// From the rows to their facts.
#[doc(hidden)]
#[macro_export]
macro_rules! lock_facts {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal is $about:literal for $suits:literal
        $(has $readers:ident $ways:ident $again:ident)? $(c $c:tt preload [$($holder:literal)?])? { $($fact:tt)* })*) => {
        pub(super) const FACTS: &[$crate::catalogue::Facts] = &[$({
            let facts = $crate::catalogue::Facts {
                name: $name,
                alias: stringify!($alias),
                path: stringify!($lock),
                about: $about,
                suits: $suits,
                upgrades: $crate::catalogue::upgrades(concat!("" $(, stringify!($ways))?)),
                holder: $crate::catalogue::first(&[$($($holder)?)?]),
                $($fact)*
            };
            assert!(
                facts.shares.is_some() || facts.holder.is_some() != facts.not_preloaded.is_some(),
                "it is preloaded, or there is a reason",
            );
            facts
        }),*];
    };
}

#[doc(hidden)]
pub const fn upgrades(ways: &str) -> bool {
    equal(ways.as_bytes(), b"upgrades")
}

#[doc(hidden)]
pub const fn first(all: &[u32]) -> Option<u32> {
    if all.is_empty() { None } else { Some(all[0]) }
}

#[cfg(test)]
mod tests {
    use super::{MUTEXES, RWLOCKS, equal};

    #[test]
    fn the_product_comes_first() {
        assert_eq!((MUTEXES[0].name, RWLOCKS[0].name), ("stanchion", "qrw"), "the defaults");
    }

    #[test]
    fn names_are_compared_as_a_whole() {
        assert!(equal(b"qrw", b"qrw") && !equal(b"qrw", b"qrw-spin") && !equal(b"qrw-spin", b"qrw"));
        assert!(!equal(b"qrw", b"qrx"));
    }
}
