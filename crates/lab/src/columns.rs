//! What follows from columns: tables for people, and rows of files.
use core::borrow::Borrow;
use lab_kit::export::grid;
use stanchion_cells::column::{Column, Value};

/// A table with a row for each of these; figures stand on the right, and a dash where there is none.
pub(crate) fn table<R>(columns: &[Column<R>], rows: &[R]) -> comfy_table::Table {
    let told = || columns.iter().filter(|column| !column.title.is_empty());
    let row = |row| told().map(move |column| column.text(row).unwrap_or_else(|| "-".to_owned()));
    grid::table(told().map(|column| column.title), rows.iter().map(row))
}

/// Rows as names and values, for files.
pub(crate) fn named<R>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item: Borrow<R>>,
) -> impl Iterator<Item = impl Iterator<Item = (&str, Value)>> {
    let named = || columns.iter().filter(|column| !column.name.is_empty());
    rows.into_iter()
        .map(move |row| named().map(move |column| (column.name.as_str(), column.value(row.borrow()))))
}
