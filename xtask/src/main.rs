//! Checks and tools of the workspace: the rules of the tree, the ordering table, the fast paths, the shelf of
//! mutants, the POSIX tests, CI.
#![forbid(unsafe_code)]

mod aarch64;
mod attempt;
mod built;
mod capi;
mod ci;
mod comments;
mod conform;
mod deb;
mod dependents;
mod fastpath;
mod files;
mod finding;
mod foreign;
mod guest;
mod locks;
mod mutants;
mod orderings;
mod process;
mod programs;
mod release;
mod source;
mod statements;
mod tidy;
mod tokens;
mod wheel;
mod witness;
mod workspace;

use clap::{Parser, Subcommand};
use core::time::Duration;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    about = "Checks and tools of the workspace",
    after_help = "Exit status: 0 when clean, 1 when there are findings, 2 when the command line or a file is unusable."
)]
struct Cli {
    /// Work on the workspace in DIR instead of this one
    #[arg(long, global = true, value_name = "DIR")]
    root: Option<PathBuf>,
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Check the rules of the tree; one line for each finding
    Tidy {
        /// Check nothing; wrap comments that are wider than code may be
        #[arg(long)]
        wrap: bool,
    },
    /// Write docs/orderings.md from the ordering tags in the source
    Orderings {
        /// Write nothing; fail when the file is not current
        #[arg(long)]
        check: bool,
    },
    /// Weaken each ordering of the core in turn, and record which check of the model notices
    Witness {
        /// Run nothing; fail when the record does not cover the orderings as they are
        #[arg(long)]
        check: bool,
        /// Only orderings with these tags, separated by commas; the rest of the record stays
        #[arg(long, value_name = "ID", value_delimiter = ',')]
        only: Vec<String>,
        /// Only orderings that no check has noticed yet, or that are not recorded
        #[arg(long)]
        again: bool,
        /// Only with these locks, separated by commas
        #[arg(long, value_name = "NAME", value_delimiter = ',')]
        lock: Vec<String>,
        /// How long a single exploration may take
        #[arg(long, value_name = "SECONDS", default_value_t = 15)]
        seconds: u64,
        /// How long all explorations of one ordering may take
        #[arg(long, value_name = "SECONDS", default_value_t = 120)]
        budget: u64,
    },
    /// Compare fast paths with lock events on and off in the emitted assembly
    Fastpath {
        /// Print the instructions of each function
        #[arg(long)]
        show: bool,
    },
    /// Break the locks in the ways of mutants/*.toml that may have changed since they were noticed, and see
    /// whether the detectors notice
    Mutants {
        /// Try only these, separated by commas
        #[arg(long, value_name = "NAME", value_delimiter = ',')]
        only: Vec<String>,
        /// Try all, whether or not they have changed
        #[arg(long)]
        all: bool,
        /// Start none after so long; what time is left goes to some that have not changed
        #[arg(long, value_name = "SECONDS")]
        budget: Option<u64>,
        /// Only with this detector, explore or model
        #[arg(long, value_name = "NAME")]
        detector: Option<mutants::Detector>,
        /// List them and try none
        #[arg(long)]
        list: bool,
        /// Try so many at a time [default: 2]
        #[arg(long, value_name = "N")]
        jobs: Option<usize>,
        /// Write docs/mutants.md and try none
        #[arg(long)]
        docs: bool,
        /// With --docs: write nothing; fail when the file is not current
        #[arg(long, requires = "docs")]
        check: bool,
    },
    /// Run the POSIX tests of conformance/ against libc, or against a library that is preloaded
    Conform(conform::Request),
    /// Run real programs under libc's locks and the interposer's: check their output, or compare their speed
    Programs(programs::Request),
    /// Run the tests of parking_lot, and of published crates that use it, with it and with the drop-ins in
    /// its place
    Dependents(dependents::Request),
    /// Write the tables of locks into README.md and docs/locks.md from the catalogue
    Locks {
        /// Write nothing; fail when a page is not current
        #[arg(long)]
        check: bool,
    },
    /// Build the kernel of the guest world, to be run by `stanchion guest`
    Guest(guest::Request),
    /// Write crates/capi/include/stanchion.h and stanchion_family.h from the C interface
    Header {
        /// Write nothing; fail when the file is not current
        #[arg(long)]
        check: bool,
    },
    /// Build the C library and install it: headers, libstanchion.so, libstanchion.a, stanchion.pc
    Install(capi::Places),
    /// Build Debian packages: stanchion, libstanchion0, libstanchion-dev, libstanchion-preload
    Deb {
        /// Then install them on a fresh Debian root, use and remove them (as root, with mmdebstrap)
        #[arg(long)]
        check: bool,
    },
    /// Build the wheel for Python, in target/python/wheels
    Wheel(wheel::Request),
    /// Check that the crates of the registry can be published, in order
    Release {
        /// Publish nothing, which is all that this command does
        #[arg(long, required = true)]
        dry_run: bool,
    },
    /// Build the crates for aarch64 Linux and run their tests in an emulator
    Aarch64 {
        /// Say what is missing for it, and run nothing
        #[arg(long)]
        missing: bool,
    },
    /// Install the C library below the target directory, and build and run programs in C and C++ with it
    Capi,
    /// Run the tests of one lock in every world but the guest: under a minute, for whoever works on it
    Try {
        /// The lock
        lock: String,
        /// How many schedules to explore
        #[arg(long, value_name = "N", default_value_t = attempt::SCHEDULES)]
        schedules: u64,
    },
    /// Run the jobs of CI, two at a time, and sum up
    Ci {
        /// Run only these jobs, separated by commas
        #[arg(long, value_name = "NAME", value_delimiter = ',')]
        only: Vec<String>,
        /// Only what is known in a minute or two: format, lints, the rules, unit tests, generated files
        #[arg(long, conflicts_with_all = ["nightly", "only"])]
        quick: bool,
        /// Run the long jobs of the night as well
        #[arg(long)]
        nightly: bool,
        /// Write docs/ci-times.md
        #[arg(long, conflicts_with = "only")]
        record: bool,
        /// List the jobs and what each shows
        #[arg(long)]
        list: bool,
    },
}

