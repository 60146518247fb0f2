//! Reader-writer locks under torture: Stanchion's as the core has them, and `parking_lot`'s.
#![expect(
    unsafe_code,
    reason = "giving a lock back is unsafe to call, and `parking_lot`'s is given back by unsafe functions"
)]
use super::tortured::{Side, Skills, Tortured};
use lock_api::{RawRwLock as _, RawRwLockDowngrade as _, RawRwLockUpgrade as _};
use stanchion::native::{Class, Native};
use stanchion::stanchion_core as core_locks;
use stanchion_core::{Downgrade, RawRwLock, TooManyReaders};
use stanchion_family::catalogue::{self, Facts, InHandlers};

/// A row of the catalogue, as a type.
pub(crate) trait OfRow: Send + Sync + 'static {
    type Lock: Downgrade;
    const FACTS: &'static Facts;
    /// How it is held upgradably, if it can.
    const UPGRADES: Option<UpgradeOf<Self::Lock>>;
}

/// How a lock is held upgradably.
pub(crate) struct UpgradeOf<L> {
    pub(crate) acquire: fn(&L),
    pub(crate) try_acquire: fn(&L) -> bool,
    pub(crate) release: fn(&L),
    pub(crate) upgrade: fn(&L),
}

/// By the word of the catalogue.
macro_rules! upgrades {
    (upgrades) => {
        Some(UpgradeOf {
            acquire: stanchion_core::Upgradable::acquire_upgradable,
            try_acquire: stanchion_core::Upgradable::try_acquire_upgradable,
            release: stanchion_core::Upgradable::release_upgradable,
            upgrade: stanchion_core::Upgradable::upgrade,
        })
    };
    (downgrades) => {
        None
    };
}
pub(super) use upgrades;

const DOWNGRADES: Skills = Skills { downgrades: true, ..Skills::READERS };

/// One of the catalogue's reader-writer locks.
pub(crate) struct Rw<O: OfRow>(O::Lock);

/// What a lock of the catalogue can do.
const fn skills(facts: &Facts, upgrades: bool) -> Skills {
    Skills {
        reads_again: matches!(facts.shares, Some(shares) if shares.reads_again),
        handlers_write: matches!(facts.in_handlers, InHandlers::All),
        upgrades,
        ..DOWNGRADES
    }
}

impl<O: OfRow> Rw<O> {
    /// Asked for only where the skills say so.
    fn upgrades() -> &'static UpgradeOf<O::Lock> {
        O::UPGRADES.as_ref().expect("the lock can be held upgradably")
    }
}

/// No run has as many threads as that.
fn counted(acquired: Result<(), TooManyReaders>) {
    acquired.expect("torture has far fewer readers than a lock can count");
}

impl<O: OfRow> Tortured for Rw<O> {
    type Guard = Side;
    const SKILLS: Skills = skills(O::FACTS, O::UPGRADES.is_some());

    fn new(_test_lock: usize) -> Self {
        Self(O::Lock::new())
    }

    #[inline(always)]
    fn acquire(&self, side: Side) -> Side {
        match side {
            Side::Reads => counted(self.0.acquire_read()),
            Side::Writes => self.0.acquire_write(),
            Side::Upgrades => (Self::upgrades().acquire)(&self.0),
        }
        side
    }

    #[inline(always)]
    fn try_acquire(&self, side: Side) -> Option<Side> {
        let acquired = match side {
            Side::Reads => self.0.try_acquire_read(),
            Side::Writes => self.0.try_acquire_write(),
            Side::Upgrades => (Self::upgrades().try_acquire)(&self.0),
        };
        acquired.then_some(side)
    }

    fn acquire_again(&self) -> Side {
        counted(self.0.acquire_read_again());
        Side::Reads
    }

    #[inline(always)]
    unsafe fn release(&self, side: Side) {
        match side {
            Side::Reads => self.0.release_read(),
            Side::Writes => self.0.release_write(),
            Side::Upgrades => (Self::upgrades().release)(&self.0),
        }
    }

    unsafe fn downgrade(&self, _side: Side) -> Side {
        self.0.downgrade();
        Side::Reads
    }

    unsafe fn upgrade(&self, _side: Side) -> Side {
        (Self::upgrades().upgrade)(&self.0);
        Side::Writes
    }

    fn describe(&self) -> String {
        describe(O::FACTS.name, self.0.word())
    }
}

/// The word, and every queue node in use in this process.
fn describe(name: &str, word: core_locks::transitions::Word) -> String {
    static SOME_LOCK: stanchion::lock::ByteLock = <stanchion::lock::ByteLock as lock_api::RawMutex>::INIT;
    let nodes = stanchion::diagnose::describe(&SOME_LOCK);
    let nodes = nodes.find('\n').map_or("", |end| &nodes[end..]);
    format!("{name} ({} readers,{},{}){nodes}", word.tail, word.pending, word.locked)
}

/// The per-CPU lock in classes of a user's own: neighbouring test locks belong to different ones.
pub(crate) struct Classed {
    lock: core_locks::PerCpuRwLock<Native>,
    class: &'static Class,
}

impl Tortured for Classed {
    type Guard = Side;
    const SKILLS: Skills = skills(catalogue::rwlock("percpu-rw"), false);

    fn new(test_lock: usize) -> Self {
        static CLASSES: [Class; 2] = [const { Class::new() }; 2];
        let class = &CLASSES[test_lock % CLASSES.len()];
        Self { lock: core_locks::PerCpuRwLock::new_in(&class), class }
    }

