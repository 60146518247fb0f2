//! The reader-writer locks that can be explored, each with what it can do beyond the rest.
use super::platform::Stepped;
use super::subjects::Subject;
use crate::arena::{Arena, Placed};
use stanchion_core::qrw::Strict;
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{
    CountRwLock, Downgrade, PerCpuRwLock, QSpinLock, QueuedRwLock, TooManyReaders, Upgradable,
};
use std::rc::Rc;

/// A reader-writer lock of any kind, standing in the memory of the stepped world. The functions are those of the core's traits.
pub(super) trait SteppedRw {
    fn acquire_read(&self) -> Result<(), TooManyReaders>;
    fn acquire_read_again(&self) -> Result<(), TooManyReaders>;
    fn try_acquire_read(&self) -> bool;
    fn release_read(&self);
    fn acquire_write(&self);
    fn try_acquire_write(&self) -> bool;
    fn release_write(&self);
    fn downgrade(&self);
    fn word(&self) -> Word;
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
    };
}

struct Plain<L: 'static>(Placed<L>);

impl<L: Downgrade> SteppedRw for Plain<L> {
    passed_on!();
}

struct Upgrading<L: 'static>(Placed<L>);

impl<L: Upgradable> SteppedRw for Upgrading<L> {
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
}

/// The row of a lock that cannot be upgraded.
fn plain<L: Downgrade<Platform = Stepped>>(name: &'static str) -> RwKind {
    RwKind {
        name,
        transitions: L::TRANSITIONS,
        make: |arena| Box::new(Plain(arena.place(L::new()))),
        reads_again: true,
        handlers_write: false,
    }
}

/// The row of one that can.
fn upgrading<L: Upgradable<Platform = Stepped>>(name: &'static str) -> RwKind {
    RwKind {
        make: |arena| Box::new(Upgrading(arena.place(L::new()))),
        handlers_write: true,
        ..plain::<L>(name)
    }
}

/// The default lock with constants small enough to be reached.
type Qrw = QueuedRwLock<Stepped>;

/// Every reader-writer lock, in the order of tables.
pub(super) fn all() -> Vec<Subject> {
    const COUNT: &[(usize, &str)] = &[(0, "count")];
    const BASED: &[(usize, &str)] = &[(0, "base.count")];
    let simple =
        RwKind { reads_again: false, handlers_write: true, ..plain::<CountRwLock<Stepped>>("rw-simple") };
    let over_simple = RwKind {
        reads_again: false,
        ..plain::<PerCpuRwLock<Stepped, CountRwLock<Stepped>>>("percpu-rw-simple")
    };
    let mut per_cpu =
        Subject::shared("cells of readers over qrw", plain::<PerCpuRwLock<Stepped, Qrw>>("percpu-rw"), BASED);
    per_cpu.unreachable = &["an upgrade begins: r,u,0 -> r,u,1"]; // it cannot be held upgradably
    vec![
        Subject::shared("count of readers and a writer's flag", simple, COUNT),
        Subject::shared("queued, small constants", upgrading::<Qrw>("qrw"), COUNT),
        Subject::shared(
            "queued, whose waiters spin",
            upgrading::<QueuedRwLock<Stepped, QSpinLock<Stepped>, Strict>>("qrw-spin"),
            COUNT,
        ),
        per_cpu,
        Subject::shared("cells of readers over rw-simple", over_simple, BASED),
    ]
}
