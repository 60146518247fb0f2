//! The result as a table for a terminal of a hundred columns.
use super::report::{Report, Row};
use core::fmt::Write;
use lab_kit::export::grid::{align_right, plain_table, trimmed};

/// Everything, for the terminal.
pub(crate) fn render(report: &Report) -> String {
    let setting = &report.setting;
    let mut text = format!("\n{}\n", setting.metric.told());
    let first = setting.locks.first().map_or("", String::as_str);
    let mut table = plain_table();
    table.set_header(["lock", "runs", "median", "from .. to", &format!("ratio to {first} [95 %]"), ""]);
    for row in &report.locks {
        table.add_row(cells(row));
    }
    align_right(&mut table);
    let _ = writeln!(text, "{}", trimmed(&table));
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

#[cfg(test)]
mod tests {
    use super::super::report::{Failure, Run};
    use super::*;
    use crate::run::compare::testing::{figures, report};

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
        let text = render(&report);
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
