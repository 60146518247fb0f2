//! The public names of parking_lot 0.12, over the locks of [`stanchion`]. A program whose manifest says
//!
//! ```toml
//! [patch.crates-io]
//! parking_lot = { path = "stanchion/crates/parking_lot-0.12" }
//! ```
//!
//! has Stanchion's locks in all its dependencies that use parking_lot 0.12. What differs is told in
//! `docs/migration.md`.
mod condvar;
#[cfg(feature = "deadlock_detection")]
pub mod deadlock;
mod mutexes;
mod raw_rwlock;

pub use condvar::{Condvar, WaitTimeoutResult};
pub use lock_api;
#[cfg(feature = "arc_lock")]
pub use lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard,
    ArcRwLockWriteGuard,
};
pub use mutexes::{RawFairMutex, RawMutex, RawThreadId};
pub use raw_rwlock::RawRwLock;
pub use stanchion::{Once, OnceState};

#[cfg(feature = "send_guard")]
type GuardMarker = lock_api::GuardSend;
#[cfg(not(feature = "send_guard"))]
type GuardMarker = lock_api::GuardNoSend;

/// Mutual exclusion with the lock of [`stanchion::Mutex`].
pub type Mutex<T> = lock_api::Mutex<RawMutex, T>;
/// The guard of [`Mutex`].
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawMutex, T>;
/// A [`MutexGuard`] for a part of the data.
pub type MappedMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawMutex, T>;

/// Mutual exclusion in the order of arrival, with the lock of [`stanchion::FairMutex`].
pub type FairMutex<T> = lock_api::Mutex<RawFairMutex, T>;
/// The guard of [`FairMutex`].
pub type FairMutexGuard<'a, T> = lock_api::MutexGuard<'a, RawFairMutex, T>;
/// A [`FairMutexGuard`] for a part of the data.
pub type MappedFairMutexGuard<'a, T> = lock_api::MappedMutexGuard<'a, RawFairMutex, T>;

/// A mutex that its thread may acquire again while it holds it.
pub type ReentrantMutex<T> = lock_api::ReentrantMutex<RawMutex, RawThreadId, T>;
/// The guard of [`ReentrantMutex`].
pub type ReentrantMutexGuard<'a, T> = lock_api::ReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;
/// A [`ReentrantMutexGuard`] for a part of the data.
pub type MappedReentrantMutexGuard<'a, T> = lock_api::MappedReentrantMutexGuard<'a, RawMutex, RawThreadId, T>;

/// A reader-writer lock with the lock of [`stanchion::RwLock`].
pub type RwLock<T> = lock_api::RwLock<RawRwLock, T>;
/// The guard of [`RwLock`] for reading.
pub type RwLockReadGuard<'a, T> = lock_api::RwLockReadGuard<'a, RawRwLock, T>;
/// The guard of [`RwLock`] for writing.
pub type RwLockWriteGuard<'a, T> = lock_api::RwLockWriteGuard<'a, RawRwLock, T>;
/// The upgradable guard of [`RwLock`].
pub type RwLockUpgradableReadGuard<'a, T> = lock_api::RwLockUpgradableReadGuard<'a, RawRwLock, T>;
/// A [`RwLockReadGuard`] for a part of the data.
pub type MappedRwLockReadGuard<'a, T> = lock_api::MappedRwLockReadGuard<'a, RawRwLock, T>;
/// A [`RwLockWriteGuard`] for a part of the data.
pub type MappedRwLockWriteGuard<'a, T> = lock_api::MappedRwLockWriteGuard<'a, RawRwLock, T>;

/// A [`Mutex`] in a constant; `Mutex::new` does, too.
pub const fn const_mutex<T>(data: T) -> Mutex<T> {
    Mutex::from_raw(<RawMutex as lock_api::RawMutex>::INIT, data)
}

/// A [`FairMutex`] in a constant; `FairMutex::new` does, too.
pub const fn const_fair_mutex<T>(data: T) -> FairMutex<T> {
    FairMutex::from_raw(<RawFairMutex as lock_api::RawMutex>::INIT, data)
}

/// A [`ReentrantMutex`] in a constant; `ReentrantMutex::new` does, too.
pub const fn const_reentrant_mutex<T>(data: T) -> ReentrantMutex<T> {
    ReentrantMutex::from_raw(<RawMutex as lock_api::RawMutex>::INIT, RawThreadId, data)
}

/// A [`RwLock`] in a constant; `RwLock::new` does, too.
pub const fn const_rwlock<T>(data: T) -> RwLock<T> {
    RwLock::from_raw(<RawRwLock as lock_api::RawRwLock>::INIT, data)
}
