//! What the tables say together: how near the baselines are, whether the right lock wins, how large collapses
//! are.
use super::report::number;
use core::fmt::Write;
use stanchion_cells::published::cells::Cells;
use stanchion_cells::published::tables::Table;

/// Published results nearer to each other than this are a tie.
const TIE: f64 = 0.03;

/// Median and largest of some errors, without their signs.
pub(crate) fn median_and_worst(errors: &[f64]) -> Option<(f64, f64)> {
    let mut sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let (middle, worst) = (sizes.len() / 2, sizes.last().copied()?);
    let median =
        if sizes.len() % 2 == 1 { sizes[middle] } else { f64::midpoint(sizes[middle - 1], sizes[middle]) };
    Some((median, worst))
}

/// Errors of the locks of a table: of its baseline, or of the others.
fn errors(index: usize, table: &Table, cells: &Cells, of_baseline: bool) -> Vec<f64> {
    let of_table = cells.all.iter().filter(|cell| cell.table == index);
    let wanted = of_table.filter(|cell| (table.locks[cell.lock] == table.baseline) == of_baseline);
    wanted
        .filter_map(stanchion_cells::published::cells::Cell::error)
        .filter(|error| error.is_finite())
        .collect()
}

/// How many pairs of locks are in the published order, of how many that were published and simulated in the
/// same row.
fn orderings(index: usize, table: &Table, cells: &Cells) -> (usize, usize) {
    let (mut right, mut all) = (0, 0);
    for row in 0..table.rows.len() {
        let both: Vec<(f64, f64)> = (0..table.locks.len())
            .filter_map(|lock| cells.find(index, row, lock))
            .filter_map(|cell| Some((cell.published?, cell.simulated?.0)))
            .collect();
        for (at, one) in both.iter().enumerate() {
            for other in &both[at + 1..] {
                let published = (one.0 / other.0).ln();
                if published.abs() >= TIE {
                    all += 1;
                    right += usize::from((one.1 / other.1).ln() * published > 0.0);
                }
            }
        }
    }
    (right, all)
}

/// For each lock: the last row of a table of times in relation to its first, published and simulated.
fn collapses(index: usize, table: &Table, cells: &Cells) -> Vec<(String, Option<f64>, f64)> {
    let same = table.rows.windows(2).all(|rows| rows[0].workload_name == rows[1].workload_name);
    if !table.lower_is_better || table.rows.len() < 2 || !same {
        return Vec::new();
    }
    let factor = |lock: usize| {
        let (first, last) = (cells.find(index, 0, lock)?, cells.find(index, table.rows.len() - 1, lock)?);
        let published = last.published.zip(first.published).map(|(last, first)| last / first);
        Some((table.locks[lock].clone(), published, last.simulated?.0 / first.simulated?.0))
    };
    (0..table.locks.len()).filter_map(factor).collect()
}

/// The summary, in a few lines.
pub(crate) fn text(tables: &[Table], cells: &Cells) -> String {
    let mut lines = String::new();
    let per_cent = |part: f64| format!("{:.1} %", part * 100.0);
    let (mut right, mut all) = (0, 0);
    for (index, table) in tables.iter().enumerate() {
        for (of_baseline, what) in [(true, "baseline"), (false, "other published locks")] {
            let errors = errors(index, table, cells, of_baseline);
            if let Some((median, worst)) = median_and_worst(&errors) {
                let (name, count) = (&table.name, errors.len());
                let _ = writeln!(
                    lines,
                    "  {name}: {what} off by {} in the median, {} at worst ({count} cells)",
                    per_cent(median),
                    per_cent(worst)
                );
            }
        }
        let ordered = orderings(index, table, cells);
        right += ordered.0;
        all += ordered.1;
        let rows = (table.rows.first(), table.rows.last());
        for (lock, published, simulated) in collapses(index, table, cells) {
            let (Some(first), Some(last)) = rows else { continue };
            let published = published
                .map_or("not published".to_owned(), |factor| format!("published x{}", number(factor)));
            let simulated =
                if simulated.is_finite() { format!("x{}", number(simulated)) } else { "for ever".to_owned() };
            let _ = writeln!(
                lines,
                "  {}: {lock} takes {simulated} from {} to {} ({published})",
                table.name, first.label, last.label
            );
        }
    }
    if all > 0 {
        let _ =
            writeln!(lines, "  who beats whom: right in {right} of {all} pairs that are more than 3 % apart");
    }
    if lines.is_empty() { lines } else { format!("summary\n{lines}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stanchion_cells::published::tables::all;

    #[test]
    fn medians_and_worst_ignore_signs() {
        assert_eq!(median_and_worst(&[]), None);
        assert_eq!(median_and_worst(&[-0.3]), Some((0.3, 0.3)));
        assert_eq!(median_and_worst(&[0.1, -0.2, 0.4, -0.3]), Some((0.25, 0.4)));
    }

    #[test]
    fn orderings_and_collapses_compare_what_is_known_of_both() {
        let tables: Vec<Table> =
            all().expect("in order").into_iter().filter(|table| table.name == "pvq-haswell-ex").collect();
        let mut cells = Cells::choose(&tables, &[]).expect("no filter");
        let column = |lock: &str| tables[0].column(lock).expect("a column");
        let (byte, queued, ticket) = (column("byte-rmw"), column("unfair-q"), column("pv-ticket"));
        for cell in &mut cells.all {
            // The unfair queue and byte in the right order, the ticket lock in the wrong one.
            let simulated = [(byte, 100.0), (queued, 90.0), (ticket, 80.0)];
            cell.simulated =
                simulated.iter().find(|(lock, _)| *lock == cell.lock).map(|(_, time)| (*time, 0.0));
        }
        // At 32: byte over unfair-q (4 %) right, byte over pv-ticket (4.6 %) right, the other two tie. At 48
        // and 60: one of three.
        assert_eq!(orderings(0, &tables[0], &cells), (2 + 1 + 1, 2 + 3 + 3));
        let collapses = collapses(0, &tables[0], &cells);
        assert_eq!(collapses.len(), 3);
        let (_, published, simulated) =
            collapses.iter().find(|(lock, ..)| lock == "byte-rmw").expect("it has one");
        assert!(
            (published.expect("published") - 195.6 / 124.5).abs() < 1e-9 && (simulated - 1.0).abs() < 1e-9
        );
    }
}
