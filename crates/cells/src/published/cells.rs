//! Cells: what was published and what was simulated, for one lock in one row of one table.
use super::registered::Registered;
use super::roles::Role;
use super::simulate::{Done, Job, Miss};
use super::tables::Table;
use crate::stats::{Estimate, are_two_kinds};
use stanchion_sim::nearest;
use std::sync::Arc;

/// What a cell came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// By seed, in the unit of the table.
    pub seeds: Estimate,
    /// Of the run with the first seed; `None` if its virtual time was cut.
    pub trace: Option<u64>,
}

impl Simulated {
    /// The standard deviation of the seeds, in relation to their mean.
    pub fn spread(&self) -> f64 {
        let Estimate { mean, values, .. } = &self.seeds;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        if *mean == 0.0 { 0.0 } else { (squares / values.len() as f64).sqrt() / mean }
    }
}

/// A cell.
pub struct Cell {
    /// Number of the table among those that are shown, of its row and of its lock's column.
    pub table: usize,
    /// The row.
    pub row: usize,
    /// The column.
    pub lock: usize,
    /// What it is to the simulator.
    pub role: Role,
    /// What was published, in the unit of the table.
    pub published: Option<f64>,
    /// What it came to.
    pub simulated: Option<Simulated>,
    /// What was predicted before.
    pub registered: Option<Registered>,
    /// Why it was not simulated, if it went wrong.
    pub failure: Option<String>,
}

impl Cell {
    /// What is compared with the published value: of a blind cell what was registered, and nothing else.
    pub fn compared(&self) -> Option<f64> {
        match self.role {
            Role::Blind => self.registered.map(|registered| registered.value),
            Role::Fit | Role::Seen => self.simulated.as_ref().map(|simulated| simulated.seeds.mean),
        }
    }

    /// How far that is off: 0.1 is ten per cent too much.
    pub fn error(&self) -> Option<f64> {
        Some(self.compared()? / self.published? - 1.0)
    }

    /// Whether that is the mean of seeds of two kinds.
    pub fn compares_a_mean_of_two_kinds(&self) -> bool {
        let ends = match self.role {
            Role::Blind => self.registered.map(|registered| (registered.from, registered.to)),
            Role::Fit | Role::Seen => self.simulated.as_ref().map(|now| (now.seeds.min, now.seeds.max)),
        };
        ends.is_some_and(|(min, max)| are_two_kinds(min, max))
    }

    /// Whether the run is the one that was registered. `None`: nothing was, or the run cannot tell.
    pub fn as_registered(&self) -> Option<bool> {
        Some(self.registered?.trace == self.simulated.as_ref()?.trace?)
    }
}

/// The cells of a run.
pub struct Cells {
    /// In the order of the tables.
    pub all: Vec<Cell>,
    /// Which cell each job belongs to.
    of_job: Vec<usize>,
    scales: Vec<f64>,
    /// Whether jobs run for the whole virtual time of their tables.
    whole: bool,
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
        if let Some(none) = filters.iter().find(|filter| ["", "@"].contains(&filter.as_str())) {
            return Err(format!("cell '{none}' names nothing"));
        }
        let mut all = Vec::new();
        for (table_index, table) in tables.iter().enumerate() {
            for (row_index, row) in table.rows.iter().enumerate() {
                for (lock_index, lock) in table.locks.iter().enumerate() {
                    if filters.is_empty() || filters.iter().any(|filter| admits(filter, lock, &row.label)) {
                        all.push(Cell {
                            table: table_index,
                            row: row_index,
                            lock: lock_index,
                            role: row.roles[lock_index],
                            published: row.published[lock_index],
                            simulated: None,
                            registered: None,
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
        let scales = tables.iter().map(|table| table.scale).collect();
        Ok(Self { all, of_job: Vec::new(), scales, whole: true })
    }

    /// The runs that they need: one for each seed, for the locks that exist. The virtual time is divided by
    /// `shorter`.
    pub fn jobs(&mut self, tables: &[Table], seeds: u64, shorter: u64) -> Vec<Job> {
        let mut jobs = Vec::new();
        self.of_job.clear();
        self.whole = shorter == 1;
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
    pub fn take(&mut self, results: &[Result<Done, Miss>]) {
        for index in 0..self.all.len() {
            let own = || {
                self.of_job.iter().zip(results).filter(|(cell, _)| **cell == index).map(|(_, result)| result)
            };
            let failure = own().find_map(|result| match result {
                Err(Miss::Failed(why)) => Some(why.clone()),
                _ => None,
            });
            let done: Option<Vec<Done>> = own().map(|result| result.as_ref().ok().copied()).collect();
            let scale = self.scales[self.all[index].table];
            let cell = &mut self.all[index];
            cell.failure = failure;
            cell.simulated = done.filter(|done| !done.is_empty()).map(|done| {
                let seeds = Estimate::of(done.iter().map(|done| done.value / scale).collect());
                Simulated { seeds, trace: self.whole.then_some(done[0].trace) }
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

#[cfg(test)]
mod tests {
    use super::super::tables;
    use super::*;

    fn locktorture() -> Vec<Table> {
        tables::all().expect("in order").into_iter().filter(|table| table.name == "locktorture").collect()
    }

    #[test]
    fn a_blind_cell_is_compared_with_what_was_registered() {
        let simulated = Simulated { seeds: Estimate::of(vec![2.0]), trace: Some(1) };
        let registered = Registered { value: 4.0, from: 3.0, to: 5.0, trace: 2 };
        let mut cells = Cells::choose(&locktorture(), &[]).expect("no filter");
        let cell = &mut cells.all[0];
        (cell.published, cell.simulated) = (Some(1.0), Some(simulated));
        (cell.role, cell.registered) = (Role::Blind, None);
        assert_eq!((cell.error(), cell.as_registered()), (None, None));
        cell.registered = Some(registered);
        assert_eq!((cell.error(), cell.as_registered()), (Some(3.0), Some(false)));
        cell.role = Role::Seen;
        assert_eq!(cell.error(), Some(1.0));
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
        let value = |job| if job % 2 == 0 { 6.0e7 } else { 6.4e7 };
        let results: Vec<_> =
            (0..jobs.len()).map(|job| Ok(Done { value: value(job), trace: job as u64 })).collect();
        cells.take(&results);
        let qspin = cells.find(0, 7, 0).expect("the column to fit");
        let two = qspin.simulated.as_ref().expect("two results");
        assert!((two.seeds.mean - 6.2).abs() < 1e-9 && (two.spread() - 0.2 / 6.2).abs() < 1e-9);
        assert!((two.seeds.min - 6.0).abs() < 1e-9 && (two.seeds.max - 6.4).abs() < 1e-9);
        assert_eq!(two.trace, Some(0), "that of the first seed");
        assert!((qspin.error().expect("it is published") - (6.2 / 6.170 - 1.0)).abs() < 1e-9);
        let stopped = vec![Err(Miss::Stopped); jobs.len()];
        cells.take(&stopped);
        assert!(cells.find(0, 7, 0).expect("still there").simulated.is_none() && !cells.any_failed());
    }
}
