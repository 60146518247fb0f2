//! `stanchion calibrate`: measures this machine, in interleaved rounds ([`mod@run`]): [`alone`], [`lines`],
//! [`sleep`], [`turns`]. The figures ([`sample`]) become a machine for the simulator ([`outcome`]). With
//! `--compare`, it shows how well the simulator does on it.
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
pub(crate) use outcome::varied;
pub(crate) use run::this_machine;
use std::process::ExitCode;

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    lab_kit::experiment::heed_interrupts();
    if args.compare { compare::run(args) } else { run::calibrate(args) }
}
