//! Predictions that were registered before anybody compared them: `published/predictions.toml`.
//!
//! `stanchion reproduce --register` writes every cell that it has simulated, the least and the most that a
//! seed came to, and what made it. A blind cell is compared with what stands there.
use super::cells::{Cell, Cells};
use super::fingerprint::{of_table, written};
use super::roles::Role;
use super::tables::Table;
use crate::stats::Estimate;
use core::fmt::Write;
use serde::Deserialize;

/// Where the file is in the tree.
pub const PATH: &str = "published/predictions.toml";
/// The file as it was when this was built.
const FILE: &str = include_str!("../../published/predictions.toml");
const HEAD: &str = "\
# Predictions, written by `stanchion reproduce --register` before they were compared. A cell is: lock, row, mean of the
# seeds, the least and the most that a seed came to, and the trace of the run with the first seed. The trace changes with
# all that happens in the run, so with the code of locks and simulator. `machine` and `workload` are fingerprints of the
# numbers in their files.
";

/// A registered cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Registered {
    /// The mean of the seeds.
    pub value: f64,
    /// The least that a seed came to.
    pub from: f64,
    /// The most.
    pub to: f64,
    /// Of the run with the first seed.
    pub trace: u64,
}

/// What was registered of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OfTable {
    /// When.
    pub date: String,
    /// How many seeds each cell had.
    pub seeds: u64,
    /// Which numbers are others now: those of the machine, of the workload.
    pub changed: Vec<&'static str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default, rename = "table")]
    tables: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    date: String,
    seeds: u64,
    machine: String,
    workload: String,
    cells: Vec<Line>,
}

/// Lock, row, mean, least, most, trace.
type Line = (String, String, f64, f64, f64, String);

fn parse(text: &str) -> Result<File, String> {
    toml::from_str(text).map_err(|error| format!("{PATH}: {}", error.message()))
}

/// Gives the cells what was registered of them. What was registered of each table.
pub fn recall(tables: &[Table], cells: &mut Cells) -> Result<Vec<Option<OfTable>>, String> {
    recall_from(FILE, tables, cells)
}

fn recall_from(text: &str, tables: &[Table], cells: &mut Cells) -> Result<Vec<Option<OfTable>>, String> {
    let file = parse(text)?;
    let one = |(index, table): (usize, &Table)| {
        let entry = file.tables.iter().find(|entry| entry.name == table.name)?;
        for cell in cells.all.iter_mut().filter(|cell| cell.table == index) {
            let (lock, row) = (&table.locks[cell.lock], &table.rows[cell.row].label);
            let line = entry.cells.iter().find(|line| (&line.0, &line.1) == (lock, row));
            cell.registered = line.and_then(|&(_, _, value, from, to, ref trace)| {
                Some(Registered { value, from, to, trace: u64::from_str_radix(trace, 16).ok()? })
            });
        }
        let (machine, workload) = of_table(table);
        let pairs = [("machine", machine != entry.machine), ("workload", workload != entry.workload)];
        let changed = pairs.into_iter().filter_map(|(what, changed)| changed.then_some(what)).collect();
        Some(OfTable { date: entry.date.clone(), seeds: entry.seeds, changed })
    };
    Ok(tables.iter().enumerate().map(one).collect())
}

/// The file `before` with all cells of `tables`, in place of what it had of these tables. A table whose blind
/// cells have been published keeps what it has.
pub fn with(before: &str, tables: &[Table], cells: &Cells, seeds: u64, date: &str) -> Result<String, String> {
    let mut file = parse(before)?;
    for (index, table) in tables.iter().enumerate() {
        let own = || cells.all.iter().filter(|cell| cell.table == index);
        let lines: Vec<Line> = own().filter_map(|cell| line(table, cell)).collect();
        if lines.is_empty() {
            continue;
        }
        let (machine, workload) = of_table(table);
        let (name, date) = (table.name.clone(), date.to_owned());
        let entry = Entry { name, date, seeds, machine, workload, cells: lines };
        match file.tables.iter_mut().find(|known| known.name == entry.name) {
            Some(_) if own().any(|cell| cell.role == Role::Blind && cell.published.is_some()) => {
                return Err(format!(
                    "{}: its blind cells are published, so what is registered stays",
                    table.name
                ));
            }
            Some(known) => *known = entry,
            None => file.tables.push(entry),
        }
    }
    Ok(printed(&file))
}

