//! The reader-writer locks that can be explored, and some of them as locks that few may read.
use super::fault::{Fault, Faults};
use super::platform::Stepped;
use super::policies::Few;
use super::subjects::{Explored, Subject};
use crate::arena::{Arena, Placed};
use stanchion_core::qrw::Lenient;
use stanchion_core::transitions::{Table, Word};
use stanchion_core::{Downgrade, PerCpuRwLock, QueuedRwLock, RawRwLock, TooManyReaders, Upgradable};
use stanchion_family::catalogue::{self, Facts, InHandlers, Shares, Timed};
use stanchion_family::qrw_spin::Strict;
use stanchion_family::{CountRwLock, QSpinLock};
use std::rc::Rc;

/// A reader-writer lock of any kind, standing in the memory of the stepped world. The functions are those of
/// the core's traits.
pub(super) trait SteppedRw {
    fn acquire_read(&self) -> Result<(), TooManyReaders>;
    fn acquire_read_again(&self) -> Result<(), TooManyReaders>;
    fn try_acquire_read(&self) -> bool;
    fn acquire_read_until(&self, until: u64) -> Result<bool, TooManyReaders>;
    fn acquire_read_again_until(&self, until: u64) -> Result<bool, TooManyReaders>;
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
    fn acquire_upgradable_until(&self, until: u64) -> bool;
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
        fn acquire_read_again_until(&self, until: u64) -> Result<bool, TooManyReaders> {
            self.0.acquire_read_again_until(&until)
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

impl<L: Upgradable<Platform = Stepped>> Upgrades for Upgrading<L> {
    fn acquire_upgradable(&self) {
        self.0.acquire_upgradable();
    }
    fn try_acquire_upgradable(&self) -> bool {
        self.0.try_acquire_upgradable()
    }
    fn acquire_upgradable_until(&self, until: u64) -> bool {
        self.0.acquire_upgradable_until(&until)
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
    pub(super) make: Make,
    /// Makes one that lets so few readers in that contexts may come to ask for more, and how many, if it
    /// has a limit.
    pub(super) few: Option<(Make, u32)>,
    /// What its readers may do. If they read again whatever waits, their handlers do so, too.
    pub(super) shares: Shares,
    /// Whether handlers may write.
    pub(super) handlers_write: bool,
    /// Whether who waits for a limited time waits as the others do.
    pub(super) timed: bool,
    /// What the word of the lock may do that they wait in line for.
    pub(super) line: Table,
}

impl RwKind {
    /// How one for few readers is made, and for how many, if it has a limit and places are few.
    pub(super) fn few_of(&self, faults: Faults) -> Option<(Make, u32)> {
        self.few.filter(|_| faults.has(Fault::FewPlaces))
    }
}

/// Makes a lock in an arena.
type Make = fn(&Rc<Arena>) -> Box<dyn SteppedRw>;

macro_rules! make {
    (downgrades $lock:ty) => {
        |arena| Box::new(Plain(arena.place(<$lock>::new())))
    };
    (upgrades $lock:ty) => {
        |arena| Box::new(Upgrading(arena.place(<$lock>::new())))
    };
}

/// What the catalogue says of a lock of type `L`.
fn described<L: Downgrade<Platform = Stepped>>(facts: &'static Facts, make: Make) -> Subject {
    let kind = RwKind {
        name: facts.name,
        transitions: L::TRANSITIONS,
        make,
        few: few(facts.name),
        shares: facts.shares.expect("a reader-writer lock"),
        handlers_write: facts.in_handlers == InHandlers::All,
        timed: facts.timed == Timed::InQueue,
        line: L::QUEUE,
    };
    Subject::of(Explored::Rw(kind), facts.about, facts.bound, facts.stated)
}

macro_rules! subjects {
    ([] $($row:ident $alias:ident [$lock:ty] $name:literal $readers:ident $ways:ident $again:ident;)*) => {
        vec![$(described::<$lock>(catalogue::rwlock($name), make!($ways $lock))),*]
    };
}

/// Every reader-writer lock of the catalogue.
pub(super) fn all() -> Vec<Subject> {
    stanchion_family::for_each_rwlock! { Stepped; subjects; }
}

/// `qrw` for two readers.
type QueuedForFew = QueuedRwLock<Stepped, Few<Lenient>>;

/// The lock called so, for few readers.
fn few(name: &str) -> Option<(Make, u32)> {
    Some(match name {
        "rw-simple" => (make!(downgrades CountRwLock<Stepped, 2>), 2),
        "qrw" => (make!(upgrades QueuedForFew), 2),
        "qrw-spin" => (make!(upgrades QueuedRwLock<Stepped, Few<Strict<QSpinLock<Stepped>>>>), 2),
        "percpu-rw" => (make!(downgrades PerCpuRwLock<Stepped, QueuedForFew>), 2),
        "percpu-rw-simple" => (make!(downgrades PerCpuRwLock<Stepped, CountRwLock<Stepped, 2>>), 2),
        _ => return None,
    })
}
