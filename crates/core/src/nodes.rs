//! Queue nodes by number, each leased for one wait.
//!
//! A context that has to wait leases a node, and gives it back when its wait is over. It owns none in
//! between, so there is nothing to give back when a context ends, and no limit on contexts that ever waited.
//! A wait that is given up leaves its node in the queue, *abandoned*: the next owner of the lock takes it
//! out.
//!
//! # The life of a node
//!
//! ```text
//!            lease                 push                  rouse
//!   FREE ───────────▶ LEASED ───────────────▶ WAITING ──────────▶ ROUSED
//!    ▲                                         │    ▲                │
//!    │                                give up  │    │ take over      │ give up
//!    │                                         ▼    │                │
//!    ├───────────────────────────────────── ABANDONED ◀──────────────┘
//!    │  an owner took it out of the queue
//!    └─────────────── by the waiter itself, once it owns the lock
//! ```
//!
//! An owner that has roused a waiter may put it back to `WAITING` before it wakes it. A fair release takes a
//! node from `WAITING` or `ROUSED` to `GRANTED`; its waiter is the owner from then on.
//!
//! Invariants:
//! - **IN1** A node that is not `FREE` belongs to one wait, or, abandoned, to one queue. Its generation
//!   changes with each lease, so a compare-exchange of the state fails if the node has been another wait's
//!   meanwhile.
//! - **IN2** Nodes are never unmapped: whoever kept a number too long reads a node that exists, and wakes
//!   somebody for nothing at worst.
//! - **IN3** All-zero is a free node. A world may wipe its nodes in the child of a `fork`.
use crate::Tunable;
use crate::machine::{self, Atomic, ConstAtomic, Machine};
use crate::numbers::NodeId;
use crate::order::{Acquire, Relaxed, Release};

/// Where a node is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Nobody's.
    Free = 0,
    /// A wait's that has not queued yet, or that an owner is taking out.
    Leased = 1,
    /// In a queue; its waiter sleeps, or is about to.
    Waiting = 2,
    /// In a queue; its waiter is awake, or is being woken, and competes for the lock.
    Roused = 3,
    /// In a queue; its waiter has given up.
    Abandoned = 4,
    /// In a queue; its waiter owns the lock, and may not know it yet.
    Granted = 5,
}

/// The state of a node together with its generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(u32);

impl Tag {
    /// How many of its bits are the state; the others are the generation.
    pub const STATE_BITS: u32 = 3;

    /// The same node in another state of its life.
    #[inline(always)]
    #[must_use]
    pub const fn with(self, state: State) -> Self {
        Self(self.0 & !((1 << Self::STATE_BITS) - 1) | state as u32)
    }

    /// The state; numbers that stand for none count as free.
    #[inline(always)]
    pub const fn state(self) -> State {
        match self.0 & ((1 << Self::STATE_BITS) - 1) {
            1 => State::Leased,
            2 => State::Waiting,
            3 => State::Roused,
            4 => State::Abandoned,
            5 => State::Granted,
            _ => State::Free,
        }
    }

    const fn next_generation(self) -> Self {
        Self(self.0.wrapping_add(1 << Self::STATE_BITS))
    }

    /// As a waiter compares it before it sleeps.
    #[inline(always)]
    pub const fn raw(self) -> u32 {
        self.0
    }
}

/// One place in a queue: less than a line of 64 bytes. Who may touch what stands in
/// [`crate::stanchion::queue`].
#[repr(C, align(64))]
pub struct WaitNode<P: Machine> {
    tag: P::U32,
    /// The lock that it waits for.
    pub(crate) lock: P::Usize,
    /// The node that queued before this one.
    pub(crate) older: P::U16,
    /// The node that queued after this one; known once an owner has linked it.
    pub(crate) newer: P::U16,
    /// The oldest node of the queue; kept in the newest one that an owner has linked.
    pub(crate) oldest: P::U16,
    /// The NUMA node of the waiter.
    pub(crate) numa: P::U16,
    /// How urgent the waiter is: [`Machine::priority`].
    pub(crate) priority: P::U8,
    /// When it queued, in microseconds modulo 2^32; when the first of the queue did, if it was put in front
    /// of that one.
    pub(crate) since: P::U32,
    /// How often it was roused.
    pub(crate) turns: P::U8,
    /// When it may not be overtaken any more, in microseconds modulo 2^32; of use once it was roused.
    pub(crate) due: P::U32,
    /// When an owner looked at `due` last, as in `due`. Long past if none has in this wait.
    pub(crate) looked: P::U32,
    /// Where its waiter went to sleep: [`Machine::home`].
    pub(crate) home: P::U32,
    /// Where its waiter stands in line for a CPU, if that is known; 0: it runs, or nobody knows.
    pub(crate) runs_at: P::U32,
}

