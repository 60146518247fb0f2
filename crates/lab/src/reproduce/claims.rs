//! The table of `docs/simulator.md`: what was registered against what was published.
use super::summary::{errors, median_and_worst, orderings};
use core::fmt::Write;
use stanchion_cells::published::cells::{Cell, Cells, Simulated};
use stanchion_cells::published::registered::recall;
use stanchion_cells::published::roles::Role;
use stanchion_cells::published::tables::all;

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/simulator.md");
const MARKS: (&str, &str) = ("<!-- registered: begin -->\n", "<!-- registered: end -->\n");

fn section() -> String {
    let tables = all().expect("in order");
    let mut cells = Cells::choose(&tables, &[]).expect("no filter");
    let registered = recall(&tables, &mut cells).unwrap_or_else(|error| panic!("{error}"));
    for cell in &mut cells.all {
        cell.simulated = cell.registered.map(|before| Simulated {
            mean: before.value,
            spread: 0.0,
            least: before.from,
            most: before.to,
            trace: Some(before.trace),
        });
    }
    let mut out =
        "| table | registered | fit: median, worst (cells) | seen | blind | order of locks, seen | blind |\n\
                   |---|---|---|---|---|---|---|\n"
            .to_owned();
    for (index, table) in tables.iter().enumerate() {
        let Some(of_table) = &registered[index] else { continue };
        let off = |role| {
            let of_role =
                |cell: &&Cell| (cell.table, cell.role) == (index, role) && cell.registered.is_some();
            let registered = cells.all.iter().filter(of_role).count();
            let errors = errors(Some(index), &cells, role);
            match median_and_worst(&errors) {
                Some((median, worst)) => {
                    format!("{:.1} %, {:.1} % ({})", median * 100.0, worst * 100.0, errors.len())
                }
                None if registered == 0 => "-".to_owned(),
                None => format!("{registered} not compared"),
            }
        };
        let order = |role| match orderings(index, table, &cells, role) {
            (_, 0) => "-".to_owned(),
            (right, all) => format!("{right} of {all}"),
        };
        let [fit, seen, blind] = Role::ALL.map(off);
        let (order_seen, order_blind) = (order(Role::Seen), order(Role::Blind));
        let (name, date) = (&table.name, &of_table.date);
        writeln!(out, "| `{name}` | {date} | {fit} | {seen} | {blind} | {order_seen} | {order_blind} |")
            .expect("a string takes everything");
    }
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
