//! What tables say together, by roles of cells: how far off they are, and whether the right lock wins.
use core::fmt::Write;
use lab_kit::stats::{Ratio, median, median_error};
use lab_kit::units::plural;
use stanchion_cells::columns::number;
use stanchion_cells::published::cells::{Cell, Cells};
use stanchion_cells::published::roles::Role;
use stanchion_cells::published::tables::Table;

/// What marks of tables say.
pub(super) const MARKS: &str = "a..b: seeds of two kinds; ~: by their mean";

/// Published results nearer to each other than this are a tie.
const TIE: f64 = 0.03;

/// The same in words; nothing, if there is no error.
pub(super) fn off(errors: &[f64]) -> Option<String> {
    let (_, worst) = median_and_worst(errors)?;
    Some(format!("{} in the median, {:.1} % at worst", median_error(errors, 1), worst * 100.0))
}

pub(crate) fn median_and_worst(errors: &[f64]) -> Option<(f64, f64)> {
    let sizes: Vec<f64> = errors.iter().map(|error| error.abs()).collect();
    Some((median(&sizes), sizes.iter().copied().max_by(f64::total_cmp)?))
}

/// Errors of the cells of a role, in one table or in all, and how many are by the mean of seeds of two kinds.
pub(crate) fn errors(table: Option<usize>, cells: &Cells, role: Role) -> (Vec<f64>, usize) {
    let wanted = |cell: &&Cell| cell.role == role && table.is_none_or(|table| cell.table == table);
    let errors = cells.all.iter().filter(wanted).filter_map(|cell| Some((cell, cell.error()?)));
    let (cells, errors): (Vec<&Cell>, _) = errors.filter(|(_, error)| error.is_finite()).unzip();
    (errors, cells.iter().filter(|cell| cell.compares_a_mean_of_two_kinds()).count())
}

/// How far the cells of a role are off, in one table or in all; nothing if none can be compared.
pub(super) fn of_role(table: Option<usize>, cells: &Cells, role: Role) -> Option<String> {
    let (errors, mixed) = errors(table, cells, role);
    let (off, count) = (off(&errors)?, plural(errors.len(), "cell"));
    let mixed =
        if mixed > 0 { format!(", {mixed} by the mean of seeds of two kinds") } else { String::new() };
    Some(format!("off by {off} ({count}{mixed})"))
}

/// How many pairs of locks of a role are in the published order.
pub(super) fn who_beats_whom(cells: &Cells, role: Role) -> Option<String> {
    let (right, all) = orderings(None, cells, role);
    let pairs = format!("{} pairs that are more than 3 % apart", role.name());
    (all > 0).then(|| format!("{pairs} are right in {right} of {all}"))
}

/// How many pairs of locks are in the published order, of how many that can be compared in the same row, in
/// one table or in all. A pair with a blind cell is blind; one with a seen cell, else, is seen.
pub(crate) fn orderings(table: Option<usize>, cells: &Cells, role: Role) -> (usize, usize) {
    let wanted = cells.all.iter().filter(|cell| table.is_none_or(|table| cell.table == table));
    let known: Vec<_> = wanted.filter_map(|cell| Some((cell, cell.published?, cell.compared()?))).collect();
    let (mut right, mut all) = (0, 0);
    for (at, (one, published, compared)) in known.iter().enumerate() {
        let same_row = |cell: &Cell| (cell.table, cell.row) == (one.table, one.row);
        let others = known[at + 1..].iter().take_while(|(other, ..)| same_row(other));
        for (_, other, compared_other) in others.filter(|(other, ..)| one.role.max(other.role) == role) {
            let order = (published / other).ln();
            if order.abs() >= TIE {
                all += 1;
                right += usize::from((compared / compared_other).ln() * order > 0.0);
            }
        }
    }
    (right, all)
}

/// A lock; published and simulated times in the last row of a table in relation to the first. Nothing is
/// simulated if one of them has no end.
type Collapse = (String, Option<f64>, Option<Ratio>);

