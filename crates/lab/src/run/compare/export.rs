//! How a comparison is told: a table for a terminal of a hundred columns, JSON of the whole, CSV of the runs.
use super::report::{Failure, Report, Row};
use core::fmt::Write;
use lab_kit::export::{self, grid};
use serde::Serialize;

pub(crate) fn table(report: &Report) -> String {
    let setting = &report.setting;
    let mut text = format!("\n{}\n", setting.metric.told());
    let first = setting.locks.first().map_or("", String::as_str);
    let mut table = grid::plain_table();
    table.set_header(["lock", "runs", "median", "from .. to", &format!("ratio to {first} [95 %]"), ""]);
    for row in &report.locks {
        table.add_row(cells(row));
    }
    grid::align_right(&mut table);
    let _ = writeln!(text, "{}", grid::trimmed(&table));
    let _ = writeln!(
        text,
        "ratio: paired by round, geometric mean, 95 % interval; unclear: 1 is in it, or fewer than 5 pairs"
    );
    text
}

fn cells(row: &Row) -> [String; 6] {
    let counted = row.counted().count();
    let tried = counted + row.failures.iter().filter(|failure| !failure.warmup).count();
    let (median, range) = row.summary.as_ref().map_or(("-".to_owned(), "-".to_owned()), |summary| {
        let range = format!("{} .. {}", four_figures(summary.min), four_figures(summary.max));
        (four_figures(summary.median), range)
    });
    let ratio = row
        .ratio
        .and_then(|ratio| Some((ratio.ratio, ratio.interval?)))
        .map(|(ratio, (low, high))| format!("{ratio:.3} [{low:.3}, {high:.3}]"))
        .unwrap_or_default();
    [
        row.lock.clone(),
        format!("{counted} of {tried}"),
        median,
        range,
        ratio,
        if row.given_up { "given up".to_owned() } else { row.verdict.clone().unwrap_or_default() },
    ]
}

/// About four figures: repeated runs often differ in the third only.
fn four_figures(value: f64) -> String {
    let places = if value == 0.0 { 0.0 } else { (3.0 - value.abs().log10().floor()).clamp(0.0, 6.0) };
    format!("{value:.*}", places as usize)
}

/// The whole report.
pub(crate) const JSON: export::Writer<Report> = export::json;
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
    use export::json;

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

    #[test]
    fn figures_are_short_and_tell_runs_apart() {
        let shown = [0.0, 0.012_345_6, 0.501_234, 1.5, 99.987_6, 1234.56, 9_876_543.2].map(four_figures);
        assert_eq!(shown, ["0", "0.01235", "0.5012", "1.500", "99.99", "1235", "9876543"]);
    }

    #[test]
    fn a_table_fits_a_terminal_and_says_what_counts() {
        let mut report = report(&["libc", "pv-qspin-wait-early-sampled", "qspin"]);
        for (index, row) in report.locks.iter_mut().take(2).enumerate() {
            let seconds = 123_456.7 / (index + 1) as f64;
            row.runs = (0..5).map(|round| Run { round, warmup: false, figures: figures(seconds) }).collect();
        }
        report.locks[2].failures.push(Failure { round: 0, warmup: false, reason: "x".into() });
        report.locks[2].given_up = true;
        report.refresh(&[]);
        let text = table(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let line = |name: &str| text.lines().find(|line| line.contains(name)).expect("a row").to_owned();
        assert!(
            line("sampled").contains("0.500 [0.500, 0.500]") && line("sampled").ends_with("better"),
            "{text}"
        );
        assert!(line("qspin  ").contains(" 0 of 1 ") && line("qspin  ").ends_with("given up"), "{text}");
        assert!(text.contains("wall time, s; lower is better"), "{text}");
    }
}
