//! Every lock that can be tortured: the catalogue's, others, and those that are broken on purpose.
use super::busted::{Byte, Cells, Counted, Missed, Ticketed};
use super::lock::{Classed, Mutex, Rw, Skills, Tortured, UpgradableRw};
use super::orders::Orders;
use super::session;
use lab_kit::names::ALL;
use stanchion::lock::PerCpuRwLock;
use stanchion::native::force_fenced_release;
use stanchion_family::catalogue::{self, Facts};
use stanchion_suite::broken::{BROKEN, CHECK_THEN_SET, DOUBLE_GRANT, Detector, LOST_WAKEUP, NONE, PERCPU_RW};
use stanchion_suite::broken::{RELAXED, RW_CHECK_THEN_ACT, RW_COUNT, RW_LOST_WAKEUP, RW_NO_WAIT, RW_SERIAL};
use stanchion_suite::broken::{RW_TRY, SOUND, TRY};

/// What must notice that a lock is broken.
const TORTURE: &str = "torture must catch it";
/// With time and CPUs enough: not in a short run on a busy machine.
const LONG_TORTURE: &str = "torture must catch it in ten seconds, --without nice";
const THREAD_SANITIZER: &str = "a ThreadSanitizer build must catch it";

/// Where a lock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// One of Stanchion's: must pass.
    Stanchion,
    /// Somebody else's, to show that torture passes a sound lock.
    Reference,
    /// Broken on purpose, and what must notice it.
    Busted(&'static str),
}

pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) origin: Origin,
    /// Whether a starved waiter is a failure, and not only worth a note.
    pub(super) fair: bool,
    /// Whether signal handlers may use it while they interrupt its own slow path.
    pub(super) signal_safe: bool,
    pub(super) skills: Skills,
    pub(super) about: &'static str,
    /// Tortures it, in a process of its own.
    pub(super) run: fn(Orders, Skills),
}

/// A mutex that is not Stanchion's.
const fn mutex<L: Tortured>(name: &'static str, about: &'static str) -> Row {
    let (origin, skills, run) = (Origin::Reference, Skills::MUTEX, session::run::<L>);
    Row { name, origin, fair: false, signal_safe: true, skills, about, run }
}

/// A reader-writer lock that is not.
const fn readers<L: Tortured>(name: &'static str, about: &'static str) -> Row {
    Row { skills: Skills::READERS, ..mutex::<L>(name, about) }
}

/// One that is broken on purpose: a row of the catalogue.
const fn busted<L: Tortured>(flaw: usize, skills: Skills) -> Row {
    let broken = &BROKEN[flaw];
    let (mut detector, mut at) = (TORTURE, 0);
    while at < broken.noticed_by.len() {
        detector = match broken.noticed_by[at] {
            Detector::LongTorture => LONG_TORTURE,
            Detector::ThreadSanitizer => THREAD_SANITIZER,
            _ => detector,
        };
        at += 1;
    }
    Row { origin: Origin::Busted(detector), skills, ..mutex::<L>(broken.name, broken.fault) }
}

const fn ours<L: Tortured>(facts: &Facts) -> Row {
    let (fair, skills) = (!facts.starves, Skills::of(facts));
    Row { origin: Origin::Stanchion, fair, skills, ..mutex::<L>(facts.name, facts.about) }
}

impl Row {
    const fn without_signals(self) -> Self {
        Self { signal_safe: false, skills: Skills { handlers_write: false, ..self.skills }, ..self }
    }
}

macro_rules! mutexes {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {
        static MUTEXES: &[Row] = &[$(ours::<Mutex<stanchion::lock::$alias>>(catalogue::mutex($name))),*];
    };
}

stanchion_family::for_each_mutex! { (); mutexes; }

macro_rules! held {
    (upgrades $alias:ident) => { UpgradableRw<stanchion::lock::$alias> };
    (downgrades $alias:ident) => { Rw<stanchion::lock::$alias> };
}

macro_rules! rwlocks {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal $readers:ident $ways:ident $again:ident;)*) => {
        static RWLOCKS: &[Row] = &[$(ours::<held!($ways $alias)>(catalogue::rwlock($name))),*];
    };
}

stanchion_family::for_each_rwlock! { (); rwlocks; }

static OTHER_MUTEXES: &[Row] = &[
    mutex::<Byte<SOUND>>("reference-tas", "a plain test-and-set lock, sound; the twin of busted-relaxed"),
    Row {
        fair: true,
        ..mutex::<Mutex<parking_lot::RawMutex>>(
            "parking-lot",
            "parking_lot's mutex, without signals: its parking table is not made for handlers",
        )
        .without_signals()
    },
    busted::<Byte<NONE>>(NONE, Skills::MUTEX),
    busted::<Byte<CHECK_THEN_SET>>(CHECK_THEN_SET, Skills::MUTEX),
    busted::<Missed>(LOST_WAKEUP, Skills::MUTEX),
    busted::<Ticketed<DOUBLE_GRANT>>(DOUBLE_GRANT, Skills::MUTEX),
    busted::<Byte<TRY>>(TRY, Skills::MUTEX),
    busted::<Byte<RELAXED>>(RELAXED, Skills::MUTEX),
];

