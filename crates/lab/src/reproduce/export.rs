//! Every cell as JSON and as CSV.
use super::args::ReproduceArgs;
use lab_kit::provenance::Provenance;
use serde::Serialize;
use stanchion_cells::columns::{Column, Published, Value, of_published};
use stanchion_cells::published::cells::Cells;
use stanchion_cells::published::tables::Table;
use std::path::{Path, PathBuf};

/// The version of the files' format.
const SCHEMA: u32 = 2;

/// Where results go.
pub(crate) struct Exports {
    json: Vec<PathBuf>,
    csv: Vec<PathBuf>,
}

/// A whole result.
#[derive(Serialize)]
struct Whole {
    schema: u32,
    provenance: Provenance,
    seeds: u64,
    cells: Vec<serde_json::Map<String, serde_json::Value>>,
}

impl Exports {
    /// Refuses what cannot be written, before anything is run.
    pub(crate) fn open(args: &ReproduceArgs) -> Result<Self, String> {
        let mut exports =
            Self { json: args.json.iter().cloned().collect(), csv: args.csv.iter().cloned().collect() };
        if let Some(directory) = &args.out {
            std::fs::create_dir_all(directory)
                .map_err(|error| format!("--out {}: {error}", directory.display()))?;
            exports.json.push(directory.join("reproduce.json"));
            exports.csv.push(directory.join("reproduce.csv"));
        }
        for path in exports.json.iter().chain(&exports.csv) {
            if path.exists() && !args.force {
                return Err(format!("{} exists; --force replaces it", path.display()));
            }
            let parent =
                path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if !parent.is_dir() {
                return Err(format!("{}: there is no such directory", parent.display()));
            }
        }
        Ok(exports)
    }

    /// Writes the files.
    pub(crate) fn write(&self, tables: &[Table], cells: &Cells, seeds: u64) -> Result<(), String> {
        let failed = |path: &Path, error: &dyn core::fmt::Display| format!("{}: {error}", path.display());
        let (columns, rows) = (of_published(), || cells.all.iter().map(|cell| Published { tables, cell }));
        for path in &self.json {
            let whole = Whole {
                schema: SCHEMA,
                provenance: Provenance::collect(1),
                seeds,
                cells: rows().map(|row| json(&columns, &row)).collect(),
            };
            let text = serde_json::to_string_pretty(&whole).map_err(|error| failed(path, &error))?;
            std::fs::write(path, text + "\n").map_err(|error| failed(path, &error))?;
        }
        for path in &self.csv {
            let mut writer = csv::Writer::from_path(path).map_err(|error| failed(path, &error))?;
            let head = columns.iter().map(|column| column.name.clone()).collect();
            let rows =
                rows().map(|row| columns.iter().map(|column| (column.value)(&row).to_string()).collect());
            for record in core::iter::once::<Vec<String>>(head).chain(rows) {
                writer.write_record(record).map_err(|error| failed(path, &error))?;
            }
            writer.flush().map_err(|error| failed(path, &error))?;
        }
        Ok(())
    }
}

/// A row as an object.
fn json<'a>(
    columns: &[Column<Published<'a>>],
    row: &Published<'a>,
) -> serde_json::Map<String, serde_json::Value> {
    let value = |column: &Column<Published<'a>>| match (column.value)(row) {
        Value::Text(text) => text.into(),
        Value::Whole(number) => number.into(),
        Value::Real(number) => number.into(),
        Value::Truth(truth) => truth.into(),
        Value::Nothing => serde_json::Value::Null,
    };
    columns.iter().map(|column| (column.name.clone(), value(column))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_cells::published::cells::Simulated;
    use stanchion_cells::published::tables::all;

    #[test]
    fn files_hold_every_cell_and_are_not_replaced_unasked() {
        let directory = tempfile::tempdir().expect("a directory");
        let args = ReproduceArgs { out: Some(directory.path().join("new")), ..ReproduceArgs::default() };
        let exports = Exports::open(&args).expect("nothing is in the way");
        let tables = all().expect("in order");
        let mut cells = Cells::choose(&tables, &[]).expect("no filter");
        let two = Simulated { mean: 2.7, spread: 0.01, least: 2.6, most: 2.8, trace: None };
        cells.all[0].simulated = Some(two);
        exports.write(&tables, &cells, 3).expect("it can be written");
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
        assert!(Exports::open(&args).is_err_and(|error| error.contains("--force")));
        assert!(Exports::open(&ReproduceArgs { force: true, ..args }).is_ok());
    }
}
