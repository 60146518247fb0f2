//! Any lock of the family under `lock_api`'s traits.
use stanchion_core::{ConstLock, ConstParavirtual, Paravirtual, Platform, RawLock, StanchionLock};
#[cfg(feature = "family")]
use stanchion_family::FamilyPlatform;

/// Decides whether guards may be sent to other threads: with the feature `send_guard` they may.
#[cfg(feature = "send_guard")]
pub type GuardMarker = lock_api::GuardSend;
/// Decides whether guards may be sent to other threads: with the feature `send_guard` they may.
#[cfg(not(feature = "send_guard"))]
pub type GuardMarker = lock_api::GuardNoSend;

/// Wraps a lock of `stanchion-core` so that guards, mapped guards and `Arc` guards come from [`lock_api`].
///
/// Guards stay with their thread, as in parking_lot, unless the feature `send_guard` is on: a lock of this
/// family keeps nothing of its holder's context.
///
/// ```
/// # #[cfg(feature = "std")] {
/// use stanchion::lock::StanchionLock;
/// static TOTAL: lock_api::Mutex<StanchionLock, u64> = lock_api::Mutex::new(0);
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

impl<L: Paravirtual> Raw<L> {
    /// A free lock whose waiters spin and never halt. See [`lock_api::Mutex::from_raw`].
    pub fn without_paravirt() -> Self {
        Self(L::without_paravirt())
    }
}

impl<L: ConstParavirtual> Raw<L> {
    /// A free lock whose waiters spin and never halt, for a `static`.
    pub const WITHOUT_PARAVIRT: Self = Self(L::WITHOUT_PARAVIRT);
}

/// A platform whose cells and contexts are what they claim to be, so that a correct lock on it excludes.
///
/// # Safety
///
/// Cells must be atomic with at least the orderings asked for, no two contexts may have the same number at a
/// time, and [`stanchion_core::Machine::with_domain`] must give every context the same storage. There, a
/// number must always stand for the same node ([`stanchion_core::Domain::wait_node`]), two numbers for two,
/// and [`stanchion_core::Domain::lease`] must not hand out one that was leased and not given back since.
/// [`stanchion_core::Machine::release_then_look`] and
/// [`stanchion_core::Machine::release_fenced_then_look`] must store with release ordering, or store nothing
/// and return [`stanchion_core::Released::Held`]. Fences,
/// compiler barriers, and the pair of [`stanchion_core::Machine::store_then_load`] and
/// [`stanchion_core::Machine::heavy_barrier`] must order what they say they order. A class of readers must
/// give each number a cell of its own, show all cells that are not idle, and no number may change hands while
/// its cell is not idle.
pub unsafe trait SoundPlatform: Platform {}

/// A lock that data may be entrusted to.
///
/// # Safety
///
/// At most one context at a time may be between the return of an acquisition and its release, with acquire
/// and release semantics. [`ConstLock::NEW`] must be free. A lock must refer to nothing of its holder, so
/// that a held one may be moved, dropped or forgotten.
pub unsafe trait Excludes: RawLock + ConstLock {}

/// With or without the feature `family`, the product's locks need no storage for the family's.
macro_rules! excludes {
    ([$storage:ident] $($row:ident $alias:ident [$lock:ty] $name:literal;)*) => {$(
        // SAFETY: the lock's file states exclusion as invariant I1 and derives it from atomic cells and
        // distinct contexts, which `SoundPlatform` promises; the word is all there is to a lock.
        unsafe impl<P: SoundPlatform + $storage> Excludes for $lock where Self: ConstLock {}
    )*};
}

stanchion_core::for_each_mutex! { P; excludes; Platform }
#[cfg(feature = "family")]
stanchion_family::with_family_mutexes! { [P; stanchion_core::mutex_types; excludes; FamilyPlatform] }

// SAFETY: as for the others: the default lock as the queue of `qrw` has it, which nobody overtakes.
unsafe impl<P: SoundPlatform> Excludes for StanchionLock<P, true> where Self: ConstLock {}

// SAFETY: `lock_api` asks for what `Excludes` promises. Nothing here unwinds once the lock is held.
unsafe impl<L: Excludes> lock_api::RawMutex for Raw<L> {
    const INIT: Self = Self(L::NEW);
    type Guard = GuardMarker;

    #[inline]
    fn lock(&self) -> GuardMarker {
        self.0.acquire();
        GuardMarker::new()
    }

    #[inline]
    fn try_lock(&self) -> Option<GuardMarker> {
        self.0.try_acquire().then(GuardMarker::new)
    }

    #[inline]
    unsafe fn unlock(&self, _guard: GuardMarker) {
        self.0.release();
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.0.word().locked != 0
    }
}

// SAFETY: as for `RawMutex`: a fair release is a release, and a bump ends with an acquisition.
unsafe impl<L: Excludes> lock_api::RawMutexFair for Raw<L> {
    /// As fair as [`RawLock::release_fair`] of the lock says.
    #[inline]
    unsafe fn unlock_fair(&self, _guard: GuardMarker) {
        self.0.release_fair();
    }

    #[inline]
    unsafe fn bump(&self, _guard: &mut GuardMarker) {
        if self.0.has_waiters() {
            self.0.release_fair();
            self.0.acquire();
        }
    }
}

// SAFETY: as for `RawMutex`: `true` is said of a lock that is acquired.
#[cfg(feature = "std")]
unsafe impl<C, L> lock_api::RawMutexTimed for Raw<L>
where
    C: crate::native::Counting,
    L: Excludes + RawLock<Platform = crate::native::Native<C>>,
{
    type Duration = core::time::Duration;
    type Instant = std::time::Instant;

    fn try_lock_for(&self, timeout: Self::Duration) -> Option<GuardMarker> {
        self.0.acquire_until(&crate::deadline::Deadline::after(timeout)).then(GuardMarker::new)
    }

    fn try_lock_until(&self, timeout: Self::Instant) -> Option<GuardMarker> {
        self.try_lock_for(timeout.saturating_duration_since(std::time::Instant::now()))
    }
}
