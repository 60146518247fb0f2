//! Every lock that can be tortured: one row each. Adding a lock is adding a row.
use super::busted;
use super::orders::Orders;
use super::session;

/// What is expected to notice that a broken lock is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detector {
    /// This command, natively.
    Torture,
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
    pub(crate) about: &'static str,
    /// Tortures it, in a process of its own.
    pub(crate) run: fn(Orders),
}

/// The rows, in the order in which they are run.
pub(crate) static ROWS: &[Row] = &[
    Row {
        name: "byte",
        origin: Origin::Stanchion,
        fair: false,
        signal_safe: true,
        about: "test-and-test-and-set byte, unfair",
        run: session::run::<stanchion::lock::ByteLock>,
    },
    Row {
        name: "ticket",
        origin: Origin::Stanchion,
        fair: true,
        signal_safe: true,
        about: "FIFO ticket lock",
        run: session::run::<stanchion::lock::TicketLock>,
    },
    Row {
        name: "qspin",
        origin: Origin::Stanchion,
        fair: true,
        signal_safe: true,
        about: "queued spin lock",
        run: session::run::<stanchion::lock::QSpinLock>,
    },
    Row {
        name: "cna",
        origin: Origin::Stanchion,
        fair: true,
        signal_safe: true,
        about: "queued spin lock that prefers its own NUMA node",
        run: session::run::<stanchion::lock::CnaLock>,
    },
    Row {
        name: "xen-pv",
        origin: Origin::Stanchion,
        fair: false,
        signal_safe: true,
        about: "unfair byte whose waiters block",
        run: session::run::<stanchion::lock::XenPvLock>,
    },
    Row {
        name: "pv-ticket",
        origin: Origin::Stanchion,
        fair: true,
        signal_safe: true,
        about: "FIFO ticket lock whose waiters halt",
        run: session::run::<stanchion::lock::PvTicketLock>,
    },
    Row {
        name: "pv-ticket-opportunistic",
        origin: Origin::Stanchion,
        fair: true,
        signal_safe: true,
        about: "pv-ticket whose near waiters poll for long",
        run: session::run::<stanchion::lock::PvTicketOpportunisticLock>,
    },
    Row {
        name: "pv-qspin",
        origin: Origin::Stanchion,
        fair: true,
        signal_safe: true,
        about: "paravirtual queued lock, hybrid policy: the default",
        run: session::run::<stanchion::lock::PvQSpinLock>,
    },
    Row {
        name: "pv-qspin-kick-at-unlock",
        origin: Origin::Stanchion,
        fair: true,
        signal_safe: true,
        about: "paravirtual queued lock that never steals",
        run: session::run::<stanchion::lock::PvQSpinKickAtUnlockLock>,
    },
    Row {
        name: "reference-tas",
        origin: Origin::Reference,
        fair: false,
        signal_safe: true,
        about: "a plain test-and-set lock, sound; the twin of busted-relaxed",
        run: session::run::<busted::Sound>,
    },
    Row {
        name: "parking-lot",
        origin: Origin::Reference,
        fair: true,
        signal_safe: false,
        about: "parking_lot's mutex, without signals: its parking table is not made for handlers",
        run: session::run::<parking_lot::RawMutex>,
    },
    Row {
        name: "busted-none",
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        about: "excludes nobody",
        run: session::run::<busted::NoExclusion>,
    },
    Row {
        name: "busted-check-then-set",
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        about: "looks and then takes, in two steps",
        run: session::run::<busted::CheckThenSet>,
    },
    Row {
        name: "busted-lost-wakeup",
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        about: "may sleep through the wake-up meant for it",
        run: session::run::<busted::LostWakeup>,
    },
    Row {
        name: "busted-double-grant",
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        about: "a ticket lock that now and then serves two at once",
        run: session::run::<busted::DoubleGrant>,
    },
    Row {
        name: "busted-try",
        origin: Origin::Busted(Detector::Torture),
        fair: false,
        signal_safe: true,
        about: "try_lock sometimes takes what somebody else holds",
        run: session::run::<busted::TryLies>,
    },
    Row {
        name: "busted-relaxed",
        origin: Origin::Busted(Detector::ThreadSanitizer),
        fair: false,
        signal_safe: true,
        about: "excludes, but orders nothing; invisible to torture on x86",
        run: session::run::<busted::AllRelaxed>,
    },
];

/// The word that stands for all locks that are broken on purpose.
pub(crate) const BUSTED: &str = "busted";
/// The word that stands for all of Stanchion's own.
pub(crate) const STANCHION: &str = "stanchion";

/// The row called `name`.
pub(crate) fn row(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name == name)
}

/// Every name that `--lock` understands.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    ROWS.iter().map(|row| row.name).chain([BUSTED, STANCHION])
}

/// The rows that `name` stands for; empty if it stands for nothing. A run that expects failures asks of `busted` only
/// what torture itself can notice.
pub(crate) fn named(name: &str, expect_failure: bool) -> Vec<&'static Row> {
    let wanted = |row: &&Row| match (name, row.origin) {
        (BUSTED, Origin::Busted(detector)) => !expect_failure || detector == Detector::Torture,
        (STANCHION, Origin::Stanchion) => true,
        _ => row.name == name,
    };
    ROWS.iter().filter(wanted).collect()
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
        for row in ROWS {
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
        assert_eq!(all.len(), caught_here.len() + 1);
        assert!(caught_here.iter().all(|row| row.origin == Origin::Busted(Detector::Torture)));
        assert!(all.iter().any(|row| row.name == "busted-relaxed"));
        assert_eq!(named("busted-relaxed", true).len(), 1, "by its own name it is always meant");
        assert!(named("nonsense", false).is_empty());
    }
}
