//! What follows from columns: tables for people, and rows of files.
use super::grid;
use core::borrow::Borrow;
use stanchion_cells::column::{Column, Value};
use std::collections::BTreeMap;

/// A table with a row for each of these; figures stand on the right, and a dash where there is none.
pub fn table<R>(columns: &[Column<R>], rows: impl IntoIterator<Item: Borrow<R>>) -> comfy_table::Table {
    let told = || columns.iter().filter(|column| !column.title.is_empty());
    let text = |column: &Column<R>, row: &R| column.text(row).unwrap_or_else(|| "-".to_owned());
    let rows =
        rows.into_iter().map(|row| told().map(|column| text(column, row.borrow())).collect::<Vec<_>>());
    grid::table(told().map(|column| column.title), rows)
}

/// Rows as names and values, for files.
pub fn named<R>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item: Borrow<R>>,
) -> impl Iterator<Item = impl Iterator<Item = (&str, Value)>> {
    let named = || columns.iter().filter(|column| !column.name.is_empty());
    rows.into_iter()
        .map(move |row| named().map(move |column| (column.name.as_str(), column.value(row.borrow()))))
}

/// The same whole, for JSON.
pub fn objects<R>(
    columns: &[Column<R>],
    rows: impl IntoIterator<Item: Borrow<R>>,
) -> Vec<BTreeMap<&str, Value>> {
    named(columns, rows).map(Iterator::collect).collect()
}
