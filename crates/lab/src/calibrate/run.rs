//! One calibration from arguments to exit code.
use super::args::Args;
use super::places::Places;
use super::rounds::{Measured, measure};
use super::sample::{Figure, What};
use super::{compare, outcome};
use core::fmt::Write;
use lab_kit::interrupt;
use lab_kit::output::{INTERRUPTED, REFUSED, print};
use lab_kit::provenance::Provenance;
use lab_kit::units::format_ns;
use serde_json::json;
use stanchion_sim::machine::file::{self, MachineFile};
use std::path::Path;
use std::process::ExitCode;

/// Rounds of a thorough calibration, and of a quick one: about half a second each.
const ROUNDS: usize = 41;
const QUICK_ROUNDS: usize = 11;

/// What came of a calibration.
struct Calibrated {
    file: MachineFile,
    measured: Measured,
    warnings: Vec<String>,
    date: String,
}

/// Calibrates, or compares.
pub(crate) fn run(args: &Args) -> ExitCode {
    interrupt::install();
    let there = [&args.out, &args.csv].into_iter().flatten().find(|path| !args.force && path.exists());
    let done = match there {
        Some(path) => Err(format!("{} exists already; use --force to replace it", path.display())),
        None if args.compare => compare::run(args),
        None => calibrate(args),
    };
    done.unwrap_or_else(|message| {
        eprintln!("stanchion: {message}");
        ExitCode::from(REFUSED)
    })
}

fn calibrate(args: &Args) -> Result<ExitCode, String> {
    let calibrated = calibrated(&args.name, args.cpus.as_deref(), args.quick, args.quiet)?;
    let text = file::write(&calibrated.file);
    if let Some(path) = &args.out {
        std::fs::write(path, &text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    let shown = match &args.out {
        _ if args.json => json(&calibrated),
        Some(path) => format!("{}\nwritten: {}\n", table(&calibrated), path.display()),
        None => format!("{}\n{text}", table(&calibrated)),
    };
    let code = print(&shown, ExitCode::SUCCESS);
    warn(&calibrated.warnings);
    if calibrated.measured.interrupted {
        eprintln!("stanchion: interrupted; the figures rest on {} rounds", calibrated.measured.rounds);
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(code)
}

fn warn(warnings: &[String]) {
    for warning in warnings {
        eprintln!("warning: {warning}");
    }
}

/// Measures some CPUs, or all that this process may use, and makes a machine of it.
fn calibrated(name: &str, cpus: Option<&str>, quick: bool, quiet: bool) -> Result<Calibrated, String> {
    let cpus = cpus.map_or_else(|| Ok(crate::bench::available_cpus()), crate::bench::cpus)?;
    let places = Places::read(Path::new("/sys/devices/system"), &cpus);
    let measured = measure(&places, if quick { QUICK_ROUNDS } else { ROUNDS }, quiet);
    if measured.rounds == 0 {
        return Err("interrupted before anything was measured".to_owned());
    }
    let whence = Provenance::collect(0);
    let about = format!("{}, {} CPUs, {}", whence.cpu_model, cpus.len(), whence.kernel);
    let day = whence.date.split('T').next().unwrap_or_default();
    let file = outcome::machine(name, &about, day, &places, &measured.figures)?;
    let mut warnings = outcome::warnings(&places, &measured.figures);
    if cfg!(debug_assertions) {
        warnings.insert(0, "this is a debug build: its figures are not the machine's".to_owned());
    }
    Ok(Calibrated { file, measured, warnings, date: whence.date })
}

/// This machine under a name, in few rounds.
pub(crate) fn this_machine(name: &str, quiet: bool) -> Result<MachineFile, String> {
    let calibrated = calibrated(name, None, true, quiet)?;
    if !quiet {
        warn(&calibrated.warnings);
    }
    Ok(calibrated.file)
}

/// The machine for a comparison: the one that was named, or this one as it is now.
pub(super) fn machine_for_comparison(args: &Args) -> Result<MachineFile, String> {
    if let Some(name) = &args.machine {
        return stanchion_sim::machine::load_with(name, &args.set);
    }
    let calibrated = calibrated(&args.name, args.cpus.as_deref(), args.quick, args.quiet)?;
    warn(&calibrated.warnings);
    let set = |file: MachineFile, set: &String| file::apply_set(&file, set);
    args.set.iter().try_fold(calibrated.file, set).map_err(|error| error.to_string())
}

/// The figures for programs.
fn json(calibrated: &Calibrated) -> String {
    let figure = |(what, figure): (What, Figure)| {
        json!({
            "what": what.title(),
            "unit": if what.is_share() { "share" } else { "ns" },
            "median": figure.median,
            "lower_quartile": figure.lower_quartile,
            "upper_quartile": figure.upper_quartile,
            "spread": figure.spread(),
            "values": figure.values,
        })
    };
    let whole = json!({
        "schema": 1,
        "date": calibrated.date,
        "machine": calibrated.file.machine.name,
        "rounds": calibrated.measured.rounds,
        "figures": calibrated.measured.figures.all().map(figure).collect::<Vec<_>>(),
        "warnings": calibrated.warnings,
    });
    format!("{whole:#}\n")
}

/// The figures for people.
fn table(calibrated: &Calibrated) -> String {
    let topology = &calibrated.file.machine.topology;
    let mut text = format!(
        "{} sockets × {} groups × {} cores × {} threads\n\n{:66} {:>10}  {:>7}  {:>6}\n",
        topology.sockets, topology.groups, topology.cores, topology.threads, "", "median", "spread", "values"
    );
    for (what, figure) in calibrated.measured.figures.all() {
        let median = if what.is_share() { format!("{:.2}", figure.median) } else { format_ns(figure.median) };
        let spread = format!("±{:.0} %", figure.spread() * 100.0);
        let _ = writeln!(text, "{:66} {median:>10}  {spread:>7}  {:>6}", what.title(), figure.values);
    }
    text
}
