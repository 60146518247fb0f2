//! The product under its names: `lock_api`'s types with the default locks. Guards are not `Send` unless the
//! feature `send_guard` is on.
use crate::condvar::RawCondvar;
use crate::lock::{FairLock, QueuedRwLock, RecursiveRwLock as RawRecursiveRwLock, StanchionLock};
use core::num::NonZeroUsize;
use lock_api::GetThreadId;
pub use lock_api::WaitTimeoutResult;

/// Mutual exclusion with the default lock, `stanchion`: four bytes beside the data.
///
/// - Fairness: running threads overtake those that wait, of whom those of a real-time class go first. One
///   waiter at a time is awake to compete, the first of them or one nearby, and once it has been overtaken
///   for 0.2 ms it goes before all others, unless holders mostly sleep or yield; see
///   [`stanchion_core::stanchion`]. `MutexGuard::unlock_fair` and `bump` hand the lock to the first waiter in
///   line; where each unlock is to do so, take a [`FairMutex`].
/// - Progress: waiters sleep; none is woken to find the lock held by design. Needs the holder to run.
/// - Timed: `try_lock_for` and `try_lock_until` queue and sleep like `lock`, and give up on time.
/// - Errors: none; there is no poisoning. Locking it twice on one thread deadlocks.
/// - Memory: 4 bytes, and 64 bytes for each thread that waits at the same time.
pub type Mutex<T> = lock_api::Mutex<StanchionLock, T>;
/// The guard of [`Mutex`]. It stays with its thread, unless the feature `send_guard` is on:
///
#[cfg_attr(not(feature = "send_guard"), doc = "```compile_fail,E0277")]
#[cfg_attr(feature = "send_guard", doc = "```")]
/// static HITS: stanchion::Mutex<u64> = stanchion::Mutex::new(0);
///
/// let guard = HITS.lock();
/// std::thread::spawn(move || drop(guard)).join().unwrap();
/// ```
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, StanchionLock, T>;
/// A [`MutexGuard`] for a part of the data.
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, StanchionLock, T>;
/// The guard of a [`Mutex`] that keeps the `Arc` of it.
#[cfg(feature = "arc_lock")]
pub type ArcMutexGuard<T> = lock_api::ArcMutexGuard<StanchionLock, T>;

/// Mutual exclusion in the order of arrival: a release leaves the lock to the first in line, and newcomers
/// queue; waiters of a real-time class go before others. Fair, and slow where waiters have no CPU: each
/// hand-over takes a wake-up. Otherwise as [`Mutex`].
/// `try_lock` may overtake.
pub type FairMutex<T> = lock_api::Mutex<FairLock, T>;
/// The guard of [`FairMutex`].
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, FairLock, T>;
/// A [`FairMutexGuard`] for a part of the data.
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, FairLock, T>;

/// A mutex that its thread may acquire again while it holds it; what it guards is shared, not exclusive.
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<StanchionLock, RawThreadId, T>;
/// The guard of [`ReentrantMutex`].
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, StanchionLock, RawThreadId, T>;
/// A [`ReentrantMutexGuard`] for a part of the data.
pub type MappedReentrantMutexGuard<'a, T> =
    lock_api::MappedReentrantMutexGuard<'a, StanchionLock, RawThreadId, T>;
/// The guard of a [`ReentrantMutex`] that keeps the `Arc` of it.
#[cfg(feature = "arc_lock")]
pub type ArcReentrantMutexGuard<T> = lock_api::ArcReentrantMutexGuard<StanchionLock, RawThreadId, T>;

