//! Who may go ahead of whom: the bounds that locks state, which tools check.
//!
//! A lock has a bound, or a reason why it has none. Beside it, waiters of some locks *ask*: a head sets the
//! no-barging flag, a writer keeps readers out. A lock is held to that in any case. From then on each other
//! context goes in once more at most, with an acquisition that was past its look.
use core::fmt;

/// How often contexts may acquire ahead of a waiter that had queued before them, where tunables are small
/// ([`EXPLORES`](crate::Machine::EXPLORES)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overtaking {
    /// The lock states no bound, for this reason.
    Unbounded(&'static str),
    /// Each so often.
    AtMost(u32),
    /// Whoever a waiter behind it has passed is aside. The first of those that still wait is passed so often
    /// from when it is the first, by whomever.
    FirstAside(u32),
    /// Those of each NUMA node together so often once they have queued, and each context once more by an
    /// acquisition that was past its look.
    EachNode(u32),
    /// All together so often, and once more by each context each time that the waiter asks for the lock.
    /// Those do not count between which the waiter has not looked at the lock's word: one that gets no turn
    /// can do nothing against being passed.
    WhileItLooks {
        /// How often it looks before it asks.
        looks: u32,
        /// How often it asks.
        asks: u32,
        /// How often it looks as the first in the queue, before it asks there, which it does once.
        as_head: u32,
    },
}

impl fmt::Display for Overtaking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unbounded(_) => f.write_str("any"),
            Self::AtMost(times) => write!(f, "{times}"),
            Self::FirstAside(times) => write!(f, "{times} aside"),
            Self::EachNode(times) => write!(f, "{times} a node"),
            Self::WhileItLooks { looks, asks, .. } => write!(f, "{looks}+{asks}n"),
        }
    }
}

/// A head of `qrw` that reads polls (3 looks) and loses a race (1), twice; then it is counted, which is a
/// look.
const AS_HEAD: u32 = 2 * (3 + 1) + 1;

/// Bounds that need more than a word.
impl Overtaking {
    /// Of a lock without a queue.
    pub const NO_QUEUE: Self = Self::Unbounded("there is no queue: whoever finds it free takes it");
    /// Of `percpu-rw`, whose fast path keeps readers out.
    pub const UNTIL_CLOSED: Self = Self::Unbounded(
        "readers pass a writer until it has the base lock and closes the fast path; then nobody does",
    );
    /// A reader of `qrw` looks twice at first, as it takes its addition back. As a newcomer it looks 4 times
    /// (3 polls and a try), in the end as the head. A writer looks as a newcomer twice, and asks then.
    pub const PASSING_QRW: Self = Self::WhileItLooks { looks: 2 + 4 + AS_HEAD, asks: 1, as_head: AS_HEAD };
    /// A reader of `qrw-readers-first` tries three times before all that to go in beside readers, and looks
    /// twice each time. Writers are passed without bound.
    pub const PASSING_READERS_FIRST: Self =
        Self::WhileItLooks { looks: 3 * 2 + (2 + 4 + AS_HEAD), asks: 1, as_head: AS_HEAD };
}
