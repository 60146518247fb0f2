//! What the guest does, apart from its hardware: the order it was given, the workloads, and the records that it reports.
//!
//! All of it is generic over [`Machine`]: the kernel of this package implements it for bare-metal vCPUs, the tests for threads.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod cells;
pub mod firmware;
pub mod histogram;
pub mod machine;
pub mod order;
pub mod record;
pub mod shared;

pub use histogram::Histogram;
pub use machine::{Machine, Meter};
pub use order::Order;
pub use shared::{Shared, Verdict, take_part};
