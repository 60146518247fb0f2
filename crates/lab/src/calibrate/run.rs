//! One calibration from arguments to exit code.
use super::args::Args;
use super::places::Places;
use super::sample::{Figure, Figures, Reach, What};
use super::{alone, lines, outcome, sleep, turns};
use core::fmt::Write;
use core::time::Duration;
use lab_kit::experiment::Experiment;
use lab_kit::export::{Exports, Writer};
use lab_kit::interrupt;
use lab_kit::output::warn;
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use lab_kit::units::format_ns;
use serde_json::json;
use stanchion_sim::machine::file::{self, MachineFile};
use std::path::Path;
use std::process::ExitCode;

/// Rounds of a thorough calibration, and of a quick one: about half a second each.
const ROUNDS: usize = 41;
const QUICK_ROUNDS: usize = 11;
/// Pairs of CPUs that stand for one distance.
const PAIRS: usize = 4;
/// How long turns and ticks are watched in one round.
const WATCH: Duration = Duration::from_millis(120);

struct Calibrated {
    file: MachineFile,
    figures: Figures,
    rounds: usize,
    interrupted: bool,
    warnings: Vec<String>,
    whence: Provenance,
}

pub(super) fn calibrate(args: &Args) -> Result<ExitCode, String> {
    let json = args.results.json.iter().map(|path| (path.clone(), json as Writer<Calibrated>));
    let files = args.toml.iter().map(|path| (path.clone(), machine as Writer<Calibrated>)).chain(json);
    let (exports, quiet) = (Exports::open(files.collect(), args.results.force)?, args.results.quiet);
    let mut experiment = Experiment::new(exports, Progress::new(1, true), 1);
    let mut calibrated = calibrated(&args.name, args.cpus.as_deref(), args.quick, quiet, false)?;
    experiment.keep(&calibrated);
    let shown = if args.toml.is_some() { String::new() } else { machine(&calibrated) };
    let text = format!("{}\n{shown}{}", table(&calibrated), experiment.written());
    let code = experiment.end(&text, !calibrated.interrupted, false);
    if calibrated.interrupted {
        calibrated.warnings.push(format!("the figures rest on {} rounds", calibrated.rounds));
    }
    warn(&calibrated.warnings);
    Ok(code)
}

fn machine(calibrated: &Calibrated) -> String {
    file::write(&calibrated.file)
}

/// Measures some CPUs, or all that this process may use, and makes a machine of it. One that is used must
/// have been measured to the end.
fn calibrated(
    name: &str,
    cpus: Option<&str>,
    quick: bool,
    quiet: bool,
    is_used: bool,
) -> Result<Calibrated, String> {
    let cpus = cpus.map_or_else(|| Ok(crate::bench::available_cpus()), crate::bench::cpus);
    let cpus = cpus.map_err(|error| format!("--cpus: {error}"))?;
    let places = Places::read(Path::new("/sys/devices/system"), &cpus);
    let wanted = if quick { QUICK_ROUNDS } else { ROUNDS };
    let (figures, rounds) = measure(&places, wanted, quiet);
    if rounds == 0 || is_used && rounds < wanted {
        return Err("interrupted before this machine was measured; nothing is kept".to_owned());
    }
    let whence = Provenance::collect(0);
    let about = format!("{}, {} CPUs, {}", whence.cpu_model, cpus.len(), whence.kernel);
    let day = whence.date.split('T').next().unwrap_or_default();
    let file = outcome::machine(name, &about, day, &places, &figures)?;
    let warnings = outcome::warnings(&places, &figures);
    Ok(Calibrated { file, figures, rounds, interrupted: rounds < wanted, warnings, whence })
}

