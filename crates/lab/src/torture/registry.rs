//! Every lock that can be tortured: one row each. Adding a lock is adding a row.
use super::busted;
use super::orders::Orders;
use super::rw_rows;
use super::session;
use super::tortured::Tortured;

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

/// Whether a starved waiter is a failure.
#[derive(Clone, Copy)]
pub(super) enum Fair {
    Yes,
    No,
}

/// One of Stanchion's.
const fn ours<L: Tortured>(name: &'static str, fair: Fair, about: &'static str) -> Row {
    let fair = matches!(fair, Fair::Yes);
    let shares = L::SKILLS.shares;
    Row { name, origin: Origin::Stanchion, fair, signal_safe: true, shares, about, run: session::run::<L> }
}

/// Every row, in the order in which they are run.
pub(crate) fn rows() -> impl Iterator<Item = &'static Row> {
    ROWS.iter().chain(rw_rows::ROWS)
}

/// The mutexes.
static ROWS: &[Row] = &[
    ours::<stanchion::lock::StanchionLock>(
        "stanchion",
        Fair::Yes,
        "the default: running threads take it, one waiter is awake",
    ),
    ours::<stanchion::lock::ByteLock>("byte", Fair::No, "test-and-test-and-set byte, unfair"),
    ours::<stanchion::lock::TicketLock>("ticket", Fair::Yes, "FIFO ticket lock"),
    ours::<stanchion::lock::QSpinLock>("qspin", Fair::Yes, "queued spin lock"),
    ours::<stanchion::lock::CnaLock>("cna", Fair::Yes, "queued spin lock that prefers its own NUMA node"),
    ours::<stanchion::lock::UnfairQueuedLock>("unfair-q", Fair::No, "queue whose waiters may steal"),
    ours::<stanchion::lock::OwnerYieldLock>("ppc-simple", Fair::No, "unfair word that knows its owner"),
    ours::<stanchion::lock::OwnerQueuedLock>(
        "owner-qspin",
        Fair::Yes,
        "queue that knows its owner and steals until its head objects",
    ),
    ours::<stanchion::lock::XenPvLock>("xen-pv", Fair::No, "byte whose waiters sleep, unfair"),
    ours::<stanchion::lock::PvTicketLock>("pv-ticket", Fair::Yes, "FIFO ticket lock whose waiters sleep"),
    ours::<stanchion::lock::PvTicketOpportunisticLock>(
        "pv-ticket-opportunistic",
        Fair::Yes,
        "pv-ticket whose near waiters hardly ever sleep",
    ),
    ours::<stanchion::lock::PvQSpinLock>(
        "pv-qspin",
        Fair::No,
        "paravirtual queued lock that steals without a limit on time",
    ),
    ours::<stanchion::lock::PpcQSpinLock>(
        "ppc-qspin",
        Fair::Yes,
        "paravirtual queued lock that yields instead of sleeping",
    ),
    ours::<stanchion::lock::PvQSpinKickAtUnlockLock>(
        "pv-qspin-kick-at-unlock",
        Fair::Yes,
        "never steals; a sleeper is woken by the release before its turn",
    ),
    ours::<stanchion::lock::PvQSpinEagerLock>(
        "pv-qspin-eager",
        Fair::Yes,
        "kicks a sleeper when it becomes head (4.2-rc1)",
    ),
    ours::<stanchion::lock::PvQSpinKickAheadLock>(
        "pv-qspin-kick-ahead",
        Fair::Yes,
        "kick-at-unlock, and wakes the next few sleepers",
    ),
    ours::<stanchion::lock::PvQSpinWaitEarlyLock>(
        "pv-qspin-wait-early",
        Fair::Yes,
        "kick-ahead, and sleeps at once behind sleepers",
    ),
    ours::<stanchion::lock::PvQSpinWaitEarlySampledLock>(
        "pv-qspin-wait-early-sampled",
        Fair::Yes,
        "kick-ahead, and looks now and then whether to sleep",
    ),
    ours::<stanchion::lock::PvQSpinOnlyWaitEarlyLock>(
        "pv-qspin-only-wait-early",
        Fair::Yes,
        "kick-at-unlock, and sleeps at once behind sleepers",
    ),
    ours::<stanchion::lock::PvQSpinPendingLock>(
        "pv-qspin-pending",
        Fair::Yes,
        "kick-at-unlock, and the first waiter needs no node",
    ),
    ours::<stanchion::lock::PvQSpinPatchedLock>(
        "pv-qspin-patched",
        Fair::Yes,
        "the announced series as a whole",
    ),
    ours::<stanchion::lock::PvQSpinHashLock>(
        "pv-qspin-hash",
        Fair::Yes,
        "kick-at-unlock that finds its head in a hash table",
    ),
    ours::<stanchion::lock::PvQSpinPointerLock>(
        "pv-qspin-pointer",
        Fair::Yes,
        "kick-at-unlock that points at its head; 8 bytes",
    ),
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

/// The rows that `name` stands for; empty if it stands for nothing. A run that expects failures asks of `busted` only
/// what torture itself can notice.
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
