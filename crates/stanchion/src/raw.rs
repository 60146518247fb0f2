//! Any lock of the family under `lock_api`'s traits.
use lock_api::GuardSend;
use stanchion_core::{ConstLock, RawLock};

/// Wraps a lock of `stanchion-core` so that guards, mapped guards and `Arc` guards come from [`lock_api`].
///
/// Guards may be sent to other threads: a lock of this family keeps nothing of its holder's context.
///
/// ```
/// # #[cfg(feature = "std")] {
/// use stanchion::lock::ByteLock;
/// static TOTAL: lock_api::Mutex<ByteLock, u64> = lock_api::Mutex::new(0);
/// *TOTAL.lock() += 1;
/// assert_eq!(*TOTAL.lock(), 1);
/// # }
/// ```
#[repr(transparent)]
#[derive(Debug)]
pub struct Raw<L>(L);

impl<L> Raw<L> {
    /// The lock itself, for reports.
    pub fn inner(&self) -> &L {
        &self.0
    }
}

// SAFETY: `lock_api` asks for mutual exclusion with acquire and release semantics, and for an initialiser that is unlocked.
// Each lock's file states exclusion as invariant I1, and `ConstLock::NEW` is a free lock by contract. A lock refers to
// nothing of its holder, so a held one may be moved, dropped or forgotten. Nothing here unwinds once the lock is held.
unsafe impl<L: RawLock + ConstLock> lock_api::RawMutex for Raw<L> {
    const INIT: Self = Self(L::NEW);
    type Guard = GuardSend;

    #[inline]
    fn lock(&self) -> GuardSend {
        self.0.acquire();
        GuardSend::new()
    }

    #[inline]
    fn try_lock(&self) -> Option<GuardSend> {
        self.0.try_acquire().then(GuardSend::new)
    }

    #[inline]
    unsafe fn unlock(&self, _guard: GuardSend) {
        self.0.release();
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.word().locked != 0
    }
}
