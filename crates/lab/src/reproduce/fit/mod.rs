//! `stanchion fit`: moves the numbers of a machine or a workload until a table's column to fit comes out.
//!
//! Least squares of relative errors, held by log-normal priors from the files ([`problem`]), by damped
//! Gauss-Newton steps in the logarithms of the parameters ([`descent`]). What it says about other columns is
//! a prediction. A fit repeats, and what it was made with goes on record ([`record`]): a stale one is
//! noticed. What came of it is told in words and in files ([`told`]).
mod descent;
mod problem;
mod record;
mod told;

use super::args::FitArgs;
use super::day;
use core::fmt::Write;
use lab_kit::experiment::Experiment;
use lab_kit::interrupt;
use lab_kit::output::tell;
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use problem::{Measured, Problem};
use record::Fit;
use serde_json::json;
use stanchion_cells::published::tables::to_fit;
use std::path::PathBuf;
use std::process::ExitCode;
use told::{FORMATS, Group, Told};

/// Fits tables together; or checks or records them, each by itself.
pub(crate) fn fit(args: &FitArgs) -> Result<ExitCode, String> {
    let tables = to_fit(&args.table)?;
    if !args.dir.is_dir() {
        return Err(format!("--dir {}: no directory", args.dir.display()));
    }
    let alone = args.check || args.record;
    let groups = if alone { tables.into_iter().map(|table| vec![table]).collect() } else { vec![tables] };
    let problems = groups.into_iter().map(|tables| Problem::new(tables, args));
    let problems = problems.collect::<Result<Vec<_>, _>>()?;
    let on_record = if args.check { record::read(&args.dir)? } else { Vec::new() };
    let runs: usize = problems.iter().map(|problem| problem.runs() * evaluations(problem, args)).sum();
    let progress = Progress::new(runs as u64, args.files.results.quiet);
    let mut experiment = Experiment::new(args.files.open(&FORMATS)?, progress, problems.len());
    let provenance = Provenance::collect(1);
    let steps = if alone { 0 } else { args.steps };
    let options = json!({ "steps": steps, "parameters": args.parameters });
    let mut told = Told { provenance, seeds: args.seeds, options, groups: Vec::new(), complete: false };
    let mut fallen = Vec::new();
    let mut unsaved = false;
    for problem in &problems {
        let Some((before, after)) = search(problem, args, &experiment.progress) else { break };
        let mut group = Group::of(problem, &before, &after);
        let fits = record::of(problem, &after.0, &after.1, &day(&told.provenance));
        if args.check {
            group.stale = fits.iter().filter_map(|fit| record::stale(&on_record, fit)).collect();
        } else if let Err(why) = save(problem, args, &after.0, fits, &mut group.written) {
            unsaved = true;
            tell!("stanchion: {why}");
        }
        let recorded = args.record && !args.dry_run;
        let holds = if args.check { group.stale.is_empty() } else { recorded || group.passes() };
        if !holds {
            fallen.extend(problem.parts.iter().map(|part| part.table.name.as_str()));
        }
        told.groups.push(group);
        told.complete = told.groups.len() == problems.len();
        experiment.keep(&told);
        if unsaved {
            break;
        }
    }
    let mut text: String = told.groups.iter().map(Group::text).collect();
    text += &experiment.written();
    if args.check && told.complete {
        let stale = if fallen.is_empty() { "none".to_owned() } else { fallen.join(", ") };
        let _ = writeln!(text, "fits: {}; stale: {stale}", problems.len());
    }
    // What failed was told on standard error.
    let failed = unsaved || if told.complete { !fallen.is_empty() } else { !interrupt::requested() };
    Ok(experiment.end(&text, told.complete, failed))
}

type Found = descent::Found<Vec<Measured>>;

/// Whether parameters are moved, and files with them.
fn moves(problem: &Problem, args: &FitArgs) -> bool {
    !args.check && !args.record && !problem.knobs.is_empty()
}

fn steps(problem: &Problem, args: &FitArgs) -> u32 {
    if moves(problem, args) { args.steps } else { 0 }
}

/// How often the problem is evaluated at most.
fn evaluations(problem: &Problem, args: &FitArgs) -> usize {
    1 + steps(problem, args) as usize * (problem.knobs.len() + 4)
}

/// Where the parameters are, and where the steps lead. `None` if a run was stopped or failed.
fn search(problem: &Problem, args: &FitArgs, progress: &Progress) -> Option<(Found, Found)> {
    let measure = |points: &[Vec<f64>]| problem.measure(points, progress);
    let errors = |found: &Vec<Measured>| found.iter().flat_map(|part| part.errors.clone()).collect();
    let priors: Vec<_> = problem.knobs.iter().map(|knob| (knob.centre.ln(), knob.sigma)).collect();
    let (start, scale, steps) = (problem.start(), problem::ERROR_SCALE, steps(problem, args));
    descent::descend(start, &priors, scale, steps, measure, errors)
}

/// Writes the files that the fit moved, and its record; which were written, also if another one cannot be.
fn save(
    problem: &Problem,
    args: &FitArgs,
    point: &[f64],
    fits: Vec<Fit>,
    written: &mut Vec<PathBuf>,
) -> Result<(), String> {
    if args.dry_run {
        return Ok(());
    }
    if moves(problem, args) {
        written.extend(record::write_moved(problem, point, &args.dir)?);
    }
    written.push(record::write(fits, &args.dir)?);
    Ok(())
}
