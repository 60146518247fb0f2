//! The catalogue: one row for each lock, and everything that is said of it.
//!
//! Worlds, commands and pages take their lists from here. [`for_each_mutex!`](crate::for_each_mutex) and
//! [`for_each_rwlock!`](crate::for_each_rwlock) hand the rows, with the types of the locks, to a macro of the caller; [`MUTEXES`] and
//! [`RWLOCKS`] have the same rows as data. A row is a literal of all fields of [`Facts`], so one that leaves something out does not
//! compile.
//!
//! A new lock takes five places: its file, its row (`mutexes.rs` or `rwlocks.rs`), its word (`stated.rs`; and in `bounds.rs` a bound that needs an argument), its mutants
//! (`mutants/NAME.toml`), and its prose (`docs/locks.md`).
mod bounds;
mod mutexes;
mod rwlocks;
mod stated;

use crate::tunables::Tunable;
pub use bounds::Overtaking;
pub use stated::{AfterRelease, Asks, Awaits, InOrder, Programs, SecondByte, Stated, Tail};

/// What a waiter does that has polled for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It goes on polling.
    Spin,
    /// It gives its CPU away, and stays runnable.
    Yield,
    /// It sleeps until it is woken.
    Sleep,
}

/// What becomes of throughput when contexts outnumber the CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outnumbered {
    /// It stays about what it was.
    Holds,
    /// It falls, to the pace at which the system switches contexts at worst.
    Falls,
    /// Nearly nothing is left: waiters spin away the time that the next in line needs.
    Collapses,
}

/// How a wait with a deadline waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    /// In the queue, as any other; it leaves the queue when the time is over.
    InQueue,
    /// It tries now and then, and may miss a lock that is hot until the time is over.
    ByTries,
}

/// What a signal or interrupt handler may do with a lock that the context uses which it interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InHandlers {
    /// Anything, with locks that the interrupted context does not hold.
    All,
    /// Read.
    Reads,
}

/// What readers of a reader-writer lock may do. All of them can be downgraded to, and tried for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Whether a context that reads may read again, whatever waits.
    pub reads_again: bool,
    /// Whether a context that waits to read may depend on one that reads.
    pub awaits: Awaits,
    /// By what a waiter asks for the lock.
    pub asks: Asks,
}

/// All that is said of a lock.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The name on command lines and in files.
    pub name: &'static str,
    /// The name of its type in `stanchion::lock`.
    pub alias: &'static str,
    /// Its type in this crate, as its row has it.
    pub path: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// For whom it is.
    pub suits: &'static str,
    /// Its size.
    pub bytes: usize,
    /// What a context needs that waits, beside the lock, in bytes.
    pub bytes_a_context: usize,
    /// What a context needs for each class of locks that it reads, in bytes.
    pub bytes_a_class: usize,
    /// What its waiters do in the end.
    pub waits: Waits,
    /// The same in more words.
    pub waiting: &'static str,
    /// What becomes of it when contexts outnumber the CPUs.
    pub outnumbered: Outnumbered,
    /// How often others may go ahead of a waiter.
    pub overtaken: &'static str,
    /// Whether a waiter may wait for ever while others acquire.
    pub starves: bool,
    /// What waiters do while the holder does not run.
    pub holder_away: &'static str,
    /// What happens while the next in line does not run.
    pub next_away: &'static str,
    /// How waits with a deadline wait.
    pub timed: Timed,
    /// What handlers may do with it.
    pub in_handlers: InHandlers,
    /// What its readers may do, if it has readers.
    pub shares: Option<Shares>,
    /// Whether it can be held upgradably.
    pub upgrades: bool,
    /// Which bits of its word say who holds it, if a pthread mutex can be made of it.
    pub holder: Option<u32>,
    /// Why none can; of a reader-writer lock, why pthread ones are another.
    pub not_preloaded: Option<&'static str>,
    /// The lock that it is to be compared with, if it is there for that.
    pub variant_of: Option<&'static str>,
    /// Where it comes from.
    pub source: &'static str,
    /// Its bound, where tunables are small. "None" is a bound, too, with a reason.
    pub bound: Overtaking,
    /// Its word.
    pub stated: Stated,
}

impl Facts {
    /// Whether it is there to be compared with another one of the catalogue.
    pub const fn is_variant(&self) -> bool {
        self.variant_of.is_some()
    }
}

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
pub const MUTEXES: &[Facts] = mutexes::FACTS;

/// Every reader-writer lock, in the order of tables.
pub const RWLOCKS: &[Facts] = rwlocks::FACTS;

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

const fn find(all: &'static [Facts], name: &str) -> &'static Facts {
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
macro_rules! facts {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal is $about:literal for $suits:literal
        $(has $readers:ident $ways:ident $again:ident)? $(c $c:tt preload [$($holder:literal)?])? { $($fact:tt)* })*) => {
        pub(super) const FACTS: &[crate::catalogue::Facts] = &[$({
            let facts = crate::catalogue::Facts {
                name: $name,
                alias: stringify!($alias),
                path: stringify!($lock),
                about: $about,
                suits: $suits,
                upgrades: crate::catalogue::upgrades(concat!("" $(, stringify!($ways))?)),
                holder: crate::catalogue::first(&[$($($holder)?)?]),
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
pub(crate) use facts;

const fn upgrades(ways: &str) -> bool {
    equal(ways.as_bytes(), b"upgrades")
}

const fn first(all: &[u32]) -> Option<u32> {
    if all.is_empty() { None } else { Some(all[0]) }
}

#[cfg(test)]
mod tests {
    use super::{Facts, MUTEXES, RWLOCKS, TUNED, equal};

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
                matches!(facts.bytes, 4 | 8 | 12 | 16 | 20 | 24 | 576),
                "{}: {} bytes",
                facts.name,
                facts.bytes
            );
        }
    }

    #[test]
    fn names_are_compared_as_a_whole() {
        assert!(equal(b"qrw", b"qrw") && !equal(b"qrw", b"qrw-spin") && !equal(b"qrw-spin", b"qrw"));
        assert!(!equal(b"qrw", b"qrx"));
    }
}
