//! `stanchion fit`: moves the numbers of a machine or a workload until a table's column to fit comes out.
//!
//! Least squares of relative errors, held by log-normal priors from the files ([`problem`]), by damped
//! Gauss-Newton steps in the logarithms of the parameters ([`descent`]). What it says about other columns is
//! a prediction. A fit repeats, and what it was made with goes on record ([`record`]): a stale one is
//! noticed.
mod descent;
mod problem;
mod record;

use super::args::FitArgs;
use super::summary::off;
use super::today;
use core::fmt::Write;
use lab_kit::interrupt;
use lab_kit::output::{FAILED, INTERRUPTED, ended, print};
use lab_kit::progress::Progress;
use problem::{Measured, Problem};
use record::Fit;
use stanchion_cells::columns::number;
use stanchion_cells::published::tables::to_fit;
use std::process::ExitCode;

/// The bars that a fitted column has to pass: median and worst relative error.
const BARS: (f64, f64) = (0.05, 0.12);

/// Fits tables together; or checks or records them, each by itself.
pub(crate) fn fit(args: &FitArgs) -> Result<ExitCode, String> {
    let tables = to_fit(&args.table)?;
    let alone = args.check || args.record;
    let groups = if alone { tables.into_iter().map(|table| vec![table]).collect() } else { vec![tables] };
    let problems = groups.into_iter().map(|tables| Problem::new(tables, args));
    let problems = problems.collect::<Result<Vec<_>, _>>()?;
    let on_record = if args.check { record::read(&args.dir)? } else { Vec::new() };
    interrupt::install();
    let mut text = String::new();
    let mut fallen = Vec::new();
    for problem in &problems {
        match one(problem, args, &on_record, &mut text) {
            Ok(true) => {}
            Ok(false) => fallen.extend(problem.parts.iter().map(|part| part.table.name.as_str())),
            Err(code) => return Ok(print(&text, code)),
        }
    }
    if args.check {
        let stale = if fallen.is_empty() { "none".to_owned() } else { fallen.join(", ") };
        let _ = writeln!(text, "fits: {}; stale: {stale}", problems.len());
    }
    Ok(print(&text, if fallen.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) }))
}

type Found = descent::Found<Vec<Measured>>;

/// Fits, checks or records. Whether it holds: a fit passes the bars, one that is checked is not stale.
fn one(problem: &Problem, args: &FitArgs, on_record: &[Fit], text: &mut String) -> Result<bool, ExitCode> {
    let moves = !args.check && !args.record && !problem.knobs.is_empty();
    let Some((before, after)) = search(problem, args, if moves { args.steps } else { 0 }) else {
        if interrupt::requested() {
            return Err(ended(INTERRUPTED, "interrupted; nothing was written"));
        }
        // It was told on standard error.
        return Err(ExitCode::from(FAILED));
    };
    let passes = tell(text, problem, &before, &after);
    let fits = record::of(problem, &after.0, &after.1, &today());
    if args.check {
        let stale: Vec<String> = fits.iter().filter_map(|fit| record::stale(on_record, fit)).collect();
        text.extend(stale.iter().map(|why| format!("  stale: {why}\n")));
        return Ok(stale.is_empty());
    }
    if args.dry_run {
        return Ok(passes);
    }
    let moved = if moves { record::write_moved(problem, &after.0, &args.dir) } else { Ok(Vec::new()) };
    let written = moved.and_then(|paths| Ok([paths, vec![record::write(fits, &args.dir)?]].concat()));
    let written = written.map_err(|message| ended(FAILED, message))?;
    text.extend(written.iter().map(|path| format!("written: {}\n", path.display())));
    Ok(passes || args.record)
}

/// Where the parameters are, and where `rounds` steps lead. `None` if a run was stopped or failed.
fn search(problem: &Problem, args: &FitArgs, rounds: u32) -> Option<(Found, Found)> {
    let evaluations = 1 + rounds as usize * (problem.knobs.len() + 4);
    let progress = Progress::new((evaluations * problem.runs()) as u64, args.quiet);
    let measure = |points: &[Vec<f64>]| problem.measure(points, &progress);
    let errors = |found: &Vec<Measured>| found.iter().flat_map(|part| part.errors.clone()).collect();
    let priors: Vec<_> = problem.knobs.iter().map(|knob| (knob.centre.ln(), knob.sigma)).collect();
    let (start, scale) = (problem.start(), problem::ERROR_SCALE);
    let found = descent::descend(start, &priors, scale, rounds, measure, errors);
    progress.finish();
    found
}

/// What stands above the cells of a column.
const HEAD: &str = "              published    simulated     error    before";

/// The columns before and after, and where the parameters went. Whether each column passes the bars.
fn tell(text: &mut String, problem: &Problem, (start, before): &Found, (end, after): &Found) -> bool {
    let mut all_pass = true;
    for ((part, before), after) in problem.parts.iter().zip(before).zip(after) {
        let _ = writeln!(text, "{}, column {} ({})\n{HEAD}", part.table.title, part.column, part.table.unit);
        for ((row, published), (after, before)) in part.rows().zip(after.errors.iter().zip(&before.errors)) {
            let [error, before] = [after, before].map(|error| error.exp_m1() * 100.0);
            let [published, simulated] = [published, published * after.exp()].map(number);
            let cells = format!("{:>8} {published:>12} {simulated:>12}", row.label);
            let _ = writeln!(text, "  {cells} {error:>+7.1} % {before:>+7.1} %");
        }
        let (median, worst) = after.median_and_worst();
        let passes = median <= BARS.0 && worst <= BARS.1;
        all_pass &= passes;
        let [bar, last] = [BARS.0, BARS.1].map(|share| share * 100.0);
        let off = off(&after.off()).unwrap_or_default();
        let bars = format!("bars (median {bar:.0} %, worst {last:.0} %)");
        let how = if passes { "passed" } else { "missed" };
        let _ = writeln!(text, "  {off}; {bars}: {how}");
    }
    for ((knob, start), end) in problem.knobs.iter().zip(start).zip(end) {
        let of = knob.part.map_or(String::new(), |part| format!("{} ", problem.parts[part].table.name));
        let name = of + &knob.path;
        let [now, before, centre] = [end.exp(), start.exp(), knob.centre].map(number);
        let (wide, far) = (knob.sigma * 100.0, (end - knob.centre.ln()) / knob.sigma);
        let prior = format!("prior {centre} +- {wide:.0} %: {far:+.1} widths");
        let _ = writeln!(text, "  {name:32} {now:>10} from {before:>10}, {prior}");
    }
    all_pass
}
