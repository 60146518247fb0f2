//! `stanchion calibrate --compare`: benchmark cells on this machine beside simulations of the same cells.
mod export;
mod native;
mod simulated;
mod verdict;

use super::args::Args;
use super::run::machine_for_comparison;
use lab_kit::interrupt;
use lab_kit::names::unknown;
use lab_kit::output::{FAILED, INTERRUPTED, print, warn};
use stanchion_cells::scenes::words;
use std::process::ExitCode;
use verdict::Comparison;

pub(super) fn run(args: &Args) -> Result<ExitCode, String> {
    let known = stanchion_sim::lock_names();
    let locks = words("--locks", &args.locks)?;
    if let Some(lock) = locks.iter().find(|lock| !known.contains(lock)) {
        return Err(format!("--locks: {}", unknown("lock", lock, known.iter().copied())));
    }
    // What is refused is refused before anything is measured.
    let recorded = match &args.bench_json {
        Some(path) => Some(native::read(path)?.only(&locks, args)?),
        None => native::check(args).map(|()| None)?,
    };
    let machine = machine_for_comparison(args)?.machine;
    let native = recorded.map_or_else(|| native::bench(args), Ok)?;
    if native.cells.is_empty() {
        return Err("there is no native cell to compare with".to_owned());
    }
    let cpus = machine.topology.cpu_count();
    if let Some(natives) = native.cpus.filter(|&natives| natives != cpus) {
        eprintln!("warning: {} has {cpus} CPUs, the benchmark ran on {natives}", machine.name);
    }
    let cells = simulated::all(args, &machine, &native.cells);
    let comparison = Comparison::of(machine.name, native.whence, cells);
    let interrupted = interrupt::requested();
    let text = if args.json { lab_kit::export::json(&comparison) } else { export::table(&comparison) };
    let code = print(&text, ExitCode::SUCCESS);
    if let Some(path) = &args.csv {
        std::fs::write(path, export::csv(&comparison))
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    warn(&comparison.failures);
    Ok(match (interrupted, comparison.rows.is_empty()) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::from(FAILED),
        _ => code,
    })
}
