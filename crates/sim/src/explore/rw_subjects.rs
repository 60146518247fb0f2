//! The reader-writer locks that can be explored, each with what it can do beyond the rest.
use super::bounds::{Asks, Awaits, Overtaking, PASSING_QRW, PASSING_READERS_FIRST, PASSING_STRICT};
use super::platform::Stepped;
use super::policies::One;
use super::subjects::{AfterRelease, Subject};
use crate::arena::{Arena, Placed};
use crate::rw_locks;
use stanchion_core::qrw::{Lenient, ReadersFirst, Strict};
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{
    CountRwLock, Downgrade, PerCpuRwLock, QSpinLock, QueuedRwLock, RawLock, StanchionLock, TooManyReaders,
    Upgradable,
};
use std::rc::Rc;

/// A reader-writer lock of any kind, standing in the memory of the stepped world. The functions are those of the core's traits.
pub(super) trait SteppedRw {
    fn acquire_read(&self) -> Result<(), TooManyReaders>;
    fn acquire_read_again(&self) -> Result<(), TooManyReaders>;
    fn try_acquire_read(&self) -> bool;
    fn acquire_read_until(&self, until: u64) -> Result<bool, TooManyReaders>;
    fn acquire_write_until(&self, until: u64) -> bool;
    fn release_read(&self);
    fn acquire_write(&self);
    fn try_acquire_write(&self) -> bool;
    fn release_write(&self);
    fn downgrade(&self);
    fn word(&self) -> Word;
    fn queue_word(&self) -> Option<Word>;
    /// The third way to hold it, if it has that.
    fn upgradable(&self) -> Option<&dyn Upgrades> {
        None
    }
}

/// See [`Upgradable`].
pub(super) trait Upgrades {
    fn acquire_upgradable(&self);
    fn try_acquire_upgradable(&self) -> bool;
    fn release_upgradable(&self);
    fn upgrade(&self);
    fn try_upgrade(&self) -> bool;
    fn downgrade_upgradable(&self) -> Result<(), TooManyReaders>;
    fn downgrade_to_upgradable(&self);
}

/// Passes the functions that all have on to the lock.
macro_rules! passed_on {
    () => {
        fn acquire_read(&self) -> Result<(), TooManyReaders> {
            self.0.acquire_read()
        }
        fn acquire_read_again(&self) -> Result<(), TooManyReaders> {
            self.0.acquire_read_again()
        }
        fn try_acquire_read(&self) -> bool {
            self.0.try_acquire_read()
        }
        fn acquire_read_until(&self, until: u64) -> Result<bool, TooManyReaders> {
            self.0.acquire_read_until(&until)
        }
        fn acquire_write_until(&self, until: u64) -> bool {
            self.0.acquire_write_until(&until)
        }
        fn release_read(&self) {
            self.0.release_read();
        }
        fn acquire_write(&self) {
            self.0.acquire_write();
        }
        fn try_acquire_write(&self) -> bool {
            self.0.try_acquire_write()
        }
        fn release_write(&self) {
            self.0.release_write();
        }
        fn downgrade(&self) {
            self.0.downgrade();
        }
        fn word(&self) -> Word {
            self.0.word()
        }
        fn queue_word(&self) -> Option<Word> {
            self.0.queue_word()
        }
    };
}

struct Plain<L: 'static>(Placed<L>);

impl<L: Downgrade<Platform = Stepped>> SteppedRw for Plain<L> {
    passed_on!();
}

struct Upgrading<L: 'static>(Placed<L>);

impl<L: Upgradable<Platform = Stepped>> SteppedRw for Upgrading<L> {
    passed_on!();
    fn upgradable(&self) -> Option<&dyn Upgrades> {
        Some(self)
    }
}

impl<L: Upgradable> Upgrades for Upgrading<L> {
    fn acquire_upgradable(&self) {
        self.0.acquire_upgradable();
    }
    fn try_acquire_upgradable(&self) -> bool {
        self.0.try_acquire_upgradable()
    }
    fn release_upgradable(&self) {
        self.0.release_upgradable();
    }
    fn upgrade(&self) {
        self.0.upgrade();
    }
    fn try_upgrade(&self) -> bool {
        self.0.try_upgrade()
    }
    fn downgrade_upgradable(&self) -> Result<(), TooManyReaders> {
        self.0.downgrade_upgradable()
    }
    fn downgrade_to_upgradable(&self) {
        self.0.downgrade_to_upgradable();
    }
}

/// A reader-writer lock as the explorer knows it.
#[derive(Clone, Copy)]
pub(super) struct RwKind {
    pub(super) name: &'static str,
    pub(super) transitions: Table,
    /// Makes one, on a line of its own.
    pub(super) make: fn(&Rc<Arena>) -> Box<dyn SteppedRw>,
    /// Whether a context that reads may read again whatever waits: then its handlers do so, too.
    pub(super) reads_again: bool,
    /// Whether handlers may write.
    pub(super) handlers_write: bool,
    /// So many read locks are given at once, if contexts may come to ask for more.
    pub(super) most_readers: Option<u32>,
    /// Whether who waits for a limited time waits as the others do.
    pub(super) timed: bool,
    /// By what its waiters ask for it.
    pub(super) asks: Asks,
    /// What the word of the lock may do that they wait in line for.
    pub(super) line: Table,
    /// For whom a context may wait that reads.
    pub(super) awaits: Awaits,
}

