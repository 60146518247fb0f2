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
