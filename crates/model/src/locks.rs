//! The locks that are checked: one line each.
use crate::check::{self, Limits, Report, Stated};
use crate::guard::Ordered;
use crate::platform::Model;
use crate::policies::Few;
use crate::shapes::Shape;
use stanchion_core::pv_qspin as pv;
use stanchion_core::pv_ticket::{Opportunistic, Plain};
use stanchion_core::qrw::{ReadersFirst, Strict};
use stanchion_core::transitions::Word;
use stanchion_core::{
    ByteLock, CnaLock, CountRwLock, Downgrade, OwnerQueuedLock, OwnerYieldLock, PerCpuRwLock, PvQSpinLock,
    PvTicketLock, QSpinLock, QueuedRwLock, RawLock, StanchionLock, TicketLock, UnfairQueuedLock, Upgradable,
    XenPvLock,
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

    /// The same lock, which keeps these writes in order.
    const fn stating(self, ordered: Ordered) -> Self {
        Self { stated: Stated { ordered, ..self.stated }, ..self }
    }
}

/// A shape, and how many preemptions an execution may have; `None`: any number.
pub type Planned = (&'static str, Option<usize>);
/// Shapes for locks of one sort.
pub type Suite = &'static [Planned];

const fn lock<L: RawLock<Platform = Model>>(suites: &'static [Suite]) -> Lock {
    Lock { name: L::NAME, check: check::check::<L>, stated: EMPTY_WHEN_FREE, suites }
}

/// A lock, and the places of cells whose stores it keeps in order; see [`Ordered`].
const fn ordered<L: RawLock<Platform = Model>>(stores: &'static [usize], suites: &'static [Suite]) -> Lock {
    lock::<L>(suites).stating(Ordered { stores, ..Ordered::NOTHING })
}

const EMPTY_WHEN_FREE: Stated = Stated { is_free: |word| word == EMPTY, ordered: Ordered::NOTHING };
/// Cells of nodes that more than one context stores to, by place: the links and the states.
const LINKS_AND_STATES: &[usize] = &[1_000, 1_001, 1_008, 1_009];
/// The same with what a head hands on to the next: all of a node, but for the cells of other locks.
const WHOLE_NODES: &[usize] = &[1_000, 1_001, 1_003, 1_004, 1_005, 1_008, 1_009, 1_011, 1_012, 1_013];
/// The second byte of the lock, which one head after the other writes, and of a node the link, the state and the place.
const MARKS_LINKS_AND_STATES: &[usize] = &[1, 1_000, 1_001, 1_007, 1_008, 1_009, 1_015];
/// Of the two entries of the hash table, which lie behind the two spots, the sleepers: one head after the other stores to them,
/// and releasers consume them at any time.
const SLEEPERS: &[usize] = &[2_003, 2_005];
/// A thief that leaves the end of its queue clears a link by exchange, unless somebody else has stored there: those two are not
/// ordered, two stores are.
const LINKS: Ordered = Ordered { plain_stores: &[1_000, 1_008], ..Ordered::NOTHING };
/// Links and states, and the bit by which a head objects: heads add it and take it away (which is the same) in turns.
const LINKS_STATES_AND_TURNS: Ordered =
    Ordered { stores: LINKS_AND_STATES, additions: &[1], ..Ordered::NOTHING };
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
const ON_NODES: Suite = &[("numa", Some(3)), ("numa-gathered", Some(1)), ("numa-latecomer", Some(0))];
/// For locks that know their owner.
const OWNED: Suite = &[("absent", Some(3))];
/// For those of them that have a queue.
const OWNED_QUEUES: Suite = &[("absent-latecomer", Some(1))];
/// For locks whose waiters say where they block, and whose handlers may block there, too.
const BLOCKING: Suite = &[("interrupted-halt", Some(3)), ("three-early-kick", Some(2))];
/// For those of them whose waiters hand on a wake-up that is not for them.
const HANDING_ON: Suite = &[("handed-on", Some(2))];
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
    ("early-kick", Some(3)),
    ("preempted", Some(4)),
    ("three", Some(2)),
    ("three-try", Some(2)),
    ("gathered", Some(1)),
    ("latecomer", Some(1)),
];

