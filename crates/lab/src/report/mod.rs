//! `stanchion report`: results of any command and day, side by side. Of the JSON that commands wrote
//! ([`forms`]), rows of the same name are compared ([`compare`]), and told with intervals ([`told`]).
mod compare;
mod forms;
#[cfg(test)]
mod tests;
mod told;

use clap::ArgAction;
use compare::Report;
use forms::Results;
use lab_kit::experiment::Experiment;
use lab_kit::export::{Files, Formats, json};
use lab_kit::names;
use lab_kit::output::warn;
use std::path::PathBuf;
use std::process::ExitCode;

const FORMATS: Formats<Report> = Formats { stem: "report", json, csv: told::csv, html: Some(told::page) };

/// Put results side by side, whatever the day: every ratio is to the first file, with its 95 % interval. That
/// is over seeds in pairs for what was simulated, and Welch's over rounds for what was measured.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 the files were compared; 1 a file could not be written; 2 bad input:
a file is no result, or they are unlike and --unlike does not allow it.")]
pub(crate) struct Args {
    /// Results in JSON, of one command: of bench, ablate, sim, reproduce, fit, run --compare, advise,
    /// guest, torture, explore or calibrate
    #[arg(value_name = "FILE", num_args = 2..=told::MOST_FILES, required = true)]
    results: Vec<PathBuf>,

    /// What may differ between the results: machine, arguments, version, and what stood in the files of
    /// machines, workloads and recordings
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set)]
    unlike: Vec<String>,

    /// The figures to show, such as throughput [default: the verdict on all, and the table of the first]
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set)]
    figure: Vec<String>,

    /// The locks to compare [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', action = ArgAction::Set, value_parser = names::LockNames::ALL, hide_possible_values = true)]
    lock: Vec<String>,

    #[command(flatten)]
    files: Files,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, String> {
    let results = args.results.iter().map(|path| Results::read(path)).collect::<Result<Vec<_>, _>>()?;
    let mut report = Report::of(results, &args.unlike, &args.lock)?;
    let all = args.figure.is_empty();
    report.figures = names::chosen("figure", report.figures, &args.figure, |figure| figure.name)?;
    let mut experiment = Experiment::open(&args.files, &FORMATS, 1)?;
    warn(&told::doubts(&report));
    experiment.keep(&report);
    let text = told::text(&report, all) + &experiment.written();
    Ok(experiment.end(&text, true, false))
}
