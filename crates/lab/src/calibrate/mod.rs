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
use stanchion_sim::machine::{Machine, Quota, SchedulerKind};
use stanchion_sim::{MS, Time};
use std::process::ExitCode;

/// The machine in a container whose threads together have the time of so many CPUs.
pub(crate) fn limited(machine: &Machine, cpus: f64) -> Result<Machine, String> {
    let (mut machine, all) = (machine.clone(), machine.topology.cpu_count());
    if cpus > all as f64 {
        return Err(format!("a CPU limit of {cpus} is more than the {all} CPUs of {}", machine.name));
    }
    let SchedulerKind::FairShare(fair) = &mut machine.host.scheduler else {
        return Err("a CPU limit needs a machine with the fair-share scheduler".to_owned());
    };
    let budget = (cpus * (PERIOD_MS * MS) as f64) as Time;
    fair.quota = Some(Quota { period: PERIOD_MS * MS, budget });
    Ok(machine)
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    lab_kit::experiment::heed_interrupts();
    if args.compare { compare::run(args) } else { run::calibrate(args) }
}
