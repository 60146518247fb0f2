//! What the locks state of their words, by their names in the catalogue.
use crate::pv_qspin::NO_STEALING;
use stanchion_core::catalogue::{AfterRelease, InOrder, Programs, SecondByte, Stated, Tail};

/// Cells of nodes that more than one context stores to, by place: the links and the states.
const LINKS_AND_STATES: &[usize] = &[1_000, 1_001, 1_008, 1_009];
/// The same with what a head hands on to the next: all of a node, but for the cells of other locks.
const WHOLE_NODES: &[usize] = &[1_000, 1_001, 1_003, 1_004, 1_005, 1_008, 1_009, 1_011, 1_012, 1_013];
/// The second byte of the lock, which one head after the other writes, and of a node the link, the state and
/// the place.
const MARKS_LINKS_AND_STATES: &[usize] = &[1, 1_000, 1_001, 1_007, 1_008, 1_009, 1_015];
/// Of the two entries of the hash table, which lie behind the two parking slots, the sleepers: one head after
/// the other stores to them, and releasers consume them at any time.
const SLEEPERS: &[usize] = &[2_003, 2_005];

pub(super) const BYTE: Stated = Stated::HELD;
pub(super) const TICKET: Stated = Stated {
    fields: &[(0, "serving"), (2, "next")],
    tail: Tail::Tickets { halves: &[0, 2] },
    ..Stated::HELD
};
/// Its releases look at the place of any context.
pub(super) const TWA: Stated = Stated { looks_at_all: true, programs: &[Programs::Queueing], ..TICKET };
pub(super) const QSPIN: Stated = Stated {
    fields: &[(0, "locked"), (1, "pending"), (2, "tail")],
    tail: Tail::Nodes,
    second_byte: SecondByte::Pends,
    in_order: InOrder::NOTHING.stores(LINKS_AND_STATES),
    programs: &[Programs::Queueing],
    ..Stated::HELD
};
pub(super) const CNA: Stated = Stated {
    heeds_priority: true,
    in_order: InOrder::NOTHING.stores(WHOLE_NODES),
    programs: &[Programs::Queueing, Programs::OnNodes],
    ..QSPIN
};
pub(super) const RECIPROCATING: Stated = Stated {
    fields: &[(0, "tail"), (2, "segment")],
    tail: Tail::Nodes,
    // States of nodes, and the holder's cell of the lock.
    in_order: InOrder::NOTHING.stores(&[1, 1_001, 1_009]),
    programs: &[Programs::Queueing],
    ..Stated::HELD
};
pub(super) const MALTHUSIAN: Stated = Stated {
    fields: &[(0, "tail"), (2, "next"), (4, "aside"), (6, "releases")],
    tail: Tail::Nodes,
    // All of the lock but the tail, and of nodes the states, and the links in both directions.
    in_order: InOrder::NOTHING.stores(&[1, 2, 3, 1_000, 1_001, 1_006, 1_008, 1_009, 1_014]),
    programs: &[Programs::Halting],
    ..Stated::HELD
};
/// The order begins in the upper queue, whose tail names NUMA nodes.
pub(super) const HMCS: Stated = Stated {
    fields: &[(0, "locked"), (1, "tail")],
    // Links and states of the first two NUMA nodes' places, and of contexts.
    in_order: InOrder::NOTHING.stores(&[3, 4, 6, 7, 1_000, 1_001, 1_008, 1_009]),
    programs: &[Programs::Queueing, Programs::OnNodes],
    ..Stated::HELD
};
pub(super) const UNFAIR_Q: Stated = Stated {
    fields: &[(0, "locked"), (2, "tail")],
    tail: Tail::Nodes,
    // A thief that leaves the end of its queue clears a link by exchange, unless somebody else has stored
    // there: those two are not ordered, two stores are.
    in_order: InOrder { plain_stores: &[1_000, 1_008], ..InOrder::NOTHING },
    programs: &[Programs::Queueing],
    ..Stated::HELD
};
pub(super) const PPC_SIMPLE: Stated =
    Stated { fields: &[(0, "word")], programs: &[Programs::Spinning, Programs::Owned], ..Stated::HELD };
