//! A page: how far cells are off, then each table with a picture of its errors and its cells.
use super::export::Results;
use super::report::{since, unit};
use super::summary::{MARKS, of_role, who_beats_whom};
use lab_kit::export::columns::table;
use lab_kit::export::ratios::{Mark, ratios};
use lab_kit::export::{colours, page};
use maud::{Markup, html};
use stanchion_cells::columns::{Published, of_published};
use stanchion_cells::published::roles::Role;

pub(super) fn write(results: &Results) -> String {
    let Results { tables, cells, .. } = results;
    let order = |role| Some(("who beats whom".to_owned(), who_beats_whom(cells, role)?));
    let shown = html! {
        (page::facts(off(results, None).chain(Role::ALL.into_iter().filter_map(order))))
        @for index in 0..tables.len() { (section(results, index)) }
        p.sub {
            "Fit: numbers of machine or workload follow from the cell. Seen: something was chosen while it was in view. "
            "Blind: it is compared with what was registered before. +-: half of the 95 % interval over seeds. " (MARKS) "."
        }
    };
    let locks = tables.iter().map(|table| table.locks.len()).max().unwrap_or(0);
    results.about().page("Published tables, simulated", "", &shown, &colours(locks))
}

/// How far cells of each role are off, in a table or in all.
fn off(results: &Results, table: Option<usize>) -> impl Iterator<Item = (String, String)> {
    let of =
        move |role: Role| Some((format!("{} cells", role.name()), of_role(table, &results.cells, role)?));
    Role::ALL.into_iter().filter_map(of)
}

fn section(results: &Results, index: usize) -> Markup {
    let (own, rows) = (&results.tables[index], results.rows(Some(index)));
    let before = results.before[index].as_ref().map_or(String::new(), |before| since(before, &rows));
    let marks = rows.iter().map(|of| (format!("{} {}", of.lock(), of.row()), vec![mark(of)])).collect();
    html! {
        @if !rows.is_empty() {
            h2 { (own.name) ": " (own.title) }
            p.sub {
                (unit(own)) " · " (own.source)
                @for more in [&own.note, &before].into_iter().filter(|more| !more.is_empty()) { " · " (more) }
            }
            (page::facts(off(results, Some(index))))
            (ratios("simulated to published", &format!("{}: simulated to published", own.name), marks))
            (page::table(&table(&of_published(), &rows)))
        }
    }
}

/// What is compared in relation to what was published, from the least seed to the most.
fn mark(of: &Published) -> Option<Mark> {
    let (cell, published) = (of.cell, of.cell.published?);
    let ratio = cell.error().filter(|error| error.is_finite())? + 1.0;
    let (from, to) = match cell.role {
        Role::Blind => cell.registered.map(|before| (before.from, before.to))?,
        Role::Fit | Role::Seen => cell.simulated.as_ref().map(|now| (now.seeds.min, now.seeds.max))?,
    };
    Some(Mark {
        index: cell.lock,
        about: format!("{} {}: {:+.1} %", of.lock(), of.row(), (ratio - 1.0) * 100.0),
        ratio: Some(ratio).filter(|_| !cell.compares_a_mean_of_two_kinds()),
        ends: (from / published, to / published),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::tests::results;

    #[test]
    fn the_answer_is_first_and_a_table_has_its_picture_and_its_cells() {
        let mut results = results("pvq-haswell-ex", &[100.0, 120.0]);
        results.cells.all[0].failure = Some("a < b".to_owned());
        results.tables[0].note = "<b>".to_owned();
        let page = write(&results);
        let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        assert!(place(">fit cells</th><td>off by ") < place(">seen cells</th><td>off by "));
        assert!(place(">who beats whom</th>") < place("<h2>pvq-haswell-ex: "));
        assert!(place("a &lt; b") < place("&lt;b&gt;") && place("&lt;b&gt;") < place("role=\"img\""));
        assert_eq!(
            page.matches(">blind</td>").count() + page.matches(">seen</td>").count(),
            26,
            "one is to fit"
        );
        let compared = results.cells.all.iter().filter(|cell| cell.error().is_some()).count();
        let markers = |page: &str| page.matches("<g class=\"series c").count();
        assert_eq!((markers(&page), page.matches("class=\"error\"").count()), (compared, compared));
        for outside in ["http://", "https://", "<script", "src=", "url(", "@import", "<link"] {
            assert!(!page.contains(outside), "{outside}");
        }
        let endless = write(&super::super::tests::results("locktorture", &[f64::INFINITY; 2]));
        assert!(endless.contains(">no end</td>") && !endless.contains(">NaN") && !endless.contains("inf %"));
        let both = write(&super::super::tests::results("pvq-haswell-ex", &[100.0, 200.0]));
        assert!(
            both.contains(">100.0..200.0<") && !both.contains("<circle"),
            "a mean of two kinds is nowhere"
        );
    }
}