/// What is written of a cell, if it came to anything. Four digits are enough, and read well.
fn line(table: &Table, cell: &Cell) -> Option<Line> {
    let simulated = cell.simulated.as_ref().filter(|simulated| simulated.seeds.mean.is_finite())?;
    let rounded = |value: f64| format!("{value:.3e}").parse().unwrap_or(value);
    let (lock, row) = (table.locks[cell.lock].clone(), table.rows[cell.row].label.clone());
    let Estimate { mean, min, max, .. } = simulated.seeds;
    let [mean, least, most] = [mean, min, max].map(rounded);
    Some((lock, row, mean, least, most, written(simulated.trace?)))
}

/// The file, with a line for each cell.
fn printed(file: &File) -> String {
    let mut out = HEAD.to_owned();
    for Entry { name, date, seeds, machine, workload, cells } in &file.tables {
        let _ = write!(
            out,
            "\n[[table]]\nname = \"{name}\"\ndate = \"{date}\"\nseeds = {seeds}\n\
            machine = \"{machine}\"\nworkload = \"{workload}\"\ncells = [\n"
        );
        for (lock, row, value, from, to, trace) in cells {
            let _ = writeln!(out, "    [\"{lock}\", \"{row}\", {value:?}, {from:?}, {to:?}, \"{trace}\"],");
        }
        out.push_str("]\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::cells::Simulated;
    use super::super::tables::{all, chosen};
    use super::*;
    use std::sync::Arc;

    fn simulated(name: &str, mean: f64) -> (Vec<Table>, Cells) {
        let tables = chosen(&[name.to_owned()]).expect("a table");
        let mut cells = Cells::choose(&tables, &[]).expect("no filter");
        for cell in &mut cells.all {
            let trace = Some(0xAB);
            let seeds = Estimate { mean, min: 0.9, max: 2.2, ..Estimate::default() };
            cell.simulated = Some(Simulated { seeds, trace });
        }
        (tables, cells)
    }

    #[test]
    fn what_is_registered_is_recalled_and_other_tables_stay() {
        let mut text = String::new();
        for (name, mean) in [("open1", 1.0), ("locktorture", 2.0), ("open1", 1.5)] {
            let (tables, cells) = simulated(name, mean);
            text = with(&text, &tables, &cells, 3, "2026-11-25").expect("nothing blind is published");
        }
        for (name, value) in [("locktorture", 2.0), ("open1", 1.5)] {
            let (tables, mut cells) = simulated(name, 1.0);
            let of =
                recall_from(&text, &tables, &mut cells).expect("it reads").remove(0).expect("registered");
            assert_eq!(of, OfTable { date: "2026-11-25".to_owned(), seeds: 3, changed: vec![] });
            let wanted = Registered { value, from: 0.9, to: 2.2, trace: 0xAB };
            assert!(cells.all.iter().all(|cell| cell.registered == Some(wanted)));
        }
    }

    #[test]
    fn changed_numbers_and_changed_runs_are_told() {
        let (mut tables, mut cells) = simulated("lock2", 1.0);
        let text = with("", &tables, &cells, 1, "2026-11-25").expect("nothing blind is published");
        tables[0].milliseconds += 1;
        Arc::make_mut(&mut tables[0].rows[0].machine).memory.hop += 1;
        cells.all[0].simulated.as_mut().expect("simulated").trace = Some(0xAC);
        cells.all[1].simulated.as_mut().expect("simulated").trace = None;
        let of = recall_from(&text, &tables, &mut cells).expect("it reads").remove(0).expect("registered");
        assert_eq!(of.changed, ["machine", "workload"]);
        let same: Vec<_> = cells.all.iter().take(3).map(Cell::as_registered).collect();
        assert_eq!(same, [Some(false), None, Some(true)], "the code changed, cannot be known, is the same");
    }

    #[test]
    fn what_was_registered_of_published_blind_cells_stays() {
        let (tables, mut cells) = simulated("lock2", 1.0);
        let text = with("", &tables, &cells, 1, "2026-11-25").expect("nobody knows them");
        cells.all.iter_mut().find(|cell| cell.role == Role::Blind).expect("it has some").published =
            Some(1.5);
        let error = with(&text, &tables, &cells, 1, "2026-11-26").expect_err("they are known");
        assert!(error.contains("lock2: its blind cells are published"), "{error}");
    }

    #[test]
    fn the_registered_file_reads_and_names_known_cells() {
        let tables = all().expect("in order");
        let mut cells = Cells::choose(&tables, &[]).expect("no filter");
        recall(&tables, &mut cells).unwrap_or_else(|error| panic!("{error}"));
        let lines: usize = parse(FILE).expect("it reads").tables.iter().map(|entry| entry.cells.len()).sum();
        assert_eq!(cells.all.iter().filter(|cell| cell.registered.is_some()).count(), lines);
    }
}
