//! The tables on the terminal: published, simulated and error, cell by cell.
use core::fmt::Write;
use lab_kit::stats::Estimate;
use stanchion_cells::published::cells::{Cell, Cells, Simulated};
use stanchion_cells::published::registered::OfTable;
use stanchion_cells::published::roles::Role;
use stanchion_cells::published::tables::Table;

pub(crate) fn list(tables: &[Table]) -> String {
    let one = |Table { name, title, locks, rows, fit, machine_name: machine, .. }: &Table| {
        let rows: Vec<&str> = rows.iter().map(|row| row.label.as_str()).collect();
        let (locks, rows, indent) = (locks.join(", "), rows.join(", "), "");
        let fit = fit.as_ref().map_or(String::new(), |fit| format!("fitted to {fit}; "));
        format!(
            "{name:24} {title}\n{indent:24}   locks {locks}; rows {rows}\n{indent:24}   {fit}on {machine}\n"
        )
    };
    tables.iter().map(one).collect()
}

/// Every table with its cells, by their roles. `before` is what was registered of each.
pub(crate) fn tables(tables: &[Table], cells: &Cells, before: &[Option<OfTable>]) -> String {
    let told = |(index, (table, before)): (usize, (&Table, &Option<OfTable>))| {
        let own: Vec<&Cell> = cells.all.iter().filter(|cell| cell.table == index).collect();
        (!own.is_empty()).then(|| one(table, &own, before.as_ref()) + "\n")
    };
    tables.iter().zip(before).enumerate().filter_map(told).collect()
}

/// What stands above the cells of a column; `+-` is half of the 95 % interval over seeds.
const HEAD: &str = "                published    simulated     error      +-  registered";

fn one(table: &Table, cells: &[&Cell], before: Option<&OfTable>) -> String {
    let better = if table.lower_is_better { "less is better" } else { "more is better" };
    let mut text = format!("{}: {} ({}, {better})\n", table.name, table.title, table.unit);
    let _ = writeln!(text, "  published in: {}", table.source);
    if !table.note.is_empty() {
        let _ = writeln!(text, "  {}", table.note);
    }
    if let Some(before) = before {
        let since = since(before, cells);
        let _ = writeln!(text, "  registered on {}, {} seeds; {since}", before.date, before.seeds);
    }
    for role in Role::ALL {
        for (lock, name) in table.locks.iter().enumerate() {
            let mut own = cells.iter().filter(|cell| cell.role == role && cell.lock == lock).peekable();
            if own.peek().is_some() {
                let _ = writeln!(text, "  {name} ({})\n{HEAD}", role.name());
                text.extend(own.map(|cell| line(table, cell)));
            }
        }
    }
    text
}

/// What became of what was registered: whether its numbers and its runs are still the same.
fn since(before: &OfTable, cells: &[&Cell]) -> String {
    if !before.changed.is_empty() {
        return format!("{} changed since", before.changed.join(" and "));
    }
    let known: Vec<bool> = cells.iter().filter_map(|cell| cell.as_registered()).collect();
    let (changed, all) = (known.iter().filter(|&&same| !same).count(), known.len());
    match changed {
        _ if all == 0 => "whether the code changed since is not known from short runs".to_owned(),
        0 => "nothing changed since".to_owned(),
        _ => format!("the code of locks or simulator changed since, in {changed} of {all} cells"),
    }
}

fn line(table: &Table, cell: &Cell) -> String {
    let published = cell.published.map_or("-".to_owned(), number);
    let begin = format!("    {:>8} {published:>12}", table.rows[cell.row].label);
    if let Some(why) = &cell.failure {
        return format!("{begin} {:>12}  {why}\n", "failed");
    }
    let Some(Simulated { seeds: Estimate { mean, ci95, .. }, .. }) = &cell.simulated else {
        return format!("{begin} {:>12}\n", "not run");
    };
    if !mean.is_finite() {
        return format!("{begin} {:>12} not one unit of work was done in the window\n", "no end");
    }
    let error = cell.error().map_or("-".to_owned(), |error| format!("{:+.1} %", error * 100.0));
    // Of the error, if that is of these seeds. A single run has no interval.
    let of = cell.published.filter(|_| cell.role != Role::Blind).unwrap_or(*mean);
    let doubt = ci95.map_or("-".to_owned(), |ci95| format!("{:.1}%", ci95 / of * 100.0));
    let registered = cell.registered.map_or("-".to_owned(), |before| {
        let changed = if cell.as_registered() == Some(false) { ", changed since" } else { "" };
        format!("{} ({} to {}){changed}", number(before.value), number(before.from), number(before.to))
    });
    format!("{begin} {:>12} {error:>9} {doubt:>7}  {registered}\n", number(*mean))
}

