//! `stanchion bench`: every lock beside what people use today, on the machine at hand.
//!
//! Arguments ([`args`]) are resolved ([`config`]) into a plan of cells ([`plan`]), which the engine
//! ([`engine`]) has run one by one, each in a process of its own ([`executor`], [`worker`]). What comes back
//! is put together ([`engine`], [`rounds`], [`report`]) and written out after every group ([`export`],
//! [`table`], [`verdict`]), of the figures that [`figures`] tells of.
//!
//! Reader-writer locks are locks with two kinds of access, and have a mix of them ([`mix`]); all else is one.
mod args;
mod cell;
mod config;
mod contender;
mod contenders;
mod engine;
mod executor;
mod export;
mod figures;
mod list;
mod machine;
mod mix;
mod plan;
mod profiles;
mod report;
mod rounds;
mod run;
mod table;
#[cfg(test)]
pub(crate) mod tests;
mod verdict;
mod warnings;
mod work;
mod worker;

pub(crate) use args::{Args, Cpus, EXIT_CODES, Measure};
pub(crate) use contenders::{take_pthread_locks, take_pthread_mutex_by_two};
pub(crate) use executor::work;
use lab_kit::output::print;
pub(crate) use machine::{Activity, available_cpus, cpus, other_runnable, restrict_to};
pub(crate) use report::{Cell, Report, SCHEMA, State};
pub(crate) use run::measure;
use std::process::ExitCode;
pub(crate) use work::spend;

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    if args.list { Ok(print(&list::list(), ExitCode::SUCCESS)) } else { measure(args, None) }
}

/// What `run` would refuse, in one line, without running anything.
pub(crate) fn check(args: &Args) -> Result<(), String> {
    config::resolve(args, args.measure.cpus.clone().unwrap_or_else(available_cpus)).map(drop)
}
