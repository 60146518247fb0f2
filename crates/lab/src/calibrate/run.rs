//! One calibration from arguments to exit code.
use super::args::Args;
use super::places::Places;
use super::rounds::{Measured, measure};
use super::{compare, outcome, report};
use lab_kit::interrupt;
use lab_kit::output::{INTERRUPTED, REFUSED, print};
use lab_kit::provenance::Provenance;
use stanchion_sim::machine::file::{self, MachineFile};
use std::path::Path;
use std::process::ExitCode;

/// Rounds of a thorough calibration, and of a quick one: about half a second each.
const ROUNDS: usize = 41;
const QUICK_ROUNDS: usize = 11;

/// Calibrates, or compares.
pub(crate) fn run(args: &Args) -> ExitCode {
    if let (false, Some(flag)) = (args.compare, args.about_comparison()) {
        eprintln!("stanchion: {flag} is about a comparison: add --compare");
        return ExitCode::from(REFUSED);
    }
    if args.compare && args.out.is_some() {
        eprintln!(
            "stanchion: --out writes a machine, --compare none: calibrate first, then compare with --machine"
        );
        return ExitCode::from(REFUSED);
    }
    interrupt::install();
    let files = [args.out.as_deref(), args.csv.as_deref()];
    if let Some(path) = files.into_iter().flatten().find(|path| !args.force && path.exists()) {
        eprintln!("stanchion: {} exists already; use --force to replace it", path.display());
        return ExitCode::from(REFUSED);
    }
    let done = if args.compare { compare::run(args) } else { calibrate(args) };
    match done {
        Ok(code) => code,
        Err(message) => {
            eprintln!("stanchion: {message}");
            ExitCode::from(REFUSED)
        }
    }
}

/// The CPUs that were asked for, on their places.
fn places(args: &Args) -> Result<Places, String> {
    let cpus = match &args.cpus {
        Some(list) => crate::bench::cpus(list)?,
        None => crate::bench::available_cpus(),
    };
    Ok(Places::read(Path::new("/sys/devices/system"), &cpus))
}

fn calibrate(args: &Args) -> Result<ExitCode, String> {
    let places = places(args)?;
    let (file, measured, warnings) = calibrated(args, &places)?;
    let text = file::write(&file);
    if let Some(path) = &args.out {
        std::fs::write(path, &text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    let shown = if args.json {
        report::json(
            &Provenance::collect(0).date,
            &file.machine.name,
            measured.rounds,
            &measured.figures,
            &warnings,
        )
    } else {
        let table = report::table(&measured.figures, &file.machine.topology);
        match &args.out {
            Some(path) => format!("{table}\nwritten: {}\n", path.display()),
            None => format!("{table}\n{text}"),
        }
    };
    let code = print(&shown, ExitCode::SUCCESS);
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    if measured.interrupted {
        eprintln!("stanchion: interrupted; the figures rest on {} rounds", measured.rounds);
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(code)
}

/// Measures and makes a machine of it.
fn calibrated(args: &Args, places: &Places) -> Result<(MachineFile, Measured, Vec<String>), String> {
    let rounds = if args.quick { QUICK_ROUNDS } else { ROUNDS };
    let measured = measure(places, rounds, args.quiet);
    if measured.rounds == 0 {
        return Err("interrupted before anything was measured".to_owned());
    }
    let whence = Provenance::collect(0);
    let about = format!("{}, {} CPUs, {}", whence.cpu_model, places.all.len(), whence.kernel);
    let day = whence.date.split('T').next().unwrap_or_default();
    let name = args.name.as_deref().unwrap_or("this-machine");
    let file = outcome::machine(name, &about, day, places, &measured.figures)?;
    let mut warnings = outcome::warnings(places, &measured.figures);
    if cfg!(debug_assertions) {
        warnings.insert(0, "this is a debug build: its figures are not the machine's".to_owned());
    }
    Ok((file, measured, warnings))
}

/// This machine under a name, in few rounds.
pub(crate) fn this_machine(name: &str, quiet: bool) -> Result<MachineFile, String> {
    let args = Args { name: Some(name.to_owned()), quick: true, quiet, ..Args::default() };
    let (file, _, warnings) = calibrated(&args, &places(&args)?)?;
    for warning in warnings.iter().filter(|_| !quiet) {
        eprintln!("warning: {warning}");
    }
    Ok(file)
}

/// The machine for a comparison: the one that was named, or this one as it is now.
pub(super) fn machine_for_comparison(args: &Args) -> Result<MachineFile, String> {
    if let Some(name) = &args.machine {
        return stanchion_sim::machine::load_with(name, &args.set);
    }
    let (mut file, _, warnings) = calibrated(args, &places(args)?)?;
    for warning in &warnings {
        eprintln!("warning: {warning}");
    }
    for set in &args.set {
        file = file::apply_set(&file, set).map_err(|error| error.to_string())?;
    }
    Ok(file)
}