fn main() -> ExitCode {
    run(Cli::parse()).unwrap_or_else(|error| {
        eprintln!("cargo xtask: {error:#}");
        ExitCode::from(2)
    })
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let root = cli.root.unwrap_or_else(workspace::root);
    Ok(match cli.command {
        Task::Tidy { wrap: true } => tidy::wrap(&root)?,
        Task::Tidy { wrap: false } => tidy::run(&root)?,
        Task::Orderings { check } => orderings::run(&root, check)?,
        Task::Witness { check: true, .. } => witness::check(&root)?,
        Task::Witness { only, again, lock, seconds, budget, .. } => {
            witness::run(&root, &witness::Scope { only, again, locks: lock }, seconds, budget)?
        }
        Task::Fastpath { show } => fastpath::run(&root, show)?,
        Task::Mutants { docs: true, check, .. } => mutants::table::run(&root, check)?,
        Task::Mutants { list: true, .. } => mutants::list(&root)?,
        Task::Mutants { only, all, budget, detector, jobs, .. } => {
            let budget = budget.map(Duration::from_secs);
            mutants::run(&root, &mutants::Request { only, all, detector, jobs, budget })?
        }
        Task::Conform(request) => conform::run(&root, &request)?,
        Task::Programs(request) => programs::run(&root, &request)?,
        Task::Dependents(request) => dependents::run(&root, &request)?,
        Task::Locks { check } => locks::run(&root, check)?,
        Task::Guest(request) => guest::run(&root, &request)?,
        Task::Header { check } => capi::header(&root, check)?,
        Task::Install(places) => capi::install(&root, places)?,
        Task::Capi => capi::check(&root)?,
        Task::Try { lock, schedules } => attempt::run(&root, &lock, schedules)?,
        Task::Deb { check } => deb::run(&root, check)?,
        Task::Wheel(request) => wheel::run(&root, &request)?,
        Task::Release { .. } => release::run(&root)?,
        Task::Aarch64 { missing: true } => aarch64::missing(),
        Task::Aarch64 { .. } => aarch64::run(&root)?,
        Task::Ci { list: true, .. } => {
            ci::list();
            ExitCode::SUCCESS
        }
        Task::Ci { only, quick, nightly, record, .. } => {
            let speed = match (quick, nightly) {
                (true, _) => ci::Speed::Quick,
                (_, true) => ci::Speed::Night,
                _ => ci::Speed::Landing,
            };
            ci::run(&root, &only, speed, record)
        }
    })
}
