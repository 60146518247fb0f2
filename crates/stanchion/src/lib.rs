//! Locks that hold up when threads outnumber cores.
//!
//! [`Mutex`] takes the place of `std::sync::Mutex`. There is no poisoning, so `lock()` returns the guard. Its
//! lock is four bytes and needs no allocation:
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
//! Features: with `family`, [`lock`] has the locks of `stanchion-family`, too. `arc_lock`, `owning_ref` and
//! `serde` are `lock_api`'s; with `send_guard`, guards may be sent to other threads.
//!
//! Every other lock is in [`lock`] and goes by `lock_api`'s traits. Without the default feature `std` the
//! crate is `no_std`: bring a [`Platform`](stanchion_core::Platform) of your own, vouch for it with
//! [`SoundPlatform`], and wrap any lock of `stanchion_core` in [`Raw`].
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(
    not(feature = "std"),
    allow(rustdoc::broken_intra_doc_links, reason = "some lead to what is there with `std` only")
)]

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
mod moment;
#[cfg(feature = "std")]
pub mod native;
#[cfg(feature = "std")]
mod once;
#[cfg(feature = "std")]
mod os;
#[cfg(feature = "std")]
pub mod percpu;
mod raw;
mod raw_rw;
#[cfg(feature = "std")]
mod raw_rw_timed;
#[cfg(feature = "std")]
mod rows;
#[cfg(feature = "std")]
pub mod tunables;
#[cfg(feature = "std")]
mod types;

pub use lock_api;
#[cfg(feature = "std")]
pub use once::{Once, OnceState};
pub use raw::{Excludes, GuardMarker, Raw, SoundPlatform};
pub use raw_rw::{ExcludesWriters, RawRw, ReadAgain};
pub use stanchion_core;
#[cfg(feature = "family")]
pub use stanchion_family;
#[cfg(feature = "std")]
pub use types::*;