impl<P: Machine> WaitNode<P> {
    /// A free node.
    #[expect(
        clippy::new_without_default,
        reason = "a default that makes cells would hide their cost in model worlds"
    )]
    pub fn new() -> Self {
        Self {
            tag: P::U32::new(0),
            lock: P::Usize::new(0),
            older: P::U16::new(0),
            newer: P::U16::new(0),
            oldest: P::U16::new(0),
            numa: P::U16::new(0),
            priority: P::U8::new(0),
            since: P::U32::new(0),
            turns: P::U8::new(0),
            due: P::U32::new(0),
            looked: P::U32::new(0),
            home: P::U32::new(0),
            runs_at: P::U32::new(0),
        }
    }

    /// Leases the node if it is free. Whether it was.
    #[must_use]
    pub fn lease(&self) -> bool {
        // ord: ND1 alone: a hint, the compare-exchange decides
        let free = Tag(self.tag.load(Relaxed));
        let leased = free.next_generation().with(State::Leased);
        free.state() == State::Free
            // ord: ND2 pairs ND3: the last wait is done with the node
            && self.tag.compare_exchange(free.0, leased.0, Acquire, Relaxed).is_ok()
    }

    /// Frees the node. The caller's wait has leased it, or the caller has taken it out of a queue.
    pub fn give_back(&self) {
        // ord: ND3 pairs ND2: we are done with the node
        self.tag.store(self.tag().with(State::Free).0, Release);
    }

    /// State and generation.
    #[inline(always)]
    pub fn tag(&self) -> Tag {
        // ord: ND4 alone: whoever acts on it changes it by compare-exchange, owns it, or acquires it by ND6
        Tag(self.tag.load(Relaxed))
    }

    /// State and generation, for the waiter that an owner may have roused, or handed the lock to.
    #[inline(always)]
    pub(crate) fn tag_acquired(&self) -> Tag {
        // ord: ND6 pairs ND5: what the owner that roused us wrote to the node is there, and the section of
        // one that handed us the lock comes before ours
        Tag(self.tag.load(Acquire))
    }

    /// The waiter, whose node is not in a queue, changes the state.
    #[inline(always)]
    pub(crate) fn set(&self, state: State) {
        // ord: ND7 alone: published by the push that follows
        self.tag.store(self.tag().with(state).0, Relaxed);
    }

    /// Changes the state from what it is in `from`; whether it still was that.
    #[inline(always)]
    #[must_use]
    pub(crate) fn change(&self, from: Tag, to: State) -> bool {
        // ord: ND5 pairs ND6: what we wrote to the node, and our section if we hand over the lock, comes
        // before what its waiter does next
        self.tag.compare_exchange(from.0, from.with(to).0, Release, Relaxed).is_ok()
    }

    /// Begins the turn of the waiter that is roused: for so many microseconds it may be overtaken. If it goes
    /// back to sleep without the lock, its next turn is half as long; so all together are no longer than two.
    pub(crate) fn begin_turn(&self, micros: u32) {
        // ord: ND8 alone: written by the owner that rouses the waiter (ND5), or by the waiter before it
        // queues
        let turns = self.turns.load(Relaxed);
        // ord: ND11 alone: as ND8, it is published by ND5 or the push
        self.turns.store(turns.saturating_add(1), Relaxed);
        let micros = micros.checked_shr(turns.into()).unwrap_or(0);
        // ord: ND9 alone: as ND8, it is published by ND5 or the push
        self.due.store(machine::micros::<P>().wrapping_add(micros), Relaxed);
    }

    /// So much of the turn that has begun is left at a time; both in microseconds, the time modulo 2^32.
    pub(crate) fn left(&self, at: u32) -> u32 {
        // ord: ND10 alone: as ND8, or a hint for owners
        left(self.due.load(Relaxed), at, P::tunable(Tunable::TurnMicros))
    }

    /// Whether the turn that has begun is over at this time.
    pub(crate) fn is_due(&self, at: u32) -> bool {
        self.left(at) == 0
    }

    /// The cell at which the waiter sleeps, while it holds a tag that says so.
    #[inline(always)]
    pub fn cell(&self) -> &P::U32 {
        &self.tag
    }

    /// The state, for reports.
    pub fn state(&self) -> State {
        Tag(self.tag.peek()).state()
    }

    /// What stands in the node, for reports.
    pub fn report(&self) -> Report {
        Report {
            lock: self.lock.peek(),
            older: NodeId::new(self.older.peek()),
            newer: NodeId::new(self.newer.peek()),
            oldest: NodeId::new(self.oldest.peek()),
            priority: self.priority.peek(),
            since: self.since.peek(),
            due: self.due.peek(),
        }
    }
}

