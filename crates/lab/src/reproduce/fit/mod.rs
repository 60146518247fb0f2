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
use super::today;
use core::fmt::Write;
use lab_kit::experiment::Experiment;
use lab_kit::interrupt;
use lab_kit::progress::Progress;
use lab_kit::provenance::Provenance;
use problem::{Measured, Problem};
use record::Fit;
use stanchion_cells::published::tables::to_fit;
use std::process::ExitCode;
use told::{FORMATS, Group, Told};

/// Fits tables together; or checks or records them, each by itself.
pub(crate) fn fit(args: &FitArgs) -> Result<ExitCode, String> {
    let tables = to_fit(&args.table)?;
    let alone = args.check || args.record;
    let groups = if alone { tables.into_iter().map(|table| vec![table]).collect() } else { vec![tables] };
    let problems = groups.into_iter().map(|tables| Problem::new(tables, args));
    let problems = problems.collect::<Result<Vec<_>, _>>()?;
    let on_record = if args.check { record::read(&args.dir)? } else { Vec::new() };
    let runs: usize = problems.iter().map(|problem| problem.runs() * evaluations(problem, args)).sum();
    let progress = Progress::new(runs as u64, args.files.results.quiet);
    let mut experiment = Experiment::new(args.files.open(&FORMATS)?, progress, problems.len());
    let provenance = Provenance::collect(1);
    let mut told = Told { provenance, seeds: args.seeds, groups: Vec::new(), complete: false };
    let mut fallen = Vec::new();
    for problem in &problems {
        let group = match one(problem, args, &on_record, &experiment.progress) {
            Ok(Some(group)) => group,
            Ok(None) => break,
            Err(why) => {
                experiment.also(|| Err(why));
                break;
            }
        };
        let holds = if args.check { group.stale.is_empty() } else { args.record || group.passes() };
        if !holds {
            fallen.extend(problem.parts.iter().map(|part| part.table.name.as_str()));
        }
        told.groups.push(group);
        told.complete = told.groups.len() == problems.len();
        experiment.keep(&told);
    }
    let mut text: String = told.groups.iter().map(Group::text).collect();
    text += &experiment.written();
    if args.check && told.complete {
        let stale = if fallen.is_empty() { "none".to_owned() } else { fallen.join(", ") };
        let _ = writeln!(text, "fits: {}; stale: {stale}", problems.len());
    }
    // A run that failed was told on standard error.
    let failed = !fallen.is_empty() || !told.complete && !interrupt::requested();
    Ok(experiment.end(&text, told.complete, failed))
}

type Found = descent::Found<Vec<Measured>>;

/// Steps of the optimiser: none where nothing is to be moved.
fn steps(problem: &Problem, args: &FitArgs) -> u32 {
    if args.check || args.record || problem.knobs.is_empty() { 0 } else { args.steps }
}

/// How often the problem is evaluated at most.
fn evaluations(problem: &Problem, args: &FitArgs) -> usize {
    1 + steps(problem, args) as usize * (problem.knobs.len() + 4)
}

/// Fits, checks or records. Nothing is written if a run was stopped or failed.
fn one(
    problem: &Problem,
    args: &FitArgs,
    on_record: &[Fit],
    progress: &Progress,
) -> Result<Option<Group>, String> {
    let steps = steps(problem, args);
    let Some((before, after)) = search(problem, steps, progress) else { return Ok(None) };
    let mut group = Group::of(problem, &before, &after);
    let fits = record::of(problem, &after.0, &after.1, &today());
    if args.check {
        group.stale = fits.iter().filter_map(|fit| record::stale(on_record, fit)).collect();
    } else if !args.dry_run {
        if steps > 0 {
            group.written = record::write_moved(problem, &after.0, &args.dir)?;
        }
        group.written.push(record::write(fits, &args.dir)?);
    }
    Ok(Some(group))
}

/// Where the parameters are, and where `steps` lead. `None` if a run was stopped or failed.
fn search(problem: &Problem, steps: u32, progress: &Progress) -> Option<(Found, Found)> {
    let measure = |points: &[Vec<f64>]| problem.measure(points, progress);
    let errors = |found: &Vec<Measured>| found.iter().flat_map(|part| part.errors.clone()).collect();
    let priors: Vec<_> = problem.knobs.iter().map(|knob| (knob.centre.ln(), knob.sigma)).collect();
    descent::descend(problem.start(), &priors, problem::ERROR_SCALE, steps, measure, errors)
}
