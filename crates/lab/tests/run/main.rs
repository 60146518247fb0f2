//! `stanchion run`, through the real program.
#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "the rest is for commands without a library")]
mod common;
mod compare;
mod input;
#[path = "../common/interrupted.rs"]
mod interrupted;
mod once;
mod preloaded;
mod record;
mod recorder;
mod rules;
mod stats;
mod verbose;
