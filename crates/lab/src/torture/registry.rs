//! Every lock that can be tortured: the catalogue's, others, and those that are broken on purpose.
use super::busted::flag::{CHECK_THEN_SET, Flag, OPEN, RELAXED, SOUND, TRY_LIES};
use super::busted::rw_count::{self, CHECK_THEN_ACT, LOST_WAKEUP, NO_WAIT, RwCount, SERIAL, WRONG_COUNT};
use super::busted::rw_percpu::PerCpuCells;
use super::busted::ticket::{DOUBLE_GRANT, MISSED, Ticket};
use super::lock::{Classed, Rw, Skills, Tortured, UpgradableRw};
use super::orders::Orders;
use super::session;
use stanchion::native::{Native, force_fenced_release};
use stanchion_core::PerCpuRwLock;
use stanchion_family::catalogue::{self, Facts};

/// What is expected to notice that a broken lock is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detector {
    /// This command, natively.
    Torture,
    /// The same, with time and CPUs enough: not in a short run on a busy machine.
    LongTorture,
    /// This command, built with ThreadSanitizer.
    ThreadSanitizer,
}

/// Where a lock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// One of Stanchion's: must pass.
    Stanchion,
    /// Somebody else's, to show that torture passes a sound lock.
    Reference,
    /// Broken on purpose: the detector must notice.
    Busted(Detector),
}

/// One lock.
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) origin: Origin,
    /// Whether a starved waiter is a failure or only worth a note.
    pub(super) fair: bool,
    /// Whether signal handlers may use it while they interrupt its own slow path.
    pub(super) signal_safe: bool,
    pub(super) skills: Skills,
    pub(super) about: &'static str,
    /// Tortures it, in a process of its own.
    pub(super) run: fn(Orders, Skills),
}

/// One of Stanchion's.
const fn ours<L: Tortured>(facts: &Facts) -> Row {
    Row {
        name: facts.name,
        origin: Origin::Stanchion,
        fair: !facts.starves,
        signal_safe: true,
        skills: Skills::of(facts),
        about: facts.about,
        run: session::run::<L>,
    }
}

/// A mutex that is broken on purpose, for torture to notice.
const fn mutex<L: Tortured>(name: &'static str, about: &'static str) -> Row {
    Row {
        name,
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        skills: Skills::MUTEX,
        about,
        run: session::run::<L>,
    }
}

/// A reader-writer lock that is.
const fn readers<L: Tortured>(name: &'static str, about: &'static str) -> Row {
    Row { skills: Skills::READERS, ..mutex::<L>(name, about) }
}

macro_rules! mutexes {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {
        /// The catalogue's mutexes.
        static MUTEXES: &[Row] = &[$(ours::<stanchion::lock::$alias>(catalogue::mutex($name))),*];
    };
}

stanchion_family::for_each_mutex! { (); mutexes; }

/// By the word of the catalogue.
macro_rules! held {
    (upgrades $lock:ty) => { UpgradableRw<$lock> };
    (downgrades $lock:ty) => { Rw<$lock> };
}

macro_rules! rwlocks {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal $readers:ident $ways:ident $again:ident;)*) => {
        /// The catalogue's reader-writer locks.
        static RWLOCKS: &[Row] = &[$(ours::<held!($ways $lock)>(catalogue::rwlock($name))),*];
    };
}

stanchion_family::for_each_rwlock! { Native; rwlocks; }

/// Other mutexes.
static OTHER_MUTEXES: &[Row] = &[
    Row {
        origin: Origin::Reference,
        ..mutex::<Flag<SOUND>>(
            "reference-tas",
            "a plain test-and-set lock, sound; the twin of busted-relaxed",
        )
    },
    Row {
        origin: Origin::Reference,
        fair: true,
        signal_safe: false,
        ..mutex::<parking_lot::RawMutex>(
            "parking-lot",
            "parking_lot's mutex, without signals: its parking table is not made for handlers",
        )
    },
    mutex::<Flag<OPEN>>("busted-none", "excludes nobody"),
    mutex::<Flag<CHECK_THEN_SET>>("busted-check-then-set", "looks and then takes, in two steps"),
    mutex::<Ticket<MISSED>>("busted-lost-wakeup", "may sleep through the wake-up meant for it"),
    mutex::<Ticket<DOUBLE_GRANT>>(
        "busted-double-grant",
        "a ticket lock that now and then serves two at once",
    ),
    mutex::<Flag<TRY_LIES>>("busted-try", "try_lock sometimes takes what somebody else holds"),
    Row {
        origin: Origin::Busted(Detector::ThreadSanitizer),
        ..mutex::<Flag<RELAXED>>(
            "busted-relaxed",
            "excludes, but orders nothing; invisible to torture on x86",
        )
    },
];

