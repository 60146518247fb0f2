//! What the benchmark writes: the three forms of its report.
mod csv;
mod html;

use super::cell::Calibration;
use super::report::Report;
use lab_kit::experiment::About;
use lab_kit::export::{Formats, json};
use lab_kit::units::plural;

/// How they are written into files of this name.
pub(crate) fn formats(stem: &'static str) -> Formats<Report> {
    Formats { stem, json, csv: csv::write, html: Some(html::write) }
}

fn about(report: &Report) -> About<'_> {
    let Report { schema, complete, provenance, setting, warnings, .. } = report;
    let (used, cpus, model) = (setting.cpus.len(), provenance.cpus, &provenance.cpu_model);
    let rounds = format!(
        "{} of {} ms for throughput, {} of {} ms for latency, interleaved across locks; drain limit {} ms",
        setting.rounds, setting.time_ms, setting.latency_rounds, setting.latency_time_ms, setting.drain_ms
    );
    let Calibration { ns_per_step, ticks_per_ns, clock_read_ns, clock_step_ns } = report.calibration;
    let calibration = format!(
        "{ns_per_step:.4} ns a step of work, {ticks_per_ns:.4} ticks a nanosecond, \
         {clock_read_ns:.1} ns a clock reading, {clock_step_ns:.1} ns a step of the clock"
    );
    let facts = vec![
        ("schema", schema.to_string()),
        ("rounds", rounds),
        ("CPUs used", setting.cpus.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")),
        ("calibration", calibration),
    ];
    let set_up = format!("{} on {used} of {cpus} CPUs ({model})", plural(report.locks.len(), "lock"));
    let doubts = warnings.iter().map(ToString::to_string).collect();
    About { command: "bench", complete: *complete, provenance, set_up, facts, doubts }
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
