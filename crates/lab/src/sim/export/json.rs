//! The whole report for programs.
use crate::sim::report::Report;

pub(super) fn write(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report has only string keys");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::report::SCHEMA;
    use crate::sim::testing;
    use stanchion_cells::cell::State;

    #[test]
    fn it_parses_back_to_the_same_report() {
        let mut report = testing::report(&["byte", "ticket"], &[1, 2]);
        report.compare();
        report.cells[0].state = State::Broken { seed: 3, message: "two \"holders\"".into() };
        report.cells[1].state = State::Cut { runs: 1 };
        let text = write(&report);
        assert_eq!(serde_json::from_str::<Report>(&text).expect("parses"), report);
        let value: serde_json::Value = serde_json::from_str(&text).expect("parses");
        assert_eq!(value["schema"], SCHEMA);
        assert_eq!(value["cells"][0]["state"], "broken");
        assert_eq!(value["setting"]["seeds"][1], 43);
    }
}
