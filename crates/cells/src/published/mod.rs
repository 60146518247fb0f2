//! Published tables against the simulator, cell by cell.
//!
//! The tables are data ([`tables`]): which machine and workload each needs stands beside its numbers, and
//! what each column is to the simulator: to fit, seen or blind ([`roles`]). The runs of all cells go side by
//! side ([`simulate`]) and come together in cells ([`cells`]). Predictions are registered before they are
//! compared ([`registered`]).
pub mod cells;
pub mod fingerprint;
pub mod registered;
pub mod roles;
pub mod simulate;
pub mod tables;
