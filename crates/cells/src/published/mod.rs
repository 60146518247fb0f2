//! Published tables against the simulator, cell by cell.
//!
//! The tables are data ([`tables`]): which machine and workload each needs stands beside its numbers. The
//! runs of all cells go side by side ([`simulate`]) and come together in cells ([`cells`]).
pub mod cells;
pub mod simulate;
pub mod tables;
