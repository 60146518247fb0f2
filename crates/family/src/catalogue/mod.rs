//! The catalogue of all locks: the rows of the product, [`stanchion_core::catalogue`], and those of this
//! crate.
//!
//! Worlds, commands and pages take their lists from here. [`for_each_mutex!`](crate::for_each_mutex) and
//! [`for_each_rwlock!`](crate::for_each_rwlock) hand the rows, with the types of the locks, to a macro of the
//! caller; [`MUTEXES`] and [`RWLOCKS`] have the same rows as data.
//!
//! A new lock takes five places: its file, its row (`mutexes.rs` or `rwlocks.rs`), its word (`stated.rs`; and
//! in `bounds.rs` a bound that needs an argument), its mutants (`mutants/NAME.toml`), and its prose
//! (`docs/locks.md`).
mod bounds;
mod mutexes;
mod rwlocks;
mod stated;

use crate::tunables::FamilyTunables as _;
use stanchion_core::Tunable;
use stanchion_core::catalogue::{self as product, find};
use stanchion_core::listed::joined;

pub use stanchion_core::catalogue::{
    AfterRelease, Asks, Awaits, Facts, InHandlers, InOrder, Outnumbered, Overtaking, Programs, SecondByte,
    Shares, Stated, Tail, Timed, Waits,
};

/// A lock of the catalogue with tunables set: another name for it where tunables can be set.
#[derive(Clone, Copy, Debug)]
pub struct Tuned {
    /// The name on command lines and in files.
    pub name: &'static str,
    /// The lock.
    pub of: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// What is set.
    pub settings: &'static [(Tunable, u32)],
    /// Its bound, which the settings may change.
    pub overtaking: Overtaking,
}

/// Every mutex, in the order of tables. The first is the default.
pub const MUTEXES: &[Facts] =
    &joined::<Facts, { product::MUTEXES.len() + mutexes::FACTS.len() }>(product::MUTEXES, mutexes::FACTS);

/// Every reader-writer lock, in the order of tables.
pub const RWLOCKS: &[Facts] =
    &joined::<Facts, { product::RWLOCKS.len() + rwlocks::FACTS.len() }>(product::RWLOCKS, rwlocks::FACTS);

/// Locks that are others with tunables set.
pub const TUNED: &[Tuned] = &[
    Tuned {
        name: "cna-10ms",
        of: "cna",
        about: "As cna, with a threshold of 10 ms.",
        settings: &[(Tunable::CnaThreshold, 10_000)],
        overtaking: Overtaking::Unbounded(
            "the threshold is longer than any schedule that is explored, which ends without a flush",
        ),
    },
    Tuned {
        name: "xen-pv-wake-all",
        of: "xen-pv",
        about: "As xen-pv, and a release wakes everybody who sleeps.",
        settings: &[(Tunable::XenWakeAll, 1)],
        overtaking: Overtaking::NO_QUEUE,
    },
];

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

#[cfg(test)]
mod tests {
    use super::{Facts, MUTEXES, RWLOCKS, TUNED};

    fn all() -> impl Iterator<Item = &'static Facts> {
        MUTEXES.iter().chain(RWLOCKS)
    }

    #[test]
    fn names_are_unique() {
        let names = || all().map(|facts| facts.name).chain(TUNED.iter().map(|tuned| tuned.name));
        for name in names() {
            assert_eq!(names().filter(|other| *other == name).count(), 1, "{name}");
        }
    }

    #[test]
    fn what_a_row_refers_to_is_there() {
        for facts in all() {
            let base = facts.variant_of;
            assert!(base.is_none_or(|base| all().any(|other| other.name == base)), "{}", facts.name);
        }
        assert!(TUNED.iter().all(|tuned| all().any(|facts| facts.name == tuned.of)));
        assert_eq!(MUTEXES[0].name, "stanchion", "the default");
    }

    #[test]
    fn sentences_are_sentences_and_fit_into_a_list() {
        let tuned = TUNED.iter().map(|tuned| (tuned.name, tuned.about));
        for (name, about) in all().map(|facts| (facts.name, facts.about)).chain(tuned) {
            assert!(about.ends_with('.') && about.len() <= 70, "{name}: {about}");
            assert!(about.starts_with(char::is_uppercase), "{name}: {about}");
        }
    }

    #[test]
    fn no_text_is_missing() {
        for facts in all() {
            let texts = [
                facts.suits,
                facts.waiting,
                facts.overtaken,
                facts.holder_away,
                facts.next_away,
                facts.source,
            ];
            assert!(texts.iter().all(|text| !text.is_empty()), "{}", facts.name);
            assert!(!facts.stated.fields.is_empty() && !facts.stated.programs.is_empty(), "{}", facts.name);
            assert!(
                matches!(facts.bytes, 4 | 8 | 12 | 16 | 20 | 24 | 32 | 576),
                "{}: {} bytes",
                facts.name,
                facts.bytes
            );
        }
    }
}
