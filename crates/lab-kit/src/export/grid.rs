//! Tables for a terminal of a hundred columns.
use crate::units::without_zeros;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Row, Table, TableStyle};
use core::fmt::Write as _;

/// Columns of a terminal that nothing may exceed.
pub const WIDTH: usize = 100;

/// An empty table in the style of all of them.
pub fn plain_table() -> Table {
    let mut table = Table::new();
    let style = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// A table of these rows: figures stand on the right, what they belong to on the left.
pub fn table<R: Into<Row>>(header: impl Into<Row>, rows: impl IntoIterator<Item = R>) -> Table {
    let mut table = plain_table();
    table.set_header(header).add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The text of a table without blanks at the ends of its lines.
pub fn trimmed(table: &Table) -> String {
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// Writes `begin` and the words behind it; lines that follow are indented as far.
pub fn wrap(text: &mut String, begin: String, words: &str) {
    let indent = " ".repeat(begin.chars().count().max(1));
    let mut line = begin;
    for word in words.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            let _ = writeln!(text, "{line}");
            line.clone_from(&indent);
        }
        let gap = if line.is_empty() { "" } else { " " };
        line = line + gap + word;
    }
    let _ = writeln!(text, "{line}");
}

/// `4 (2x)`: threads, and how many that is to a CPU.
pub fn heading(threads: usize, cpus: usize) -> String {
    let multiple = threads as f64 / cpus.max(1) as f64;
    format!("{threads} ({}x)", without_zeros(&format!("{multiple:.2}")))
}

/// A table in as many pieces below each other as the width needs, each with its first `words` columns and as
/// many of figures as fit. Words that are too many even so go on in the next line.
pub fn pieces(table: &Table, words: usize) -> String {
    let figures = table.column_iter().count() - words;
    let all = |width: usize, arrangement: ContentArrangement| -> String {
        let piece = |first: usize| {
            let mut piece = table.clone();
            piece.set_content_arrangement(arrangement.clone()).set_width(WIDTH as u16);
            for (index, column) in piece.column_iter_mut().skip(words).enumerate() {
                column.set_cell_alignment(CellAlignment::Right);
                if !(first..first + width).contains(&index) {
                    column.set_constraint(ColumnConstraint::Hidden);
                }
            }
            trimmed(&piece) + "\n"
        };
        (0..figures.max(1)).step_by(width).map(piece).collect()
    };
    let fits = |text: &String| text.lines().all(|line| line.chars().count() <= WIDTH);
    let widths = (1..=figures.max(1)).rev();
    let whole = widths.map(|width| all(width, ContentArrangement::Disabled)).find(fits);
    whole.unwrap_or_else(|| all(1, ContentArrangement::Dynamic))
}
