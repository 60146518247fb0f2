//! `stanchion ablate`: what each rule of the default lock is worth, and how much hangs on each of its
//! constants.
//!
//! Nothing is measured here: the rows ([`rules`]) are locks with other tunables, and benchmark or simulator
//! run them beside `stanchion`. What comes back is a ratio for each row ([`samples`]) in a table for
//! terminals or for the documentation ([`table`]).
mod args;
mod rules;
mod samples;
mod table;

use crate::{bench, sim};
pub(crate) use args::Args;
use lab_kit::output::{REFUSED, ended};
pub(crate) use samples::Sample;
use std::process::ExitCode;
pub(crate) use table::render as tables;

/// The workloads of simulated machines: bursts of a test, an open loop on one lock, and the benchmark's short
/// sections.
const WORKLOADS: &str = "locktorture,open1,short";

/// Runs benchmark or simulator, and shows ratios instead of their tables.
pub(crate) fn run(args: &Args) -> ExitCode {
    let locks = rules::rows(args.constants).into_iter().map(|row| row.lock).collect::<Vec<_>>().join(",");
    match &args.machine {
        Some(machines) => {
            let render = |samples: &[Sample]| tables(samples, args.markdown);
            match args.simulated(locks, machines, WORKLOADS) {
                Ok(simulated) => sim::run_showing(&simulated, &render),
                Err(message) => ended(REFUSED, message),
            }
        }
        None => bench::ablate(&args.measured(locks), args.markdown),
    }
}
