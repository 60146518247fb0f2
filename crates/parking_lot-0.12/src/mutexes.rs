//! The mutexes of `stanchion`, which go by the traits of `lock_api` 0.5, under those of 0.4.
use crate::GuardMarker;
use core::num::NonZeroUsize;
use core::time::Duration;
use lock_api::GetThreadId;
use stanchion::lock::{FairLock, StanchionLock};
use stanchion::lock_api::{GetThreadId as _, RawMutex as Inner, RawMutexFair as _, RawMutexTimed as _};
use std::time::Instant;

macro_rules! raw_mutex {
    ($(#[$doc:meta])* $name:ident($inner:ty)) => {
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name($inner);

        // SAFETY: the inner lock promises the same to `lock_api` 0.5. What an acquisition returns there says
        // nothing, so one may be dropped and another made for the release.
        unsafe impl lock_api::RawMutex for $name {
            const INIT: Self = Self(<$inner as Inner>::INIT);
            type GuardMarker = GuardMarker;

            #[inline]
            fn lock(&self) {
                self.0.lock();
            }

            #[inline]
            fn try_lock(&self) -> bool {
                self.0.try_lock().is_some()
            }

            #[inline]
            unsafe fn unlock(&self) {
                // SAFETY: the caller holds the lock.
                unsafe { self.0.unlock(stanchion::GuardMarker::new()) }
            }

            #[inline]
            fn is_locked(&self) -> bool {
                self.0.is_locked()
            }
        }

        // SAFETY: the inner lock promises the same to `lock_api` 0.5.
        unsafe impl lock_api::RawMutexFair for $name {
            unsafe fn unlock_fair(&self) {
                // SAFETY: the caller holds the lock.
                unsafe { self.0.unlock_fair(stanchion::GuardMarker::new()) }
            }

            unsafe fn bump(&self) {
                // SAFETY: the caller holds the lock.
                unsafe { self.0.bump(&mut stanchion::GuardMarker::new()) }
            }
        }

        // SAFETY: the inner lock promises the same to `lock_api` 0.5.
        unsafe impl lock_api::RawMutexTimed for $name {
            type Duration = Duration;
            type Instant = Instant;

            fn try_lock_for(&self, timeout: Duration) -> bool {
                self.0.try_lock_for(timeout).is_some()
            }

            fn try_lock_until(&self, timeout: Instant) -> bool {
                self.0.try_lock_until(timeout).is_some()
            }
        }
    };
}

raw_mutex! {
    /// The lock of [`Mutex`](crate::Mutex).
    RawMutex(StanchionLock)
}
raw_mutex! {
    /// The lock of [`FairMutex`](crate::FairMutex).
    RawFairMutex(FairLock)
}

impl RawMutex {
    pub(crate) fn inner(&self) -> &StanchionLock {
        &self.0
    }
}

/// Tells threads apart, for [`ReentrantMutex`](crate::ReentrantMutex).
pub struct RawThreadId;

// SAFETY: `stanchion` promises the same.
unsafe impl GetThreadId for RawThreadId {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        stanchion::RawThreadId.nonzero_thread_id()
    }
}
