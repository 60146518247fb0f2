//! `stanchion fit`: moves the numbers of a machine or a workload until a table's baseline column comes out.
//!
//! Least squares of relative errors, held by log-normal priors from the files ([`problem`]), by damped
//! Gauss-Newton steps in the logarithms of the parameters ([`descent`]). A fit sees the baseline's column
//! only: what it says about other locks is a prediction. Everything is deterministic, so a fit repeats.
mod descent;
mod problem;
mod written;

use super::args::FitArgs;
use super::refuse;
use super::report::number;
use super::summary::median_and_worst;
use core::fmt::Write;
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, print};
use lab_kit::progress::Progress;
use problem::Problem;
use stanchion_cells::published::tables::chosen;
use std::process::ExitCode;

/// The bars that a fitted baseline column has to pass: median and worst relative error.
const BARS: (f64, f64) = (0.05, 0.12);

/// Fits a table's baseline, or checks it.
pub(crate) fn fit(args: &FitArgs) -> ExitCode {
    let problem = match chosen(&args.table).and_then(|tables| Problem::new(tables, args)) {
        Ok(problem) => problem,
        Err(message) => return refuse(&message),
    };
    interrupt::install();
    let evaluations = if args.check { 1 } else { 2 + args.rounds as usize * (problem.knobs.len() + 4) };
    let progress = Progress::new((evaluations * problem.runs()) as u64, args.quiet);
    let mut text = String::new();
    let start = problem.start();
    let evaluate = |points: &[Vec<f64>]| problem.errors(points, &interrupt::requested, &|| progress.step());
    let Some(before) = evaluate(core::slice::from_ref(&start)).pop().flatten() else {
        progress.finish();
        return failed();
    };
    let (end, after) = if args.check || problem.knobs.is_empty() {
        (start.clone(), before.clone())
    } else {
        let weights = problem.priors();
        let found = descent::descend(&start, &before, &weights, problem::ERROR_SCALE, args.rounds, evaluate);
        let Some(found) = found else {
            progress.finish();
            return failed();
        };
        found
    };
    progress.finish();
    let passes = tell(&mut text, &problem, &start, &end, &before, &after);
    if !args.check && !args.dry_run {
        match written::write(&problem, &end, &args.dir) {
            Ok(paths) => {
                for path in paths {
                    let _ = writeln!(text, "written: {}", path.display());
                }
            }
            Err(message) => {
                eprintln!("stanchion: {message}");
                return print(&text, ExitCode::from(FAILED));
            }
        }
    }
    print(&text, if passes { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
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
        let _ = writeln!(text, "{}, column {} ({})", table.title, table.baseline, table.unit);
        let _ = writeln!(
            text,
            "  {:>8} {:>12} {:>12} {:>9} {:>9}",
            "", "published", "simulated", "error", "before"
        );
        let mut sizes = Vec::new();
        for (row, (after, before)) in part.rows.iter().zip(errors.by_ref()) {
            let _ = writeln!(
                text,
                "  {:>8} {:>12} {:>12} {:>+7.1} % {:>+7.1} %",
                row.label,
                number(row.published),
                number(row.published * after.exp()),
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
