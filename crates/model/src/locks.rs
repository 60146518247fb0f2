//! The locks that are checked: one line each.
use crate::check::{self, Limits, Report};
use crate::platform::Model;
use crate::policies::{Fair, LetsOut, NoStint, Steals};
use crate::shapes::Shape;
use stanchion_core::pv_qspin as pv;
use stanchion_core::pv_ticket::{Opportunistic, Plain};
use stanchion_core::transitions::Word;
use stanchion_core::{
    ByteLock, CnaLock, OwnerQueuedLock, OwnerYieldLock, PvQSpinLock, PvTicketLock, QSpinLock, RawLock,
    TicketLock, UnfairQueuedLock, XenPvLock,
};

/// [`check::check`] with one lock.
type Check = fn(&'static Shape, &Limits, fn(Word) -> bool) -> Report;

/// One lock.
#[derive(Debug)]
pub struct Lock {
    /// The name on command lines.
    pub name: &'static str,
    check: Check,
    is_free: fn(Word) -> bool,
    /// The shapes that it goes through.
    pub suites: &'static [Suite],
}

impl Lock {
    /// Explores a shape.
    pub fn check(&self, shape: &'static Shape, limits: &Limits) -> Report {
        (self.check)(shape, limits, self.is_free)
    }
}

/// A shape, and how many preemptions an execution may have; `None`: any number.
pub type Planned = (&'static str, Option<usize>);
/// Shapes for locks of one sort.
pub type Suite = &'static [Planned];

const fn lock<L: RawLock<Platform = Model>>(suites: &'static [Suite]) -> Lock {
    Lock { name: L::NAME, check: check::check::<L>, is_free: |word| word == EMPTY, suites }
}

const EMPTY: Word = Word { tail: 0, pending: 0, locked: 0 };

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
const ON_NODES: Suite = &[("numa", Some(3)), ("numa-gathered", Some(0))];
/// For locks whose waiters halt. These have many more steps, so some programs of two contexts have a bound, too.
const HALTING: Suite = &[
    ("two", None),
    ("spurious", None),
    ("interrupt", None),
    ("numberless", None),
    ("two-again", Some(4)),
    ("two-twice", Some(3)),
    ("try", Some(4)),
    ("nested", Some(4)),
    ("preempted", Some(4)),
    ("three", Some(2)),
    ("three-try", Some(2)),
    ("gathered", Some(1)),
    ("latecomer", Some(1)),
];

/// For variants of a lock that goes through all of [`HALTING`].
const STEALING: Suite =
    &[("two", None), ("spurious", None), ("two-again", Some(3)), ("try", Some(3)), ("three", Some(2))];
/// For those that let waiters out of the queue.
const LETTING_OUT: Suite = &[("let-out", Some(1)), ("let-out-middle", Some(0))];

/// The whole of what a policy of the paravirtual lock adds to the one that goes through all of [`HALTING`].
const POLICY: Suite = &[
    ("two", None),
    ("spurious", None),
    ("two-again", Some(3)),
    ("try", Some(3)),
    ("nested", Some(3)),
    ("three", Some(2)),
    ("gathered", Some(1)),
];

/// A policy of the paravirtual lock, with small constants.
const fn policy<W: pv::WaitPolicy>() -> Lock {
    lock::<PvQSpinLock<Model, pv::Small<W>>>(&[POLICY])
}

/// A lock whose word holds more than who is in the queue.
const fn worded<L: RawLock<Platform = Model>>(suites: &'static [Suite]) -> Lock {
    Lock { is_free: |word| word.locked == 0, ..lock::<L>(suites) }
}

/// Every lock of the family.
pub const LOCKS: &[Lock] = &[
    lock::<ByteLock<Model>>(&[SPINNING]),
    worded::<TicketLock<Model>>(&[SPINNING]),
    lock::<QSpinLock<Model>>(&[QUEUEING]),
    lock::<CnaLock<Model>>(&[QUEUEING, ON_NODES]),
    lock::<PvQSpinLock<Model, Steals>>(&[HALTING]),
    lock::<PvQSpinLock<Model, NoStint>>(&[STEALING]),
    lock::<PvQSpinLock<Model, LetsOut>>(&[HALTING, LETTING_OUT]),
    lock::<PvQSpinLock<Model, Fair>>(&[HALTING]),
    policy::<pv::Unlimited>(),
    policy::<pv::EagerKick>(),
    policy::<pv::KickAhead>(),
    policy::<pv::WaitEarlyAtOnce>(),
    policy::<pv::WaitEarlySampled>(),
    policy::<pv::OnlyWaitEarly>(),
    policy::<pv::FirstPends>(),
    policy::<pv::Patched>(),
    policy::<pv::Hashed>(),
    policy::<pv::Pointed>(),
    policy::<pv::Conferring>(),
    worded::<XenPvLock<Model>>(&[HALTING]),
    worded::<PvTicketLock<Model, Plain>>(&[HALTING]),
    worded::<PvTicketLock<Model, Opportunistic>>(&[POLICY]),
    lock::<UnfairQueuedLock<Model>>(&[QUEUEING]),
    worded::<OwnerYieldLock<Model>>(&[SPINNING]),
    worded::<OwnerQueuedLock<Model>>(&[QUEUEING]),
];
