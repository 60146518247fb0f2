//! The public names of parking_lot 0.13, over the locks of [`stanchion`]. A program whose manifest says
//!
//! ```toml
//! [patch.crates-io]
//! parking_lot = { path = "stanchion/crates/parking_lot-0.13" }
//! ```
//!
//! has Stanchion's locks in all its dependencies that use parking_lot 0.13. What differs is told in
//! `docs/migration.md`.
#![forbid(unsafe_code)]

#[cfg(feature = "deadlock_detection")]
#[path = "../../parking_lot-0.12/src/deadlock.rs"]
pub mod deadlock;

use stanchion::{lock, native::Native, stanchion_core::QueuedRwLock};

pub use stanchion::lock_api;
#[cfg(feature = "arc_lock")]
pub use stanchion::lock_api::{
    ArcMutexGuard, ArcReentrantMutexGuard, ArcRwLockReadGuard, ArcRwLockUpgradableReadGuard,
    ArcRwLockWriteGuard,
};
pub use stanchion::{
    Condvar, FairMutex, FairMutexGuard, MappedFairMutexGuard, MappedMutexGuard,
    MappedRecursiveRwLockReadGuard, MappedRecursiveRwLockWriteGuard, MappedReentrantMutexGuard,
    MappedRwLockReadGuard, MappedRwLockWriteGuard, Mutex, MutexGuard, Once, OnceState, RawThreadId,
    RecursiveRwLock, RecursiveRwLockReadGuard, RecursiveRwLockUpgradableReadGuard, RecursiveRwLockWriteGuard,
    ReentrantMutex, ReentrantMutexGuard, RwLock, RwLockReadGuard, RwLockUpgradableReadGuard,
    RwLockWriteGuard, WaitTimeoutResult,
};

/// The lock of [`Mutex`].
pub type RawMutex = lock::StanchionLock;
/// The lock of [`FairMutex`].
pub type RawFairMutex = lock::FairLock;
/// The lock of [`RwLock`], or with `RECURSIVE` of [`RecursiveRwLock`].
pub type RawRwLock<const RECURSIVE: bool = false> = stanchion::RawRw<QueuedRwLock<Native>, RECURSIVE>;
/// The lock of [`RecursiveRwLock`].
pub type RawRwLockRecursive = RawRwLock<true>;
/// The condition variable beneath [`Condvar`].
pub type RawCondvar = stanchion::condvar::RawCondvar;
