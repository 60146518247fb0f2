//! Every cell as JSON and as CSV.
use lab_kit::experiment::About;
use lab_kit::export::columns::{named, objects};
use lab_kit::provenance::Provenance;
use lab_kit::units::plural;
use serde_json::json;
use stanchion_cells::columns::{Published, of_published};
use stanchion_cells::published::cells::{Cell, Cells};
use stanchion_cells::published::registered::OfTable;
use stanchion_cells::published::tables::Table;

const SCHEMA: u32 = 3;

pub(super) struct Results {
    pub provenance: Provenance,
    pub seeds: u64,
    /// Whether virtual time was cut.
    pub quick: bool,
    pub complete: bool,
    pub tables: Vec<Table>,
    /// What was registered of each.
    pub before: Vec<Option<OfTable>>,
    pub cells: Cells,
}

impl Results {
    /// The cells as comma-separated values.
    pub(super) fn csv(&self) -> String {
        self.about().csv(named(&of_published(), self.rows(None)))
    }

    /// The cells, or those of a table.
    pub(super) fn rows(&self, table: Option<usize>) -> Vec<Published<'_>> {
        let own = self.cells.all.iter().filter(|cell| table.is_none_or(|table| cell.table == table));
        own.map(|cell| Published { tables: &self.tables, cell }).collect()
    }

    pub(super) fn about(&self) -> About<'_> {
        let Self { provenance, seeds, quick, complete, .. } = self;
        let more = if *quick { ", a quarter of the virtual time" } else { "" };
        let set_up = format!("{} a cell{more}", plural(*seeds as usize, "seed"));
        let failed = |of: &Published| {
            Some(format!("{}: {} in {}: {}", of.table().name, of.lock(), of.row(), of.cell.failure.as_ref()?))
        };
        let doubts = self.rows(None).iter().filter_map(failed).collect();
        let facts = vec![("schema", SCHEMA.to_string())];
        About { command: "reproduce", complete: *complete, provenance, set_up, facts, doubts }
    }
}

pub(super) fn json(results: &Results) -> String {
    let Results { provenance, seeds, quick, complete, cells, .. } = results;
    let of_cell = |(columns, cell): (_, &Cell)| {
        let mut row = json!(columns);
        // By seed, in the unit of the table.
        row["values"] = json!(cell.simulated.as_ref().map_or(&[][..], |now| &now.seeds.values));
        row
    };
    let columns = of_published();
    let rows = objects(&columns, results.rows(None)).into_iter().zip(&cells.all).map(of_cell);
    lab_kit::export::json(&json!({
        "schema": SCHEMA,
        "complete": complete,
        "provenance": provenance,
        "seeds": seeds,
        "quick": quick,
        "cells": rows.collect::<Vec<_>>(),
    }))
}

#[cfg(test)]
mod tests {
    use super::super::FORMATS;
    use crate::reproduce::tests::results;
    use lab_kit::export::{Files, ResultFile};

    #[test]
    fn files_hold_every_cell_and_are_not_replaced_unasked() {
        let directory = tempfile::tempdir().expect("a directory");
        let files = Files { out: Some(directory.path().join("new")), ..Files::default() };
        let mut exports = files.open(&FORMATS).expect("nothing is in the way");
        let results = results("", &[2.6, 2.8]);
        exports.write(&results).expect("it can be written");
        let cells = results.cells;
        let csv =
            std::fs::read_to_string(directory.path().join("new/reproduce.csv")).expect("it was written");
        let (comments, rows): (Vec<&str>, Vec<&str>) = csv.lines().partition(|line| line.starts_with('#'));
        assert_eq!(rows.len(), 1 + cells.all.len());
        assert!(rows[1].starts_with("locktorture,qspin,1,") && rows[1].contains("compared"));
        assert_eq!(comments[0], "# stanchion reproduce, complete: true");
        assert!(comments.contains(&"# set-up: 2 seeds a cell"), "{comments:?}");
        let json =
            std::fs::read_to_string(directory.path().join("new/reproduce.json")).expect("it was written");
        let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(json["cells"].as_array().map(Vec::len), Some(cells.all.len()));
        assert_eq!(json["cells"][0]["values"], serde_json::json!([2.6, 2.8]));
        assert_eq!((&json["cells"][0]["two_kinds"], &json["seeds"]), (&false.into(), &2.into()));
        assert!(files.open(&FORMATS).err().is_some_and(|error| error.contains("--force")));
        assert!(
            Files { results: ResultFile { force: true, ..ResultFile::default() }, ..files }
                .open(&FORMATS)
                .is_ok()
        );
    }
}