    #[inline(always)]
    fn acquire(&self, side: Side) -> Side {
        match side {
            Side::Reads => counted(self.lock.acquire_read_in(&self.class).map(drop)),
            Side::Writes | Side::Upgrades => self.lock.acquire_write_in(&self.class),
        }
        side
    }

    #[inline(always)]
    fn try_acquire(&self, side: Side) -> Option<Side> {
        let acquired = match side {
            Side::Reads => self.lock.try_acquire_read_in(&self.class).is_some(),
            Side::Writes | Side::Upgrades => self.lock.try_acquire_write_in(&self.class),
        };
        acquired.then_some(side)
    }

    fn acquire_again(&self) -> Side {
        counted(self.lock.acquire_read_again_in(&self.class).map(drop));
        Side::Reads
    }

    #[inline(always)]
    unsafe fn release(&self, side: Side) {
        match side {
            Side::Reads => self.lock.release_read_in(&self.class),
            Side::Writes | Side::Upgrades => self.lock.release_write_in(&self.class),
        }
    }

    unsafe fn downgrade(&self, _side: Side) -> Side {
        self.lock.downgrade_in(&self.class);
        Side::Reads
    }

    fn describe(&self) -> String {
        describe("percpu-rw in a class", self.lock.word())
    }
}

/// What `parking_lot` gives back is by the kind of guard, all of one type.
pub(crate) struct ParkingLot(parking_lot::RawRwLock);

type ParkingGuard = <parking_lot::RawRwLock as lock_api::RawRwLock>::SharedGuard;

impl Tortured for ParkingLot {
    type Guard = (Side, ParkingGuard);
    const SKILLS: Skills = Skills { upgrades: true, ..DOWNGRADES };

    fn new(_test_lock: usize) -> Self {
        Self(parking_lot::RawRwLock::INIT)
    }

    fn acquire(&self, side: Side) -> Self::Guard {
        let guard = match side {
            Side::Reads => self.0.lock_shared(),
            Side::Writes => self.0.lock_exclusive(),
            Side::Upgrades => self.0.lock_upgradable(),
        };
        (side, guard)
    }

    fn try_acquire(&self, side: Side) -> Option<Self::Guard> {
        let guard = match side {
            Side::Reads => self.0.try_lock_shared(),
            Side::Writes => self.0.try_lock_exclusive(),
            Side::Upgrades => self.0.try_lock_upgradable(),
        };
        guard.map(|guard| (side, guard))
    }

    unsafe fn release(&self, (side, guard): Self::Guard) {
        match side {
            // SAFETY: the caller has the guard from this lock's `acquire`, where `side` says by which
            // function it was made.
            Side::Reads => unsafe { self.0.unlock_shared(guard) },
            // SAFETY: as `side` says, the guard is the writer's of this lock, and the caller gives it back
            // once.
            Side::Writes => unsafe { self.0.unlock_exclusive(guard) },
            // SAFETY: as `side` says, the guard is the upgradable holder's of this lock, and the caller gives
            // it back once.
            Side::Upgrades => unsafe { self.0.unlock_upgradable(guard) },
        }
    }

    unsafe fn downgrade(&self, (_, guard): Self::Guard) -> Self::Guard {
        // SAFETY: the caller has this lock as its writer, by this very guard.
        (Side::Reads, unsafe { self.0.downgrade(guard) })
    }

    unsafe fn upgrade(&self, (_, guard): Self::Guard) -> Self::Guard {
        // SAFETY: the caller has this lock upgradably, by this very guard.
        (Side::Writes, unsafe { self.0.upgrade(guard) })
    }

    fn describe(&self) -> String {
        let state = match (self.0.is_locked_exclusive(), self.0.is_locked()) {
            (true, _) => "written",
            (false, true) => "read",
            (false, false) => "free",
        };
        format!("{state} (this lock does not describe its queue)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Qrw;

    impl OfRow for Qrw {
        type Lock = core_locks::QueuedRwLock<Native>;
        const FACTS: &'static Facts = catalogue::rwlock("qrw");
        const UPGRADES: Option<UpgradeOf<Self::Lock>> = upgrades!(upgrades);
    }

    #[test]
    fn a_lock_says_who_is_inside() {
        let lock = Rw::<Qrw>::new(0);
        assert!(lock.describe().contains("(0 readers,0,0)"), "{}", lock.describe());
        let guard = lock.acquire(Side::Reads);
        assert!(lock.describe().contains("(1 readers,0,0)"), "{}", lock.describe());
        // SAFETY: the guard is from the acquisition two lines above.
        unsafe { lock.release(guard) };
        let guard = lock.acquire(Side::Upgrades);
        assert!(lock.try_acquire(Side::Writes).is_none());
        // SAFETY: the guard is from the upgradable acquisition two lines above.
        let guard = unsafe { lock.upgrade(guard) };
        assert!(lock.describe().contains("(0 readers,0,1)"), "{}", lock.describe());
        // SAFETY: the guard is what became of that one.
        let guard = unsafe { lock.downgrade(guard) };
        assert_eq!((guard, lock.try_acquire(Side::Reads)), (Side::Reads, Some(Side::Reads)));
    }

    #[test]
    fn neighbouring_test_locks_are_of_different_classes() {
        let locks: [Classed; 3] = core::array::from_fn(Classed::new);
        assert!(
            core::ptr::eq(locks[0].class, locks[2].class) && !core::ptr::eq(locks[0].class, locks[1].class)
        );
    }
}
