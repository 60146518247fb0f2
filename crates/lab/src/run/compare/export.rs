//! The result for programs: JSON of the whole, CSV of the runs.
use super::report::{Failure, Report, Row};
use core::fmt::Write;
use lab_kit::export;
use serde::Serialize;

/// The whole report.
pub(crate) const JSON: export::Writer<Report> = crate::run::json;
/// One row for each run, where it comes from in `#` lines above.
pub(crate) const CSV: export::Writer<Report> = csv;

fn csv(report: &Report) -> String {
    let one_line = |text: &str| text.replace(['\n', '\r'], " ");
    let mut text =
        format!("# stanchion run --compare, schema {}, complete: {}\n", report.schema, report.complete);
    for (name, value) in report.provenance.rows() {
        let _ = writeln!(text, "# {name}: {}", one_line(&value));
    }
    let _ = writeln!(text, "# program: {}", one_line(&report.program.join(" ")));
    let _ = writeln!(text, "# metric: {}", one_line(&report.setting.metric.told()));
    for row in &report.locks {
        if let (Some(summary), Some(ratio)) = (&row.summary, row.ratio.and_then(|ratio| ratio.told())) {
            let _ = writeln!(text, "# {}: median {}, ratio {ratio}", row.lock, summary.median);
        }
    }
    for warning in &report.warnings {
        let _ = writeln!(text, "# warning: {}", one_line(warning));
    }
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    for Row { lock, runs, failures, .. } in &report.locks {
        let sound = runs.iter().map(|run| Line {
            lock,
            round: run.round,
            warmup: run.warmup,
            state: "measured",
            metric: Some(report.setting.metric.of(&run.figures)),
            wall_s: Some(run.figures.wall_s),
            cpu_s: Some(run.figures.cpu_s),
            max_rss_kib: Some(run.figures.max_rss_kib),
            reason: "",
        });
        let failed = failures.iter().map(|Failure { round, warmup, reason }| Line {
            lock,
            round: *round,
            warmup: *warmup,
            state: "failed",
            reason,
            ..Line::default()
        });
        for line in sound.chain(failed) {
            writer.serialize(line).expect("every row has the same columns and memory does not fail");
        }
    }
    text + &String::from_utf8_lossy(&writer.into_inner().expect("memory does not fail"))
}

/// A run as a row; one that failed has no figures.
#[derive(Default, Serialize)]
struct Line<'a> {
    lock: &'a str,
    round: usize,
    warmup: bool,
    state: &'a str,
    metric: Option<f64>,
    wall_s: Option<f64>,
    cpu_s: Option<f64>,
    max_rss_kib: Option<u64>,
    reason: &'a str,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compare::report::Run;
    use crate::run::compare::testing::{figures, report};
    use crate::run::json;

    fn filled() -> Report {
        let mut report = report(&["libc", "qspin"]);
        for row in &mut report.locks {
            row.runs = (0..3).map(|round| Run { round, warmup: round == 0, figures: figures(0.5) }).collect();
        }
        let reason = "exit code 3: said \"no\", twice".to_owned();
        report.locks[1].failures.push(Failure { round: 3, warmup: false, reason });
        report.refresh(&["a\nb".into()]);
        report
    }

    #[test]
    fn json_parses_back_to_the_same_report() {
        let report = filled();
        assert_eq!(serde_json::from_str::<Report>(&json(&report)).expect("parses"), report);
        let value: serde_json::Value = serde_json::from_str(&json(&report)).expect("parses");
        assert_eq!(value["provenance"]["seed"], 42);
        assert_eq!(value["locks"][1]["verdict"], "unclear");
        assert_eq!(value["setting"]["metric"]["what"], "wall");
    }

    #[test]
    fn csv_has_comments_first_then_one_row_for_each_run() {
        let text = csv(&filled());
        assert!(
            text.contains("# seed: 42")
                && text.contains("# program: x a b")
                && text.contains("# warning: a b\n")
        );
        let mut reader = ::csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
        let rows: Vec<_> = reader.records().collect::<Result<_, _>>().expect("rows of equal length");
        assert_eq!(rows.len(), 7);
        assert_eq!((&rows[6][3], &rows[6][8]), ("failed", "exit code 3: said \"no\", twice"));
        assert_eq!(&rows[1][4], "0.5");
    }
}
