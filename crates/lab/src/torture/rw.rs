//! Reader-writer locks under torture: Stanchion's as the core has them, and `parking_lot`'s.
#![expect(
    unsafe_code,
    reason = "giving a lock back is unsafe to call, and `parking_lot`'s is given back by unsafe functions"
)]
use super::tortured::{Side, Skills, Tortured};
use lock_api::{RawRwLock as _, RawRwLockDowngrade as _, RawRwLockUpgrade as _};
use stanchion::native::{Class, Native};
use stanchion::stanchion_core as core_locks;
use stanchion_core::qrw::{RwPolicy, Strict};
use stanchion_core::{Downgrade, QSpinLock, RawLock, RawRwLock, TooManyReaders, Upgradable};

/// The queued lock that spins.
pub(crate) type SpinningQrw = core_locks::QueuedRwLock<Native, QSpinLock<Native>, Strict>;
/// The per-CPU lock as announced.
pub(crate) type PerCpuSimple = core_locks::PerCpuRwLock<Native, core_locks::CountRwLock<Native>>;

/// What a lock of the core can do under torture. How it is held upgradably is asked only of those that say that they can.
pub(crate) trait Ways: Downgrade {
    const SKILLS: Skills;
    fn acquire_to_upgrade(&self) {}
    fn try_acquire_to_upgrade(&self) -> bool {
        false
    }
    fn release_upgradable(&self) {}
    fn upgrade(&self) {}
}

const DOWNGRADES: Skills = Skills { downgrades: true, ..Skills::READERS };

impl Ways for core_locks::CountRwLock<Native> {
    const SKILLS: Skills = DOWNGRADES;
}

impl<L: RawLock<Platform = Native>, W: RwPolicy> Ways for core_locks::QueuedRwLock<Native, L, W> {
    const SKILLS: Skills = Skills { reads_again: true, upgrades: true, ..DOWNGRADES };
    fn acquire_to_upgrade(&self) {
        self.acquire_upgradable();
    }
    fn try_acquire_to_upgrade(&self) -> bool {
        self.try_acquire_upgradable()
    }
    fn release_upgradable(&self) {
        Upgradable::release_upgradable(self);
    }
    fn upgrade(&self) {
        Upgradable::upgrade(self);
    }
}

impl Ways for core_locks::PerCpuRwLock<Native> {
    const SKILLS: Skills = Skills { reads_again: true, handlers_write: false, ..DOWNGRADES };
}

impl Ways for PerCpuSimple {
    /// It reads again by its base lock, which lets nobody pass a writer.
    const SKILLS: Skills = Skills { handlers_write: false, ..DOWNGRADES };
}

/// One of the core's reader-writer locks.
pub(crate) struct Rw<L>(L);

/// No run has as many threads as that.
fn counted(acquired: Result<(), TooManyReaders>) {
    acquired.expect("torture has far fewer readers than a lock can count");
}

impl<L: Ways> Tortured for Rw<L> {
    type Guard = Side;
    const SKILLS: Skills = L::SKILLS;

    fn new(_station: usize) -> Self {
        Self(L::new())
    }

    #[inline(always)]
    fn acquire(&self, side: Side) -> Side {
        match side {
            Side::Reads => counted(self.0.acquire_read()),
            Side::Writes => self.0.acquire_write(),
            Side::Upgrades => self.0.acquire_to_upgrade(),
        }
        side
    }

    #[inline(always)]
    fn try_acquire(&self, side: Side) -> Option<Side> {
        let acquired = match side {
            Side::Reads => self.0.try_acquire_read(),
            Side::Writes => self.0.try_acquire_write(),
            Side::Upgrades => self.0.try_acquire_to_upgrade(),
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
            Side::Upgrades => self.0.release_upgradable(),
        }
    }

    unsafe fn downgrade(&self, _side: Side) -> Side {
        self.0.downgrade();
        Side::Reads
    }

    unsafe fn upgrade(&self, _side: Side) -> Side {
        self.0.upgrade();
        Side::Writes
    }

    fn describe(&self) -> String {
        describe(L::NAME, self.0.word())
    }
}

/// The word, and every queue node in use in this process.
fn describe(name: &str, word: core_locks::transitions::Word) -> String {
    static SOME_LOCK: stanchion::lock::ByteLock = <stanchion::lock::ByteLock as lock_api::RawMutex>::INIT;
    let nodes = stanchion::diagnose::describe(&SOME_LOCK);
    let nodes = nodes.find('\n').map_or("", |end| &nodes[end..]);
    format!("{name} ({} readers,{},{}){nodes}", word.tail, word.pending, word.locked)
}

/// The per-CPU lock in classes of a user's own: neighbouring stations belong to different ones.
pub(crate) struct Classed {
    lock: core_locks::PerCpuRwLock<Native>,
    class: &'static Class,
}

impl Tortured for Classed {
    type Guard = Side;
    const SKILLS: Skills = <core_locks::PerCpuRwLock<Native> as Ways>::SKILLS;

    fn new(station: usize) -> Self {
        static CLASSES: [Class; 2] = [const { Class::new() }; 2];
        let class = &CLASSES[station % CLASSES.len()];
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

    fn new(_station: usize) -> Self {
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
            // SAFETY: the caller has the guard from this lock's `acquire`, where `side` says by which function it was made.
            Side::Reads => unsafe { self.0.unlock_shared(guard) },
            // SAFETY: as `side` says, the guard is the writer's of this lock, and the caller gives it back once.
            Side::Writes => unsafe { self.0.unlock_exclusive(guard) },
            // SAFETY: as `side` says, the guard is the upgradable holder's of this lock, and the caller gives it back once.
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

    #[test]
    fn a_lock_says_who_is_inside() {
        let lock = Rw::<core_locks::QueuedRwLock<Native>>::new(0);
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
    fn neighbouring_stations_are_of_different_classes() {
        let locks: [Classed; 3] = core::array::from_fn(Classed::new);
        assert!(
            core::ptr::eq(locks[0].class, locks[2].class) && !core::ptr::eq(locks[0].class, locks[1].class)
        );
    }
}
