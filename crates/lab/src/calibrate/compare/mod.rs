//! `stanchion calibrate --compare`: benchmark cells on this machine beside simulations of the same cells.
mod export;
mod native;
mod simulated;
mod verdict;

use super::args::Args;
use super::run::machine_for_comparison;
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, print};
use lab_kit::provenance::Provenance;
use simulated::Plan;
use std::process::ExitCode;
use verdict::Comparison;

/// The family's members that exist natively and in the simulator, as the bar names them.
const LOCKS: &str = "byte,ticket,qspin,pv-qspin";
const PROFILES: &str = "empty,short,medium,long";

/// Compares.
pub(super) fn run(args: &Args) -> Result<ExitCode, String> {
    let plan = Plan::resolve(args)?;
    let locks = args.locks.as_deref().unwrap_or(LOCKS);
    let known = stanchion_sim::lock_names();
    let locks: Vec<&str> = locks.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    for lock in &locks {
        if !known.contains(lock) {
            return Err(format!("--locks: {}", lab_kit::names::unknown("lock", lock, known.iter().copied())));
        }
    }
    let profiles = args.profile.as_deref();
    let wanted: Option<Vec<&str>> = profiles.map(|list| list.split(',').map(str::trim).collect());
    // What is refused is refused before anything is measured.
    let profiles = profiles.unwrap_or(PROFILES);
    let recorded = match &args.bench_json {
        Some(path) => {
            let native = native::read(path)?.only(&locks, wanted.as_deref(), args.threads.as_deref())?;
            if native.cells.is_empty() {
                return Err(format!("{} has none of these cells", path.display()));
            }
            Some(native)
        }
        None => native::check(args, &locks.join(","), profiles).map(|()| None)?,
    };
    let machine = machine_for_comparison(args)?;
    let native = match recorded {
        Some(native) => native,
        None => native::bench(args, &locks.join(","), profiles)?,
    };
    if native.cells.is_empty() {
        return Err("there is no native cell to compare with".to_owned());
    }
    let cpus = machine.machine.topology.cpu_count();
    if native.cpus.is_some_and(|natives| natives != cpus) {
        eprintln!(
            "warning: {} has {cpus} CPUs, the benchmark ran on {}",
            machine.machine.name,
            native.cpus.unwrap_or(0)
        );
    }
    let pairs = simulated::all(&plan, &machine.machine, &native, args.quiet);
    let comparison = Comparison::of(&pairs);
    let interrupted = interrupt::requested();
    let date = Provenance::collect(0).date;
    let shown = if args.json {
        export::json(&date, &machine.machine.name, &native.whence, &comparison)
    } else {
        export::table(&machine.machine.name, &native.whence, &comparison)
    };
    let code = print(&shown, ExitCode::SUCCESS);
    if let Some(path) = &args.csv {
        let text = export::csv(&date, &machine.machine.name, &native.whence, &comparison);
        std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    for failure in &comparison.failures {
        eprintln!("warning: {failure}");
    }
    Ok(match (interrupted, comparison.rows.is_empty()) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::from(FAILED),
        _ => code,
    })
}
