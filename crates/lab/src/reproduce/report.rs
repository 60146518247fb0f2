//! The tables on the terminal: published, simulated and error, cell by cell.
use super::export::Results;
use core::fmt::Write;
use lab_kit::units::plural;
use stanchion_cells::columns::{Published, of_published};
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

/// Every table with its cells, by their roles.
pub(super) fn render(results: &Results) -> String {
    let told = |(index, (table, before)): (usize, (&Table, &Option<OfTable>))| {
        let own = results.rows(Some(index));
        (!own.is_empty()).then(|| one(table, &own, before.as_ref()) + "\n")
    };
    results.tables.iter().zip(&results.before).enumerate().filter_map(told).collect()
}

/// What stands above the cells of a column.
const HEAD: &str = "                published    simulated     error      +-  registered";

/// What became of what was registered of a table.
pub(super) fn since(before: &OfTable, rows: &[Published]) -> String {
    format!(
        "registered on {}, {}; {}",
        before.date,
        plural(before.seeds as usize, "seed"),
        changes(before, rows)
    )
}

/// What its numbers are, and which are better.
pub(super) fn unit(table: &Table) -> String {
    format!("{}, {} is better", table.unit, if table.lower_is_better { "less" } else { "more" })
}

fn one(table: &Table, rows: &[Published], before: Option<&OfTable>) -> String {
    let mut text = format!("{}: {} ({})\n", table.name, table.title, unit(table));
    let _ = writeln!(text, "  published in: {}", table.source);
    if !table.note.is_empty() {
        let _ = writeln!(text, "  {}", table.note);
    }
    if let Some(before) = before {
        let _ = writeln!(text, "  {}", since(before, rows));
    }
    for role in Role::ALL {
        for (lock, name) in table.locks.iter().enumerate() {
            let own = |of: &&Published| of.cell.role == role && of.cell.lock == lock;
            let mut own = rows.iter().filter(own).peekable();
            if own.peek().is_some() {
                let _ = writeln!(text, "  {name} ({})\n{HEAD}", role.name());
                text.extend(own.map(line));
            }
        }
    }
    text
}

/// Whether its numbers and its runs are still the same.
fn changes(before: &OfTable, rows: &[Published]) -> String {
    if !before.changed.is_empty() {
        return format!("{} changed since", before.changed.join(" and "));
    }
    let known: Vec<bool> = rows.iter().filter_map(|of| of.cell.as_registered()).collect();
    let (changed, all) = (known.iter().filter(|&&same| !same).count(), known.len());
    match changed {
        _ if all == 0 => "whether the code changed since is not known from short runs".to_owned(),
        0 => "nothing changed since".to_owned(),
        _ => format!("the code of locks or simulator changed since, in {changed} of {all} cells"),
    }
}

