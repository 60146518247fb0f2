//! What every lock must do, in every world: one list of the locks, one set of bodies, and the tests that come
//! of the two.
//!
//! A world is an implementation of [`World`]: OS threads, simulated machines, the model checker, vCPUs of the
//! guest. With a test harness it calls [`mutex_tests!`] and [`rw_tests!`], and each lock becomes a module
//! with a test for each body. Without one it runs [`tests`] itself, which gives the same as a list. The locks
//! stand in the catalogue of `stanchion-core`, the bodies in [`mutex`] and [`rw`].
//! Locks that detectors must find broken, these tests among them, stand in the catalogue [`broken`].
//!
//! The bodies trust the lock under test with plain memory: a lock that does not exclude is a data race, which
//! is what they look for.
#![no_std]
#![deny(unsafe_code)]

extern crate alloc;

pub mod broken;
mod macros;
#[expect(unsafe_code, reason = "whoever holds the lock under test answers for the words that it protects")]
pub mod mutex;
#[expect(unsafe_code, reason = "as in `mutex`")]
pub mod rw;
mod table;
#[expect(unsafe_code, reason = "plain memory that several contexts share")]
mod words;
mod world;

#[doc(hidden)]
pub use stanchion_core;
pub use stanchion_family;
pub use table::{Test, tests};
pub use world::{Body, Case, Context, Flag, Load, Sort, Waiting, Witness, World};
