//! Reader-writer locks for a limited time. An upgrade tries again now and then; in `qrw` all else queues.
use crate::deadline::{Deadline, acquire_until};
use crate::native::{Counting, Native};
use crate::raw_rw::{ExcludesWriters, RawRw};
use core::time::Duration;
use lock_api::{RawRwLockTimed, RawRwLockUpgradeTimed};
use stanchion_core::{TooManyReaders, Upgradable};
use std::time::Instant;

fn until(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

// SAFETY: as for `RawRwLock`: a guard is made for a lock that is acquired.
unsafe impl<C, L, const RECURSIVE: bool> RawRwLockTimed for RawRw<L, RECURSIVE>
where
    C: Counting,
    L: ExcludesWriters + stanchion_core::RawRwLock<Platform = Native<C>>,
{
    type Duration = Duration;
    type Instant = Instant;

    fn try_lock_shared_for(&self, timeout: Duration) -> Option<L::Guard> {
        let (lock, until) = (self.inner(), Deadline::after(timeout));
        let acquired =
            if RECURSIVE { lock.acquire_read_again_until(&until) } else { lock.acquire_read_until(&until) };
        // Nobody is told when a reader of a full lock leaves.
        let room = || if RECURSIVE { lock.try_read_again() } else { lock.try_acquire_read() };
        acquired.unwrap_or_else(|TooManyReaders| acquire_until(&until, room)).then(L::Guard::default)
    }

    fn try_lock_shared_until(&self, timeout: Instant) -> Option<L::Guard> {
        self.try_lock_shared_for(until(timeout))
    }

    fn try_lock_exclusive_for(&self, timeout: Duration) -> Option<L::Guard> {
        self.inner().acquire_write_until(&Deadline::after(timeout)).then(L::Guard::default)
    }

    fn try_lock_exclusive_until(&self, timeout: Instant) -> Option<L::Guard> {
        self.try_lock_exclusive_for(until(timeout))
    }
}

// SAFETY: as for `RawRwLockUpgrade`: a guard is made by a try that acquired or upgraded the lock, and given
// back by one that did not.
unsafe impl<C, L, const RECURSIVE: bool> RawRwLockUpgradeTimed for RawRw<L, RECURSIVE>
where
    C: Counting,
    L: ExcludesWriters + Upgradable + stanchion_core::RawRwLock<Platform = Native<C>>,
{
    fn try_lock_upgradable_for(&self, timeout: Duration) -> Option<L::Guard> {
        self.inner().acquire_upgradable_until(&Deadline::after(timeout)).then(L::Guard::default)
    }

    fn try_lock_upgradable_until(&self, timeout: Instant) -> Option<L::Guard> {
        self.try_lock_upgradable_for(until(timeout))
    }

    unsafe fn try_upgrade_for(&self, guard: L::Guard, timeout: Duration) -> Result<L::Guard, L::Guard> {
        let upgraded = acquire_until(&Deadline::after(timeout), || self.inner().try_upgrade());
        if upgraded { Ok(guard) } else { Err(guard) }
    }

    unsafe fn try_upgrade_until(&self, guard: L::Guard, timeout: Instant) -> Result<L::Guard, L::Guard> {
        // SAFETY: the caller holds the lock upgradably.
        unsafe { self.try_upgrade_for(guard, until(timeout)) }
    }
}
