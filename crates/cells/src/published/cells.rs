//! Cells: what was published and what was simulated, for one lock in one row of one table.
use super::simulate::{Job, Miss};
use super::tables::Table;
use crate::names::nearest;
use std::sync::Arc;

/// A cell.
pub struct Cell {
    /// Number of the table among those that are shown, of its row and of its lock's column.
    pub table: usize,
    /// The row.
    pub row: usize,
    /// The column.
    pub lock: usize,
    /// What was published, in the unit of the table.
    pub published: Option<f64>,
    /// Mean and relative standard deviation over the seeds, in the unit of the table.
    pub simulated: Option<(f64, f64)>,
    /// Why it was not simulated, if it went wrong.
    pub failure: Option<String>,
}

impl Cell {
    /// How far the simulation is off: 0.1 is ten per cent too much.
    pub fn error(&self) -> Option<f64> {
        let (simulated, _) = self.simulated?;
        Some(simulated / self.published? - 1.0)
    }
}

/// The cells of a run.
pub struct Cells {
    /// In the order of the tables.
    pub all: Vec<Cell>,
    /// Which cell each job belongs to.
    of_job: Vec<usize>,
    scales: Vec<f64>,
}

/// Whether the simulator has a lock of this name, or several with a `+` between them.
pub fn exists(lock: &str) -> bool {
    stanchion_sim::names_locks(lock)
}

/// Whether a filter `LOCK`, `@ROW` or `LOCK@ROW` lets a cell through.
fn admits(filter: &str, lock: &str, row: &str) -> bool {
    let (wanted_lock, wanted_row) = filter.split_once('@').unwrap_or((filter, ""));
    (wanted_lock.is_empty() || wanted_lock == lock) && (wanted_row.is_empty() || wanted_row == row)
}

impl Cells {
    /// The cells that the filters let through; all, without any. A filter that fits none is refused.
    pub fn choose(tables: &[Table], filters: &[String]) -> Result<Self, String> {
        let mut all = Vec::new();
        for (table_index, table) in tables.iter().enumerate() {
            for (row_index, row) in table.rows.iter().enumerate() {
                for (lock_index, lock) in table.locks.iter().enumerate() {
                    if filters.is_empty() || filters.iter().any(|filter| admits(filter, lock, &row.label)) {
                        all.push(Cell {
                            table: table_index,
                            row: row_index,
                            lock: lock_index,
                            published: row.published[lock_index],
                            simulated: None,
                            failure: None,
                        });
                    }
                }
            }
        }
        for filter in filters {
            let fits = |cell: &Cell| {
                let table = &tables[cell.table];
                admits(filter, &table.locks[cell.lock], &table.rows[cell.row].label)
            };
            if !all.iter().any(fits) {
                let mut locks: Vec<&str> =
                    tables.iter().flat_map(|table| &table.locks).map(String::as_str).collect();
                locks.sort_unstable();
                locks.dedup();
                let wanted = filter.split('@').next().unwrap_or_default();
                let near = nearest(wanted, locks).join(", ");
                return Err(format!(
                    "no cell '{filter}' in these tables (LOCK, @ROW or LOCK@ROW): nearest locks are {near}"
                ));
            }
        }
        Ok(Self { all, of_job: Vec::new(), scales: tables.iter().map(|table| table.scale).collect() })
    }

    /// The runs that they need: one for each seed, for the locks that exist. The virtual time is divided by
    /// `shorter`.
    pub fn jobs(&mut self, tables: &[Table], seeds: u64, shorter: u64) -> Vec<Job> {
        let mut jobs = Vec::new();
        self.of_job.clear();
        for (index, cell) in self.all.iter().enumerate() {
            let table = &tables[cell.table];
            let (row, lock) = (&table.rows[cell.row], &table.locks[cell.lock]);
            if !exists(lock) {
                continue;
            }
            for seed in 1..=seeds {
                self.of_job.push(index);
                jobs.push(Job {
                    machine: Arc::clone(&row.machine),
                    workload: Arc::clone(&row.workload),
                    lock: lock.clone(),
                    contexts: row.contexts,
                    seed,
                    milliseconds: (table.milliseconds / shorter).max(2),
                });
            }
        }
        jobs
    }