fn line(of: &Published) -> String {
    let texts = of_published().into_iter().filter(|column| !column.title.is_empty());
    let texts: Vec<String> = texts.map(|column| column.text(of).unwrap_or_else(|| "-".to_owned())).collect();
    let [_, row, _, published, simulated, error, doubt, registered] = &texts[..] else {
        return String::new();
    };
    let begin = format!("    {row:>8} {published:>12} {simulated:>12}");
    match (&of.cell.failure, &of.cell.simulated) {
        (Some(why), _) => format!("{begin}  {why}\n"),
        (None, None) => format!("{begin}\n"),
        (None, Some(now)) if now.seeds.min.is_infinite() => {
            format!("{begin} not one unit of work was done in the window\n")
        }
        _ => format!("{begin} {error:>9} {doubt:>7}  {registered}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::summary;
    use crate::reproduce::tests::results;
    use lab_kit::stats::Estimate;
    use stanchion_cells::published::cells::{Cells, Simulated};
    use stanchion_cells::published::registered::Registered;

    fn simulated(mean: f64, trace: Option<u64>) -> Simulated {
        let seeds = Estimate { mean, ci95: Some(0.01 * mean), ..Estimate::of(vec![mean, mean]) };
        Simulated { seeds, trace }
    }

    #[test]
    fn roles_stand_apart_and_what_was_registered_stands_beside() {
        let mut results = results("pvq-haswell-ex", &[124.5]);
        for cell in &mut results.cells.all {
            cell.simulated = Some(simulated(124.5, Some(1)));
            cell.registered = Some(Registered { value: 130.0, from: 129.0, to: 131.0, trace: 1 });
        }
        let before = |changed| vec![Some(OfTable { date: "2026-11-25".to_owned(), seeds: 3, changed })];
        results.before = before(vec![]);
        let text = render(&results);
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

        results.cells.all[0].simulated = Some(simulated(124.5, Some(2)));
        let text = render(&results);
        assert!(text.contains("the code of locks or simulator changed since, in 1 of 27 cells"), "{text}");
        assert_eq!(text.matches("(129.0 to 131.0), changed since\n").count(), 1, "{text}");
        results.before = before(vec!["machine", "workload"]);
        let text = render(&results);
        assert!(text.contains("3 seeds; machine and workload changed since\n"), "{text}");
        results.cells.all.iter_mut().for_each(|cell| cell.simulated = Some(simulated(124.5, None)));
        results.before = before(vec![]);
        let text = render(&results);
        assert!(text.contains("is not known from short runs\n"), "{text}");
    }

    #[test]
    fn what_does_not_exist_is_not_simulated() {
        let mut results = results("xen-percpu", &[]);
        let column = results.tables[0].column("percpu-rw").expect("published");
        "percpu-rx".clone_into(&mut results.tables[0].locks[column]);
        results.cells = Cells::choose(&results.tables, &[]).expect("no filter");
        let text = render(&results);
        let rows: Vec<&str> = text.split("  percpu-rx (").nth(1).expect("a column").lines().skip(2).collect();
        assert!(rows[0].contains(" 64.00 ") && rows[0].ends_with("not run"), "{text}");
    }

    #[test]
    fn seeds_of_two_kinds_have_a_range_and_no_mean_and_what_rests_on_that_has_a_mark() {
        let mut results = results("pvq-haswell-ex", &[100.0, 200.0]);
        let fit = results.cells.all.iter_mut().find(|cell| cell.role == Role::Fit).expect("a cell to fit");
        fit.registered = Some(Registered { value: 150.0, from: 100.0, to: 200.0, trace: 1 });
        let told = |results: &Results| {
            let text = render(results) + &summary::text(&results.tables, &results.cells);
            let row = text.lines().skip_while(|line| *line != "  byte-rmw (fit)").nth(2).expect("a row");
            (row.split_whitespace().collect::<Vec<_>>().join(" "), text)
        };
        let (row, text) = told(&results);
        assert_eq!(row, "32 124.5 100.0..200.0 ~+20.5 % - ~150.0 (100.0 to 200.0)");
        assert!(text.contains("20.5 % at worst (1 cell, 1 by the mean of seeds of two kinds)\n"), "{text}");
        for cell in &mut results.cells.all {
            cell.simulated = Some(simulated(124.5, None));
        }
        let (row, text) = told(&results);
        assert_eq!(row, "32 124.5 124.5 +0.0 % 1.0% ~150.0 (100.0 to 200.0)");
        assert!(text.contains("0.0 % at worst (1 cell)\n"), "{text}");
    }

    #[test]
    fn cells_that_were_not_run_or_failed_say_so() {
        let mut results = results("locktorture", &[1.0]);
        results.cells.all[0].failure = Some("mutual exclusion is broken".to_owned());
        results.cells.all[1].simulated = None;
        results.cells.all[3].simulated = Some(simulated(f64::INFINITY, None));
        let text = render(&results);
        assert!(text.contains("no end not one unit"), "{text}");
        assert!(text.contains("failed  mutual exclusion is broken") && text.contains("not run"), "{text}");
    }
}
