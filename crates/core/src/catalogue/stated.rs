//! What locks state of their words, which tools check.
use crate::stanchion::{FREE_LOOKS, NO_BARGING};

/// What the tail of a word holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// Nothing, or numbers that mean nothing without the lock.
    Numbers,
    /// The code of the last node of a queue; zero where nobody waits.
    Nodes,
    /// The number of a wait.
    Waits,
    /// The next ticket. Tickets are not given back, so a word that nobody uses is another one each time.
    Tickets {
        /// Offsets of the halves of the word that count tickets.
        halves: &'static [usize],
    },
}

/// What the second byte of a word says of waiters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondByte {
    /// Nothing that is checked.
    Other,
    /// That a context waits at the lock itself: setting it is a way of queueing.
    Pends,
    /// With this value: the head asks for the lock.
    Asks(u8),
    /// With this bit: a waiter asks those that have not queued to stay away. They enter once more at most,
    /// with an acquisition that was past its look, and once each time that they have looked so often and
    /// found the lock free. (They may have the lock for moments, to rouse somebody.)
    AsksNewcomers {
        /// The bit.
        bit: u8,
        /// How often they look.
        looks: u32,
    },
}

/// What a release does to the lock after the store that lets the next holder in, which may destroy it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterRelease {
    /// Nothing.
    Nothing,
    /// It reads it: the memory must stay readable.
    Reads,
    /// It may do anything: the lock must stay until it returns.
    Anything,
    /// The same, or nothing where releases look for marks first.
    ByWorld,
}

/// By what a waiter of a reader-writer lock asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asks {
    /// By the writer's flag, which it sets before it waits for the readers to leave.
    Flag,
    /// By the mark of the head that lets nobody pass, bit 1 of the second byte. While the head has no CPU,
    /// bit 0, writers may pass all the same.
    Mark,
    /// The same, but readers pass whoever waits, and a writer that waits for readers leaves bit 0 without
    /// being the head.
    MarkForReaders,
    /// By a byte at this offset that is 1 while readers are kept out.
    FastPath(usize),
}

/// For whom a context that reads may wait in its section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// For nobody who waits for the lock.
    Nobody,
    /// For those to read that queued before it did, or when it was let in if it did not queue.
    Queued,
    /// For anybody to read.
    Readers,
}

/// Which writes to its cells a lock keeps in order, by place. The cells of a lock count from 0 on, those of a
/// context from 1000 on, and those of what else it stores from 2000 on, in the order in which they are made.
#[derive(Clone, Copy, Debug)]
pub struct InOrder {
    /// Plain stores to these are ordered with all other writes.
    pub stores: &'static [usize],
    /// Plain stores to these are ordered among themselves.
    pub plain_stores: &'static [usize],
    /// Additions to these are ordered among themselves, from one moment when the cell is zero to the next:
    /// who finds it zero comes after all that was added before, by the order of this one cell.
    pub additions: &'static [usize],
}

impl InOrder {
    /// Of a lock that states nothing.
    pub const NOTHING: Self = Self { stores: &[], plain_stores: &[], additions: &[] };

    /// The same with plain stores to these ordered with all other writes.
    #[must_use]
    pub const fn stores(self, stores: &'static [usize]) -> Self {
        Self { stores, ..self }
    }
}

/// What a lock does that a model checker should go through: sorts of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    /// Waiters spin at the word.
    Spinning,
    /// Waiters spin in a queue of nodes.
    Queueing,
    /// The queue knows NUMA nodes.
    OnNodes,
    /// The word names the owner.
    Owned,
    /// The same, and there is a queue.
    OwnedQueue,
    /// Waiters halt.
    Halting,
    /// Waiters say where they block, and handlers may block there, too.
    Blocking,
    /// A waiter hands on a wake-up that is not for it.
    HandingOn,
    /// It is a policy of a lock that goes through all of the programs of its sort.
    Policy,
    /// A release wakes several.
    KickingAhead,
    /// Waiters give their CPU away instead of halting.
    Conferring,
    /// Waits lease their nodes, and may end early.
    Leasing,
    /// There are readers.
    Reading,
    /// Readers have no cells of their own, so all executions of the smallest program can be had.
    Wholly,
    /// No reader leaves another one behind.
    Together,
    /// Readers and writers queue, and the model follows them into the queue.
    ReadingQueued,
    /// Readers and writers wait for a limited time, and leave the queue.
    ReadingTimed,
    /// It can be held upgradably.
    Upgrading,
    /// Readers have cells that they use for several locks.
    Cells,
    /// A reader too many is refused.
    Refusing,
    /// An upgradable holder beside all the readers that are let in.
    UpgradingBesideAll,
}

/// The word of a lock, and what it does to it.
#[derive(Clone, Copy, Debug)]
pub struct Stated {
    /// Offsets and names of the word's fields.
    pub fields: &'static [(usize, &'static str)],
    /// What the tail holds.
    pub tail: Tail,
    /// What the second byte says.
    pub second_byte: SecondByte,
    /// What a release does to the lock once the next holder may be in.
    pub after_release: AfterRelease,
    /// Whether it lets contexts with priority ([`is_priority`](crate::Machine::is_priority)) wait less.
    pub heeds_priority: bool,
    /// Whether its releases look at the places of all contexts.
    pub looks_at_all: bool,
    /// Rows of its table that it never takes, for a lock that shares its table with others.
    pub unreachable: &'static [&'static str],
    /// Which of its writes are ordered.
    pub in_order: InOrder,
    /// What the model checker goes through.
    pub programs: &'static [Programs],
}

/// What the locks of this crate state, by their names in the catalogue, and what others begin with.
impl Stated {
    /// A word that says whether the lock is held, and nothing else.
    pub const HELD: Self = Self {
        fields: &[(0, "locked")],
        tail: Tail::Numbers,
        second_byte: SecondByte::Other,
        after_release: AfterRelease::Nothing,
        heeds_priority: false,
        looks_at_all: false,
        unreachable: &[],
        in_order: InOrder::NOTHING,
        programs: &[Programs::Spinning],
    };
    pub(super) const STANCHION: Self = Self {
        fields: &[(0, "count"), (1, "flags"), (2, "newest")],
        tail: Tail::Waits,
        second_byte: SecondByte::AsksNewcomers { bit: NO_BARGING, looks: FREE_LOOKS },
        after_release: AfterRelease::ByWorld,
        programs: &[Programs::Leasing],
        ..Self::HELD
    };
    /// Of `qrw`.
    pub const QRW: Self = Self {
        fields: &[(0, "count")],
        programs: &[Programs::Wholly, Programs::Reading, Programs::Together, Programs::ReadingTimed],
        ..Self::HELD
    };
    pub(super) const QRW_READERS_FIRST: Self = Self { unreachable: &[UPGRADES], ..Self::QRW };
    /// Of `percpu-rw`. It opens the fast path, and then releases the base lock.
    pub const PERCPU_RW: Self = Self {
        fields: &[(0, "base.count")],
        after_release: AfterRelease::Anything,
        unreachable: &[UPGRADES],
        in_order: InOrder::NOTHING.stores(&[2]),
        programs: &[Programs::Reading, Programs::Cells],
        ..Self::HELD
    };
}

/// What nobody reaches that cannot be held upgradably.
const UPGRADES: &str = "an upgrade begins: r,u,0 -> r,u,1";
