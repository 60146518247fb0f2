//! Every cell as JSON and as CSV.
use lab_kit::export::Formats;
use lab_kit::export::columns::named;
use lab_kit::provenance::Provenance;
use serde::Serialize;
use stanchion_cells::column::Value;
use stanchion_cells::columns::{Published, of_published};
use stanchion_cells::published::cells::Cells;
use stanchion_cells::published::tables::Table;
use std::collections::BTreeMap;

const SCHEMA: u32 = 2;

pub(super) struct Results {
    pub tables: Vec<Table>,
    pub cells: Cells,
    pub seeds: u64,
}

#[derive(Serialize)]
struct Whole<'a> {
    schema: u32,
    provenance: Provenance,
    seeds: u64,
    cells: Vec<BTreeMap<&'a str, Value>>,
}

pub(super) const FORMATS: Formats<Results> = Formats { stem: "reproduce", json, csv, html: None };

fn rows(results: &Results) -> impl Iterator<Item = Published<'_>> {
    results.cells.all.iter().map(|cell| Published { tables: &results.tables, cell })
}

fn csv(results: &Results) -> String {
    lab_kit::export::csv([], named(&of_published(), rows(results)))
}

fn json(results: &Results) -> String {
    let columns = of_published();
    let cells = named(&columns, rows(results)).map(Iterator::collect).collect();
    let (provenance, seeds) = (Provenance::collect(1), results.seeds);
    lab_kit::export::json(&Whole { schema: SCHEMA, provenance, seeds, cells })
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_kit::export::{Files, ResultFile};
    use lab_kit::stats::Estimate;
    use stanchion_cells::published::cells::Simulated;
    use stanchion_cells::published::tables::all;

    #[test]
    fn files_hold_every_cell_and_are_not_replaced_unasked() {
        let directory = tempfile::tempdir().expect("a directory");
        let files = Files { out: Some(directory.path().join("new")), ..Files::default() };
        let mut exports = files.open(&FORMATS).expect("nothing is in the way");
        let tables = all().expect("in order");
        let mut cells = Cells::choose(&tables, &[]).expect("no filter");
        cells.all[0].simulated = Some(Simulated { seeds: Estimate::of(vec![2.6, 2.8]), trace: None });
        let results = Results { tables, cells, seeds: 3 };
        exports.write(&results).expect("it can be written");
        let cells = results.cells;
        let csv =
            std::fs::read_to_string(directory.path().join("new/reproduce.csv")).expect("it was written");
        assert_eq!(csv.lines().count(), 1 + cells.all.len());
        assert!(
            csv.lines()
                .nth(1)
                .is_some_and(|line| line.starts_with("locktorture,qspin,1,") && line.contains("compared"))
        );
        let json =
            std::fs::read_to_string(directory.path().join("new/reproduce.json")).expect("it was written");
        let json: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(json["cells"].as_array().map(Vec::len), Some(cells.all.len()));
        assert!(files.open(&FORMATS).err().is_some_and(|error| error.contains("--force")));
        assert!(
            Files { results: ResultFile { force: true, ..ResultFile::default() }, ..files }
                .open(&FORMATS)
                .is_ok()
        );
    }
}
