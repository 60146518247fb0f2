//! The ratios as tables: for a terminal of a hundred columns, or in Markdown.
use super::rules::{self, BASE, Row};
use super::samples::{Beside, Sample};
use core::fmt::Write;
use lab_kit::export::grid::{Column, in_pieces};
use lab_kit::units::{format_ns, three_figures};

/// A cell of a table.
type Show = fn(&Beside) -> Option<String>;

/// What stands above each table, and its cells.
const QUANTITIES: [(&str, Show); 3] = [
    ("throughput (95 % interval)", |beside| Some(beside.throughput()?.to_string())),
    ("worst wait (the longest)", |beside| {
        let ratio = beside.other(|cell| cell.worst_ns)?;
        Some(format!("{} ({})", three_figures(ratio), format_ns(beside.worst_ns()?)))
    }),
    ("CPU time of an acquisition", |beside| beside.other(|cell| cell.cpu).map(three_figures)),
];

/// A table for each quantity that anything has.
pub(crate) fn render(samples: &[Sample], markdown: bool) -> String {
    let known = rules::rows(false).into_iter().chain(rules::rows(true).into_iter().skip(1));
    let rows: Vec<Row> = known.filter(|row| samples.iter().any(|sample| sample.lock == row.lock)).collect();
    let mut loads: Vec<&str> = Vec::new();
    for sample in samples {
        if !loads.contains(&sample.load.as_str()) {
            loads.push(&sample.load);
        }
    }
    let labels: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
    let all = (loads.len() > 1).then_some(None);
    let columns: Vec<Option<&str>> = loads.into_iter().map(Some).chain(all).collect();
    let mut text = String::new();
    for (title, show) in QUANTITIES {
        let cell = |row: &Row, load: Option<&str>| {
            show(&Beside::of(samples, &row.lock, |of| load.is_none_or(|load| load == of))?)
        };
        let column = |load: Option<&str>| Column {
            title: load.unwrap_or("all").to_owned(),
            cells: rows.iter().map(|row| cell(row, load).unwrap_or("-".to_owned())).collect(),
        };
        let columns: Vec<Column> = columns.iter().copied().map(column).collect();
        if columns.iter().flat_map(|column| &column.cells).any(|cell| cell != "-") {
            let _ = write!(text, "\n{title} relative to {BASE}, geometric mean over thread counts\n\n");
            let table = if markdown { in_markdown } else { in_pieces };
            text.push_str(&table("", &labels, &columns));
        }
    }
    text
}

/// The table of these columns, in Markdown.
fn in_markdown(corner: &str, rows: &[&str], columns: &[Column]) -> String {
    let titles: Vec<&str> = columns.iter().map(|column| column.title.as_str()).collect();
    let mut text = format!("| {corner}| {} |\n|---|{}", titles.join(" | "), "---|".repeat(columns.len()));
    for (index, row) in rows.iter().enumerate() {
        let cells: Vec<&str> = columns.iter().map(|column| column.cells[index].as_str()).collect();
        let _ = write!(text, "\n| {row} | {} |", cells.join(" | "));
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::samples::sample;
    use super::*;
    use lab_kit::export::grid::WIDTH;

    fn samples() -> Vec<Sample> {
        let mut samples = Vec::new();
        for row in rules::rows(false) {
            for load in ["empty", "short", "medium", "long"] {
                let rate = if row.lock.ends_with("adapt=0") { 0.5 } else { 1.0 };
                samples.push(sample(&row.lock, load, 2, &[rate, rate]));
            }
        }
        samples
    }

    #[test]
    fn each_quantity_has_a_table_with_each_row_and_the_mean_of_all_loads() {
        let text = render(&samples(), false);
        assert_eq!(text.matches("relative to stanchion").count(), 3, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let row = text.lines().find(|line| line.contains("without adaptive spins")).expect("a row");
        assert!(row.contains("0.50 (0.50–0.50)"), "{text}");
        assert!(
            text.contains("all") && text.contains("1.00 (2.00 ms)") && !text.contains("without barging = ")
        );
    }

    #[test]
    fn markdown_rows_have_as_many_cells_as_the_header() {
        let text = render(&samples(), true);
        let table: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(table.len(), 3 * (2 + 6));
        assert!(table.iter().all(|line| line.matches('|').count() == 7), "{text}");
        assert!(table[3].starts_with("| without barging | 1.00 (1.00–1.00) |"), "{}", table[3]);
    }

    #[test]
    fn a_quantity_that_nothing_has_needs_no_table() {
        let without =
            samples().into_iter().map(|sample| Sample { worst_ns: None, ..sample }).collect::<Vec<_>>();
        assert!(!render(&without, false).contains("worst wait"));
    }
}