/// A reader-writer lock, `qrw` with sleeping waiters: twelve bytes beside the data.
///
/// - Fairness: writers wait in line among themselves, and the first of them queues with the readers. It may
///   be passed until it has polled 64 times in vain (some microseconds); then readers that come queue behind
///   it, and only writers that find the lock free while it has no CPU pass it. See [`stanchion_core::qrw`].
///   Who waits to write or to read upgradably keeps readers out also while somebody holds it upgradably, whom
///   parking_lot's lock lets them in beside: such a holder must not wait for a thread that is yet to read it.
/// - Progress: waiters sleep, but for a holder that upgrades, which gives its slices away until the readers
///   have gone. Needs the holders to run.
/// - Timed: `try_read_for`, `try_write_for`, `try_upgradable_read_for` and the like queue and sleep like
///   `read` and `write`, and give up on time; also if there are too many readers. `try_upgrade_for` tries now
///   and then, sleeps between the tries, and keeps no new readers out.
/// - Errors: reading panics if 16 384 read locks are held at once. `RwLockReadGuard::unlocked` and `bump`
///   abort the process if so many are held when they read again. A thread that reads it already must use
///   [`ReadAgain`](crate::ReadAgain); there is no poisoning.
/// - Memory: 12 bytes, 64 bytes for each thread that waits at the same time, and 128 for each that ever
///   waited for a reader-writer lock.
///
/// Where hardly anybody writes and readers are many, see [`PerCpuRwLock`](crate::percpu::PerCpuRwLock).
pub type RwLock<T> = lock_api::RwLock<QueuedRwLock, T>;
/// The guard of [`RwLock::read`](lock_api::RwLock::read).
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, QueuedRwLock, T>;
/// The guard of [`RwLock::write`](lock_api::RwLock::write).
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, QueuedRwLock, T>;
/// The guard of [`RwLock::upgradable_read`](lock_api::RwLock::upgradable_read).
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, QueuedRwLock, T>;
/// A [`RwLockReadGuard`] for a part of the data.
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, QueuedRwLock, T>;
/// A [`RwLockWriteGuard`] for a part of the data.
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, QueuedRwLock, T>;
/// A [`RwLockReadGuard`] that keeps the `Arc` of the lock.
#[cfg(feature = "arc_lock")]
pub type ArcRwLockReadGuard<T> = lock_api::ArcRwLockReadGuard<QueuedRwLock, T>;
/// A [`RwLockWriteGuard`] that keeps the `Arc` of the lock.
#[cfg(feature = "arc_lock")]
pub type ArcRwLockWriteGuard<T> = lock_api::ArcRwLockWriteGuard<QueuedRwLock, T>;
/// A [`RwLockUpgradableReadGuard`] that keeps the `Arc` of the lock.
#[cfg(feature = "arc_lock")]
pub type ArcRwLockUpgradableReadGuard<T> = lock_api::ArcRwLockUpgradableReadGuard<QueuedRwLock, T>;

/// A [`RwLock`] that a thread may read while it reads it already. A reader waits for a writer that is in
/// only, so readers may starve writers. It sleeps in line, and looks now and then whether it may pass those
/// in front.
pub type RecursiveRwLock<T> = lock_api::RwLock<RawRecursiveRwLock, T>;
/// The guard of [`RecursiveRwLock`] for reading.
pub type RecursiveRwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRecursiveRwLock, T>;
/// The guard of [`RecursiveRwLock`] for writing.
pub type RecursiveRwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRecursiveRwLock, T>;
/// The upgradable guard of [`RecursiveRwLock`].
pub type RecursiveRwLockUpgradableReadGuard<'a, T> =
    lock_api::RwLockUpgradableReadGuard<'a, RawRecursiveRwLock, T>;
/// A [`RecursiveRwLockReadGuard`] for a part of the data.
pub type MappedRecursiveRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRecursiveRwLock, T>;
/// A [`RecursiveRwLockWriteGuard`] for a part of the data.
pub type MappedRecursiveRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRecursiveRwLock, T>;

/// A condition variable for [`Mutex`]: sixteen bytes, no allocation. For other locks, take
/// `lock_api::Condvar<RawCondvar<ItsRawLock>>`.
///
/// Use one with one mutex at a time; waiting with another meanwhile panics. Threads wait in line: a
/// notification goes to the one that came first, among those of the highest real-time priority if there are
/// any. There are no spurious wake-ups, but a condition may be over by the time the mutex is acquired: wait
/// in a loop, or with `wait_while`.
///
/// ```
/// use stanchion::{Condvar, Mutex};
///
/// static READY: Mutex<bool> = Mutex::new(false);
/// static CHANGED: Condvar = Condvar::new();
///
/// std::thread::scope(|scope| {
///     scope.spawn(|| {
///         *READY.lock() = true;
///         CHANGED.notify_one();
///     });
///     let mut ready = READY.lock();
///     CHANGED.wait_while(&mut ready, |ready| !*ready);
/// });
/// ```
pub type Condvar = lock_api::Condvar<RawCondvar>;

/// Tells threads apart, for [`ReentrantMutex`].
#[derive(Debug)]
pub struct RawThreadId;

// SAFETY: threads that live at the same time have their thread-local bytes at different addresses, each at
// one address while it lives.
unsafe impl GetThreadId for RawThreadId {
    const INIT: Self = Self;

    fn nonzero_thread_id(&self) -> NonZeroUsize {
        thread_local!(static HERE: u8 = const { 0 });
        HERE.with(|here| core::ptr::NonNull::from(here).addr())
    }
}