/// What stands in a node beside its state. Others may change it between two fields.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// The address of the lock.
    pub lock: usize,
    /// The node that queued before.
    pub older: Option<NodeId>,
    /// The node that queued after, once an owner has linked it.
    pub newer: Option<NodeId>,
    /// The oldest of the queue, in the newest one that is linked.
    pub oldest: Option<NodeId>,
    /// How urgent the waiter is.
    pub priority: u8,
    /// When it queued, in microseconds modulo 2^32.
    pub since: u32,
    /// When its turn comes, in microseconds modulo 2^32.
    pub due: u32,
}

impl<P: Machine> WaitNode<P>
where
    P::U8: ConstAtomic<u8>,
    P::U16: ConstAtomic<u16>,
    P::U32: ConstAtomic<u32>,
    P::Usize: ConstAtomic<usize>,
{
    /// A free node, as a constant.
    pub const FREE: Self = Self {
        tag: P::U32::ZERO,
        lock: P::Usize::ZERO,
        older: P::U16::ZERO,
        newer: P::U16::ZERO,
        oldest: P::U16::ZERO,
        numa: P::U16::ZERO,
        priority: P::U8::ZERO,
        since: P::U32::ZERO,
        turns: P::U8::ZERO,
        due: P::U32::ZERO,
        looked: P::U32::ZERO,
        home: P::U32::ZERO,
        runs_at: P::U32::ZERO,
    };
}

/// Leases one of the first `levels` nodes of the calling context, in a world whose contexts have a node for
/// each level of nesting. `None` on a deeper level, or without a number.
pub fn lease_own<'a, P: Machine + 'a>(
    levels: usize,
    node: impl Fn(NodeId) -> &'a WaitNode<P>,
) -> Option<NodeId> {
    let me = P::this_cpu()?;
    (0..levels).filter_map(|level| NodeId::of(me, level)).find(|&id| node(id).lease())
}

/// How long it is until `due`. No turn ends more than two turns ahead: what seems to is over, as after a stop
/// of the process for more than half of the time in which the clock goes round.
fn left(due: u32, at: u32, turn: u32) -> u32 {
    let ahead = due.wrapping_sub(at);
    if ahead > turn.saturating_mul(2).min(u32::MAX / 2) { 0 } else { ahead }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_is_over_however_long_ago_it_ended() {
        const MINUTE: u32 = 60_000_000;
        assert_eq!((left(100, 40, 200), left(100, 100, 200), left(100, 101, 200)), (60, 0, 0));
        assert_eq!(left(5, u32::MAX - 4, 200), 10, "the clock goes round");
        for stop in [1, 35, 36, 60, 71] {
            assert_eq!(left(100, 100 + stop * MINUTE, 200), 0, "a stop of {stop} minutes");
        }
        assert_eq!((left(100, 40, u32::MAX), left(40, 100, u32::MAX)), (60, 0), "turns without end");
    }

    #[test]
    fn a_tag_keeps_its_generation_through_a_life_and_changes_it_with_the_next() {
        let free = Tag(0);
        let leased = free.next_generation().with(State::Leased);
        let waiting = leased.with(State::Waiting);
        assert_eq!(waiting.state(), State::Waiting);
        assert_eq!(waiting.with(State::Leased), leased);
        assert_ne!(leased.with(State::Free).next_generation().with(State::Leased), leased);
        assert_eq!(Tag(u32::MAX).with(State::Free).next_generation(), free, "generations wrap");
    }
}
