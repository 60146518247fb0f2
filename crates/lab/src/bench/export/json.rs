//! The whole report for programs.
use crate::bench::report::Report;
use serde::Serialize;

pub(crate) fn write<C: Serialize, U: Serialize>(report: &Report<C, U>) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report has only string keys");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::cell::Pass;
    use crate::bench::plan;
    use crate::bench::report::{Cell, SCHEMA, State};
    use crate::bench::testing;
    use crate::bench::warnings::Warning;

    #[test]
    fn it_parses_back_to_the_same_report() {
        let mut report = testing::report(&["a", "peer"]);
        let groups = plan::groups(&report.setting, &report.locks, testing::calibration(), false);
        let rounds = [(Pass::Latency, testing::outcome(groups[2].cells.last().expect("cells"), 10))];
        for state in [
            State::Measured,
            State::Stalled,
            State::Skipped { stalled_at: 4 },
            State::Broken { acquisitions: 2, counter: 1 },
            State::Failed { reason: "killed \"by\" signal 9".into() },
        ] {
            report.cells.push(Cell::of("a", "short", 2, state, &rounds));
        }
        report.warnings.push(Warning::BusyDuring { share: 0.25 });
        let text = write(&report);
        assert_eq!(serde_json::from_str::<Report>(&text).expect("parses"), report);
        let value: serde_json::Value = serde_json::from_str(&text).expect("parses");
        assert_eq!(value["schema"], SCHEMA);
        assert_eq!(value["provenance"]["seed"], 42);
        assert_eq!(value["cells"][3]["state"], "broken");
    }
}