/// For the default lock. Whoever takes the lock to rouse an heir can be preempted again and again while the heir looks and goes back to sleep,
/// so programs in which nobody else comes have a bound.
const LEASING: Suite = &[
    ("two", None),
    ("spurious", None),
    ("numberless", None),
    ("interrupt", Some(5)),
    ("two-again", Some(4)),
    ("two-twice", Some(3)),
    ("try", Some(4)),
    ("timed", Some(3)),
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

/// A lock whose heads are found through the hash table.
const fn hashed<L: RawLock<Platform = Model>>(suites: &'static [Suite]) -> Lock {
    let ordered = Ordered { stores: MARKS_LINKS_AND_STATES, plain_stores: SLEEPERS, ..Ordered::NOTHING };
    lock::<L>(suites).stating(ordered)
}

/// A reader-writer lock.
const fn rw<L: Downgrade<Platform = Model>>(
    name: &'static str,
    ordered: &'static [usize],
    suites: &'static [Suite],
) -> Lock {
    Lock {
        name,
        check: check::check_rw::<L>,
        stated: Stated { ordered: Ordered { stores: ordered, ..Ordered::NOTHING }, ..EMPTY_WHEN_FREE },
        suites,
    }
}

/// A reader-writer lock that can be held upgradably.
const fn upgradable<L: Upgradable<Platform = Model>>(name: &'static str, suites: &'static [Suite]) -> Lock {
    Lock { name, check: check::check_upgradable::<L>, stated: EMPTY_WHEN_FREE, suites }
}

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

/// A lock whose word holds more than who is in the queue.
const fn worded<L: RawLock<Platform = Model>>(suites: &'static [Suite]) -> Lock {
    Lock {
        stated: Stated { is_free: |word| word.locked == 0, ordered: Ordered::NOTHING },
        ..lock::<L>(suites)
    }
}

/// What is explored with a greater bound when there is time for it. Known to end are `xen-pv` (16 194 executions, seconds) and
/// `pv-qspin-kick-at-unlock` (361 587, three minutes); of the other locks whose waiters halt, none has been seen to its end.
pub const DEEPER: Suite = &[("three", Some(3))];

/// Every lock of the family.
pub const LOCKS: &[Lock] = &[
    worded::<StanchionLock<Model>>(&[LEASING]),
    lock::<ByteLock<Model>>(&[SPINNING]),
    worded::<TicketLock<Model>>(&[SPINNING]),
    ordered::<QSpinLock<Model>>(LINKS_AND_STATES, &[QUEUEING]),
    ordered::<CnaLock<Model>>(WHOLE_NODES, &[QUEUEING, ON_NODES]),
    ordered::<PvQSpinLock<Model, pv::Small<pv::Merged>>>(MARKS_LINKS_AND_STATES, &[HALTING]),
    ordered::<PvQSpinLock<Model, pv::Small<pv::KickAtUnlock>>>(MARKS_LINKS_AND_STATES, &[HALTING]),
    policy::<pv::EagerKick>(MARKS_LINKS_AND_STATES),
    ordered::<PvQSpinLock<Model, pv::Small<pv::KickAhead>>>(MARKS_LINKS_AND_STATES, &[POLICY, KICKING_AHEAD]),
    policy::<pv::WaitEarlyAtOnce>(MARKS_LINKS_AND_STATES),
    policy::<pv::WaitEarlySampled>(MARKS_LINKS_AND_STATES),
    policy::<pv::OnlyWaitEarly>(MARKS_LINKS_AND_STATES),
    policy::<pv::FirstPends>(LINKS_AND_STATES),
    policy::<pv::Patched>(LINKS_AND_STATES),
    hashed::<PvQSpinLock<Model, pv::Small<pv::Hashed>>>(&[POLICY]),
    policy::<pv::Pointed>(MARKS_LINKS_AND_STATES),
    ordered::<PvQSpinLock<Model, pv::Small<pv::Conferring>>>(MARKS_LINKS_AND_STATES, &[CONFERRING]),
    worded::<XenPvLock<Model>>(&[HALTING, BLOCKING, HANDING_ON]),
    worded::<PvTicketLock<Model, Plain>>(&[HALTING, BLOCKING]),
    worded::<PvTicketLock<Model, Opportunistic>>(&[POLICY]),
    lock::<UnfairQueuedLock<Model>>(&[QUEUEING]).stating(LINKS),
    worded::<OwnerYieldLock<Model>>(&[SPINNING, OWNED]),
    worded::<OwnerQueuedLock<Model>>(&[QUEUEING, OWNED, OWNED_QUEUES]).stating(LINKS_STATES_AND_TURNS),
    rw::<CountRwLock<Model>>("rw-simple", &[], &[WHOLLY, READING]),
    rw::<CountRwLock<Model, 1>>("rw-simple-few", &[], &[REFUSING]),
    upgradable::<QueuedRwLock<Model>>("qrw", &[WHOLLY, READING, TOGETHER, READING_TIMED]),
    rw::<ReadersFirst<Model>>("qrw-readers-first", &[], &[WHOLLY, READING, TOGETHER, READING_TIMED]),
    upgradable::<QueuedRwLock<Model, ByteLock<Model>>>(
        "qrw-byte",
        &[WHOLLY, READING, READING_QUEUED, READING_TIMED, UPGRADING],
    ),
    upgradable::<QueuedRwLock<Model, ByteLock<Model>, Few>>("qrw-few", &[REFUSING, UPGRADING_BESIDE_ALL]),
    upgradable::<QueuedRwLock<Model, QSpinLock<Model>, Strict>>("qrw-spin", &[WHOLLY, READING, UPGRADING]),
    rw::<PerCpuRwLock<Model, CountRwLock<Model>>>("percpu-rw-simple", &[1], &[READING, CELLS]),
    rw::<PerCpuRwLock<Model, QueuedRwLock<Model, ByteLock<Model>>>>("percpu-rw", &[2], &[READING, CELLS]),
];
