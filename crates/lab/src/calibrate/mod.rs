//! `stanchion calibrate`: measures what this machine's lines, atomics, wake-ups, switches and slices cost,
//! and writes a machine for the simulator; with `--compare`, shows how well the simulator does on it.
//!
//! Measurements ([`alone`], [`lines`], [`sleep`], [`turns`]) are repeated in interleaved rounds ([`mod@run`])
//! on the CPUs that `/sys` tells about ([`places`]); the figures ([`sample`]) become a machine ([`outcome`]).
mod alone;
mod args;
mod compare;
mod lines;
mod outcome;
mod places;
mod run;
mod sample;
mod sleep;
mod threads;
mod turns;

pub(crate) use args::Args;
pub(crate) use run::{run, this_machine};

/// The contract of the exit codes, as `--help` tells it.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 all went well; 1 nothing came of it; \
2 bad input, nothing was measured; 130 interrupted, what was finished is kept.";
