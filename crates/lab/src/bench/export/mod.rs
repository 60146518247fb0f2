//! What the benchmark writes: the three forms of its report.
mod about;
mod csv;
mod html;

use super::report::Report;
use lab_kit::export::{Formats, json};

/// How they are written into files of this name.
pub(crate) fn formats(stem: &'static str) -> Formats<Report> {
    Formats { stem, json, csv: csv::write, html: Some(html::write) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::{SCHEMA, State, Warning};
    use crate::bench::tests::{full, full_rw};

    #[test]
    fn every_file_carries_the_seed() {
        for report in [full(), full_rw()] {
            let formats = formats("bench");
            for write in [formats.json, formats.csv, formats.html.expect("it has a page")] {
                let text = write(&report);
                assert!(text.contains("seed") && text.contains("42"));
            }
        }
    }

    #[test]
    fn json_parses_back_to_the_same_report() {
        let mut report = full();
        let states = [
            State::Stalled,
            State::Skipped { stalled_at: 4 },
            State::Failed { reason: "killed \"by\" signal 9".into() },
            State::Broken { acquisitions: 2, counter: 1 },
        ];
        for (cell, state) in report.cells.iter_mut().zip(states) {
            cell.state = state;
        }
        report.warnings.push(Warning::BusyDuring { share: 0.25 });
        let text = json(&report);
        assert_eq!(serde_json::from_str::<Report>(&text).expect("parses"), report);
        let value: serde_json::Value = serde_json::from_str(&text).expect("parses");
        assert_eq!(value["schema"], SCHEMA);
        assert_eq!(value["provenance"]["seed"], 42);
        assert_eq!(value["cells"][3]["state"], "broken");
        assert!(value["uncontended"][0]["ns"]["median"].is_number());
        assert_eq!(value["cells"][0].get("mix"), None);
    }

    #[test]
    fn json_of_readers_and_writers_does_too() {
        let mut report = full_rw();
        report.cells[0].state = State::Torn { of_reads: 9, torn: 1 };
        let text = json(&report);
        assert_eq!(serde_json::from_str::<Report>(&text).expect("parses"), report);
        let value: serde_json::Value = serde_json::from_str(&text).expect("parses");
        assert_eq!(
            (&value["cells"][0]["mix"], &value["cells"][0]["reads_percent"]),
            (&"drawn".into(), &99.0.into())
        );
        assert_eq!(value["cells"][0]["state"], "torn");
    }
}
