//! Results for tests; and the table of `docs/simulator.md`: what was registered against what was published.
use super::export::Results;
use super::summary::{errors, median_and_worst, orderings};
use lab_kit::provenance::Provenance;
use lab_kit::stats::{Estimate, median_error};
use stanchion_cells::published::cells::{Cell, Cells, Simulated};
use stanchion_cells::published::registered::recall;
use stanchion_cells::published::roles::Role;
use stanchion_cells::published::tables::all;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/simulator.md");
const MARKS: (&str, &str) = ("<!-- registered: begin -->\n", "<!-- registered: end -->\n");

/// Of a table, or of all, with these values of the seeds of every cell.
pub(super) fn results(table: &str, values: &[f64]) -> Results {
    let mut tables = all().expect("in order");
    tables.retain(|other| table.is_empty() || other.name == table);
    let mut cells = Cells::choose(&tables, &[]).expect("no filter");
    let before = recall(&tables, &mut cells).unwrap_or_else(|error| panic!("{error}"));
    let simulated = Simulated { seeds: Estimate::of(values.to_vec()), trace: None };
    cells.all.iter_mut().for_each(|cell| cell.simulated = Some(simulated.clone()));
    let (provenance, seeds) = (Provenance::collect(1), values.len() as u64);
    Results { provenance, seeds, quick: false, complete: true, tables, before, cells }
}

/// A row: of one table, or of all.
fn row(name: &str, index: Option<usize>, cells: &Cells) -> String {
    let of_row = |table: usize| index.is_none_or(|index| index == table);
    let off = |role| {
        let registered = |cell: &&Cell| of_row(cell.table) && cell.role == role && cell.registered.is_some();
        let registered = cells.all.iter().filter(registered).count();
        let (errors, _) = errors(index, cells, role);
        match median_and_worst(&errors) {
            Some((_, worst)) => {
                let median = median_error(&errors, 1).replace(" (too few for an interval)", "");
                format!("{}, {:.1} % ({})", median.replace(" (one value)", ""), worst * 100.0, errors.len())
            }
            None if registered == 0 => "-".to_owned(),
            None => format!("{registered} not compared"),
        }
    };
    let order = |role| match orderings(index, cells, role) {
        (_, 0) => "-".to_owned(),
        (right, all) => format!("{right} of {all}"),
    };
    let ([fit, seen, blind], seen_order, blind_order) =
        (Role::ALL.map(off), order(Role::Seen), order(Role::Blind));
    format!("| {name} | {fit} | {seen} | {blind} | {seen_order} | {blind_order} |\n")
}

/// A row for each table of which anything is compared, and one for all.
fn section() -> String {
    let tables = all().expect("in order");
    let mut cells = Cells::choose(&tables, &[]).expect("no filter");
    recall(&tables, &mut cells).unwrap_or_else(|error| panic!("{error}"));
    for cell in &mut cells.all {
        cell.simulated = cell
            .registered
            .map(|before| Simulated { seeds: Estimate::of(vec![before.value]), trace: Some(before.trace) });
    }
    let mut out = "| table | fit: median, worst (cells) | seen | blind | order of seen locks | blind |\n\
                   |---|---|---|---|---|---|\n"
        .to_owned();
    for (index, table) in tables.iter().enumerate() {
        if cells.all.iter().any(|cell| cell.table == index && cell.error().is_some()) {
            out.push_str(&row(&format!("`{}`", table.name), Some(index), &cells));
        }
    }
    out.push_str(&row("all", None, &cells));
    out
}

#[test]
fn the_claims_of_the_documentation_are_what_is_registered() {
    let text = std::fs::read_to_string(DOCUMENT).expect("docs/simulator.md is there");
    let (before, rest) = text.split_once(MARKS.0).expect("the begin is marked");
    let (_, after) = rest.split_once(MARKS.1).expect("the end is marked");
    let wanted = format!("{before}{}\n{}\n{}{after}", MARKS.0, section(), MARKS.1);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(DOCUMENT, &wanted).expect("docs/simulator.md can be written");
    } else {
        let how =
            "docs/simulator.md is not current; run: UPDATE_DOCS=1 cargo test -p stanchion-lab the_claims_of";
        assert!(text == wanted, "{how}");
    }
}
