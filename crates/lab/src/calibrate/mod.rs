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
use lab_kit::cgroup::PERIOD_MS;
pub(crate) use outcome::varied;
pub(crate) use run::this_machine;
use stanchion_sim::machine::file::{self, MachineFile};
use stanchion_sim::machine::{Machine, SchedulerKind};
use std::process::ExitCode;

/// The machine in a container whose threads together have the time of so many CPUs.
pub(crate) fn limited(file: &MachineFile, cpus: f64) -> Result<Machine, String> {
    if !matches!(file.machine.host.scheduler, SchedulerKind::FairShare(_)) {
        return Err("--cpu-limit needs a machine with the fair-share scheduler".to_owned());
    }
    let budget = (cpus * PERIOD_MS as f64 * 1e3).round();
    let sets = [("period", format!("{PERIOD_MS}ms")), ("budget", format!("{budget}us"))]
        .map(|(field, value)| format!("host.fair-share.quota.{field}={value}"));
    let read = file::read_with(&file::write(file), &file.machine.name, &sets);
    read.map(|file| file.machine).map_err(|error| error.to_string())
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    lab_kit::experiment::heed_interrupts();
    if args.compare { compare::run(args) } else { run::calibrate(args) }
}
