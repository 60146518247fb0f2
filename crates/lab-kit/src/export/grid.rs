//! Tables for a terminal of a hundred columns.
use crate::units::without_zeros;
use comfy_table::{CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};

/// Columns of a terminal that nothing may exceed.
pub const WIDTH: usize = 100;

/// An empty table in the style of all of them.
pub fn plain_table() -> Table {
    let mut table = Table::new();
    let style = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));
    table.load_style(style).set_content_arrangement(ContentArrangement::Disabled);
    table
}

/// Figures stand on the right, what they belong to on the left.
pub fn align_right(table: &mut Table) {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}

/// The text of a table without blanks at the ends of its lines.
pub fn trimmed(table: &Table) -> String {
    table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// `4 (2x)`: threads, and how many that is to a CPU.
pub fn heading(threads: usize, cpus: usize) -> String {
    let multiple = threads as f64 / cpus.max(1) as f64;
    format!("{threads} ({}x)", without_zeros(&format!("{multiple:.2}")))
}

/// A column of a table with a row for each of some names.
pub struct Column {
    /// What stands above it.
    pub title: String,
    /// One for each row.
    pub cells: Vec<String>,
}

/// The table of these columns, in as many pieces below each other as the width needs.
pub fn in_pieces(corner: &str, rows: &[&str], columns: &[Column]) -> String {
    let piece = |columns: &[Column]| {
        let mut table = plain_table();
        let titles = columns.iter().map(|column| column.title.as_str());
        table.set_header(core::iter::once(corner).chain(titles));
        for (index, row) in rows.iter().enumerate() {
            let cells = columns.iter().map(|column| column.cells[index].as_str());
            table.add_row(core::iter::once(*row).chain(cells));
        }
        align_right(&mut table);
        trimmed(&table) + "\n"
    };
    let pieces = |width| columns.chunks(width).map(piece).collect::<String>();
    let fits = |text: &String| text.lines().all(|line| line.chars().count() <= WIDTH);
    (1..=columns.len()).rev().map(pieces).find(fits).unwrap_or_else(|| pieces(1))
}
