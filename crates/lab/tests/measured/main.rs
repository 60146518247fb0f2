//! Commands that measure on the machine at hand.
mod ablate;
mod bench_limit;
mod bench_run;
mod bench_rw;
#[path = "../common/mod.rs"]
mod common;
