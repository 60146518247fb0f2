//! Simulated experiments without a command line: what the laboratory and other front ends share.
//!
//! Scenes ([`scenes`]) are machines with workloads. A lock in a scene with so many vCPUs is a cell
//! ([`cell`]). A pool of threads ([`pool`]) runs it once a seed; its figures are columns ([`columns`]) of the
//! one shape ([`mod@column`]) that all files and tables are made of. Published tables ([`published`]) are
//! simulated in the same way.
#![forbid(unsafe_code)]

pub mod cell;
pub mod column;
pub mod columns;
pub mod pool;
pub mod published;
pub mod scenes;
pub mod stats;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod threads;
pub mod tuned;

pub use stanchion_sim::unknown;
