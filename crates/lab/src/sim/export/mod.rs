//! What a simulation writes: the forms of its report.
mod about;
mod html;

use super::args::Args;
use super::report::Report;
use super::{timeline, trace};
use about::about;
use lab_kit::export::columns::named;
use lab_kit::export::{Exports, Formats, Writer, json};
use stanchion_cells::cell::Cell;
use stanchion_cells::columns::{CellRow, of_cells};

const FORMATS: Formats<Report> = Formats {
    stem: "sim",
    json,
    csv: |report| about(report).csv(named(&of_cells(), rows(report))),
    html: Some(html::write),
};

/// Opens the files that were asked for, or refuses what cannot be written.
pub(super) fn open(args: &Args) -> Result<Exports<Report>, String> {
    let mut files = args.files.named(&FORMATS)?;
    let trace: Writer<Report> =
        |report| report.looked_at(&|seen, of| trace::write(seen, of, trace::MOST)).unwrap_or_default();
    let timeline: Writer<Report> = |report| report.looked_at(&timeline::write).unwrap_or_default();
    files.extend(args.trace.iter().map(|path| (path.clone(), trace)));
    files.extend(args.timeline.iter().map(|path| (path.clone(), timeline)));
    Exports::open(files, args.files.results.force)
}

/// The cells, each with its scene.
fn rows(report: &Report) -> impl Iterator<Item = CellRow<'_>> {
    let scene = |cell: &Cell| report.scenes.iter().find(|scene| cell.is_of(scene));
    report.cells.iter().map(move |cell| CellRow { scene: scene(cell), cell })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::report::SCHEMA;
    use crate::sim::tests as testing;
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
        let text = (FORMATS.csv)(&report);
        for part in [
            "# seed: 42",
            "# machine: ",
            "# virtual time: 1000000 ns",
            "# simulated: 8 runs of ",
            "host.kick=2us",
        ] {
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
