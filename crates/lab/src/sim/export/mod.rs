//! What a simulation writes: the three forms of its report.
mod bars;
mod html;

use super::args::Args;
use super::report::Report;
use super::{timeline, trace};
use core::fmt::Write;
use lab_kit::export::{Exports, Formats, Writer};
use stanchion_cells::columns::{CellRow, Column, of_cells};

const FORMATS: Formats<Report> =
    Formats { stem: "sim", json: lab_kit::export::json, csv, html: Some(html::write) };

/// Opens the files that were asked for, or refuses what cannot be written.
pub(super) fn open(args: &Args) -> Result<Exports<Report>, String> {
    let mut files = args.files.named(&FORMATS)?;
    let trace: Writer<Report> = |report| trace::write(&report.recording, &report.caption());
    let timeline: Writer<Report> = |report| timeline::write(&report.recording, &report.caption());
    files.extend(args.trace.iter().map(|path| (path.clone(), trace)));
    files.extend(args.timeline.iter().map(|path| (path.clone(), timeline)));
    Exports::open(files, args.files.force)
}

/// One row per cell for spreadsheets and scripts; where it comes from stands in `#` lines above.
fn csv(report: &Report) -> String {
    let setting = &report.setting;
    let mut text = format!("# stanchion sim, schema {}, complete: {}\n", report.schema, report.complete);
    for (name, value) in report.provenance.rows() {
        let _ = writeln!(text, "# {name}: {}", value.replace(['\n', '\r'], " "));
    }
    let _ = writeln!(
        text,
        "# virtual time: {} ns after {} ns, limit {} events, fields set: {}",
        setting.time_ns,
        setting.warm_up_ns,
        setting.limit,
        setting.sets.join(" ").replace(['\n', '\r'], " ")
    );
    let rows = report.cells.iter().map(|cell| {
        let scene = report.scenes.iter().find(|scene| cell.is_of(scene));
        CellRow { scene, cell }
    });
    text + &table_of(&of_cells(), rows)
}

/// Rows as CSV, below the names of their columns.
pub(crate) fn table_of<R>(columns: &[Column<R>], rows: impl Iterator<Item = R>) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let head = columns.iter().map(|column| column.name.clone()).collect();
    let rows = rows.map(|row| columns.iter().map(|column| (column.value)(&row).to_string()).collect());
    for row in core::iter::once::<Vec<String>>(head).chain(rows) {
        writer.write_record(row).expect("every row has the same columns and memory does not fail");
    }
    String::from_utf8_lossy(&writer.into_inner().expect("memory does not fail")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::report::SCHEMA;
    use crate::sim::testing;
    use lab_kit::export::json;
    use stanchion_cells::cell::State;

    #[test]
    fn it_parses_back_to_the_same_report() {
        let mut report = testing::report(&["byte", "ticket"], &[1, 2]);
        report.compare();
        report.cells[0].state = State::Broken { seed: 3, message: "two \"holders\"".into() };
        report.cells[1].state = State::Cut { runs: 1 };
        let text = json(&report);
        assert_eq!(json(&serde_json::from_str::<Report>(&text).expect("parses")), text);
        let value: serde_json::Value = serde_json::from_str(&text).expect("parses");
        assert_eq!(value["schema"], SCHEMA);
        assert_eq!(value["cells"][0]["state"], "broken");
        assert_eq!(value["setting"]["seeds"][1], 43);
    }

    #[test]
    fn comments_first_then_one_row_per_cell_with_every_column() {
        let mut report = testing::report(&["byte", "ticket"], &[1, 2]);
        report.compare();
        report.cells[3].state = State::Broken { seed: 43, message: "two,\n\"holders\"".into() };
        report.cells[3].figures = None;
        let text = csv(&report);
        for part in ["# seed: 42", "# machine: ", "# virtual time: 1000000 ns", "host.kick=2us"] {
            assert!(text.contains(part), "{part}");
        }
        let mut reader = ::csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        assert_eq!(reader.headers().expect("headers").len(), of_cells().len());
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows of equal length");
        assert_eq!(rows.len(), 4);
        let column = |name: &str| of_cells().iter().position(|column| column.name == name).expect("a column");
        assert_eq!(&rows[2][column("speed_up")], "2");
        assert_eq!(&rows[2][column("time_spinning")], "0.5");
        assert_eq!(&rows[3][column("state")], "broken");
        assert_eq!(&rows[3][column("units_per_s")], "");
        assert!(rows[3][column("message")].contains("two,\n\"holders\""));
    }
}