/// Forms of `percpu-rw`, and other reader-writer locks.
static OTHER_RWLOCKS: &[Row] = &[
    Row {
        name: "percpu-rw-fenced",
        about: "As percpu-rw without membarrier: each read pays for a full fence.",
        run: |orders, skills| {
            force_fenced_release();
            session::run::<Rw<PerCpuRwLock<Native>>>(orders, skills);
        },
        ..ours::<Rw<PerCpuRwLock<Native>>>(catalogue::rwlock("percpu-rw"))
    },
    Row {
        name: "percpu-rw-classes",
        about: "As percpu-rw, in two classes of a user's own.",
        ..ours::<Classed>(catalogue::rwlock("percpu-rw"))
    },
    Row {
        origin: Origin::Reference,
        ..readers::<RwCount<{ rw_count::SOUND }>>(
            "reference-rw",
            "a count and a flag, sound; the twin of the busted-rw ones",
        )
    },
    Row {
        origin: Origin::Reference,
        signal_safe: false,
        skills: PerCpuCells::<true>::SKILLS,
        ..readers::<PerCpuCells<true>>(
            "reference-percpu-rw",
            "cells and a membarrier, sound; the twin of busted-percpu-rw",
        )
    },
    Row {
        origin: Origin::Reference,
        signal_safe: false,
        skills: Skills { downgrades: true, upgrades: true, ..Skills::READERS },
        ..readers::<parking_lot::RawRwLock>(
            "parking-lot-rw",
            "parking_lot's reader-writer lock, without signals",
        )
    },
    readers::<RwCount<CHECK_THEN_ACT>>(
        "busted-rw-check-then-act",
        "a reader looks for writers and then counts itself, in two steps",
    ),
    readers::<RwCount<NO_WAIT>>("busted-rw-no-wait", "a writer does not wait for the readers"),
    readers::<RwCount<{ rw_count::TRY_LIES }>>("busted-rw-try", "a try to read succeeds beside a writer"),
    readers::<RwCount<LOST_WAKEUP>>("busted-rw-lost-wakeup", "the last reader does not wake the writer"),
    readers::<RwCount<WRONG_COUNT>>("busted-rw-count", "a reader that leaves sometimes counts for two"),
    readers::<RwCount<SERIAL>>("busted-rw-serial", "readers exclude each other"),
    Row {
        origin: Origin::Busted(Detector::LongTorture),
        signal_safe: false,
        skills: PerCpuCells::<false>::SKILLS,
        ..readers::<PerCpuCells<false>>(
            "busted-percpu-rw",
            "the writer has no barrier between its flag and the cells",
        )
    },
];

/// The word that stands for all locks that are broken on purpose.
pub(super) const BUSTED: &str = "busted";
/// The word that stands for all of Stanchion's own.
pub(super) const FAMILY: &str = "family";
/// The word that stands for those of them whose readers share.
pub(super) const RW: &str = "rw";

/// Every row, in the order in which they are run.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    MUTEXES.iter().chain(OTHER_MUTEXES).chain(RWLOCKS).chain(OTHER_RWLOCKS)
}

/// The row called `name`.
pub(super) fn row(name: &str) -> Option<&'static Row> {
    rows().find(|row| row.name == name)
}

/// Every name that `--lock` understands.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|row| row.name).chain([BUSTED, FAMILY, RW])
}

/// The rows that `name` stands for; empty if it stands for nothing. A run that expects failures asks of
/// `busted` only what torture itself can notice.
pub(super) fn named(name: &str, expect_failure: bool) -> Vec<&'static Row> {
    let wanted = |row: &&Row| match (name, row.origin) {
        (BUSTED, Origin::Busted(detector)) => !expect_failure || detector == Detector::Torture,
        (FAMILY, Origin::Stanchion) => true,
        (RW, Origin::Stanchion) => row.skills.shares,
        _ => row.name == name,
    };
    rows().filter(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_tell_where_a_lock_comes_from() {
        let mut names: Vec<&str> = names().collect();
        names.sort_unstable();
        let before = names.len();
        names.dedup();
        assert_eq!(names.len(), before);
        for row in rows() {
            assert_eq!(
                row.name.starts_with("busted-"),
                matches!(row.origin, Origin::Busted(_)),
                "{}",
                row.name
            );
            assert_eq!(self::row(row.name).map(|found| found.name), Some(row.name));
        }
    }

    #[test]
    fn the_group_of_busted_locks_fits_the_question() {
        let all = named(BUSTED, false);
        let caught_here = named(BUSTED, true);
        assert_eq!(all.len(), caught_here.len() + 2);
        assert!(caught_here.iter().all(|row| row.origin == Origin::Busted(Detector::Torture)));
        assert!(all.iter().any(|row| row.name == "busted-relaxed"));
        assert_eq!(named("busted-relaxed", true).len(), 1, "by its own name it is always meant");
        assert!(named("nonsense", false).is_empty());
        assert!(named(RW, false).iter().all(|row| row.skills.shares && row.origin == Origin::Stanchion));
        assert!(named(RW, false).iter().any(|row| row.name == "percpu-rw"));
    }
}
