//! The locks that are checked: one line each.
use crate::check::{self, Limits, Report, Stated};
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
type Check = fn(&'static Shape, &Limits, Stated) -> Report;

/// One lock.
#[derive(Debug)]
pub struct Lock {
    /// The name on command lines.
    pub name: &'static str,
    check: Check,
    stated: Stated,
    /// The shapes that it goes through.
    pub suites: &'static [Suite],
}

impl Lock {
    /// Explores a shape.
    pub fn check(&self, shape: &'static Shape, limits: &Limits) -> Report {
        (self.check)(shape, limits, self.stated)
    }
}

/// A shape, and how many preemptions an execution may have; `None`: any number.
pub type Planned = (&'static str, Option<usize>);
/// Shapes for locks of one sort.
pub type Suite = &'static [Planned];

const fn lock<L: RawLock<Platform = Model>>(suites: &'static [Suite]) -> Lock {
    Lock { name: L::NAME, check: check::check::<L>, stated: EMPTY_WHEN_FREE, suites }
}

/// A lock, and the places of cells whose stores it keeps in order; see [`Stated`].
const fn ordered<L: RawLock<Platform = Model>>(ordered: &'static [usize], suites: &'static [Suite]) -> Lock {
    Lock { stated: Stated { ordered, ..EMPTY_WHEN_FREE }, ..lock::<L>(suites) }
}

const EMPTY_WHEN_FREE: Stated = Stated { is_free: |word| word == EMPTY, ordered: &[] };
/// Cells of nodes that more than one context stores to, by place: the links and the states.
const LINKS_AND_STATES: &[usize] = &[1_000, 1_001, 1_008, 1_009];
/// The same with what a head hands on to the next: all of a node, but for the cells of other locks.
const WHOLE_NODES: &[usize] = &[1_000, 1_001, 1_003, 1_004, 1_005, 1_008, 1_009, 1_011, 1_012, 1_013];
/// The second byte of the lock, which one head after the other writes, and of a node the state and the place.
const MARKS_AND_STATES: &[usize] = &[1, 1_001, 1_007, 1_009, 1_015];
/// The same with the links, where no holder takes a waiter out: it and whoever queues then write the same link in either order.
const MARKS_LINKS_AND_STATES: &[usize] = &[1, 1_000, 1_001, 1_007, 1_008, 1_009, 1_015];
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
const ON_NODES: Suite = &[("numa", Some(3)), ("numa-gathered", Some(1))];
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
const LETTING_OUT: Suite =
    &[("let-out", Some(1)), ("let-out-middle", Some(0)), ("let-out-latecomer", Some(0))];

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

/// The same where waiters give their slice away instead of halting. Three of them can do that to each other for ever, which is not
/// what a machine does: a yield comes back.
const CONFERRING: Suite = &[
    ("two", None),
    ("spurious", None),
    ("two-again", Some(3)),
    ("try", Some(3)),
    ("nested", Some(3)),
    ("three", Some(2)),
];

/// A policy of the paravirtual lock, with small constants. Where the first waiter pends, it and a head write the second byte in
/// either order.
const fn policy<W: pv::WaitPolicy>(cells: &'static [usize]) -> Lock {
    ordered::<PvQSpinLock<Model, pv::Small<W>>>(cells, &[POLICY])
}

/// A lock whose word holds more than who is in the queue.
const fn worded<L: RawLock<Platform = Model>>(suites: &'static [Suite]) -> Lock {
    Lock { stated: Stated { is_free: |word| word.locked == 0, ordered: &[] }, ..lock::<L>(suites) }
}

/// Every lock of the family.
pub const LOCKS: &[Lock] = &[
    lock::<ByteLock<Model>>(&[SPINNING]),
    worded::<TicketLock<Model>>(&[SPINNING]),
    ordered::<QSpinLock<Model>>(LINKS_AND_STATES, &[QUEUEING]),
    ordered::<CnaLock<Model>>(WHOLE_NODES, &[QUEUEING, ON_NODES]),
    ordered::<PvQSpinLock<Model, Steals>>(MARKS_LINKS_AND_STATES, &[HALTING]),
    ordered::<PvQSpinLock<Model, NoStint>>(MARKS_LINKS_AND_STATES, &[STEALING]),
    ordered::<PvQSpinLock<Model, LetsOut>>(MARKS_AND_STATES, &[HALTING, LETTING_OUT]),
    ordered::<PvQSpinLock<Model, Fair>>(MARKS_LINKS_AND_STATES, &[HALTING]),
    policy::<pv::Unlimited>(MARKS_LINKS_AND_STATES),
    policy::<pv::EagerKick>(MARKS_LINKS_AND_STATES),
    policy::<pv::KickAhead>(MARKS_LINKS_AND_STATES),
    policy::<pv::WaitEarlyAtOnce>(MARKS_LINKS_AND_STATES),
    policy::<pv::WaitEarlySampled>(MARKS_LINKS_AND_STATES),
    policy::<pv::OnlyWaitEarly>(MARKS_LINKS_AND_STATES),
    policy::<pv::FirstPends>(LINKS_AND_STATES),
    policy::<pv::Patched>(LINKS_AND_STATES),
    policy::<pv::Hashed>(MARKS_LINKS_AND_STATES),
    policy::<pv::Pointed>(MARKS_LINKS_AND_STATES),
    ordered::<PvQSpinLock<Model, pv::Small<pv::Conferring>>>(MARKS_LINKS_AND_STATES, &[CONFERRING]),
    worded::<XenPvLock<Model>>(&[HALTING]),
    worded::<PvTicketLock<Model, Plain>>(&[HALTING]),
    worded::<PvTicketLock<Model, Opportunistic>>(&[POLICY]),
    lock::<UnfairQueuedLock<Model>>(&[QUEUEING]),
    worded::<OwnerYieldLock<Model>>(&[SPINNING]),
    worded::<OwnerQueuedLock<Model>>(&[QUEUEING]),
];
