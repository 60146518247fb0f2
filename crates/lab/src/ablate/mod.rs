//! `stanchion ablate`: what each rule of the default lock is worth, and how much hangs on its constants.
//!
//! Nothing is measured here: the rows ([`rules`]) are locks with other tunables, and benchmark or simulator
//! run them beside `stanchion`. What comes back is a table of ratios ([`table`]).
mod args;
mod rules;
mod table;

use crate::{bench, sim};
pub(crate) use args::Args;
use lab_kit::sample::Sample;
use std::process::ExitCode;

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    let locks = rules::rows(args.constants).into_iter().map(|(_, lock)| lock).collect::<Vec<_>>().join(",");
    let render = |samples: &[Sample]| table::render(samples, args.markdown);
    match &args.machine {
        Some(machines) => sim::run_showing(&args.simulated(locks, machines.clone()), &render),
        None => bench::measure(&args.measured(locks), Some(&render)),
    }
}
