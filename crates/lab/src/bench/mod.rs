//! `stanchion bench`: every lock beside what people use today, on the machine at hand.
//!
//! Arguments ([`args`]) are resolved ([`config`]) into a plan of cells ([`plan`]), which the engine
//! ([`engine`]) has run one by one, each in a process of its own ([`executor`], [`worker`]). What comes back
//! is put together ([`report`]) and written out after every group ([`export`], [`table`], [`summary`]).
mod args;
mod calibrate;
mod cell;
mod clock;
mod config;
mod contender;
mod contenders;
mod engine;
mod executor;
mod export;
mod machine;
mod plan;
mod profiles;
mod progress;
mod report;
mod run;
mod stats;
mod summary;
mod table;
#[cfg(test)]
mod testing;
mod usage;
mod warnings;
mod work;
mod worker;

use crate::{threads, units};
pub(crate) use args::Args;
pub(crate) use config::cpus;
pub(crate) use executor::{WORKER, worker};
pub(crate) use machine::{available_cpus, other_runnable};
pub(crate) use run::run;

/// What `run` would refuse, in one line, without running anything.
pub(crate) fn check(args: &Args) -> Result<(), String> {
    config::Config::resolve(args, available_cpus()).map(drop)
}

/// The contract of the exit codes, as `--help` tells it.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 all went well; 1 a lock was broken or part of the run failed; \
2 bad input, nothing was measured; 130 interrupted, what was finished is kept.";
