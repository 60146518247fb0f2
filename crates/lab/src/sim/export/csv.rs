//! One row per cell for spreadsheets and scripts; where it comes from stands in `#` lines above.
use crate::sim::report::Report;
use core::fmt::Write;
use stanchion_cells::columns::{CellRow, of_cells};

pub(super) fn write(report: &Report) -> String {
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
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let columns = of_cells();
    let head = columns.iter().map(|column| column.name.clone()).collect();
    let rows = report.cells.iter().map(|cell| {
        let row = CellRow { scene: report.scenes.iter().find(|scene| cell.is_of(scene)), cell };
        columns.iter().map(|column| (column.value)(&row).to_string()).collect()
    });
    for row in core::iter::once::<Vec<String>>(head).chain(rows) {
        writer.write_record(row).expect("every row has the same columns and memory does not fail");
    }
    let table = writer.into_inner().expect("memory does not fail");
    text.push_str(&String::from_utf8_lossy(&table));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::testing;
    use stanchion_cells::cell::State;

    #[test]
    fn comments_first_then_one_row_per_cell_with_every_column() {
        let mut report = testing::report(&["byte", "ticket"], &[1, 2]);
        report.compare();
        report.cells[3].state = State::Broken { seed: 43, message: "two,\n\"holders\"".into() };
        report.cells[3].figures = None;
        let text = write(&report);
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
