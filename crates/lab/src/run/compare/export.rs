//! The result for programs: JSON of the whole, CSV of the runs.
use super::report::{Report, Row};
use core::fmt::Write;
use lab_kit::export;

/// How a file is written.
pub(crate) type Writer = export::Writer<Report>;
/// The whole report.
pub(crate) const JSON: Writer = json;
/// One row for each run, where it comes from in `#` lines above.
pub(crate) const CSV: Writer = csv;

const COLUMNS: [&str; 9] =
    ["lock", "round", "warmup", "state", "metric", "wall_s", "cpu_s", "max_rss_kib", "reason"];

fn json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report has only string keys");
    text.push('\n');
    text
}

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
    let rows = report.locks.iter().flat_map(|row| rows(report, row));
    for row in core::iter::once(COLUMNS.map(str::to_owned)).chain(rows) {
        writer.write_record(row).expect("every row has the same columns and memory does not fail");
    }
    text + &String::from_utf8_lossy(&writer.into_inner().expect("memory does not fail"))
}

fn rows(report: &Report, row: &Row) -> Vec<[String; 9]> {
    let sound = row.runs.iter().map(|run| {
        let figures = &run.figures;
        [
            row.lock.clone(),
            run.round.to_string(),
            run.warmup.to_string(),
            "measured".to_owned(),
            report.setting.metric.of(figures).to_string(),
            figures.wall_s.to_string(),
            figures.cpu_s.to_string(),
            figures.max_rss_kib.to_string(),
            String::new(),
        ]
    });
    let failed = row.failures.iter().map(|failure| {
        let mut cells = core::array::from_fn(|_| String::new());
        cells[0].clone_from(&row.lock);
        cells[1] = failure.round.to_string();
        cells[2] = failure.warmup.to_string();
        "failed".clone_into(&mut cells[3]);
        cells[8].clone_from(&failure.reason);
        cells
    });
    sound.chain(failed).collect()
}

#[cfg(test)]
mod tests {
    use super::super::report::{Failure, Run};
    use super::*;
    use crate::run::compare::testing::{figures, report};

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
