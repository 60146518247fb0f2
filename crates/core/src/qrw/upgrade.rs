//! Holding the lock upgradably: beside readers, alone among its kind.
use super::word::{READER, UPGRADABLE, WAITING, WRITER, Want, readers};
use super::{QueuedRwLock, RwPolicy};
use crate::events::Event;
use crate::machine::Atomic;
use crate::order::{Acquire, Relaxed};
use crate::platform::Platform;
use crate::rw::{RawRwLock, TooManyReaders, Upgradable};

impl<P: Platform, W: RwPolicy<P>> Upgradable for QueuedRwLock<P, W> {
    fn acquire_upgradable(&self) {
        let acquired = self.wait_to_hold_upgradably(None);
        debug_assert!(acquired, "without a deadline nobody gives up");
    }

    fn acquire_upgradable_until(&self, until: &P::Deadline) -> bool {
        self.wait_to_hold_upgradably(Some(until))
    }

    fn try_acquire_upgradable(&self) -> bool {
        // ord: J22 alone: a guess, the compare-exchange decides
        let mut seen = self.count.load(Relaxed);
        // Readers come and go, which is no reason to fail.
        while seen & WAITING == 0 && Want::Upgradable.can_go(seen) {
            if self.go(seen, seen | UPGRADABLE) {
                return self.may_stay(Want::Upgradable, seen);
            }
            // ord: J25 alone: as J22, the next compare-exchange decides
            seen = self.count.load(Relaxed);
        }
        false
    }

    fn release_upgradable(&self) {
        let before = self.hand_back(UPGRADABLE.wrapping_neg());
        debug_assert_ne!(before & UPGRADABLE, 0, "released an upgradable lock that nobody holds");
    }

    fn upgrade(&self) {
        // ord: J23 alone: keeps readers out from here on; the exchange below waits for those that are in
        self.count.fetch_add(WRITER, Relaxed);
        loop {
            let left = self.wait_or_yield(|count| readers(count) == 0, None);
            if left && self.finish_upgrade(WRITER) {
                return;
            }
        }
    }

    fn try_upgrade(&self) -> bool {
        self.finish_upgrade(0)
    }

    fn downgrade_upgradable(&self) -> Result<(), TooManyReaders> {
        // ord: J24 alone: a guess that can only be too great by readers that leave
        if readers(self.count.load(Relaxed)) >= Self::MOST_READERS {
            return Err(TooManyReaders);
        }
        self.hand_back(READER.wrapping_sub(UPGRADABLE));
        Ok(())
    }

    fn downgrade_to_upgradable(&self) {
        self.hand_back(UPGRADABLE.wrapping_sub(WRITER));
    }
}

impl<P: Platform, W: RwPolicy<P>> QueuedRwLock<P, W> {
    /// Waits until it holds the lock upgradably, or the deadline has passed. Whether it does.
    fn wait_to_hold_upgradably(&self, until: Option<&P::Deadline>) -> bool {
        if self.try_acquire_upgradable() {
            return true;
        }
        P::count(Event::RwWriteSlow);
        let acquired = self.acquire_in_line(Want::Upgradable, until);
        debug_assert!(acquired.is_ok(), "only readers are counted");
        acquired == Ok(true)
    }

    /// `0,u**,w -> 0,-**,1`, if there are no readers. `writer` is the flag if it is set already.
    fn finish_upgrade(&self, writer: u32) -> bool {
        // ord: J26 alone: a guess, the compare-exchange decides
        let mut seen = self.count.load(Relaxed);
        while readers(seen) == 0 {
            debug_assert_eq!(seen & (UPGRADABLE | WRITER), UPGRADABLE | writer, "the holder upgrades (I1)");
            // ord: J15 pairs J7: the sections of the readers that left come before ours
            match self.count.compare_exchange(seen, (seen - UPGRADABLE) | WRITER, Acquire, Relaxed) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
        false
    }
}