/// With so many readers at once, a limit may be met.
const FEW: u32 = 8;

/// The row of a lock that cannot be upgraded.
fn plain<L: Downgrade<Platform = Stepped>>(name: &'static str, asks: Asks) -> RwKind {
    RwKind {
        name,
        transitions: L::TRANSITIONS,
        make: |arena| Box::new(Plain(arena.place(L::new()))),
        reads_again: true,
        handlers_write: false,
        most_readers: (L::MOST_READERS < FEW).then_some(L::MOST_READERS),
        timed: false,
        asks,
        line: Table(&[]),
        awaits: Awaits::Nobody,
    }
}

/// The row of one that can, whose waiters wait in line for a lock of type `Q`.
fn upgrading<L, Q>(name: &'static str) -> RwKind
where
    L: Upgradable<Platform = Stepped>,
    Q: RawLock<Platform = Stepped>,
{
    RwKind {
        make: |arena| Box::new(Upgrading(arena.place(L::new()))),
        handlers_write: true,
        line: Q::TRANSITIONS,
        ..plain::<L>(name, Asks::Mark)
    }
}

/// The queue of `qrw`.
type Queue = StanchionLock<Stepped, true>;
type Qrw<W = Lenient> = QueuedRwLock<Stepped, Queue, W>;
type QrwSpin = QueuedRwLock<Stepped, QSpinLock<Stepped>, Strict>;

/// The row of a per-CPU lock over `B`, whose gate stands right behind that.
fn per_cpu<B: Downgrade<Platform = Stepped>>(name: &'static str) -> RwKind {
    plain::<PerCpuRwLock<Stepped, B>>(name, Asks::Gate(size_of::<B>()))
}

/// Every reader-writer lock, in the order of tables.
///
/// # Panics
///
/// If the family has a lock that has no row here.
pub(super) fn all() -> Vec<Subject> {
    const COUNT: &[(usize, &str)] = &[(0, "count")];
    const BASED: &[(usize, &str)] = &[(0, "base.count")];
    const WRITERS_FIRST: Overtaking = Overtaking::Unbounded(
        "readers let all writers go first, and those compete; a writer with the flag is passed by nobody",
    );
    const UNTIL_THE_GATE: Overtaking = Overtaking::Unbounded(
        "readers pass a writer until it has the base lock and closes the gate; then nobody does",
    );
    // It cannot be held upgradably.
    let never: &[&str] = &["an upgrade begins: r,u,0 -> r,u,1"];
    let simple = RwKind {
        reads_again: false,
        handlers_write: true,
        ..plain::<CountRwLock<Stepped>>("rw-simple", Asks::Flag)
    };
    let simple_few = RwKind {
        reads_again: false,
        handlers_write: true,
        ..plain::<CountRwLock<Stepped, 2>>("rw-simple-few", Asks::Flag)
    };
    let qrw = RwKind { awaits: Awaits::Queued, timed: true, ..upgrading::<Qrw, Queue>("qrw") };
    let qrw_few = RwKind { awaits: Awaits::Queued, timed: true, ..upgrading::<Qrw<One>, Queue>("qrw-few") };
    let readers_first = RwKind {
        handlers_write: true,
        line: Queue::TRANSITIONS,
        awaits: Awaits::Readers,
        timed: true,
        ..plain::<ReadersFirst<Stepped>>("qrw-readers-first", Asks::MarkForReaders)
    };
    let queued = RwKind { line: Queue::TRANSITIONS, ..per_cpu::<Qrw>("percpu-rw") };
    let queued_few = RwKind { line: Queue::TRANSITIONS, ..per_cpu::<Qrw<One>>("percpu-rw-few") };
    let over_simple = RwKind { reads_again: false, ..per_cpu::<CountRwLock<Stepped>>("percpu-rw-simple") };
    // It opens the gate, and then releases the base lock.
    let after_release = AfterRelease::Anything;
    let all = vec![
        Subject::shared("count of readers and a writer's flag", simple, COUNT, WRITERS_FIRST),
        Subject::shared("the same for two readers at once", simple_few, COUNT, WRITERS_FIRST),
        Subject::shared("queued, small constants", qrw, COUNT, PASSING_QRW),
        Subject::shared("the same for one reader", qrw_few, COUNT, PASSING_QRW),
        Subject {
            unreachable: never,
            ..Subject::shared(
                "queued, readers pass whoever waits",
                readers_first,
                COUNT,
                PASSING_READERS_FIRST,
            )
        },
        Subject::shared(
            "queued, whose waiters spin",
            upgrading::<QrwSpin, QSpinLock<Stepped>>("qrw-spin"),
            COUNT,
            PASSING_STRICT,
        ),
        Subject {
            unreachable: never,
            after_release,
            ..Subject::shared("cells of readers over qrw", queued, BASED, UNTIL_THE_GATE)
        },
        Subject {
            unreachable: never,
            after_release,
            ..Subject::shared("the same over qrw-few", queued_few, BASED, UNTIL_THE_GATE)
        },
        Subject {
            after_release,
            ..Subject::shared("cells of readers over rw-simple", over_simple, BASED, UNTIL_THE_GATE)
        },
    ];
    for kind in rw_locks::all::<Stepped>() {
        let known = all.iter().any(|subject| subject.name() == kind.name);
        assert!(known, "{}: state a bound on its overtaking, or why it has none", kind.name);
    }
    all
}
