//! Locks that hold up when threads outnumber cores.
//!
//! [`Mutex`] is a drop-in for `std::sync::Mutex` without poisoning; its lock is four bytes and needs no allocation:
//!
//! ```
//! # #[cfg(feature = "std")] {
//! static HITS: stanchion::Mutex<u64> = stanchion::Mutex::new(0);
//!
//! std::thread::scope(|scope| {
//!     for _ in 0..8 {
//!         scope.spawn(|| *HITS.lock() += 1);
//!     }
//! });
//! assert_eq!(*HITS.lock(), 8);
//! # }
//! ```
//!
//! Every other lock of the family is in [`lock`] and goes by `lock_api`'s traits. Without the default feature `std` the
//! crate is `no_std`: bring a [`Platform`](stanchion_core::Platform) of your own, vouch for it with
//! [`SoundPlatform`], and wrap any lock of `stanchion_core` in [`Raw`].
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "std")]
pub mod condvar;
#[cfg(feature = "std")]
pub mod deadline;
#[cfg(feature = "std")]
pub mod diagnose;
#[cfg(feature = "std")]
pub mod events;
#[cfg(feature = "std")]
pub mod futex;
#[cfg(feature = "std")]
mod guard;
#[cfg(feature = "std")]
pub mod lock;
#[cfg(feature = "std")]
pub mod native;
#[cfg(feature = "std")]
pub mod percpu;
mod raw;
mod raw_rw;
#[cfg(feature = "std")]
pub mod tunables;

#[cfg(feature = "std")]
pub use condvar::Condvar;
pub use lock_api;
pub use raw::{Excludes, Raw, SoundPlatform};
pub use raw_rw::{ExcludesWriters, RawRw, ReadAgain};
pub use stanchion_core;

/// Mutual exclusion with the default lock, `stanchion`: four bytes beside the data.
///
/// - Fairness: running threads overtake those that wait. One waiter at a time is awake to compete, the first of them or one nearby, and once it
///   has been overtaken for 0.4 ms it goes before all others; see [`stanchion_core::stanchion`].
/// - Progress: waiters sleep; none is woken to find the lock held by design. Needs the holder to run.
/// - Timed: `try_lock_for` and `try_lock_until` queue and sleep like `lock`, and give up on time.
/// - Errors: none; there is no poisoning. Locking it twice on one thread deadlocks.
/// - Memory: 4 bytes, and 64 bytes for each thread that waits at the same time.
#[cfg(feature = "std")]
pub type Mutex<T> = lock_api::Mutex<lock::StanchionLock, T>;

/// The guard of [`Mutex`].
#[cfg(feature = "std")]
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, lock::StanchionLock, T>;

/// A reader-writer lock, `qrw` with sleeping waiters: eight bytes beside the data.
///
/// - Fairness: readers and writers queue together. A waiter at the head of the queue may be passed by running threads until
///   it has looked after half a millisecond, or has found readers in; see [`stanchion_core::qrw`].
/// - Progress: waiters sleep. Needs the holders to run.
/// - Timed: `try_read_for`, `try_write_for` and the like queue and sleep like `read` and `write`, and give up on time; also if there are too many
///   readers.
/// - Errors: reading panics if 12 288 read locks are held at once. A thread that reads it already must use
///   [`ReadAgain`]; there is no poisoning.
/// - Memory: 8 bytes, and 128 bytes for each thread that ever waited for any lock of this crate.
///
/// Where hardly anybody writes and readers are many, see [`percpu::PerCpuRwLock`].
#[cfg(feature = "std")]
pub type RwLock<T> = lock_api::RwLock<lock::QueuedRwLock, T>;

/// The guard of [`RwLock::read`](lock_api::RwLock::read).
#[cfg(feature = "std")]
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, lock::QueuedRwLock, T>;

/// The guard of [`RwLock::write`](lock_api::RwLock::write).
#[cfg(feature = "std")]
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, lock::QueuedRwLock, T>;
