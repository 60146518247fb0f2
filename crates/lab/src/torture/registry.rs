//! Every lock that can be tortured: the catalogue's, and others.
use super::busted;
use super::orders::Orders;
use super::rw_rows;
use super::session;
use stanchion_family::catalogue::{self, Facts};

/// What is expected to notice that a broken lock is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detector {
    /// This command, natively.
    Torture,
    /// The same, with time and CPUs enough: not in a short run on a busy machine.
    LongTorture,
    /// This command, built with ThreadSanitizer.
    ThreadSanitizer,
}

/// Where a lock comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// One of Stanchion's: must pass.
    Stanchion,
    /// Somebody else's, to show that torture passes a sound lock.
    Reference,
    /// Broken on purpose: the detector must notice.
    Busted(Detector),
}

/// One lock.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) origin: Origin,
    /// Whether a starved waiter is a failure or only worth a note.
    pub(crate) fair: bool,
    /// Whether signal handlers may use it while they interrupt its own slow path.
    pub(crate) signal_safe: bool,
    /// Whether readers are inside together; then there are readers unless it is said how many.
    pub(crate) shares: bool,
    pub(crate) about: &'static str,
    /// Tortures it, in a process of its own.
    pub(crate) run: fn(Orders),
}

/// One of Stanchion's.
pub(super) const fn ours(facts: &Facts, run: fn(Orders)) -> Row {
    Row {
        name: facts.name,
        origin: Origin::Stanchion,
        fair: !facts.starves,
        signal_safe: true,
        shares: facts.shares.is_some(),
        about: facts.about,
        run,
    }
}

macro_rules! family {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {
        /// The catalogue's mutexes.
        static MUTEXES: &[Row] =
            &[$(ours(catalogue::mutex($name), session::run::<stanchion::lock::$alias>)),*];
    };
}

stanchion_family::for_each_mutex! { (); family; }

/// Every row, in the order in which they are run.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    MUTEXES.iter().chain(OTHERS).chain(rw_rows::OURS).chain(rw_rows::OTHERS)
}

/// Other mutexes.
static OTHERS: &[Row] = &[
    Row {
        name: "reference-tas",
        origin: Origin::Reference,
        fair: false,
        signal_safe: true,
        shares: false,
        about: "a plain test-and-set lock, sound; the twin of busted-relaxed",
        run: session::run::<busted::Sound>,
    },
    Row {
        name: "parking-lot",
        origin: Origin::Reference,
        fair: true,
        signal_safe: false,
        shares: false,
        about: "parking_lot's mutex, without signals: its parking table is not made for handlers",
        run: session::run::<parking_lot::RawMutex>,
    },
    Row {
        name: "busted-none",
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        shares: false,
        about: "excludes nobody",
        run: session::run::<busted::NoExclusion>,
    },
    Row {
        name: "busted-check-then-set",
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        shares: false,
        about: "looks and then takes, in two steps",
        run: session::run::<busted::CheckThenSet>,
    },
    Row {
        name: "busted-lost-wakeup",
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        shares: false,
        about: "may sleep through the wake-up meant for it",
        run: session::run::<busted::LostWakeup>,
    },
    Row {
        name: "busted-double-grant",
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        shares: false,
        about: "a ticket lock that now and then serves two at once",
        run: session::run::<busted::DoubleGrant>,
    },
    Row {
        name: "busted-try",
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        shares: false,
        about: "try_lock sometimes takes what somebody else holds",
        run: session::run::<busted::TryLies>,
    },
    Row {
        name: "busted-relaxed",
        origin: Origin::Busted(Detector::ThreadSanitizer),
        fair: false,
        signal_safe: true,
        shares: false,
        about: "excludes, but orders nothing; invisible to torture on x86",
        run: session::run::<busted::AllRelaxed>,
    },
];

/// The word that stands for all locks that are broken on purpose.
pub(crate) const BUSTED: &str = "busted";
/// The word that stands for all of Stanchion's own.
pub(crate) const FAMILY: &str = "family";
/// The word that stands for those of them whose readers share.
pub(crate) const RW: &str = "rw";

/// The row called `name`.
pub(crate) fn row(name: &str) -> Option<&'static Row> {
    rows().find(|row| row.name == name)
}

/// Every name that `--lock` understands.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    rows().map(|row| row.name).chain([BUSTED, FAMILY, RW])
}

/// The rows that `name` stands for; empty if it stands for nothing. A run that expects failures asks of
/// `busted` only what torture itself can notice.
pub(crate) fn named(name: &str, expect_failure: bool) -> Vec<&'static Row> {
    let wanted = |row: &&Row| match (name, row.origin) {
        (BUSTED, Origin::Busted(detector)) => !expect_failure || detector == Detector::Torture,
        (FAMILY, Origin::Stanchion) => true,
        (RW, Origin::Stanchion) => row.shares,
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
        assert!(named(RW, false).iter().all(|row| row.shares && row.origin == Origin::Stanchion));
        assert!(named(RW, false).iter().any(|row| row.name == "percpu-rw"));
    }
}