/// A number with four digits or so.
pub(crate) fn number(value: f64) -> String {
    let places = match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_cells::published::registered::Registered;
    use stanchion_cells::published::tables::all;

    fn chosen(name: &str) -> (Vec<Table>, Cells) {
        let tables: Vec<Table> =
            all().expect("in order").into_iter().filter(|table| table.name == name).collect();
        let cells = Cells::choose(&tables, &[]).expect("no filter");
        (tables, cells)
    }

    fn simulated(mean: f64, trace: Option<u64>) -> Simulated {
        let seeds = Estimate { mean, ci95: Some(0.01 * mean), ..Estimate::of(vec![mean, mean]) };
        Simulated { seeds, trace }
    }

    #[test]
    fn roles_stand_apart_and_what_was_registered_stands_beside() {
        let (listed, mut cells) = chosen("pvq-haswell-ex");
        for cell in &mut cells.all {
            cell.simulated = Some(simulated(124.5, Some(1)));
            cell.registered = Some(Registered { value: 130.0, from: 129.0, to: 131.0, trace: 1 });
        }
        let before = |changed| [Some(OfTable { date: "2026-11-25".to_owned(), seeds: 3, changed })];
        let text = tables(&listed, &cells, &before(vec![]));
        assert!(text.contains("  registered on 2026-11-25, 3 seeds; nothing changed since\n"), "{text}");
        let rows = |head: &str| -> Vec<String> {
            let block = text.split(head).nth(1).unwrap_or_else(|| panic!("{head} in {text}"));
            let of_lock = block.lines().skip(1).take_while(|line| line.starts_with("    "));
            of_lock.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
        };
        let fit = rows("  byte-rmw (fit)\n");
        assert_eq!(fit, ["32 124.5 124.5 +0.0 % 1.0% 130.0 (129.0 to 131.0)"]);
        let (seen, blind) = (rows("  byte-rmw (seen)\n"), rows("  qspin (blind)\n"));
        assert_eq!((seen.len(), blind.len()), (2, 3));

        cells.all[0].simulated = Some(simulated(124.5, Some(2)));
        let text = tables(&listed, &cells, &before(vec![]));
        assert!(text.contains("the code of locks or simulator changed since, in 1 of 27 cells"), "{text}");
        assert_eq!(text.matches("(129.0 to 131.0), changed since\n").count(), 1, "{text}");
        let text = tables(&listed, &cells, &before(vec!["machine", "workload"]));
        assert!(text.contains("3 seeds; machine and workload changed since\n"), "{text}");
        cells.all.iter_mut().for_each(|cell| cell.simulated = Some(simulated(124.5, None)));
        let text = tables(&listed, &cells, &before(vec![]));
        assert!(text.contains("is not known from short runs\n"), "{text}");
    }

    #[test]
    fn what_does_not_exist_is_not_simulated() {
        let (mut listed, _) = chosen("xen-percpu");
        let column = listed[0].column("percpu-rw").expect("published");
        "percpu-rx".clone_into(&mut listed[0].locks[column]);
        let cells = Cells::choose(&listed, &[]).expect("no filter");
        let text = tables(&listed, &cells, &[None]);
        let rows: Vec<&str> = text.split("  percpu-rx (").nth(1).expect("a column").lines().skip(2).collect();
        assert!(rows[0].contains(" 64.00 ") && rows[0].ends_with("not run"), "{text}");
    }

    #[test]
    fn cells_that_were_not_run_or_failed_say_so() {
        let (listed, mut cells) = chosen("locktorture");
        cells.all[0].failure = Some("mutual exclusion is broken".to_owned());
        cells.all[3].simulated = Some(simulated(f64::INFINITY, None));
        let text = tables(&listed, &cells, &[None]);
        assert!(text.contains("no end not one unit"), "{text}");
        assert!(text.contains("failed  mutual exclusion is broken") && text.contains("not run"), "{text}");
    }

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!([1246.1, 118.9, 64.0, 0.503].map(number), ["1246", "118.9", "64.00", "0.503"]);
    }
}
