//! What came of fits: cells and parameters, for the terminal and for files.
use super::super::summary::off;
use super::Found;
use super::problem::{Measured, Problem};
use core::fmt::Write;
use lab_kit::column::Column;
use lab_kit::experiment::About;
use lab_kit::export::columns::{named, objects, table};
use lab_kit::export::grid::trimmed;
use lab_kit::export::{Formats, page};
use lab_kit::provenance::Provenance;
use lab_kit::units::{percent, plural};
use maud::html;
use serde_json::{Value, json};
use stanchion_cells::columns::number;
use std::path::PathBuf;

const SCHEMA: u32 = 1;

/// The bars that a fitted column has to pass: median and worst relative error.
const BARS: (f64, f64) = (0.05, 0.12);

/// What all fits of a command came to.
pub(super) struct Told {
    pub provenance: Provenance,
    pub seeds: u64,
    /// What else was asked for.
    pub options: Value,
    pub groups: Vec<Group>,
    pub complete: bool,
}

/// What came of tables that were fitted together.
pub(super) struct Group {
    columns: Vec<Fitted>,
    parameters: Vec<Parameter>,
    /// Why a fit is stale, of those that are checked.
    pub stale: Vec<String>,
    /// The files that were written.
    pub written: Vec<PathBuf>,
}

/// A column to fit, with its cells.
struct Fitted {
    title: String,
    cells: Vec<Cell>,
    measured: Measured,
}

struct Cell {
    table: String,
    lock: String,
    row: String,
    unit: String,
    published: f64,
    /// The logarithms of simulated over published.
    error: f64,
    before: f64,
}

struct Parameter {
    name: String,
    value: f64,
    before: f64,
    prior: f64,
    /// The width of the prior, as a share of it.
    width: f64,
    /// How far the value is from the prior, in its widths.
    far: f64,
}

fn signed(share: f64) -> String {
    format!("{:+.1} %", share * 100.0)
}

fn of_cells() -> [Column<Cell>; 8] {
    [
        Column::new("table", |cell: &Cell| cell.table.clone()),
        Column::new("lock", |cell: &Cell| cell.lock.clone()),
        Column::called("row", |cell: &Cell| cell.row.clone()),
        Column::new("unit", |cell: &Cell| cell.unit.clone()),
        Column::called("published", |cell: &Cell| cell.published).shown(number),
        Column::called("simulated", |cell: &Cell| cell.published * cell.error.exp()).shown(number),
        Column::new("relative_error", |cell: &Cell| cell.error.exp_m1()).titled("error").shown(signed),
        Column::new("relative_error_before", |cell: &Cell| cell.before.exp_m1())
            .titled("before")
            .shown(signed),
    ]
}

fn of_parameters() -> [Column<Parameter>; 6] {
    [
        Column::called("parameter", |one: &Parameter| one.name.clone()),
        Column::called("value", |one: &Parameter| one.value).shown(number),
        Column::called("before", |one: &Parameter| one.before).shown(number),
        Column::called("prior", |one: &Parameter| one.prior).shown(number),
        Column::new("prior_width", |one: &Parameter| one.width).titled("+-").shown(percent),
        Column::new("widths_from_prior", |one: &Parameter| one.far)
            .titled("widths from it")
            .shown(|widths| format!("{widths:+.1}")),
    ]
}

impl Group {
    /// Where the parameters were and are, and what the columns came to there.
    pub(super) fn of(problem: &Problem, (start, before): &Found, (end, after): &Found) -> Self {
        let columns = problem.parts.iter().zip(before.iter().zip(after)).map(|(part, (before, after))| {
            let errors = before.errors.iter().zip(&after.errors);
            let cells = part.rows().zip(errors).map(|((row, published), (&before, &error))| Cell {
                table: part.table.name.clone(),
                lock: part.column.clone(),
                row: row.label.clone(),
                unit: part.table.unit.clone(),
                published,
                error,
                before,
            });
            let title = format!("{}, column {} ({})", part.table.title, part.column, part.table.unit);
            Fitted { title, cells: cells.collect(), measured: after.clone() }
        });
        let parameters = problem.knobs.iter().zip(start.iter().zip(end)).map(|(knob, (before, value))| {
            let of = knob.part.map_or(String::new(), |part| format!("{} ", problem.parts[part].table.name));
            Parameter {
                name: of + &knob.path,
                value: value.exp(),
                before: before.exp(),
                prior: knob.centre,
                width: knob.sigma,
                far: (value - knob.centre.ln()) / knob.sigma,
            }
        });
        let (columns, parameters) = (columns.collect(), parameters.collect());
        Self { columns, parameters, stale: Vec::new(), written: Vec::new() }
    }