    /// Puts results into their cells. A cell of which a run was stopped has none.
    pub fn take(&mut self, results: &[Result<f64, Miss>]) {
        for index in 0..self.all.len() {
            let own = || {
                self.of_job.iter().zip(results).filter(|(cell, _)| **cell == index).map(|(_, result)| result)
            };
            let failure = own().find_map(|result| match result {
                Err(Miss::Failed(why)) => Some(why.clone()),
                _ => None,
            });
            let values: Option<Vec<f64>> = own().map(|result| result.as_ref().ok().copied()).collect();
            let scale = self.scales[self.all[index].table];
            let cell = &mut self.all[index];
            cell.failure = failure;
            cell.simulated = values.filter(|values| !values.is_empty()).map(|values| {
                let (mean, spread) = mean_and_spread(&values);
                (mean / scale, spread)
            });
        }
    }

    /// Whether a run of any cell failed.
    pub fn any_failed(&self) -> bool {
        self.all.iter().any(|cell| cell.failure.is_some())
    }

    /// The cell of a lock in a row of a table, if it is among them.
    pub fn find(&self, table: usize, row: usize, lock: usize) -> Option<&Cell> {
        self.all.iter().find(|cell| (cell.table, cell.row, cell.lock) == (table, row, lock))
    }
}

/// The mean, and the standard deviation in relation to it.
pub fn mean_and_spread(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
    (mean, if mean == 0.0 { 0.0 } else { variance.sqrt() / mean })
}

#[cfg(test)]
mod tests {
    use super::super::tables;
    use super::*;

    fn locktorture() -> Vec<Table> {
        tables::all().expect("in order").into_iter().filter(|table| table.name == "locktorture").collect()
    }

    #[test]
    fn filters_choose_locks_and_rows() {
        let tables = locktorture();
        let count = |filters: &[&str]| {
            let filters: Vec<String> = filters.iter().map(|&filter| filter.to_owned()).collect();
            Cells::choose(&tables, &filters).map(|cells| cells.all.len())
        };
        assert_eq!(count(&[]), Ok(30));
        assert_eq!(count(&["qspin"]), Ok(10));
        assert_eq!(count(&["@72"]), Ok(3));
        assert_eq!(count(&["qspin@72", "qspin@1"]), Ok(2));
        assert!(count(&["qspn"]).is_err_and(|error| error.contains("nearest locks are qspin")));
        assert!(count(&["qspin@73"]).is_err());
    }

    #[test]
    fn results_find_their_cells_and_locks_that_do_not_exist_have_none() {
        let tables = locktorture();
        let mut cells = Cells::choose(&tables, &["@72".to_owned()]).expect("a row");
        let jobs = cells.jobs(&tables, 2, 1);
        let existing = tables[0].locks.iter().filter(|lock| exists(lock)).count();
        assert_eq!(jobs.len(), 2 * existing, "two seeds of each lock that exists");
        let results: Vec<_> =
            (0..jobs.len()).map(|job| Ok(if job % 2 == 0 { 6.0e7 } else { 6.4e7 })).collect();
        cells.take(&results);
        let qspin = cells.find(0, 7, 0).expect("the baseline");
        let (mean, spread) = qspin.simulated.expect("two results");
        assert!((mean - 6.2).abs() < 1e-9 && (spread - 0.2 / 6.2).abs() < 1e-9);
        assert!((qspin.error().expect("it is published") - (6.2 / 6.170 - 1.0)).abs() < 1e-9);
        let stopped = vec![Err(Miss::Stopped); jobs.len()];
        cells.take(&stopped);
        assert!(cells.find(0, 7, 0).expect("still there").simulated.is_none() && !cells.any_failed());
    }
}
