//! What locks state about who may go ahead of whom, as far as the explorer can check it.
//!
//! A lock has a bound, or a reason why it has none. Beside it, a lock whose waiters *ask* for it (a head that objects to thieves, a
//! writer that keeps readers out) is held to that in any case: from then on each other context goes in once more at most, with an
//! acquisition that was past its look.

/// For whom a context that reads may wait in its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaits {
    /// For nobody who waits for the lock.
    Nobody,
    /// For those to read that queued before it did, or when it was let in if it did not queue.
    Queued,
    /// For anybody to read.
    Readers,
}

/// How often contexts may acquire ahead of a waiter that had queued before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overtaking {
    /// The lock states no bound, for this reason.
    Unbounded(&'static str),
    /// Each so often.
    AtMost(u32),
    /// All together so often, and once more by each context each time that the waiter asks for the lock. Those do not count between which
    /// the waiter has not looked at the lock's word: one that gets no turn can do nothing against being passed.
    WhileItLooks {
        /// How often it looks before it asks.
        looks: u32,
        /// How often it asks.
        asks: u32,
        /// How often it looks as the first in the queue, before it asks there, which it does once.
        as_head: u32,
    },
}

impl core::fmt::Display for Overtaking {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Unbounded(_) => f.write_str("any"),
            Self::AtMost(times) => write!(f, "{times}"),
            Self::WhileItLooks { looks, asks, .. } => write!(f, "{looks}+{asks}n"),
        }
    }
}

/// What the second byte of a word says of waiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecondByte {
    /// Nothing that is checked.
    Other,
    /// That a context waits at the lock itself: setting it is a way of queueing.
    Pends,
    /// With this value: the head asks for the lock.
    Asks(u8),
    /// With this bit: a waiter asks those that have not queued to stay away. They enter once more at most, with an acquisition that was past
    /// its look. (They may have the lock for moments, to rouse somebody.)
    AsksNewcomers(u8),
}

/// By what a waiter of a reader-writer lock asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asks {
    /// By the writer's flag, which it sets before it waits for the readers to leave.
    Flag,
    /// By the mark of the head that lets nobody pass, bit 1 of the second byte. While the head has no CPU, bit 0, writers may pass all the
    /// same.
    Mark,
    /// The same, but readers pass whoever waits, and a writer that waits for readers leaves bit 0 without being the head.
    MarkForReaders,
    /// By a byte at this offset that is 1 while readers are kept out.
    Gate(usize),
}

/// A waiter of `cna` is overtaken so often by each other context.
///
/// Once as in `qspin`: by an acquisition that was past its look when the waiter queued. And while the waiter stands in the secondary
/// queue. There a context that came later goes ahead of it if it runs on the NUMA node that is preferred. That lasts for the threshold,
/// which is 2 µs or twenty steps here: a head that sorts the queue later than that has it flushed when it leaves. For a
/// context to acquire ahead twice, it has to release, queue again (14 steps), become head and sort before the twenty steps are over,
/// which leaves no room for the context in front of it to do the same; so it is once by heads that sort in time, and once more by
/// the one that was made head by the last of those, finds the time to be over, and flushes when it leaves.
pub(super) const OVERTAKING_BY_NUMA: u32 = 3;

/// The head of `qrw` polls (3 looks) and loses a race (1), twice; then it asks, which is a look.
const AS_HEAD: u32 = 2 * (3 + 1) + 1;
/// A reader of `qrw` looks twice at first (it takes its addition back); as a newcomer, twice, 4 times each (3 polls and a try); before it
/// steps aside 4 times (3 polls, and the mark by which it asks), and once when it takes the mark back; and as the head in the end. A writer
/// looks less.
pub(super) const PASSING_QRW: Overtaking =
    Overtaking::WhileItLooks { looks: 2 + 2 * 4 + 4 + 1 + AS_HEAD, asks: 2, as_head: AS_HEAD };
/// A reader of `qrw-readers-first` tries three times before all that to go in beside readers, and looks twice each time. Writers are passed
/// without bound.
pub(super) const PASSING_READERS_FIRST: Overtaking =
    Overtaking::WhileItLooks { looks: 3 * 2 + (2 + 2 * 4 + 4 + 1 + AS_HEAD), asks: 2, as_head: AS_HEAD };
/// In the kernel's form, nobody is a newcomer that polls, and the head asks at once.
pub(super) const PASSING_STRICT: Overtaking = Overtaking::WhileItLooks { looks: 2 + 1, asks: 1, as_head: 1 };
