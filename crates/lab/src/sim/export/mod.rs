//! What a simulation writes: the forms of its report.
mod html;

use super::args::Args;
use super::report::Report;
use super::table::simulated;
use super::{timeline, trace};
use lab_kit::experiment::About;
use lab_kit::export::columns::named;
use lab_kit::export::{Exports, Formats, Writer, json};
use lab_kit::units::round_ns;
use stanchion_cells::cell::{Cell, Setting};
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

/// What figures tell, and what they do not.
const MEANING: &str = "those of a simulated machine, not of the one named here, which only ran the simulation. \
The same seed gives the same run on every host. Intervals tell how much the seed matters, not how true the machine is.";

fn about(report: &Report) -> About<'_> {
    let Report { complete, provenance, setting, .. } = report;
    let Setting { time_ns, warm_up_ns, limit, sets, seeds, .. } = setting;
    let facts = vec![
        ("schema", report.schema.to_string()),
        ("virtual time", format!("{time_ns} ns after {warm_up_ns} ns, limit {limit} events")),
        ("fields set", sets.join(" ")),
        ("simulated", simulated(report)),
        ("figures", MEANING.to_owned()),
    ];
    let (time, number) = (round_ns(*time_ns as f64), seeds.len());
    let set_up = format!("{time} of virtual time, {number} seeds from {}", seeds[0]);
    About { command: "sim", complete: *complete, provenance, set_up, facts, doubts: Vec::new() }
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