    /// Whether each column passes the bars.
    pub(super) fn passes(&self) -> bool {
        self.columns.iter().all(Fitted::passes)
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for column in &self.columns {
            let cells = trimmed(&table(&of_cells(), &column.cells));
            let _ = writeln!(text, "{}\n{cells}\n  {}\n", column.title, column.verdict());
        }
        if !self.parameters.is_empty() {
            let _ = writeln!(text, "{}\n", trimmed(&table(&of_parameters(), &self.parameters)));
        }
        text.extend(self.stale.iter().map(|why| format!("  stale: {why}\n")));
        text.extend(self.written.iter().map(|path| format!("written: {}\n", path.display())));
        text
    }
}

impl Fitted {
    fn passes(&self) -> bool {
        let (median, worst) = self.measured.median_and_worst();
        median <= BARS.0 && worst <= BARS.1
    }

    fn verdict(&self) -> String {
        let [bar, last] = [BARS.0, BARS.1].map(|share| share * 100.0);
        let how = if self.passes() { "passed" } else { "missed" };
        let off = off(&self.measured.off()).unwrap_or_default();
        format!("{off}; bars (median {bar:.0} %, worst {last:.0} %): {how}")
    }

    fn json(&self) -> Value {
        let (median, worst) = self.measured.median_and_worst();
        let table = self.cells.first().map(|cell| &cell.table);
        json!({ "table": table, "median": median, "worst": worst, "passed": self.passes() })
    }
}

/// The files of the command.
pub(super) const FORMATS: Formats<Told> =
    Formats { stem: "fit", json: Told::json, csv: Told::csv, html: Some(Told::page) };

impl Told {
    fn about(&self) -> About<'_> {
        let Self { provenance, seeds, complete, .. } = self;
        let set_up = format!("{} a cell", plural(*seeds as usize, "seed"));
        let facts = vec![("schema", SCHEMA.to_string())];
        About { command: "fit", complete: *complete, provenance, set_up, facts, doubts: self.stale() }
    }

    fn stale(&self) -> Vec<String> {
        let of = |group: &Group| {
            let tables: Vec<&str> = group.columns.iter().map(|column| &*column.cells[0].table).collect();
            let tables = tables.join(", ");
            group.stale.iter().map(|why| format!("{tables}: {why}")).collect::<Vec<_>>()
        };
        self.groups.iter().flat_map(of).collect()
    }

    fn columns(&self) -> impl Iterator<Item = &Fitted> {
        self.groups.iter().flat_map(|group| &group.columns)
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.columns().flat_map(|column| &column.cells)
    }

    fn parameters(&self) -> impl Iterator<Item = &Parameter> {
        self.groups.iter().flat_map(|group| &group.parameters)
    }

    fn json(&self) -> String {
        lab_kit::export::json(&json!({
            "schema": SCHEMA,
            "complete": self.complete,
            "provenance": self.provenance,
            "seeds": self.seeds,
            "options": self.options,
            "stale": self.stale(),
            "fits": self.columns().map(Fitted::json).collect::<Vec<_>>(),
            "cells": objects(&of_cells(), self.cells()),
            "parameters": objects(&of_parameters(), self.parameters()),
        }))
    }

    /// A row for each cell.
    fn csv(&self) -> String {
        self.about().csv(named(&of_cells(), self.cells()))
    }

    fn page(&self) -> String {
        let shown = html! {
            @for column in self.columns() {
                h2 { (column.title) }
                p.sub { (column.verdict()) }
                (page::table(&table(&of_cells(), &column.cells)))
            }
            @if self.parameters().next().is_some() {
                h2 { "Parameters" }
                (page::table(&table(&of_parameters(), self.parameters())))
            }
        };
        self.about().page("Fits to published tables", "", &shown, "")
    }
}