pub(super) const OWNER_QSPIN: Stated = Stated {
    fields: &[(0, "held"), (2, "queue")],
    second_byte: SecondByte::Asks(1),
    // Heads add the bit by which they object, and take it away (which is the same) in turns.
    in_order: InOrder { additions: &[1], ..InOrder::NOTHING.stores(LINKS_AND_STATES) },
    programs: &[Programs::Queueing, Programs::Owned, Programs::OwnedQueue],
    ..Stated::HELD
};
pub(super) const XEN_PV: Stated = Stated {
    fields: &[(0, "locked"), (1, "switch"), (2, "spinners")],
    after_release: AfterRelease::Reads,
    looks_at_all: true,
    programs: &[Programs::Halting, Programs::Blocking, Programs::HandingOn],
    ..Stated::HELD
};
pub(super) const PV_TICKET: Stated =
    Stated { looks_at_all: true, programs: &[Programs::Halting, Programs::Blocking], ..TICKET };
pub(super) const PV_TICKET_OPPORTUNISTIC: Stated = Stated { programs: &[Programs::Policy], ..PV_TICKET };
pub(super) const PV_QSPIN: Stated = Stated {
    fields: &[(0, "locked"), (1, "head"), (2, "tail")],
    tail: Tail::Nodes,
    second_byte: SecondByte::Asks(NO_STEALING),
    after_release: AfterRelease::Reads,
    unreachable: &[PENDS],
    in_order: InOrder::NOTHING.stores(MARKS_LINKS_AND_STATES),
    programs: &[Programs::Halting],
    ..Stated::HELD
};
/// Nobody steals, so the bound is that of `qspin`.
pub(super) const PV_QSPIN_KICK_AT_UNLOCK: Stated =
    Stated { second_byte: SecondByte::Other, unreachable: &[THIEVES, PENDS], ..PV_QSPIN };
/// Any other policy that was announced.
pub(super) const PV_QSPIN_POLICY: Stated =
    Stated { programs: &[Programs::Policy], ..PV_QSPIN_KICK_AT_UNLOCK };
pub(super) const PV_QSPIN_KICK_AHEAD: Stated =
    Stated { programs: &[Programs::Policy, Programs::KickingAhead], ..PV_QSPIN_POLICY };
/// The pending waiter has the lock's second byte to itself, and whoever finds it there queues; so the bound
/// stays. It and a head write that byte in either order.
pub(super) const PV_QSPIN_PENDING: Stated = Stated {
    unreachable: &[THIEVES],
    in_order: InOrder::NOTHING.stores(LINKS_AND_STATES),
    ..PV_QSPIN_POLICY
};
pub(super) const PV_QSPIN_HASH: Stated =
    Stated { in_order: InOrder { plain_stores: SLEEPERS, ..PV_QSPIN_POLICY.in_order }, ..PV_QSPIN_POLICY };
pub(super) const PPC_QSPIN: Stated = Stated { programs: &[Programs::Conferring], ..PV_QSPIN_POLICY };

pub(super) const RW_SIMPLE: Stated =
    Stated { fields: &[(0, "count")], programs: &[Programs::Wholly, Programs::Reading], ..Stated::HELD };
pub(super) const QRW_SPIN: Stated =
    Stated { programs: &[Programs::Wholly, Programs::Reading, Programs::Upgrading], ..Stated::QRW };
pub(super) const PERCPU_RW_SIMPLE: Stated =
    Stated { unreachable: &[], in_order: InOrder::NOTHING.stores(&[1]), ..Stated::PERCPU_RW };

/// What nobody reaches who does not steal, and who does not pend.
const THIEVES: &str = "the head stops thieves: n,0,* -> n,126,*";
const PENDS: &str = "a waiter becomes pending: t,0,* -> t,125,*";
