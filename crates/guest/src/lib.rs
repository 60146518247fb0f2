//! What the guest does, apart from its hardware: the order it was given, the workloads, and the records that
//! it reports.
//!
//! All of it is generic over [`Machine`]: the kernel of this package implements it for bare-metal vCPUs, the
//! tests for threads.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

mod board;
pub mod cells;
mod conform;
pub mod firmware;
pub mod histogram;
mod locks;
pub mod machine;
pub mod order;
pub mod record;
pub mod shared;
mod subject;
mod work;

pub use conform::running_test;
pub use histogram::{Histogram, LiveHistogram};
pub use locks::{busted_lock_names, lock_names};
pub use machine::{Machine, Meter};
pub use order::Order;
pub use shared::{Shared, Verdict, take_part};
