//! Commands that measure on the machine at hand.
mod ablate;
mod advise;
mod bench;
mod bench_limit;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/interrupted.rs"]
mod interrupted;
