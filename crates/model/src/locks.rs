//! The locks that are checked, and the programs that each goes through.
use crate::check::{self, Limits, Report, Stated};
use crate::platform::Model;
use crate::policies::Bytes;
use crate::shapes::Shape;
use stanchion_core::qrw::ReadersFirst;
use stanchion_core::transitions::Word;
use stanchion_core::{PerCpuRwLock, QueuedRwLock};
use stanchion_family::catalogue::{self, Facts, Programs, Tail};
use stanchion_family::qrw_spin::Strict;
use stanchion_family::{CountRwLock, QSpinLock};

/// [`check::check`] with one lock.
type Check = fn(&'static Shape, &Limits, Stated) -> Report;

/// One lock.
#[derive(Debug)]
pub struct Lock {
    /// The name on command lines.
    pub name: &'static str,
    check: Check,
    stated: Stated,
    programs: &'static [Programs],
}

impl Lock {
    /// Explores a shape.
    pub fn check(&self, shape: &'static Shape, limits: &Limits) -> Report {
        (self.check)(shape, limits, self.stated)
    }

    /// The shapes that it goes through.
    pub fn plan(&self) -> impl Iterator<Item = Planned> {
        self.programs.iter().copied().flat_map(suite).copied()
    }
}

/// A shape, and how many preemptions an execution may have; `None`: any number.
pub type Planned = (&'static str, Option<usize>);
/// Shapes for locks of one sort.
pub type Suite = &'static [Planned];

/// For locks that nobody queues for.
const SPINNING: Suite = &[
    ("two", None),
    ("two-twice", None),
    ("try", None),
    ("nested", None),
    ("three", None),
    ("three-try", None),
];
/// For locks with nodes.
const QUEUEING: Suite = &[
    ("two", None),
    ("two-again", None),
    ("two-twice", Some(4)),
    ("try", None),
    ("nested", None),
    ("interrupt", None),
    ("numberless", None),
    ("three", Some(3)),
    ("three-try", Some(3)),
    ("three-again", Some(2)),
    ("latecomer", Some(1)),
];
/// For those of them that know about NUMA nodes.
const ON_NODES: Suite = &[("numa", Some(3)), ("numa-gathered", Some(1)), ("numa-latecomer", Some(0))];
/// For locks that know their owner.
const OWNED: Suite = &[("absent", Some(3))];
/// For those of them that have a queue.
const OWNED_QUEUES: Suite = &[("absent-latecomer", Some(1))];
/// For locks whose waiters say where they block, and whose handlers may block there, too.
const BLOCKING: Suite = &[("interrupted-halt", Some(3)), ("three-early-kick", Some(2))];
/// For those of them whose waiters hand on a wake-up that is not for them.
const HANDING_ON: Suite = &[("handed-on", Some(2))];
/// For locks whose waiters halt. These have many more steps, so some programs of two contexts have a bound,
/// too.
const HALTING: Suite = &[
    ("two", None),
    ("spurious", None),
    ("interrupt", None),
    ("numberless", None),
    ("two-again", Some(4)),
    ("two-twice", Some(3)),
    ("try", Some(4)),
    ("nested", Some(4)),
    ("early-kick", Some(3)),
    ("preempted", Some(4)),
    ("three", Some(2)),
    ("three-try", Some(2)),
    ("gathered", Some(1)),
    ("latecomer", Some(1)),
];

/// For the default lock. Whoever takes the lock to rouse an heir can be preempted again and again while the
/// heir looks and goes back to sleep, so programs in which nobody else comes have a bound.
const LEASING: Suite = &[
    ("two", None),
    ("spurious", None),
    ("numberless", None),
    ("interrupt", Some(5)),
    ("two-again", Some(4)),
    ("two-twice", Some(3)),
    ("try", Some(4)),
    ("timed", Some(3)),
    ("fair", Some(1)),
    ("fair-awake", Some(2)),
    ("fair-heir", Some(3)),
    ("fair-timed", Some(2)),
    ("fair-gathered", Some(3)),
    ("nested", Some(4)),
    ("three", Some(2)),
    ("three-try", Some(2)),
    ("urgent", Some(1)),
    ("numa", Some(1)),
    ("gathered", Some(1)),
    ("timed-gathered", Some(1)),
];
/// For those that kick ahead.
const KICKING_AHEAD: Suite = &[("elsewhere", Some(1))];

/// The whole of what a policy of the paravirtual lock adds to the one that goes through all of [`HALTING`].
const POLICY: Suite = &[
    ("two", None),
    ("spurious", None),
    ("early-kick", Some(2)),
    ("two-again", Some(3)),
    ("try", Some(3)),
    ("nested", Some(3)),
    ("three", Some(2)),
    ("gathered", Some(1)),
];

/// The same where waiters give their slice away instead of halting. Three of them can do that to each other
/// for ever, which is not what a machine does: a yield comes back.
const CONFERRING: Suite = &[
    ("two", None),
    ("spurious", None),
    ("two-again", Some(3)),
    ("try", Some(3)),
    ("nested", Some(3)),
    ("three", Some(2)),
];

/// For every reader-writer lock.
const READING: Suite = &[
    ("rw-numberless", None),
    ("reader-comes-back", Some(3)),
    ("writer-comes-back", Some(3)),
    ("reads-again", Some(3)),
    ("rw-try", Some(3)),
    ("downgrade", Some(3)),
    ("two-readers", Some(2)),
    ("two-writers", Some(2)),
    ("three-downgrade", Some(2)),
    ("reader-interrupted", Some(2)),
    ("reader-waits-interrupted", Some(3)),
];
/// For those whose readers have no cells: all executions of the smallest program.
const WHOLLY: Suite = &[("reader-writer", None)];
/// For those with a queue.
const READING_QUEUED: Suite = &[
    ("rw-spurious", Some(3)),
    ("rw-early-kick", Some(3)),
    ("two-writers-early-kick", Some(2)),
    ("writer-interrupted", Some(3)),
    ("gathered-writer", Some(1)),
    ("gathered-reader", Some(1)),
];
/// For those whose waiters with a deadline wait as the others do.
const READING_TIMED: Suite = &[
    ("timed-reader", Some(2)),
    ("timed-writer", Some(2)),
    ("timed-writer-between", Some(2)),
    ("timed-reader-between", Some(2)),
];
/// For those in which no reader leaves another one behind.
const TOGETHER: Suite = &[("nobody-left-behind", Some(2))];
/// For those that can be held upgradably.
const UPGRADING: Suite = &[
    ("upgrade", Some(3)),
    ("upgrades", Some(3)),
    ("upgrade-reads-again", Some(3)),
    ("upgrade-downgrade", Some(3)),
    ("writer-to-upgradable", None),
    ("upgrade-try", Some(3)),
    ("three-upgrade", Some(2)),
];
/// For those whose readers have cells that they use for several locks.
const CELLS: Suite = &[
    ("reader-writer", Some(3)),
    ("rw-spurious", Some(2)),
    ("rw-early-kick", Some(2)),
    ("two-writers-early-kick", Some(2)),
    ("two-locks-around", Some(2)),
    ("two-locks-across", Some(2)),
    ("two-locks-in-turn", Some(2)),
    ("two-locks-writers", Some(2)),
    ("reader-writes", Some(2)),
    ("reader-interrupted-other", Some(2)),
    ("reader-interrupted-twice", Some(1)),
    ("handler-interrupted", Some(1)),
    ("writer-interrupted-other", Some(2)),
    ("barrier-refused", Some(2)),
    ("fenced", Some(3)),
    ("fenced-two-readers", Some(1)),
];
/// What becomes of a reader too many.
const REFUSING: Suite = &[("too-many", Some(2)), ("reads-again", Some(2)), ("two-readers", Some(1))];

/// What becomes of an upgradable holder beside all the readers that are let in.
const UPGRADING_BESIDE_ALL: Suite = &[("upgradables-beside-reader", Some(2))];

/// What is explored with a greater bound when there is time for it. Known to end are `xen-pv` (26 909
/// executions, seconds) and `pv-qspin-kick-at-unlock` (256 007, a minute); of the other locks whose
/// waiters halt, none has been seen to its end.
pub const DEEPER: Suite = &[("three", Some(3))];

/// The shapes of a sort of programs.
const fn suite(programs: Programs) -> Suite {
    match programs {
        Programs::Spinning => SPINNING,
        Programs::Queueing => QUEUEING,
        Programs::OnNodes => ON_NODES,
        Programs::Owned => OWNED,
        Programs::OwnedQueue => OWNED_QUEUES,
        Programs::Halting => HALTING,
        Programs::Blocking => BLOCKING,
        Programs::HandingOn => HANDING_ON,
        Programs::Policy => POLICY,
        Programs::KickingAhead => KICKING_AHEAD,
        Programs::Conferring => CONFERRING,
        Programs::Leasing => LEASING,
        Programs::Reading => READING,
        Programs::Wholly => WHOLLY,
        Programs::Together => TOGETHER,
        Programs::ReadingQueued => READING_QUEUED,
        Programs::ReadingTimed => READING_TIMED,
        Programs::Upgrading => UPGRADING,
        Programs::Cells => CELLS,
        Programs::Refusing => REFUSING,
        Programs::UpgradingBesideAll => UPGRADING_BESIDE_ALL,
    }
}

/// A lock of the catalogue. Where the tail of a word names nodes, a free word is empty.
const fn lock(facts: &'static Facts, check: Check) -> Lock {
    let is_free: fn(Word) -> bool = match (facts.stated.tail, facts.shares) {
        (Tail::Nodes, _) | (_, Some(_)) => |word| word == Word { tail: 0, pending: 0, locked: 0 },
        _ => |word| word.locked == 0,
    };
    let stated = Stated { is_free, ordered: facts.stated.in_order };
    Lock { name: facts.name, check, stated, programs: facts.stated.programs }
}

macro_rules! mutexes {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {
        &[$(lock(catalogue::mutex($name), check::check::<$lock>)),*]
    };
}

/// A reader-writer lock of the catalogue, perhaps in a form that leaves less to explore.
macro_rules! rwlocks {
    ($($name:literal: $check:ident $lock:ty $(, as $other:literal with $programs:expr)?;)*) => {
        &[$({
            let lock = lock(catalogue::rwlock($name), check::$check::<$lock>);
            $(let lock = Lock { name: $other, programs: $programs, ..lock };)?
            lock
        }),*]
    };
}

/// Every mutex of the catalogue.
const MUTEXES: &[Lock] = stanchion_family::for_each_mutex! { Model; mutexes; };

/// Every reader-writer lock of the catalogue, and those whose queue or whose readers are few enough to go
/// through all that they do. `percpu-rw` is only here over a `qrw` whose waiters spin.
const RWLOCKS: &[Lock] = rwlocks! {
    "rw-simple": check_rw CountRwLock<Model>;
    "rw-simple": check_rw CountRwLock<Model, 1>, as "rw-simple-few" with &[Programs::Refusing];
    "qrw": check_upgradable QueuedRwLock<Model>;
    "qrw-readers-first": check_rw ReadersFirst<Model>;
    "qrw": check_upgradable QueuedRwLock<Model, Bytes>, as "qrw-byte"
        with &[Programs::Wholly, Programs::Reading, Programs::ReadingQueued, Programs::Upgrading];
    "qrw": check_upgradable QueuedRwLock<Model, Bytes<1>>, as "qrw-few"
        with &[Programs::Refusing, Programs::UpgradingBesideAll];
    "qrw-spin": check_upgradable QueuedRwLock<Model, Strict<QSpinLock<Model>>>;
    "percpu-rw-simple": check_rw PerCpuRwLock<Model, CountRwLock<Model>>;
    "percpu-rw": check_rw PerCpuRwLock<Model, QueuedRwLock<Model, Bytes>>;
};

/// Every lock that is checked.
pub fn locks() -> impl Iterator<Item = &'static Lock> {
    MUTEXES.iter().chain(RWLOCKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_writer_lock_of_the_catalogue_is_checked() {
        for facts in catalogue::RWLOCKS {
            assert!(locks().any(|lock| lock.name == facts.name), "{}", facts.name);
        }
    }

    #[test]
    fn every_planned_shape_is_there() {
        for (shape, _) in locks().flat_map(Lock::plan) {
            assert!(crate::shapes::all().any(|known| known.name == shape), "{shape}");
        }
    }
}
