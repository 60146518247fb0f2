//! What may be typed after `stanchion advise`.
use super::usl::Law;
use crate::run::{DEFAULT, Launch};
use clap::ArgAction;
use lab_kit::export::Files;
use lab_kit::names::LockNames;
use lab_kit::units::within;
use stanchion_cells::threads::MOST;
use std::ffi::OsString;
use std::path::PathBuf;

/// Predict with which lock a program runs best on another machine, and whether it matters
#[derive(clap::Args, Clone, Debug, Default)]
#[command(
    override_usage = "stanchion advise [OPTIONS] -- PROGRAM [ARGS]...\n       stanchion advise [OPTIONS] TRACE",
    after_help = "Exit codes: 0 there is an answer; 1 a run failed or a file could not be written; \
2 bad input, nothing was simulated; 130 interrupted, what was finished is kept."
)]
pub(crate) struct Args {
    /// A recording of `stanchion run --record`, in place of a program
    #[arg(value_name = "TRACE", conflicts_with_all = ["program", "keep", "timeout", "library"])]
    pub trace: Option<PathBuf>,

    /// The program to record, and its arguments; a server is ended by --timeout
    #[arg(value_name = "PROGRAM", last = true, group = "recorded")]
    pub program: Vec<OsString>,

    /// Machines to run on, by name or as files, separated by commas (`stanchion sim --list`) [default: this
    /// one]
    #[arg(long, value_name = "LIST", help_heading = "Where it will run")]
    pub machine: Option<String>,

    /// A machine in a file, such as `stanchion calibrate` writes; may be given several times
    #[arg(long, value_name = "FILE", help_heading = "Where it will run")]
    pub machine_file: Vec<PathBuf>,

    /// This machine: measured on first use, and kept in the user's cache
    #[arg(long, help_heading = "Where it will run")]
    pub here: bool,

    /// So many CPUs on each machine, in place of those that it has
    #[arg(long, value_name = "N", value_parser = within(1, MOST), help_heading = "Where it will run")]
    pub cpus: Option<usize>,

    /// A container's limit: CPU time of so many CPUs, in periods of 100 ms
    #[arg(long, value_name = "CPUS", value_parser = within(0.01, 1024.0), help_heading = "Where it will run")]
    pub cpu_limit: Option<f64>,

    /// Other processes that were busy meanwhile, such as clients, will run on other CPUs; --cpu-limit implies
    /// it
    #[arg(long, help_heading = "Where it will run")]
    pub alone: bool,

    /// Replace a field of the machine, such as host.fair-share.slice=3ms; may be given several times
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Where it will run")]
    pub set: Vec<String>,

    /// Threads that work: numbers, ranges, multiples of the CPUs [default: those of --overcommit, or as many
    /// as were recorded at a time, and one for each CPU]
    #[arg(long, value_name = "LIST", help_heading = "Where it will run")]
    pub threads: Option<String>,

    /// Threads for each CPU, such as 1,1.5,2
    #[arg(long, value_name = "LIST", help_heading = "Where it will run")]
    pub overcommit: Option<String>,

    /// Locks to compare with libc's: names, or `all` that can replace a program's
    #[arg(long, value_name = "LIST", default_value = DEFAULT, value_delimiter = ',', action = ArgAction::Set, value_parser = LockNames::PRELOADED, hide_possible_values = true)]
    pub lock: Vec<String>,

    /// Simulated runs of each case, each with a seed and a part of the recording of its own; four times as
    /// many where those of libc's locks or of the advised one differ by more than 15 %
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = within(1_u64, 100))]
    pub seeds: u64,

    /// The first seed
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,

    /// Throughput that was measured at three loads or more, as THREADS=NUMBER,…: what the universal
    /// scalability law makes of them is shown beside
    #[arg(long, value_name = "LIST", value_parser = Law::parse)]
    pub measured: Option<Law>,

    /// Keep the recording here
    #[arg(long, value_name = "FILE", help_heading = "Recording")]
    pub keep: Option<PathBuf>,

    // Last, because what follows would come under their headings.
    #[command(flatten, next_help_heading = "Recording")]
    pub launch: Launch,

    #[command(flatten, next_help_heading = "Files")]
    pub files: Files,
}