/// The figures, and of how many rounds. In rounds a disturbance hits neighbours in time, not one quantity.
fn measure(places: &Places, rounds: usize, quiet: bool) -> (Figures, usize) {
    let cpus: Vec<usize> = places.all.iter().map(|place| place.cpu).collect();
    // The first CPU usually serves the interrupts.
    let last = cpus.last().copied().unwrap_or(0);
    let pairs = places.pairs(PAIRS);
    let mut caches = alone::Caches::of(last);
    let progress = Progress::new(rounds as u64, quiet);
    let (mut figures, mut round) = (Figures::default(), 0);
    while round < rounds && !interrupt::requested() {
        progress.now(format!("round {} of {rounds}", round + 1));
        let figures = &mut figures;
        alone::instructions(last, figures);
        caches.measure(last, figures);
        sleep::calls(last, figures);
        sleep::on_one(last, figures);
        sleep::barriers(&cpus, figures);
        let [rmw, store] = [What::RMW, What::STORE].map(|what| figures.get(what).map_or(0.0, |it| it.median));
        for (&reach, pairs) in &pairs {
            lines::between(reach, pairs[round % pairs.len()], (rmw, store), figures);
        }
        lines::together(&cpus, figures);
        // Threads of the same core share its idleness; what is woken there says little.
        let other_core = pairs.iter().find(|(reach, _)| **reach > Reach::Core);
        if let Some((_, pairs)) = other_core.or_else(|| pairs.iter().next()) {
            let pair = pairs[round % pairs.len()];
            sleep::across(pair, figures);
            let [hand_over, rested] = [What::HAND_OVER, What::WAKE_IDLE]
                .map(|what| figures.get(what).map_or(0.0, |figure| figure.median));
            sleep::falls_idle(pair, hand_over, rested, figures);
            sleep::moves(pair, figures);
            // A CPU on which others run does not become idle.
            if crate::bench::other_runnable() == 0 {
                turns::pull(pair, figures);
            }
        }
        turns::ticks(last, WATCH, figures);
        turns::turns(last, WATCH, figures);
        round += 1;
        progress.step();
        progress.seldom(&format!("round {round} of {rounds}"));
    }
    progress.finish();
    (figures, round)
}

pub(crate) fn this_machine(name: &str, quiet: bool) -> Result<MachineFile, String> {
    let calibrated = calibrated(name, None, false, quiet, true)?;
    if !quiet {
        warn(&calibrated.warnings);
    }
    Ok(calibrated.file)
}

/// The machine that was named, or this one as it is now.
pub(super) fn machine_for_comparison(args: &Args) -> Result<MachineFile, String> {
    if let Some(name) = &args.machine {
        return stanchion_sim::machine::load_with(name, &args.set);
    }
    let (cpus, quiet) = (args.cpus.as_deref(), args.results.quiet);
    let calibrated = calibrated(&args.name, cpus, args.quick, quiet, true)?;
    warn(&calibrated.warnings);
    file::read_with(&file::write(&calibrated.file), &args.name, &args.set).map_err(|error| error.to_string())
}

fn json(calibrated: &Calibrated) -> String {
    let figure = |(what, figure): (What, Figure)| {
        let mut told = json!(figure);
        told["what"] = what.title().into();
        told["rounds"] = calibrated.figures.rounds(what).into();
        told["unit"] = if what.is_share() { "share" } else { "ns" }.into();
        told
    };
    lab_kit::export::json(&json!({
        "schema": 2,
        "complete": !calibrated.interrupted,
        "provenance": calibrated.whence,
        "machine": calibrated.file.machine.name,
        "rounds": calibrated.rounds,
        "figures": calibrated.figures.all().map(figure).collect::<Vec<_>>(),
        "warnings": calibrated.warnings,
    }))
}

fn table(calibrated: &Calibrated) -> String {
    let topology = &calibrated.file.machine.topology;
    let mut text = format!(
        "{} sockets × {} groups × {} cores × {} threads\n\n{:66} {:>10}  {:>7}  {:>6}\n",
        topology.sockets, topology.groups, topology.cores, topology.threads, "", "median", "spread", "values"
    );
    for (what, figure) in calibrated.figures.all() {
        let median = if what.is_share() { format!("{:.2}", figure.median) } else { format_ns(figure.median) };
        let spread = format!("±{:.0} %", figure.spread * 100.0);
        let _ = writeln!(text, "{:66} {median:>10}  {spread:>7}  {:>6}", what.title(), figure.values);
    }
    text
}

#[cfg(test)]
#[test]
fn a_refused_cpu_is_told_with_its_flag() {
    let refused = calibrated("here", Some("x"), true, true, true);
    assert!(refused.is_err_and(|error| error.starts_with("--cpus: 'x' is no CPU")));
}
