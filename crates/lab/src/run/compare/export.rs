//! How a comparison is told: a table for a terminal of a hundred columns, JSON of the whole, CSV of the runs.
use super::report::Report;
use lab_kit::compare::{Comparison, Figures, Row};
use lab_kit::export::{self, Formats, grid};
use lab_kit::stats::Summary;

pub(crate) fn table(report: &Report) -> String {
    let Comparison { setting, locks, .. } = &report.comparison;
    let what = setting.metric.told();
    let ratio = format!("ratio to {} [95 %]", setting.locks.first().map_or("", String::as_str));
    let header = ["lock", "runs", "median", "from .. to", &ratio, ""];
    let table = grid::trimmed(&grid::table(header, locks.iter().map(cells)));
    let note =
        "ratio: paired by round, geometric mean, 95 % interval; unclear: 1 is in it, or fewer than 5 pairs";
    let more: String =
        locks.iter().filter_map(|row| Some(format!("{}: {}\n", row.lock, others(row)?))).collect();
    format!("\n{what}\n{table}\n{note}\n{more}")
}

/// The ratios of time and memory, whatever is compared: `cpu 1.02 (1.01–1.03), rss …`.
fn others(row: &Row) -> Option<String> {
    let told = row.ratios.iter().filter_map(|(name, ratio)| Some(format!("{name} {}", ratio.told()?)));
    let told: Vec<_> = told.collect();
    (!told.is_empty()).then(|| told.join(", "))
}

fn cells(row: &Row) -> [String; 6] {
    let counted = row.counted().count();
    let tried = counted + row.failures.iter().filter(|failure| !failure.warmup).count();
    let range = |summary: &Summary| [summary.min, summary.max].map(four_figures).join(" .. ");
    let summary = row.summary.as_ref();
    let ratio = row.ratio.and_then(|ratio| Some((ratio.ratio, ratio.interval?)));
    let ratio = ratio.map(|(ratio, (low, high))| format!("{ratio:.3} [{low:.3}, {high:.3}]"));
    [
        row.lock.clone(),
        format!("{counted} of {tried}"),
        summary.map_or("-".to_owned(), |summary| four_figures(summary.median)),
        summary.map_or("-".to_owned(), range),
        ratio.unwrap_or_default(),
        if row.given_up { "given up".to_owned() } else { row.verdict.clone().unwrap_or_default() },
    ]
}

/// About four figures: repeated runs often differ in the third only.
fn four_figures(value: f64) -> String {
    let places = if value == 0.0 { 0.0 } else { (3.0 - value.abs().log10().floor()).clamp(0.0, 6.0) };
    format!("{value:.*}", places as usize)
}

pub(crate) const FORMATS: Formats<Report> =
    Formats { stem: "comparison", json: export::json, csv, html: None };

/// One row for each run, where it comes from in `#` lines above.
fn csv(report: &Report) -> String {
    let Report { schema, program, .. } = report;
    let Comparison { complete, setting, locks, warnings, .. } = &report.comparison;
    let head = format!("stanchion run --compare, schema {schema}, complete: {complete}");
    let facts = [("program", program.join(" ")), ("metric", setting.metric.told())];
    let facts = report.provenance.rows().into_iter().chain(facts);
    let ratios = locks.iter().filter_map(|row| {
        let (median, ratio) = (row.summary.as_ref()?.median, row.ratio?.told()?);
        Some((&*row.lock, format!("median {median}, ratio {ratio}; {}", others(row)?)))
    });
    let warnings = warnings.iter().map(|warning| ("warning", warning.clone()));
    let comments = facts.chain(ratios).chain(warnings).map(|(name, value)| format!("{name}: {value}"));
    let rows = locks.iter().flat_map(|Row { lock, runs, failures, .. }| {
        let sound = runs.iter().map(move |run| {
            let Figures { wall_s, cpu_s, max_rss_kib, .. } = run.figures;
            let figures = [setting.metric.of(&run.figures), wall_s, cpu_s, max_rss_kib as f64];
            row(lock, run.round, run.warmup, Ok(figures))
        });
        let failed = failures.iter();
        sound.chain(failed.map(move |run| row(lock, run.round, run.warmup, Err(&run.reason))))
    });
    export::csv([head].into_iter().chain(comments), rows)
}

/// A run as a row; one that failed has a reason in place of figures.
fn row(lock: &str, round: usize, warmup: bool, came: Result<[f64; 4], &str>) -> Vec<(&'static str, String)> {
    let names = ["lock", "round", "warmup", "state", "metric", "wall_s", "cpu_s", "max_rss_kib", "reason"];
    let state = if came.is_ok() { "measured" } else { "failed" };
    let first = [lock.to_owned(), round.to_string(), warmup.to_string(), state.to_owned()];
    let figures = came.map(|figures| figures.map(|figure| figure.to_string())).unwrap_or_default();
    let reason = came.err().unwrap_or_default().to_owned();
    names.into_iter().zip(first.into_iter().chain(figures).chain([reason])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::compare::tests::{figures, report};
    use export::json;
    use lab_kit::compare::{Failure, Run};

    fn filled() -> Report {
        let mut report = report(&["libc", "qspin"]);
        for row in &mut report.comparison.locks {
            row.runs = (0..3).map(|round| Run { round, warmup: round == 0, figures: figures(0.5) }).collect();
        }
        let reason = "exit code 3: said \"no\", twice".to_owned();
        report.comparison.locks[1].failures.push(Failure { round: 3, warmup: false, reason });
        report.comparison.warnings = vec!["a\nb".into()];
        report.comparison.refresh(1);
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
                && text.contains("; cpu 1.00 (1.00–1.00), rss 1.00 (1.00–1.00), wall 1.00 (1.00–1.00)\n")
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
        for (index, row) in report.comparison.locks.iter_mut().take(2).enumerate() {
            let seconds = 123_456.7 / (index + 1) as f64;
            row.runs = (0..5).map(|round| Run { round, warmup: false, figures: figures(seconds) }).collect();
        }
        report.comparison.locks[2].failures.push(Failure { round: 0, warmup: false, reason: "x".into() });
        report.comparison.locks[2].given_up = true;
        report.comparison.refresh(0);
        let text = table(&report);
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        let line = |name: &str| text.lines().find(|line| line.contains(name)).expect("a row").to_owned();
        assert!(
            line("sampled").contains("0.500 [0.500, 0.500]") && line("sampled").ends_with("better"),
            "{text}"
        );
        assert!(line("qspin  ").contains(" 0 of 1 ") && line("qspin  ").ends_with("given up"), "{text}");
        assert!(text.contains("wall time, s; lower is better"), "{text}");
        let more = "sampled: cpu 0.50 (0.50–0.50), rss 1.00 (1.00–1.00), wall 0.50 (0.50–0.50)\n";
        assert!(text.contains(more) && !text.contains("qspin: "), "{text}");
    }
}
