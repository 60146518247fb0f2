//! What torture asks of a lock beyond `lock_api`'s trait.
use lock_api::RawMutex;

/// A lock that can be tortured.
///
/// The workers are generic over this trait, not over trait objects: a virtual call in front of every acquisition
/// would widen the windows in which a broken lock does no harm.
pub(crate) trait Tortured: RawMutex + Send + Sync + 'static {
    /// The state of the lock and its queue for a stall report, where the lock can tell: the word as
    /// `(tail,pending,locked)` and the queue slot by slot. It is called while the lock is stuck: it must only load.
    fn describe(&self) -> String {
        format!("{} (this lock does not describe its queue)", if self.is_locked() { "held" } else { "free" })
    }
}

impl Tortured for parking_lot::RawMutex {}

macro_rules! stanchion_locks {
    ($($lock:ident)*) => {
        $(impl Tortured for stanchion::lock::$lock {
            fn describe(&self) -> String {
                stanchion::diagnose::describe(self)
            }
        })*
    };
}

stanchion_locks! {
    ByteLock TicketLock QSpinLock CnaLock UnfairQueuedLock OwnerYieldLock OwnerQueuedLock
    XenPvLock PvTicketLock PvTicketOpportunisticLock PvQSpinLock PpcQSpinLock PvQSpinKickAtUnlockLock PvQSpinEagerLock PvQSpinKickAheadLock
    PvQSpinWaitEarlyLock PvQSpinWaitEarlySampledLock PvQSpinOnlyWaitEarlyLock PvQSpinPendingLock
    PvQSpinPatchedLock PvQSpinHashLock PvQSpinPointerLock PvQSpin415Lock
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stanchion_s_locks_describe_their_word() {
        let lock = stanchion::lock::QSpinLock::INIT;
        let free = lock.describe();
        let _guard = lock.lock();
        let held = lock.describe();
        assert!(free.contains("(0,0,0)"), "{free}");
        assert!(held.contains("(0,0,1)"), "{held}");
    }

    #[test]
    fn a_lock_that_cannot_describe_itself_says_whether_it_is_held() {
        let lock = parking_lot::RawMutex::INIT;
        assert!(lock.describe().starts_with("free"));
        let _guard = lock.lock();
        assert!(lock.describe().starts_with("held"));
    }
}
