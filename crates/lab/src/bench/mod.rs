//! `stanchion bench`: every lock beside what people use today, on the machine at hand.
//!
//! Arguments ([`args`]) are resolved ([`config`]) into a plan of cells ([`plan`]), which the engine
//! ([`engine`]) has run one by one, each in a process of its own ([`executor`], [`worker`]). What comes back
//! is put together ([`engine`], [`rounds`], [`report`]) and written out after every group ([`export`],
//! [`table`], [`costs`], [`verdict`]), of the figures that [`quantity`] tells of.
//!
//! Reader-writer locks are locks with two kinds of access, and have a mix of them ([`mix`]); all else is one.
mod ablation;
mod args;
mod calibrate;
mod cell;
mod cgroup;
pub(crate) mod clock;
mod config;
mod contender;
mod contenders;
mod costs;
mod engine;
mod executor;
mod export;
mod list;
mod machine;
mod mix;
mod plan;
mod profiles;
mod quantity;
mod report;
mod rounds;
mod run;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod verdict;
mod warnings;
mod window;
mod work;
mod worker;

pub(crate) use ablation::run as ablate;
pub(crate) use args::{Args, Measure};
pub(crate) use config::cpus;
pub(crate) use contenders::take_pthread_locks;
pub(crate) use machine::{available_cpus, other_runnable, restrict_to};
pub(crate) use report::Report;
use stanchion_cells::threads;
use std::process::ExitCode;

/// `stanchion bench`, and what else can be benchmarked.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Command {
    #[command(flatten)]
    mutexes: Args,
    #[command(subcommand)]
    other: Option<Other>,
}

#[derive(clap::Subcommand)]
enum Other {
    /// Benchmark every reader-writer lock beside what people use today: readers x writers x share of reads
    Rw(Box<args::RwArgs>),
}

/// Runs what was asked for.
pub(crate) fn run(command: &Command) -> ExitCode {
    match &command.other {
        None => run::run(&command.mutexes, None),
        Some(Other::Rw(args)) => run::run(&args.common, Some(args)),
    }
}

/// Runs a cell and ends the process, if these are the words with which the benchmark starts itself as a
/// worker.
pub(crate) fn work(mut words: impl Iterator<Item = String>) {
    if let (Some(worker), Some(text)) = (words.next(), words.next()) {
        let entrance = words.next();
        match worker.as_str() {
            executor::WORKER => executor::worker(&text, entrance),
            cgroup::TRIAL => executor::trial(&text),
            _ => {}
        }
    }
}

/// One row for each cell of a report.
pub(crate) fn csv(report: &Report) -> String {
    (export::formats("bench").csv)(report)
}

/// What `run` would refuse, in one line, without running anything.
pub(crate) fn check(args: &Args) -> Result<(), String> {
    config::Config::resolve(args, None, available_cpus()).map(drop)
}

/// The contract of the exit codes, as `--help` tells it.
pub(crate) const EXIT_CODES: &str = "Exit codes: 0 all went well; 1 a lock was broken or part of the run failed; \
2 bad input, nothing was measured; 130 interrupted, what was finished is kept.";
