//! The figures for people and for programs.
use super::run::Calibrated;
use super::sample::{Figure, What};
use core::fmt::Write;
use lab_kit::units::format_ns;
use serde::Serialize;

#[derive(Serialize)]
struct Whole<'a> {
    schema: u32,
    date: &'a str,
    machine: &'a str,
    rounds: usize,
    figures: Vec<Row>,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Row {
    what: String,
    unit: &'static str,
    #[serde(flatten)]
    figure: Figure,
    spread: f64,
}

/// As JSON.
pub(super) fn json(calibrated: &Calibrated) -> String {
    let row = |(what, figure): (What, Figure)| Row {
        what: what.title(),
        unit: if what.is_share() { "share" } else { "ns" },
        spread: figure.spread(),
        figure,
    };
    let whole = Whole {
        schema: 1,
        date: &calibrated.date,
        machine: &calibrated.file.machine.name,
        rounds: calibrated.measured.rounds,
        figures: calibrated.measured.figures.all().map(row).collect(),
        warnings: &calibrated.warnings,
    };
    serde_json::to_string_pretty(&whole).expect("strings and numbers only") + "\n"
}

/// As a table.
pub(super) fn table(calibrated: &Calibrated) -> String {
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