/// Forms of `percpu-rw`, and other reader-writer locks.
static OTHER_RWLOCKS: &[Row] = &[
    Row {
        name: "percpu-rw-fenced",
        about: "As percpu-rw without membarrier: each read pays for a full fence.",
        run: |orders, skills| {
            force_fenced_release();
            session::run::<Rw<PerCpuRwLock>>(orders, skills);
        },
        ..ours::<Rw<PerCpuRwLock>>(catalogue::rwlock("percpu-rw"))
    },
    Row {
        name: "percpu-rw-classes",
        about: "As percpu-rw, in two classes of a user's own.",
        ..ours::<Classed>(catalogue::rwlock("percpu-rw"))
    },
    readers::<Counted<SOUND>>("reference-rw", "a count and a flag, sound; the twin of the busted-rw ones"),
    readers::<Cells<SOUND>>(
        "reference-percpu-rw",
        "cells and a membarrier, sound; the twin of busted-percpu-rw",
    )
    .without_signals(),
    Row {
        skills: Skills { downgrades: true, upgrades: true, ..Skills::READERS },
        ..readers::<UpgradableRw<parking_lot::RawRwLock>>(
            "parking-lot-rw",
            "parking_lot's reader-writer lock, without signals",
        )
        .without_signals()
    },
    busted::<Counted<RW_CHECK_THEN_ACT>>(RW_CHECK_THEN_ACT, Skills::READERS),
    busted::<Counted<RW_NO_WAIT>>(RW_NO_WAIT, Skills::READERS),
    busted::<Counted<RW_TRY>>(RW_TRY, Skills::READERS),
    busted::<Counted<RW_LOST_WAKEUP>>(RW_LOST_WAKEUP, Skills::READERS),
    busted::<Counted<RW_COUNT>>(RW_COUNT, Skills::READERS),
    busted::<Counted<RW_SERIAL>>(RW_SERIAL, Skills::READERS),
    busted::<Cells<PERCPU_RW>>(PERCPU_RW, Skills::READERS).without_signals(),
];

/// Words that stand for several locks.
pub(super) const GROUPS: [(&str, &str); 3] = [
    (ALL, "all of Stanchion's own"),
    ("rw", "all of those whose readers share"),
    ("busted", "all that are broken on purpose"),
];

/// Every row, in the order in which they are run.
pub(super) fn rows() -> impl Iterator<Item = &'static Row> {
    MUTEXES.iter().chain(OTHER_MUTEXES).chain(RWLOCKS).chain(OTHER_RWLOCKS)
}

pub(super) fn row(name: &str) -> Option<&'static Row> {
    rows().find(|row| row.name == name)
}

/// Every name that `--lock` understands.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|row| row.name).chain(GROUPS.map(|(name, _)| name))
}

/// The rows that `name` stands for, if any; of `busted`, if failures are expected, what torture can notice.
pub(super) fn named(name: &str, expect_failure: bool) -> Vec<&'static Row> {
    let wanted = |row: &&Row| match (name, row.origin) {
        ("busted", Origin::Busted(detector)) => !expect_failure || detector == TORTURE,
        (ALL, Origin::Stanchion) => true,
        ("rw", Origin::Stanchion) => row.skills.shares,
        _ => row.name == name,
    };
    rows().filter(wanted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_suite::broken::Broken;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_tell_where_a_lock_comes_from() {
        let unique: BTreeSet<&str> = names().collect();
        assert_eq!(unique.len(), names().count());
        for &Row { name, origin, skills, .. } in rows() {
            assert_eq!(name.starts_with("busted-"), matches!(origin, Origin::Busted(_)), "{name}");
            assert_eq!(row(name).map(|found| found.name), Some(name));
            assert!(!name.contains("percpu-rw") || !skills.handlers_write, "{name}");
        }
    }

    #[test]
    fn all_that_torture_or_a_sanitizer_must_notice_are_here() {
        let torture = |broken: &&Broken| {
            let of = [Detector::Torture, Detector::LongTorture, Detector::ThreadSanitizer];
            broken.noticed_by.iter().any(|detector| of.contains(detector))
        };
        let listed: BTreeSet<&str> = BROKEN.iter().filter(torture).map(|broken| broken.name).collect();
        assert_eq!(named("busted", false).iter().map(|row| row.name).collect::<BTreeSet<_>>(), listed);
    }

    #[test]
    fn the_group_of_busted_locks_fits_the_question() {
        let all = named("busted", false);
        let caught_here = named("busted", true);
        assert_eq!(all.len(), caught_here.len() + 2);
        assert!(caught_here.iter().all(|row| row.origin == Origin::Busted(TORTURE)));
        assert!(all.iter().any(|row| row.name == "busted-relaxed"));
        assert_eq!(named("busted-relaxed", true).len(), 1, "by its own name it is always meant");
        assert!(named("nonsense", false).is_empty());
        assert!(named("rw", false).iter().all(|row| row.skills.shares && row.origin == Origin::Stanchion));
        assert!(named("rw", false).iter().any(|row| row.name == "percpu-rw"));
    }
}
