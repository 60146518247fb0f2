//! Published tables.
use crate::refused;
use crate::runs::until_interrupted;
use crate::table::Table;
use pyo3::prelude::*;
use stanchion_cells::columns::{Published, of_published};
use stanchion_cells::published::cells::Cells;
use stanchion_cells::published::{registered, simulate, tables};

/// Simulates published tables, one cell a row: what was published, what was simulated, how far it is off.
#[pyfunction]
#[pyo3(signature = (table=vec![], cell=vec![], *, seeds=3, quick=false))]
pub(crate) fn reproduce(
    py: Python<'_>,
    table: Vec<String>,
    cell: Vec<String>,
    seeds: u64,
    quick: bool,
) -> PyResult<Table> {
    let tables = tables::chosen(&table).map_err(refused)?;
    let mut cells = Cells::choose(&tables, &cell).map_err(refused)?;
    registered::recall(&tables, &mut cells).map_err(refused)?;
    let (seeds, shorter) = if quick { (1, 4) } else { (seeds.max(1), 1) };
    let jobs = cells.jobs(&tables, seeds, shorter);
    let results = until_interrupted(py, |stop| simulate::all(&jobs, stop, &|_, _| ()))?;
    cells.take(&results);
    let rows: Vec<Published> = cells.all.iter().map(|cell| Published { tables: &tables, cell }).collect();
    Ok(Table::of(&of_published(), &rows))
}
