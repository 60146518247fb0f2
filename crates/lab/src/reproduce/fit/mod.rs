//! `stanchion fit`: moves the numbers of a machine or a workload until a table's column to fit comes out.
//!
//! Least squares of relative errors, held by log-normal priors from the files ([`problem`]), by damped
//! Gauss-Newton steps in the logarithms of the parameters ([`descent`]). A fit opens columns to fit only:
//! what it says about other locks is a prediction. Everything is deterministic, so a fit repeats. What it was
//! made with goes on record ([`record`]), so that a stale one is noticed.
mod descent;
mod problem;
mod record;
mod written;

use super::args::FitArgs;
use super::report::number;
use super::summary::median_and_worst;
use super::{refuse, today};
use core::fmt::Write;
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, print};
use lab_kit::progress::Progress;
use problem::Problem;
use record::Fit;
use stanchion_cells::published::tables::to_fit;
use std::process::ExitCode;

/// The bars that a fitted column has to pass: median and worst relative error.
const BARS: (f64, f64) = (0.05, 0.12);

/// Fits tables together; or checks or records them, each by itself.
pub(crate) fn fit(args: &FitArgs) -> ExitCode {
    let alone = args.check || args.record;
    let prepared = to_fit(&args.table).and_then(|tables| {
        let groups = if alone { tables.into_iter().map(|table| vec![table]).collect() } else { vec![tables] };
        let problems = groups.into_iter().map(|tables| Problem::new(tables, args));
        let on_record = if args.check { record::read(&args.dir)? } else { Vec::new() };
        Ok((problems.collect::<Result<Vec<_>, _>>()?, on_record))
    });
    let (problems, on_record) = match prepared {
        Ok(prepared) => prepared,
        Err(message) => return refuse(&message),
    };
    interrupt::install();
    let mut text = String::new();
    let mut fallen = Vec::new();
    for problem in &problems {
        match one(problem, args, &on_record, &mut text) {
            Ok(true) => {}
            Ok(false) => fallen.extend(problem.parts.iter().map(|part| part.table.name.as_str())),
            Err(code) => return print(&text, code),
        }
    }
    if args.check {
        let stale = if fallen.is_empty() { "none".to_owned() } else { fallen.join(", ") };
        let _ = writeln!(text, "fits: {}; stale: {stale}", problems.len());
    }
    print(&text, if fallen.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// Fits, checks or records one problem. Whether it holds: a fit passes the bars, one that is checked is not
/// stale.
fn one(problem: &Problem, args: &FitArgs, on_record: &[Fit], text: &mut String) -> Result<bool, ExitCode> {
    let moves = !args.check && !args.record && !problem.knobs.is_empty();
    let evaluations = if moves { 2 + args.rounds as usize * (problem.knobs.len() + 4) } else { 1 };
    let progress = Progress::new((evaluations * problem.runs()) as u64, args.quiet);
    let measure = |points: &[Vec<f64>]| problem.measure(points, &interrupt::requested, &|| progress.step());
    let at = |point: &Vec<f64>| measure(core::slice::from_ref(point)).pop().flatten();
    let found = || {
        let start = problem.start();
        let before = at(&start)?;
        if !moves {
            return Some((start.clone(), before.clone(), start, before));
        }
        let errors = |points: &[Vec<f64>]| {
            measure(points).into_iter().map(|found| Some(found?.errors)).collect::<Vec<_>>()
        };
        let (priors, scale) = (problem.priors(), problem::ERROR_SCALE);
        let (end, _) = descent::descend(&start, &before.errors, &priors, scale, args.rounds, errors)?;
        let after = at(&end)?;
        Some((start, before, end, after))
    };
    let found = found();
    progress.finish();
    let (start, before, end, after) = found.ok_or_else(failed)?;
    let passes = tell(text, problem, &start, &end, &before.errors, &after.errors);
    let fits = record::of(problem, &end, &after, &today());
    if args.check {
        let stale: Vec<String> = fits.iter().filter_map(|fit| record::stale(on_record, fit)).collect();
        for why in &stale {
            let _ = writeln!(text, "  stale: {why}");
        }
        return Ok(stale.is_empty());
    }
    if args.dry_run {
        return Ok(passes);
    }
    let moved = if moves { written::write(problem, &end, &args.dir) } else { Ok(Vec::new()) };
    let written = moved.and_then(|mut paths| {
        paths.push(record::write(fits, &args.dir)?);
        Ok(paths)
    });
    for path in written.map_err(|message| {
        eprintln!("stanchion: {message}");
        ExitCode::from(FAILED)
    })? {
        let _ = writeln!(text, "written: {}", path.display());
    }
    Ok(passes || args.record)
}

/// After a run that was stopped or failed; the latter was told on standard error.
fn failed() -> ExitCode {
    if interrupt::requested() {
        eprintln!("stanchion: interrupted; nothing was written");
        return ExitCode::from(INTERRUPTED);
    }
    ExitCode::from(FAILED)
}

/// The columns before and after, and where the parameters went. Whether each column passes the bars.
fn tell(
    text: &mut String,
    problem: &Problem,
    start: &[f64],
    end: &[f64],
    before: &[f64],
    after: &[f64],
) -> bool {
    let mut errors = after.iter().zip(before);
    let mut all_pass = true;
    for part in &problem.parts {
        let table = &part.table;
        let _ = writeln!(text, "{}, column {} ({})", table.title, part.column, table.unit);
        let _ = writeln!(
            text,
            "  {:>8} {:>12} {:>12} {:>9} {:>9}",
            "", "published", "simulated", "error", "before"
        );
        let mut sizes = Vec::new();
        for ((row, published), (after, before)) in part.rows().zip(errors.by_ref()) {
            let _ = writeln!(
                text,
                "  {:>8} {:>12} {:>12} {:>+7.1} % {:>+7.1} %",
                row.label,
                number(published),
                number(published * after.exp()),
                after.exp_m1() * 100.0,
                before.exp_m1() * 100.0
            );
            sizes.push(after.exp_m1());
        }
        let Some((median, worst)) = median_and_worst(&sizes) else { continue };
        let passes = median <= BARS.0 && worst <= BARS.1;
        all_pass &= passes;
        let _ = writeln!(
            text,
            "  {:.1} % in the median, {:.1} % at worst; bars (median {:.0} %, worst {:.0} %): {}",
            median * 100.0,
            worst * 100.0,
            BARS.0 * 100.0,
            BARS.1 * 100.0,
            if passes { "passed" } else { "missed" }
        );
    }
    for ((knob, start), end) in problem.knobs.iter().zip(start).zip(end) {
        let of = knob.part.map_or("", |part| &problem.parts[part].table.name);
        let _ = writeln!(
            text,
            "  {:32} {:>10} from {:>10}, prior {} +- {:.0} %: {:+.1} widths",
            format!("{of} {}", knob.path).trim_start(),
            number(end.exp()),
            number(start.exp()),
            number(knob.centre),
            knob.sigma * 100.0,
            (end - knob.centre.ln()) / knob.sigma
        );
    }
    all_pass
}