/// Of each lock, simulated seed by seed.
fn collapses(index: usize, table: &Table, cells: &Cells) -> Vec<Collapse> {
    let same = table.rows.windows(2).all(|rows| rows[0].workload_name == rows[1].workload_name);
    if !table.lower_is_better || table.rows.len() < 2 || !same {
        return Vec::new();
    }
    let factor = |lock: usize| {
        let (first, last) = (cells.find(index, 0, lock)?, cells.find(index, table.rows.len() - 1, lock)?);
        let published = last.published.zip(first.published).map(|(last, first)| last / first);
        // What nobody has published is not compared with anything.
        let told = |cell: &Cell| match (cell.role, cell.published) {
            (Role::Blind, Some(_)) => cell.registered.map(|registered| vec![registered.value]),
            _ => cell.simulated.as_ref().map(|simulated| simulated.seeds.values.clone()),
        };
        let (last, first) = (told(last)?, told(first)?);
        Some((table.locks[lock].clone(), published, Ratio::of(&[(&last, &first)])))
    };
    (0..table.locks.len()).filter_map(factor).collect()
}

pub(crate) fn text(tables: &[Table], cells: &Cells) -> String {
    let mut lines = String::new();
    for (index, table) in tables.iter().enumerate() {
        tell(&mut lines, &table.name, Some(index), cells);
        for (lock, published, simulated) in collapses(index, table, cells) {
            let [first, .., last] = &table.rows[..] else { continue };
            let (table, first, last) = (&table.name, &first.label, &last.label);
            let published =
                published.map_or("not published".to_owned(), |times| format!("published x{}", number(times)));
            let simulated = simulated.map_or("for ever".to_owned(), |times| format!("x{times}"));
            let _ =
                writeln!(lines, "  {table}: {lock} takes {simulated} from {first} to {last} ({published})");
        }
    }
    tell(&mut lines, "all tables", None, cells);
    for order in Role::ALL.iter().filter_map(|&role| who_beats_whom(cells, role)) {
        let _ = writeln!(lines, "  who beats whom: {order}");
    }
    let about = "+- and brackets: 95 % intervals over seeds, of medians over cells";
    if lines.is_empty() { lines } else { format!("summary ({about};\n  {MARKS})\n{lines}") }
}

/// How far cells are off, in one table or in all: those of each role of which any can be compared.
fn tell(lines: &mut String, name: &str, table: Option<usize>, cells: &Cells) {
    for role in Role::ALL {
        if let Some(off) = of_role(table, cells, role) {
            let _ = writeln!(lines, "  {name}: {} cells {off}", role.name());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_kit::stats::Estimate;
    use stanchion_cells::published::cells::Simulated;
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
            let of_lock = simulated.iter().find(|(lock, _)| *lock == cell.lock);
            let seeds = |time: f64| Estimate::of(vec![time, time]);
            cell.simulated = of_lock.map(|&(_, time)| Simulated { seeds: seeds(time), trace: None });
        }
        // At 32: byte over unfair-q (4 %) right, byte over pv-ticket (4.6 %) right, the other two tie. At 48
        // and 60: one of three.
        assert_eq!(orderings(Some(0), &cells, Role::Seen), (2 + 1 + 1, 2 + 3 + 3));
        assert_eq!(orderings(Some(0), &cells, Role::Blind), (0, 0), "nothing blind is published");
        let collapses = collapses(0, &tables[0], &cells);
        assert_eq!(collapses.len(), 3);
        let (_, published, simulated) =
            collapses.iter().find(|(lock, ..)| lock == "byte-rmw").expect("it has one");
        assert!((published.expect("published") - 195.6 / 124.5).abs() < 1e-9);
        let simulated = simulated.expect("it ends");
        assert!((simulated.ratio - 1.0).abs() < 1e-9 && simulated.interval.is_some(), "{simulated}");
    }
}
