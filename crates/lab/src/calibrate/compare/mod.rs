//! `stanchion calibrate --compare`: benchmark cells on this machine beside simulations of the same cells.
mod export;
mod native;
mod simulated;
mod verdict;

use super::args::Args;
use super::limited;
use super::run::machine_for_comparison;
use lab_kit::experiment::Experiment;
use lab_kit::export::{Files, Formats, json};
use lab_kit::names::{unknown, with_all};
use lab_kit::output::{tell, warn};
use native::Native;
use stanchion_cells::scenes::words;
use std::process::ExitCode;
use verdict::Comparison;

const FORMATS: Formats<Comparison> = Formats { stem: "calibrate", json, csv: export::csv, html: None };

pub(super) fn run(args: &Args) -> Result<ExitCode, String> {
    let known = stanchion_sim::lock_names();
    let locks = with_all(words("--lock", &args.lock)?, &known);
    if let Some(lock) = locks.iter().find(|lock| !known.contains(lock)) {
        return Err(format!("--lock: {}", unknown("lock", lock, known.iter().copied())));
    }
    // What is refused is refused before anything is measured.
    let mut profiles = args.profile.iter().flat_map(|list| list.split(','));
    if profiles.any(|profile| profile.trim() == "yield") {
        return Err("--profile yield: its holders yield, which the simulator does not know".to_owned());
    }
    let recorded = match &args.bench_json {
        Some(path) => Some(native::read(path)?.only(&locks, args)?),
        None => native::check(args).map(|()| None)?,
    };
    let files = Files { csv: args.csv.clone(), results: args.results.clone(), ..Files::default() };
    let mut experiment = Experiment::open(&files, &FORMATS, 1)?;
    let comparison = compared(args, recorded)?;
    experiment.keep(&comparison);
    let text = export::table(&comparison) + &experiment.written();
    let failed = comparison.complete && comparison.rows.is_empty();
    let code = experiment.end(&text, comparison.complete, failed);
    warn(&comparison.failures);
    Ok(code)
}

fn compared(args: &Args, recorded: Option<Native>) -> Result<Comparison, String> {
    if let Some(recorded) = &recorded {
        warn(&recorded.doubts);
    }
    let machine = machine_for_comparison(args)?.machine;
    let limits = args.cpu_limit.iter().flat_map(|list| list.split(','));
    for cpus in limits.filter_map(|cpus| cpus.trim().parse().ok()) {
        limited(&machine, cpus)?; // what is refused is refused before anything is measured
    }
    let native = recorded.map_or_else(|| native::bench(args), Ok)?;
    if native.cells.is_empty() {
        return Err("there is no native cell to compare with".to_owned());
    }
    let (name, cpus) = (&machine.name, machine.topology.cpu_count());
    if native.cpus != cpus {
        tell!("warning: {name} has {cpus} CPUs, the benchmark ran on {}", native.cpus);
    }
    let cells = simulated::all(args, &machine, &native.cells);
    Ok(Comparison::of(machine.name, native.whence, cells))
}
