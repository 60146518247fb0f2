//! The tables on the terminal: published, simulated and error, cell by cell.
use core::fmt::Write;
use stanchion_cells::published::cells::{Cell, Cells, exists};
use stanchion_cells::published::tables::Table;

/// The tables there are.
pub(crate) fn list(tables: &[Table]) -> String {
    let mut text = String::new();
    for table in tables {
        let rows: Vec<&str> = table.rows.iter().map(|row| row.label.as_str()).collect();
        let _ = writeln!(text, "{:24} {}", table.name, table.title);
        let _ = writeln!(text, "{:24}   locks {}; rows {}", "", table.locks.join(", "), rows.join(", "));
        let _ = writeln!(text, "{:24}   baseline {}; on {}", "", table.baseline, table.machine_name);
    }
    text
}

/// Every table with its cells.
pub(crate) fn tables(tables: &[Table], cells: &Cells) -> String {
    let mut text = String::new();
    for (index, table) in tables.iter().enumerate() {
        if cells.all.iter().any(|cell| cell.table == index) {
            text.push_str(&one(index, table, cells));
            text.push('\n');
        }
    }
    text
}

fn one(index: usize, table: &Table, cells: &Cells) -> String {
    let better = if table.lower_is_better { "less is better" } else { "more is better" };
    let mut text = format!("{}: {} ({}, {better})\n", table.name, table.title, table.unit);
    let _ = writeln!(text, "  published in: {}", table.source);
    if !table.note.is_empty() {
        let _ = writeln!(text, "  {}", table.note);
    }
    for (lock_index, lock) in table.locks.iter().enumerate() {
        let of_lock: Vec<&Cell> =
            (0..table.rows.len()).filter_map(|row| cells.find(index, row, lock_index)).collect();
        if of_lock.is_empty() {
            continue;
        }
        if !exists(lock) {
            let published: Vec<String> = of_lock
                .iter()
                .filter_map(|cell| {
                    Some(format!("{} at {}", number(cell.published?), table.rows[cell.row].label))
                })
                .collect();
            let published = if published.is_empty() { "nothing".to_owned() } else { published.join(", ") };
            let _ = writeln!(text, "  {lock}: not simulated, comes with its issue; published: {published}");
            continue;
        }
        let baseline = if *lock == table.baseline { " (baseline)" } else { "" };
        let _ = writeln!(text, "  {lock}{baseline}");
        let _ = writeln!(
            text,
            "    {:>8} {:>12} {:>12} {:>8} {:>7}",
            "", "published", "simulated", "error", "+-"
        );
        for cell in of_lock {
            text.push_str(&line(table, cell));
        }
    }
    text
}

fn line(table: &Table, cell: &Cell) -> String {
    let label = &table.rows[cell.row].label;
    let published = cell.published.map_or("-".to_owned(), number);
    if let Some(why) = &cell.failure {
        return format!("    {label:>8} {published:>12} {:>12}  {why}\n", "failed");
    }
    let Some((simulated, spread)) = cell.simulated else {
        return format!("    {label:>8} {published:>12} {:>12}\n", "not run");
    };
    if !simulated.is_finite() {
        return format!(
            "    {label:>8} {published:>12} {:>12} not one unit of work was done in the window\n",
            "no end"
        );
    }
    let error = cell.error().map_or("predicted".to_owned(), |error| format!("{:+.1} %", error * 100.0));
    // A single run has no spread.
    let spread = if spread > 0.0 { format!("{:.1}%", spread * 100.0) } else { "-".to_owned() };
    format!("    {label:>8} {published:>12} {:>12} {error:>9} {spread:>7}\n", number(simulated))
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
    use stanchion_cells::published::tables::all;

    fn chosen(name: &str) -> (Vec<Table>, Cells) {
        let tables: Vec<Table> =
            all().expect("in order").into_iter().filter(|table| table.name == name).collect();
        let cells = Cells::choose(&tables, &[]).expect("no filter");
        (tables, cells)
    }

    #[test]
    fn what_was_not_published_is_a_prediction() {
        let (listed, mut cells) = chosen("pvq-haswell-ex");
        for cell in &mut cells.all {
            cell.simulated = exists(&listed[0].locks[cell.lock]).then_some((124.5, 0.01));
        }
        let text = tables(&listed, &cells);
        let byte = text.split("  byte-rmw (baseline)\n").nth(1).expect("it exists");
        let row = byte.lines().nth(1).expect("its first row");
        assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["32", "124.5", "124.5", "+0.0", "%", "1.0%"]);
        let qspin = text.split("  qspin\n").nth(1).expect("it exists");
        assert!(qspin.lines().nth(1).is_some_and(|row| row.contains("predicted")), "{qspin}");
    }

    #[test]
    fn what_does_not_exist_is_not_simulated() {
        let (mut listed, _) = chosen("xen-percpu");
        let column = listed[0].column("percpu-rw").expect("published");
        "percpu-rx".clone_into(&mut listed[0].locks[column]);
        let cells = Cells::choose(&listed, &[]).expect("no filter");
        let text = tables(&listed, &cells);
        assert!(text.contains("percpu-rx: not simulated, comes with its issue; published: 64"), "{text}");
    }

    #[test]
    fn cells_that_were_not_run_or_failed_say_so() {
        let (listed, mut cells) = chosen("locktorture");
        cells.all[0].failure = Some("mutual exclusion is broken".to_owned());
        cells.all[3].simulated = Some((f64::INFINITY, f64::NAN));
        let text = tables(&listed, &cells);
        assert!(text.contains("no end not one unit"), "{text}");
        assert!(text.contains("failed  mutual exclusion is broken") && text.contains("not run"), "{text}");
    }

    #[test]
    fn numbers_keep_four_digits() {
        assert_eq!([1246.1, 118.9, 64.0, 0.503].map(number), ["1246", "118.9", "64.00", "0.503"]);
    }
}
