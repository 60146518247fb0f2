//! `stanchion bench rw`: every reader-writer lock beside what people use today, on the machine at hand.
//!
//! What it shares with the benchmark of mutexes is there: arguments, calibration, engine, executor,
//! statistics, progress. Here is what differs: who reads and who writes ([`mix`]), the locks
//! ([`contenders`]), the loop and its check ([`worker`]), and what is told of both sides ([`report`],
//! [`table`], [`summary`], [`export`]).
mod args;
mod cell;
mod config;
mod contender;
mod contenders;
mod export;
mod mix;
mod plan;
mod report;
mod study;
mod summary;
mod table;
#[cfg(test)]
mod testing;
mod worker;

use super::run::run_study;
pub(crate) use args::RwArgs;
pub(crate) use cell::RwSpec;
pub(crate) use contender::Memory;
pub(crate) use mix::Mix;
use std::process::ExitCode;
use study::RwLocks;

/// Runs the benchmark of reader-writer locks.
pub(crate) fn run(args: &RwArgs) -> ExitCode {
    run_study::<RwLocks>(
        &args.common,
        config::list,
        |cpus| config::resolve(args, cpus),
        &export::FORMATS,
        |config, calibration| {
            plan::groups(&config.setting, &config.locks, calibration, config.uncontended_only)
        },
    )
}
