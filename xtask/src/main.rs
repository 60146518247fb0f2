//! Checks and tools of the workspace.
#![forbid(unsafe_code)]

mod aarch64;
mod built;
mod capi;
mod ci;
mod conform;
mod deb;
mod dependents;
mod fastpath;
mod files;
mod guest;
mod locks;
mod mutants;
mod orderings;
mod process;
mod programs;
mod registries;
mod sites;
mod spread;
mod tidy;
mod tokens;
mod witness;
mod workspace;

use anyhow::Context as _;
use clap::{Parser, Subcommand};
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
    Orderings(Generated),
    /// Weaken each ordering of the core in turn, and record which check of the model notices
    Witness(witness::Request),
    /// Compare fast paths with lock events on and off in the emitted assembly
    Fastpath {
        /// Print the instructions of each function
        #[arg(long)]
        show: bool,
    },
    /// Break the locks in the ways of mutants/*.toml that may have changed since they were noticed, and see
    /// whether the detectors notice
    Mutants(mutants::Request),
    /// Run the POSIX tests of conformance/ against libc, or against a library that is preloaded
    Conform(conform::Request),
    /// Run real programs under libc's locks and the interposer's: check their output, or compare their speed
    Programs(programs::Request),
    /// Run the tests of parking_lot, and of published crates that use it, with it and with the drop-ins in
    /// its place
    Dependents(dependents::Request),
    /// Write the tables of locks into README.md and docs/locks.md from the catalogue
    Locks(Generated),
    /// Build the kernel of the guest world, to be run by `stanchion guest`
    Guest(guest::Request),
    /// Write crates/capi/include/stanchion.h and stanchion_family.h from the C interface
    Header(Generated),
    /// Build the C library and install it: headers, libstanchion.so, libstanchion.a, stanchion.pc
    Install(capi::Places),
    /// Build Debian packages: stanchion, libstanchion0, libstanchion-dev, libstanchion-preload
    Deb {
        /// Then install them on a fresh Debian root, use and remove them (as root, with mmdebstrap)
        #[arg(long)]
        check: bool,
    },
    /// Build the wheel for Python, in target/python/wheels
    Wheel(registries::Request),
    /// Check that the crates of the registry can be published
    Release {
        /// Publish nothing, which is all that this command does
        #[arg(long, required = true)]
        dry_run: bool,
    },
    /// Build the crates for aarch64 Linux and run their tests in an emulator; `.ci/run --nightly` installs
    /// what that needs
    Aarch64,
    /// Install the C library below the target directory, and build and run programs in C and C++ with it
    Capi,
    /// Run the tests of one lock in every world but the guest: under a minute, for whoever works on it
    Try {
        /// The lock
        lock: String,
        /// How many schedules to explore
        #[arg(long, value_name = "N", default_value_t = locks::SCHEDULES)]
        schedules: u64,
    },
    /// Run the jobs of CI, two at a time, and sum up
    Ci(ci::Request),
}

#[derive(clap::Args)]
struct Generated {
    /// Write nothing; fail when a file is not current
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    run(Cli::parse()).unwrap_or_else(|error| {
        eprintln!("cargo xtask: {error:#}");
        ExitCode::from(2)
    })
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    // Commands start in it and are given its path: it has to be absolute.
    let root = cli.root.unwrap_or_else(workspace::root);
    let root = root.canonicalize().with_context(|| root.display().to_string())?;
    let is_clean = match cli.command {
        Task::Tidy { wrap: true } => tidy::wrap(&root)?,
        Task::Tidy { wrap: false } => tidy::run(&root)?,
        Task::Orderings(Generated { check }) => orderings::run(&root, check)?,
        Task::Witness(request) => witness::run(&root, &request)?,
        Task::Fastpath { show } => fastpath::run(&root, show)?,
        Task::Mutants(request) => mutants::run(&root, &request)?,
        Task::Conform(request) => conform::run(&root, &request)?,
        Task::Programs(request) => return programs::run(&root, &request),
        Task::Dependents(request) => dependents::run(&root, &request)?,
        Task::Locks(Generated { check }) => locks::run(&root, check)?,
        Task::Guest(request) => guest::run(&root, &request)?,
        Task::Header(Generated { check }) => capi::header(&root, check)?,
        Task::Install(places) => capi::install(&root, places)?,
        Task::Capi => capi::check(&root)?,
        Task::Try { lock, schedules } => locks::try_one(&root, &lock, schedules)?,
        Task::Deb { check } => deb::run(&root, check)?,
        Task::Wheel(request) => registries::wheel(&root, &request)?,
        Task::Release { .. } => registries::crates(&root)?,
        Task::Aarch64 => aarch64::run(&root)?,
        Task::Ci(request) => ci::run(&root, &request)?,
    };
    Ok(exit_code(is_clean))
}

fn exit_code(is_clean: bool) -> ExitCode {
    if is_clean { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
